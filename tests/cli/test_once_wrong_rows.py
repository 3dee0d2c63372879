"""Answers that once were wrong, one row each: what is asked of a small cluster, what is said, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_devices import device_class, resource_slice
from tests.build_storage import claim, volume
from tests.build_workloads import controller, kubectl_applied, owned, template, workload
from tests.cli.once_wrong import ON_ZONES, SHUT, ZONES, Row, deployed, mounting, nightly, pods_of, run_of

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
THREE = (*ZONES, node("c1", zone="c"))
SMALL = [node(f"{zone}1", zone=zone, allocatable={"cpu": "2"}) for zone in "abc"]
BIG = {"cpu": "1500m"}
GROUPED = template(ON_ZONES, schedulingGroup={"podGroupName": "g"})
SSD = template(ON_ZONES, nodeSelector={"disk": "ssd"})


def stateful(*on: str, status: Object | None = None, pods: Object | None = None, **spec: Any) -> list[Object]:  # noqa: ANN401 - any field of the spec
    """Return the StatefulSet db with a Pod on each of these nodes, Pending for an empty one."""
    made = pods or template(ON_ZONES)
    owner = workload("StatefulSet", "db", pods=made, replicas=len(on), status={"updateRevision": "db-1"}, **spec)
    labels = {"controller-revision-hash": "db-1"}
    living = [
        owned(
            f"db-{n}",
            "StatefulSet",
            "db",
            on=where,
            labels=labels,
            status=(status or READY) if where else None,
            **made["spec"],
        )
        for n, where in enumerate(on)
    ]
    return [owner, *living]


def orphaned(objects: Sequence[Object]) -> list[Object]:
    """Return the Pods among the objects as ``kubectl delete --cascade=orphan`` of their owner leaves them."""
    return [
        {**each, "metadata": {k: v for k, v in each["metadata"].items() if k != "ownerReferences"}}
        for each in objects
        if each["kind"] == "Pod"
    ]


def stray_replica_set(*on: str) -> list[Object]:
    """Return a ReplicaSet of the Deployment web and its Pods as ``--cascade=orphan`` leaves them."""
    _, replicas, *pods = deployed(*on)
    return [{**replicas, "metadata": {**replicas["metadata"], "ownerReferences": []}}, *pods]


def scaled_to(number: int, manifest: Object) -> list[Object]:
    """Return the object that was applied, with another number of replicas since."""
    live = kubectl_applied(manifest)
    return [{**live, "spec": {**live["spec"], "replicas": number}}]


def going(objects: Sequence[Object], finalizer: str = "foregroundDeletion") -> list[Object]:
    """Return the objects of a workload, the first of which is being deleted and has this finalizer."""
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [finalizer]}
    return [{**objects[0], "metadata": {**objects[0]["metadata"], **gone}}, *objects[1:]]


def live_and_applied(changed: Object, manifest: Object, *others: Object) -> list[Object]:
    """Return an object as it lives, whose last applied manifest is another, and others."""
    told = kubectl_applied(manifest)["metadata"]["annotations"]
    return [{**changed, "metadata": {**changed["metadata"], "annotations": told}}, *others]


def stale() -> list[Object]:
    """Return a StatefulSet whose template was repaired after db-2 was made."""
    owner, *pods = stateful("a1", "b1", "")
    owner["status"] = {"updateRevision": "db-1", "currentRevision": "db-1"}
    pods[-1]["metadata"]["labels"]["controller-revision-hash"] = "db-2"
    pods[-1]["spec"]["nodeSelector"] = {"disk": "ssd"}
    return [owner, *pods]


WEB = workload("Deployment", "web", pods=template(ON_ZONES), replicas=3)
POOL = {"karpenter.sh/nodepool": "web"}
FULL = [node(f"{z}1", zone=z, labels=POOL, allocatable={"cpu": "2"}) for z in "ab"]
OTHERS_POOL = node("a2", zone="a", labels={"karpenter.sh/nodepool": "db"})
IN_POOL = template(ON_ZONES, nodeSelector=POOL, requests={"cpu": "1900m"})
BUDGET: Object = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": app("web"), "maxUnavailable": 0},
    "status": {"disruptionsAllowed": 0},
}
CLAIMING = template(ON_ZONES, **mounting("data"))
MANY = ["ReadWriteMany"]
EMPTY = [{"name": "scratch", "emptyDir": {}}]
DOWN = ("node.kubernetes.io/unreachable:NoSchedule", "dedicated=x:NoExecute")
MIRROR = {
    **pod("etcd-a1", on="a1", owner={"apiVersion": "v1", "kind": "Node", "name": "a1"}),
    "metadata": {"name": "etcd-a1", "namespace": "default", "annotations": {"kubernetes.io/config.mirror": "x"}},
}

ROWS = {
    "a DeviceClass stands for a resource": Row(
        objects=[
            *ZONES,
            device_class(stands_for="example.com/gpu"),
            resource_slice("a1"),
            pod("web", requests={"example.com/gpu": "1"}),
        ],
        ask=["why-pending"],
        code=3,
        says=["needs devices, and which nodes have them is not modelled"],
    ),
    "a manifest that does not say how many has as many as live": Row(
        objects=[*THREE, *deployed(*("a1", "b1", "c1") * 2, pods=template(ON_ZONES, requests={"cpu": "2"}))],
        ask=["check"],
        manifests=[
            workload("Deployment", "web", pods=template(ON_ZONES, requests={"cpu": "5"}), strategy={"type": "Recreate"})
        ],
        code=1,
        says=["replica 4 of 6 cannot be scheduled."],
    ),
    "a taint that was set on purpose stays": Row(
        objects=[*ZONES, SHUT, *stateful("a1", "b1", "", podManagementPolicy="Parallel")],
        ask=["why-pending"],
        code=1,
        says=["  1. HonorTaints: "],
        says_not=["RemoveTaint", "AddToleration"],
    ),
    "a node more comes before a taint goes": Row(
        objects=[ZONES[0], SMALL[0], SHUT, *deployed("a1", "", pods=template(requests=BIG))],
        ask=["why-pending"],
        code=1,
        says=["Add a node", "2 fixes change what somebody set on purpose: see --all-fixes."],
        says_not=["kubectl taint", "below changes"],
    ),
    "two constraints that a taint pins are both changed": Row(
        objects=[
            *ZONES,
            SHUT,
            *deployed("a1", "b1", "", pods=template(ON_ZONES, spread(HOSTNAME, selector=app("web")))),
        ],
        ask=["why-pending"],
        code=1,
        says=["  1. HonorTaints: set nodeTaintsPolicy Honor in the constraints on zone and hostname"],
        says_not=["kubectl taint", "below changes"],
    ),
    "a Pod stays in its node pool, and asks for no less than half": Row(
        objects=[*FULL, OTHERS_POOL, *deployed("a1", "b1", "", pods=IN_POOL)],
        ask=["why-pending"],
        code=1,
        says=["1900m cpu requested, at most 100m free", "to the node pool karpenter.sh/nodepool=web"],
        says_not=["LowerRequests", "kubectl patch"],
    ),
    "what a node outside the pool has free is not said": Row(
        objects=[*FULL, OTHERS_POOL, *deployed("a1", "b1", "", pods=IN_POOL)],
        ask=["show"],
        says=["Unschedulable", "karpenter.sh/nodepool=web is available: 1900m cpu requested, at most 100m free"],
    ),
    "the row is that of the Pod that waits": Row(
        objects=[
            *SMALL,
            pod("other", on="b1", requests=BIG),
            claim("data", bound_to="pv"),
            volume("pv", usable_on={ZONE: ["b"]}),
            *stateful("a1", "", pods=template(ON_ZONES, requests=BIG, **mounting("data"))),
        ],
        ask=["show"],
        says=["Unschedulable", "1500m cpu requested"],
        says_not=[" OK "],
    ),
    "Pods of another workload wait, and it is named": Row(
        objects=[
            *THREE,
            *deployed("a1", "a1", "b1"),
            owned("big-0", "ReplicaSet", "big", labels={"app": "big"}, requests={"cpu": "99"}),
        ],
        ask=["rebalance"],
        code=1,
        says=["1 Pod of default/replicaset/big waits for a node"],
    ),
    "a Pod is in one zone": Row(
        objects=[*THREE, BUDGET, *deployed("a1", "a1", "b1", "b1")],
        ask=["rebalance"],
        code=1,
        says=["default/web-h1-0 in a stays: The disruption budget web", "; 3 more stay for the same reason"],
        says_not=["in a and b stays"],
    ),
    "nodes are counted, not taints": Row(
        objects=[
            *ZONES,
            *(node(f"c{n}", zone="c", taints=DOWN) for n in (1, 2)),
            *deployed("a1", "b1"),
        ],
        ask=["show"],
        says=["no Pod can go to c: taint node.kubernetes.io/unreachable:NoSchedule, dedicated=x:NoExecute;"],
    ),
    "fields that were set by hand stay": Row(
        objects=[
            *THREE,
            *live_and_applied(deployed("", "", "", pods=SSD)[0], WEB, *deployed("", "", "", pods=SSD)[1:]),
        ],
        ask=["check"],
        manifests=[WEB],
        code=1,
        says=["unchanged: 3 Pods stay Pending. No spread constraint is the cause. "],
    ),
    "fields that only the live object has are changed there": Row(
        objects=[
            *THREE,
            *live_and_applied(deployed("", "", "", pods=SSD)[0], WEB, *deployed("", "", "", pods=SSD)[1:]),
        ],
        ask=["check", "--all-fixes"],
        manifests=[WEB],
        code=1,
        says=["Only the live deployment/web has the field", "kubectl patch deployment web "],
        says_not=["admission adds it"],
    ),
    "a StatefulSet adopts the Pods of its template": Row(
        objects=[*THREE, *orphaned(stateful("a1", "b1"))],
        ask=["check"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=2)],
        code=3,
        says=[
            "no Pod needs to be scheduled",
            "it adopts the matching Pods",
            "revision db-1 of default/statefulset/db (not read)",
        ],
        says_not=["RolloutMixesRevisions"],
    ),
    "a StatefulSet adopts no Pod without an ordinal": Row(
        objects=[*THREE, *orphaned(stateful("a1")), pod("db-x", on="b1", app="web")],
        ask=["check"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=2)],
        code=3,
        says=["Rollout: Scale, 1 Pod exists. Assumed: it adopts the matching Pods"],
    ),
    "another Pod has the name of an ordinal": Row(
        objects=[*THREE, pod("db-1", on="b1", app="other")],
        ask=["check"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=3)],
        code=1,
        says=['Pod 2 of 3 is refused by the API server: pods "db-1" already exists', "Replicas: a1\n"],
    ),
    "another Pod has the name of the next ordinal": Row(
        objects=[*THREE, pod("db-1", on="b1", app="other"), *stateful("a1")[1:], *stateful("a1", "", "")[:1]],
        ask=["show"],
        says=["FailedCreate", 'pods "db-1" already exists'],
    ),
    "ordinals are created in batches until a name is taken": Row(
        objects=[*THREE, pod("db-1", on="b1", app="other")],
        ask=["check"],
        manifests=[
            workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=5, podManagementPolicy="Parallel"),
        ],
        code=1,
        says=['Pod 3 of 5 is refused by the API server: pods "db-1" already exists', "Replicas: a1, c1\n"],
    ),
    "a Deployment replaces the Pods of the ReplicaSet that it adopts": Row(
        objects=[*THREE, *stray_replica_set("a1", "b1", "c1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=3)],
        says=[
            "Rollout: RollingUpdate, 3 Pods exist, 3 to be replaced. Assumed: it adopts replicaset/web-h1 and its Pods."
        ],
    ),
    "a ReplicaSet that a Deployment adopts has no row": Row(
        objects=[*THREE, *stray_replica_set("a1", "b1", "c1")],
        ask=["simulate"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=3)],
        code=1,
        says=["deployment/web"],
        says_not=["replicaset/"],
    ),
    "a paused Deployment that adopts a ReplicaSet has its Pods": Row(
        objects=[*THREE, *stray_replica_set("a1", "b1", "c1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES), replicas=2, paused=True)],
        says=["3 Pods exist, 1 to be deleted. Assumed: it adopts replicaset/web-h1 and its Pods. It is paused, so no"],
    ),
    "what has scaled a Deployment since the last apply is taken back": Row(
        objects=[
            *THREE,
            *scaled_to(5, workload("Deployment", "web", pods=template(ON_ZONES), replicas=2)),
            *deployed("a1", "b1", "c1", "a1", "b1")[1:],
        ],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES), replicas=2)],
        says=["a HorizontalPodAutoscaler or kubectl scale, has set it since the last apply: applying it changes 5"],
    ),
    "what only this manifest scales is not said to be scaled by others": Row(
        objects=[
            *THREE,
            kubectl_applied(workload("Deployment", "web", pods=template(ON_ZONES), replicas=5)),
            *deployed("a1", "b1", "c1", "a1", "b1")[1:],
        ],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES), replicas=2)],
        says=["5 Pods exist, 3 to be deleted"],
        says_not=["HorizontalPodAutoscaler"],
    ),
    "a Pod that is yet to be created has no name": Row(
        objects=[*THREE],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(spread(ZONE, selector=app("other"))))],
        says=["does not match the Pods of deployment/web"],
        says_not=["-00001"],
    ),
    "that a rollout may violate a constraint is said": Row(
        objects=[*THREE, *stray_replica_set("a1", "b1", "c1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=3)],
        says=["Constraint 0 is Violated in the end: its skew is 2."],
    ),
    "Pods that a rollout does not replace are deleted": Row(
        objects=[*THREE, *deployed("a1", "b1", "c1", "a1", "b1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=2)],
        says=["5 Pods exist, 2 to be replaced, 3 to be deleted."],
    ),
    "a simulation counts the Pods that are deleted and not replaced": Row(
        objects=[*THREE, *deployed("a1", "b1", "c1", "a1", "b1")],
        ask=["simulate"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=2)],
        code=0,
        says=[
            "3 Pods deleted and not replaced, none Pending.",
            "Deleted and not replaced: 3 Pods of default/deployment/web.",
        ],
    ),
    "daemons on nodes that do not match any more are deleted": Row(
        objects=[
            *THREE,
            workload("DaemonSet", "web", pods=template()),
            *pods_of("DaemonSet", "web", "a1", "b1", "c1", pods=template()),
        ],
        ask=["check"],
        manifests=[workload("DaemonSet", "web", pods=template(nodeSelector={ZONE: "a"}))],
        says=["3 Pods exist, 1 to be replaced, 2 to be deleted."],
    ),
    "such daemons are deleted even if the others wait for somebody": Row(
        objects=[
            *THREE,
            workload("DaemonSet", "web", pods=template()),
            *pods_of("DaemonSet", "web", "a1", "b1", "c1", pods=template()),
        ],
        ask=["check"],
        manifests=[
            workload("DaemonSet", "web", pods=template(nodeSelector={ZONE: "a"}), updateStrategy={"type": "OnDelete"})
        ],
        says=["3 Pods exist, 2 to be deleted. Assumed: a Pod on a node that does not match any more is deleted"],
    ),
    "Pods that a rollout not finished deletes anyway are not deleted by the step": Row(
        objects=[*THREE, WEB, *deployed("a1", "b1", "c1", "a1")[1:]],
        ask=["simulate"],
        manifests=[node("d1", zone="d")],
        says=["no Pod is evicted, none is Pending"],
        says_not=["not replaced"],
    ),
    "nothing is made by a Deployment that is being deleted": Row(
        objects=[*THREE, *going(deployed("a1", "b1", "c1"))],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=5)],
        says=[
            "no Pod needs to be scheduled",
            "it is being deleted, and what is applied to it goes with it",
            "Rollout: Scale, 3 Pods exist, 3 to be deleted. Assumed: it is being deleted, so no Pod is created.",
        ],
    ),
    "the Pods of a Deployment that is being deleted go": Row(
        objects=[*THREE, *going(deployed("a1", "b1", "c1"))],
        ask=["simulate"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=5)],
        says=["3 Pods deleted and not replaced", "Deployment/web: metadata.deletionTimestamp: it is being deleted"],
    ),
    "the Pods of a Deployment stay that is deleted without them": Row(
        objects=[*THREE, *going(deployed("a1", "b1", "c1"), "orphan")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=5)],
        says=["Rollout: Scale, 3 Pods exist. Assumed: it is being deleted, so no Pod is created."],
    ),
    "a Job deletes the Pods that are too many": Row(
        objects=[
            *THREE,
            workload("Job", "job", pods=template(ON_ZONES, restartPolicy="Never"), parallelism=3, completions=9),
            *pods_of("Job", "job", "a1", "b1", "c1", pods=template(ON_ZONES, restartPolicy="Never")),
        ],
        ask=["check"],
        manifests=[
            workload("Job", "job", pods=template(ON_ZONES, restartPolicy="Never"), parallelism=1, completions=9),
        ],
        says=["3 Pods exist, 2 to be deleted"],
        says_not=["running Pods stay"],
    ),
    "a running Pod whose change is refused is not placed": Row(
        objects=[*THREE, pod("web", on="a1", status=READY)],
        ask=["check"],
        manifests=[pod("web", nodeSelector={"disk": "ssd"})],
        code=1,
        says=["pod/web: the API server refuses it.\ninvalid: spec: Forbidden"],
        says_not=["Otherwise", "REJECTED-BY", "the Pod is unchanged"],
    ),
    "a ReplicaSet adopts too many": Row(
        objects=[*THREE, *orphaned(pods_of("ReplicaSet", "rs", "a1", "b1", "c1", pods=template(ON_ZONES)))],
        ask=["check"],
        manifests=[workload("ReplicaSet", "rs", pods=template(ON_ZONES), replicas=1)],
        says=["no Pod needs to be scheduled", "3 Pods exist, 2 to be deleted"],
    ),
    "Pods of another revision that no domain counts are not counted": Row(
        objects=[*THREE, *stale()],
        ask=["why-pending"],
        code=1,
        says=["UncountedNodes (info): 2 matching Pods are not counted, because of their nodes: a1, b1"],
        says_not=["RolloutMixesRevisions"],
    ),
    "a run takes no part in another run": Row(
        objects=[*ZONES, SHUT, nightly(), *run_of("nightly-1", "a1", "b1")],
        ask=["check"],
        manifests=[{**nightly(), "spec": {**nightly()["spec"], "schedule": "0 0 1 1 *"}}],
        says=[
            "all 2 replicas can be scheduled",
            "Some nodes are equal, so the scheduler may use one for the other: a1 or b1.",
        ],
        says_not=["adopts", "replica 3", "there. Assumed"],
    ),
    "an unready Pod does not hide the one after it": Row(
        objects=[*ZONES, SHUT, *stateful("a1", "b1", status=UNREADY)],
        ask=["check", "--replicas=3"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=2)],
        code=1,
        says=["zone c, which has the fewest Pods (0)"],
        says_not=["no Pod needs to be scheduled"],
    ),
    "which Pod is ready first decides how a rollout ends": Row(
        objects=[node(f"n{n}") for n in (1, 2, 3)]
        + deployed(
            "n1",
            "n1",
            "n2",
            "n2",
            "n3",
            pods=template(spread(HOSTNAME, selector=app("web"))),
            strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        ),
        ask=["simulate", "--restart=deployment/web"],
        code=1,
        says=["OK to Violated", "matchLabelKeys: [pod-template-hash]", "1→1..3"],
    ),
    "a suspended Job loses its Pods": Row(
        objects=[ZONES[0], SMALL[0], *(run_of("big", "", "")[:1])],
        ask=["simulate"],
        manifests=[{**run_of("big", "", "")[0], "spec": {**run_of("big", "", "")[0]["spec"], "suspend": True}}],
        says=["no Pod is evicted, none is Pending"],
    ),
    "of which cluster a dump says no more is not known": Row(
        objects=[
            workload("Deployment", "web", pods=template(ON_ZONES)),
            *pods_of("ReplicaSet", "web-h1", "a1", pods=template(ON_ZONES)),
        ],
        ask=["rebalance"],
        code=3,
        says=["incomplete: list nodes (not in the files)"],
        says_not=["The constraint is satisfied"],
    ),
    "a claim that runs somewhere is not missing": Row(
        objects=[*THREE, *stateful("a1", "b1", "", pods=CLAIMING)],
        ask=["why-pending"],
        code=3,
        says=["list persistentvolumeclaims (not in the files): its volumes were not evaluated"],
        says_not=["not found"],
    ),
    "where volumes can go that were not read is not known after a drain": Row(
        objects=[*THREE, *stateful("a1", "b1", pods=CLAIMING)],
        ask=["simulate", "--drain=a1"],
        code=3,
        says=["incomplete: list persistentvolumeclaims (not in the files): whether nodes suit the volumes of Pods"],
    ),
    "no Pod is evicted whose volumes were not read": Row(
        objects=[*THREE, *stateful("a1", "a1", "a1", pods=CLAIMING)],
        ask=["rebalance"],
        code=3,
        says=["No eviction is planned for 1 violated constraint: not all is known.", "incomplete: list persistentvol"],
        says_not=["/eviction"],
    ),
    "the flags of kubectl drain that every drain has are taken": Row(
        objects=[*ZONES, pod("p", on="a1", volumes=EMPTY, owner=controller("CloneSet", "c"))],
        ask=["simulate", "--drain=a1", "--ignore-daemonsets", "--delete-emptydir-data"],
        says=["drain a1: 1 Pod evicted", "`kubectl drain a1 --delete-emptydir-data`"],
    ),
    "the flags of kubectl drain that choose and delete Pods mean what they mean there": Row(
        objects=[*ZONES, pod("p", on="a1", labels={"app": "p"}, owner=controller("CloneSet", "c")), pod("q", on="a1")],
        ask=["simulate", "--drain=a1", "--disable-eviction", "--pod-selector=app=p"],
        says=["drain a1 --disable-eviction --pod-selector=app=p: 1 Pod deleted, none Pending."],
    ),
    "no Pod is evicted whose replacement its group may hold": Row(
        objects=[*THREE, *deployed("a1", "a1", "a1", pods=GROUPED)],
        ask=["rebalance"],
        code=3,
        says=["No eviction is planned for 1 violated constraint: not all is known.", "incomplete: PodGroup g (not ev"],
        says_not=["/eviction"],
    ),
    "a Pod that its group may hold is not known to find a node": Row(
        objects=[*THREE, *deployed("a1", "b1", pods=GROUPED)],
        ask=["simulate", "--scale=deployment/web=3"],
        code=3,
        says=["incomplete: PodGroup g (not evaluated): the Pod is held until its PodGroup is complete."],
    ),
    "a plan within --max may help no constraint though others would": Row(
        objects=[*THREE, node("d1", zone="d"), *deployed("a1", "a1", "a1", "b1", "b1", "b1")],
        ask=["rebalance", "--max=1"],
        code=1,
        says=["No eviction is planned for 1 violated constraint."],
    ),
    "a Pod is evicted whose volumes suit every node": Row(
        objects=[
            *THREE,
            claim("data", bound_to="pv", modes=MANY),
            volume("pv"),
            *stateful("a1", "a1", "a1", pods=CLAIMING),
        ],
        ask=["rebalance"],
        code=1,
        says=["/eviction"],
        says_not=["incomplete"],
    ),
    "a removed node is drained with its flags": Row(
        objects=[*ZONES, pod("p", on="a1", volumes=EMPTY), pod("q", on="a1"), *deployed("a1")],
        ask=["simulate", "--remove=a1"],
        code=1,
        says=["3 Pods blocked", "kubectl drain a1 --delete-emptydir-data", "web-h1-0: the drain was refused"],
        says_not=["evicted,", "Evicted:"],
    ),
    "lost Pods are counted": Row(
        objects=[*ZONES, pod("p", on="a1"), pod("q", on="a1"), *deployed("a1")],
        ask=["simulate", "--drain=a1", "--force"],
        says=["--force because of default/p, default/q (no controller recreates them)", "2 Pods lost"],
    ),
    "a deleted Pod is not evicted": Row(
        objects=[*ZONES, *deployed("a1")],
        ask=["simulate", "--delete=pod/web-h1-0"],
        says=["1 Pod deleted", "Deleted: web-h1-0 (default/deployment/web)."],
        says_not=["evicted", "Evicted"],
    ),
    "empty lists of a Node's manifest are empty": Row(
        objects=[*ZONES, SHUT, *deployed("a1", "b1", "")],
        ask=["simulate"],
        manifests=[{**SHUT, "spec": {"taints": []}}],
        says=["none is Pending", "Blocked → OK"],
    ),
    "what an emptyDir holds stops a drain": Row(
        objects=[*ZONES, *deployed("a1", pods=template(volumes=[{"name": "scratch", "emptyDir": {}}]))],
        ask=["simulate", "--drain=a1"],
        says=["kubectl drain a1 --delete-emptydir-data"],
    ),
    "a mirror Pod is made again": Row(
        objects=[
            *ZONES,
            MIRROR,
        ],
        ask=["simulate", "--delete=pod/etcd-a1"],
        says=["The kubelet of a1 recreates the mirror Pod default/etcd-a1"],
        says_not=["lost"],
    ),
    "the kubelet makes a mirror Pod again once its node answers": Row(
        objects=[*ZONES, MIRROR],
        ask=["simulate", "--lose=a1"],
        says_not=["lost", "Deleted for good"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_is_said_is_so(tmp_path: Path, row: Row) -> None:
    assert row.wrong(tmp_path) == ""
