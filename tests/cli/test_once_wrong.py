"""Answers that once were wrong, one row each: what is asked of a small cluster, what is said, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_devices import device_class, resource_slice
from tests.build_workloads import controller, kubectl_applied, owned, scaler, template, workload
from tests.cli.once_wrong import ON_ZONES, SHUT, ZONES, Row, deployed, mounting, run_of

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
THREE = (*ZONES, node("c1", zone="c"))
SMALL = [node(f"{zone}1", zone=zone, allocatable={"cpu": "2"}) for zone in "abc"]
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


WEB = workload("Deployment", "web", pods=template(ON_ZONES), replicas=3)
CLAIMING = template(ON_ZONES, **mounting("data"))
EMPTY = [{"name": "scratch", "emptyDir": {}}]
DOWN = ("node.kubernetes.io/unreachable:NoSchedule", "dedicated=x:NoExecute")

LARGE = template(ON_ZONES, requests={"cpu": "2"})
FULL_OF_ALL = node("c2", zone="c", allocatable={"cpu": "1"})
REBOOTING = node("c1", zone="c", unschedulable=True)
REBOOTING["metadata"]["annotations"] = {"weave.works/kured-reboot-in-progress": "now"}
SOFT = template(spread(ZONE, selector=app("web"), soft=True), requests={"cpu": "2"})
DISK = node("b2", zone="b", taints=["node.kubernetes.io/disk-pressure:NoSchedule"])
GATED = stateful("a1", "b1", "", podManagementPolicy="Parallel")
GATED[-1]["spec"]["schedulingGates"] = [{"name": "example.com/a"}]

ROWS = {
    "rebalance has no command for a decision where a node is full as well": Row(
        objects=[*ZONES, SHUT, FULL_OF_ALL, *deployed("a1", "a1", "b1", pods=LARGE)],
        ask=["rebalance"],
        code=1,
        says=["What keeps Pods off these domains was set on purpose: ask whether it may be changed"],
        says_not=["kubectl taint", "kubectl patch", "Fix this first"],
    ),
    "nobody set on purpose that a node is too small": Row(
        objects=[*ZONES, FULL_OF_ALL, *deployed("a1", "a1", "b1", pods=LARGE)],
        ask=["rebalance"],
        code=1,
        says=["c takes no more Pods: 2 cpu requested"],
        says_not=["set on purpose"],
    ),
    "rebalance waits for the end of maintenance": Row(
        objects=[*ZONES, REBOOTING, FULL_OF_ALL, *deployed("a1", "a1", "b1", pods=LARGE)],
        ask=["rebalance"],
        code=1,
        says=["Wait for c1 to be uncordoned: maintenance goes on there. Then plan again."],
        says_not=["kubectl uncordon", "kubectl patch", "set on purpose"],
    ),
    "a gate holds the Pod, whatever nodes take it": Row(
        objects=[*THREE, *GATED],
        ask=["show", "statefulset/db"],
        says=["OK: held by the scheduling gate example.com/a", "Once it is removed: it can go to c1."],
        says_not=["is Pending: it can go"],
    ),
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
    "nodes are counted, not taints": Row(
        objects=[*ZONES, *(node(f"c{n}", zone="c", taints=DOWN) for n in (1, 2)), *deployed("a1", "b1")],
        ask=["show"],
        says=["no Pod can go to c: taint node.kubernetes.io/unreachable:NoSchedule, dedicated=x:NoExecute;"],
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
    "another Pod has the name of an ordinal": Row(
        objects=[*THREE, pod("db-1", on="b1", app="other")],
        ask=["check"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=3)],
        code=1,
        says=['Pod 2 of 3 is refused by the API server: pods "db-1" already exists', "Replicas: a1\n"],
    ),
    "a Deployment replaces the Pods of the ReplicaSet that it adopts": Row(
        objects=[*THREE, *stray_replica_set("a1", "b1", "c1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=3)],
        says=[
            "Rollout: RollingUpdate, 3 Pods exist, 3 to be replaced. Assumed: it adopts replicaset/web-h1 and its Pods."
        ],
    ),
    "an autoscaler that decides the replicas of a manifest is named": Row(
        objects=[
            *THREE,
            *scaled_to(5, workload("Deployment", "web", pods=template(ON_ZONES), replicas=2)),
            *deployed("a1", "b1", "c1", "a1", "b1")[1:],
            scaler(4, 8),
        ],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES), replicas=2)],
        says=["HorizontalPodAutoscaler web scales deployment/web between 4 and 8 replicas: leave replicas out"],
        says_not=["or kubectl scale"],
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
    "Pods that a rollout does not replace are deleted": Row(
        objects=[*THREE, *deployed("a1", "b1", "c1", "a1", "b1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=2)],
        says=["5 Pods exist, 2 to be replaced, 3 to be deleted."],
    ),
    "Pods that a rollout not finished deletes anyway are not deleted by the step": Row(
        objects=[*THREE, WEB, *deployed("a1", "b1", "c1", "a1")[1:]],
        ask=["simulate"],
        manifests=[node("d1", zone="d")],
        says=["safe. No Pod is newly Pending."],
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
        says=["3 Pods are deleted and not replaced", "Deployment/web: metadata.deletionTimestamp: it is being deleted"],
    ),
    "a running Pod whose change is refused is not placed": Row(
        objects=[*THREE, pod("web", on="a1", status=READY)],
        ask=["check"],
        manifests=[pod("web", nodeSelector={"disk": "ssd"})],
        code=1,
        says=["pod/web: the API server refuses it.\ninvalid: spec: Forbidden"],
        says_not=["Otherwise", "REJECTED-BY", "the Pod is unchanged"],
    ),
    "an unready Pod does not hide the one after it": Row(
        objects=[*ZONES, SHUT, *stateful("a1", "b1", status=UNREADY)],
        ask=["check", "--replicas=3"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=2)],
        code=1,
        says=["zone c, which has the fewest Pods (0)"],
        says_not=["no Pod needs to be scheduled"],
    ),
    "a suspended Job loses its Pods": Row(
        objects=[ZONES[0], SMALL[0], *(run_of("big", "", "")[:1])],
        ask=["simulate"],
        manifests=[{**run_of("big", "", "")[0], "spec": {**run_of("big", "", "")[0]["spec"], "suspend": True}}],
        says=["safe. No Pod is newly Pending."],
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
        says=["drain a1: safe. The evicted Pod gets another node.", "`kubectl drain a1 --delete-emptydir-data`"],
    ),
    "the flags of kubectl drain that choose and delete Pods mean what they mean there": Row(
        objects=[*ZONES, pod("p", on="a1", labels={"app": "p"}, owner=controller("CloneSet", "c")), pod("q", on="a1")],
        ask=["simulate", "--drain=a1", "--disable-eviction", "--pod-selector=app=p"],
        says=["drain a1 --disable-eviction --pod-selector=app=p: safe. The deleted Pod gets another node."],
    ),
    "a Pod that its group may hold is not known to find a node": Row(
        objects=[*THREE, *deployed("a1", "b1", pods=GROUPED)],
        ask=["simulate", "--scale=deployment/web=3"],
        code=3,
        says=["incomplete: PodGroup g (not evaluated): the Pod is held until its PodGroup is complete."],
    ),
    "a removed node is drained with its flags": Row(
        objects=[*ZONES, pod("p", on="a1", volumes=EMPTY), pod("q", on="a1"), *deployed("a1")],
        ask=["simulate", "--remove=a1"],
        code=1,
        says=[
            "not safe: 3 Pods cannot be evicted",
            "kubectl drain a1 --delete-emptydir-data",
            "web-h1-0: the drain was refused",
        ],
        says_not=["EVICTED", "Evicted:"],
    ),
    "claims that do not exist are one cause": Row(
        objects=[*ZONES, pod("p", **mounting("one")), pod("q", **mounting("two"))],
        ask=["why-pending"],
        code=1,
        says=["a claim does not exist; Pending: 2 Pods of 2 workloads"],
    ),
    "Pods on a node that does not exist are a line": Row(
        objects=[*THREE, *deployed("a1", "b1", "gone")],
        ask=["show"],
        says=["1 Pod of default/deployment/web is on a node that does not exist, and not counted: web-h1-2 (gone)."],
    ),
    "a node without the key gets a command to label it": Row(
        objects=[node("a1", zone="a", allocatable={"pods": "0"}), node("b1"), *deployed("")],
        ask=["why-pending"],
        code=1,
        says=["     kubectl label node b1 topology.kubernetes.io/zone=<zone>\n", " Other nodes have a."],
        says_not=["No safe fix was found"],
    ),
    "every namespace of a file is shown, and that is said first": Row(
        objects=[*THREE, *deployed("a1"), pod("p", namespace="other", topologySpreadConstraints=[ON_ZONES])],
        ask=["show"],
        says=[": default, other. To show one, use -n.\nNAMESPACE "],
    ),
    "a namespace that is named is the only one of a file": Row(
        objects=[*THREE, *deployed("a1"), pod("p", namespace="other", topologySpreadConstraints=[ON_ZONES])],
        ask=["show", "-n", "other"],
        says_not=["default", "All namespaces"],
    ),
    "a Pod that chance leaves without a node makes a step unsafe": Row(
        objects=[*THREE, *deployed("a1", "b1", "c1", pods=template(spread(HOSTNAME, selector=app("web"), maxSkew=2)))],
        ask=["simulate", "--lose=a1", "--scale=deployment/web=2"],
        says=["lose a1: safe. The evicted Pod gets another node."],
    ),
    "lost Pods are counted": Row(
        objects=[*ZONES, pod("p", on="a1"), pod("q", on="a1"), *deployed("a1")],
        ask=["simulate", "--drain=a1", "--force"],
        says=[
            "--force because of default/p, default/q (no controller recreates them)",
            "safe, but 2 Pods are deleted for good",
        ],
    ),
    "a deleted Pod is not evicted": Row(
        objects=[*ZONES, *deployed("a1")],
        ask=["simulate", "--delete=pod/web-h1-0"],
        says=["safe. The deleted Pod gets another node.", "DELETED", "Deleted: web-h1-0."],
        says_not=["evicted", "Evicted"],
    ),
    "another Pod has the name of the next ordinal": Row(
        objects=[*THREE, pod("db-1", on="b1", app="other"), *stateful("a1")[1:], *stateful("a1", "", "")[:1]],
        ask=["show"],
        says=["FailedCreate", 'pods "db-1" already exists'],
    ),
    "ordinals are created in batches until a name is taken": Row(
        objects=[*THREE, pod("db-1", on="b1", app="other")],
        ask=["check"],
        manifests=[workload("StatefulSet", "db", pods=template(ON_ZONES), replicas=5, podManagementPolicy="Parallel")],
        code=1,
        says=['Pod 3 of 5 is refused by the API server: pods "db-1" already exists', "Replicas: a1, c1\n"],
    ),
    "the Pods of a Deployment stay that is deleted without them": Row(
        objects=[*THREE, *going(deployed("a1", "b1", "c1"), "orphan")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES, image="app:2"), replicas=5)],
        says=["Rollout: Scale, 3 Pods exist. Assumed: it is being deleted, so no Pod is created."],
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
        says=["but constraint 0 (zone) may be Violated in the end, depending on chance (skew up to 2)."],
    ),
    "no Pod is evicted whose replacement its group may hold": Row(
        objects=[*THREE, *deployed("a1", "a1", "a1", pods=GROUPED)],
        ask=["rebalance"],
        code=3,
        says=["No eviction is planned for 1 violated constraint: not all is known.", "incomplete: PodGroup g (not ev"],
        says_not=["/eviction"],
    ),
    "rebalance waits for a node of the emptiest domain alone": Row(
        objects=[*ZONES, SHUT, FULL_OF_ALL, DISK, *deployed("a1", "a1", "b1", pods=SOFT)],
        ask=["rebalance", "--soft"],
        code=1,
        says=["What keeps Pods off these domains was set on purpose"],
        says_not=["Wait for b2"],
    ),
    "a paused Deployment that adopts a ReplicaSet has its Pods": Row(
        objects=[*THREE, *stray_replica_set("a1", "b1", "c1")],
        ask=["check"],
        manifests=[workload("Deployment", "web", pods=template(ON_ZONES), replicas=2, paused=True)],
        says=["3 Pods exist, 1 to be deleted. Assumed: it adopts replicaset/web-h1 and its Pods. It is paused, so no"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_is_said_is_so(tmp_path: Path, row: Row) -> None:
    assert row.wrong(tmp_path) == ""
