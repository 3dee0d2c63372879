"""The rules behind answers that once were wrong, for other kinds of workloads and other causes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.build import HOSTNAME, ZONE, Object, app, node, spread
from tests.build_workloads import controller, cron_job, held_revision, revision, template, workload
from tests.cli.once_wrong import ON_ZONES, SHUT, ZONES, Row, deployed, pods_of
from tests.cli.test_once_wrong_rows import THREE, stateful

SSD = template(ON_ZONES, nodeSelector={"disk": "ssd"})
REPAIRED = template(ON_ZONES)
LARGE = template(ON_ZONES, requests={"cpu": "2"})
FULL = node("c2", zone="c", allocatable={"cpu": "1"})
REBOOTING = node("c1", zone="c", unschedulable=True)
REBOOTING["metadata"]["annotations"] = {"weave.works/kured-reboot-in-progress": "now"}
SOFT = template(spread(ZONE, selector=app("web"), soft=True), requests={"cpu": "2"})
DISK = node("b2", zone="b", taints=["node.kubernetes.io/disk-pressure:NoSchedule"])


def on_its_node(pods: Sequence[Object], *names: str) -> Sequence[Object]:
    """Return the Pods of a DaemonSet, each with the affinity that confines it to its node."""
    for each, name in zip(pods, names, strict=True):
        field = {"key": "metadata.name", "operator": "In", "values": [name]}
        terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        each["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return pods


def gated(*gates: str) -> list[Object]:
    """Return a StatefulSet whose third Pod has these scheduling gates."""
    made = stateful("a1", "b1", "", podManagementPolicy="Parallel")
    made[-1]["spec"]["schedulingGates"] = [{"name": each} for each in gates]
    return made


def of_two_revisions(*, paused: bool = False) -> list[Object]:
    """Return a Deployment whose template was repaired; the Pods of its only ReplicaSet are older and Pending."""
    older = revision("web", 1, pods=SSD)
    older["spec"]["replicas"] = 2
    pods = pods_of("ReplicaSet", "web-h1", "", "", pods=older["spec"]["template"])
    return [workload("Deployment", "web", pods=REPAIRED, replicas=2, paused=paused), older, *pods]


def stuck_deployment() -> list[Object]:
    """Return a Deployment whose rollout is stuck at its first Pod: the two others have the template before it."""
    sets = [revision("web", 1, pods=REPAIRED), revision("web", 2, pods=SSD)]
    sets[0]["spec"]["replicas"], sets[1]["spec"]["replicas"] = 2, 1
    old = pods_of("ReplicaSet", "web-h1", "a1", "b1", pods=sets[0]["spec"]["template"])
    new = pods_of("ReplicaSet", "web-h2", "", pods=sets[1]["spec"]["template"])
    rolling = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    return [workload("Deployment", "web", pods=SSD, replicas=3, strategy=rolling), *sets, *old, *new]


def stuck_stateful_set() -> list[Object]:
    """Return a StatefulSet whose update is stuck at its last Pod: the two others have the template before it."""
    made = stateful("a1", "b1", "", pods=SSD)
    made[0]["status"] = {"currentRevision": "db-1", "updateRevision": "db-2"}
    for each in made[1:3]:
        del each["spec"]["nodeSelector"]
    made[-1]["metadata"]["labels"]["controller-revision-hash"] = "db-2"
    return [*made, held_revision("db-1", REPAIRED), held_revision("db-2", SSD)]


def nightly_run() -> list[Object]:
    """Return a CronJob whose template was repaired after its last run was created."""
    old, new = (template(ON_ZONES, restartPolicy="Never", **more) for more in ({"nodeSelector": {"disk": "ssd"}}, {}))
    job = workload("Job", "nightly-1", pods=old, parallelism=1, owner=controller("CronJob", "nightly"))
    return [cron_job("nightly", pods=new), job, *pods_of("Job", "nightly-1", "", pods=old)]


ROWS = {
    "rebalance keeps a taint that was set on purpose": Row(
        objects=[*ZONES, SHUT, *deployed("a1", "a1", "b1")],
        ask=["rebalance"],
        code=1,
        says=["Fix this first, then plan again: set nodeTaintsPolicy Honor", "Replaces 3 Pods of deployment/web."],
        says_not=["kubectl taint", "tolerate the taint"],
    ),
    "rebalance has no command for a decision where a node is full as well": Row(
        objects=[*ZONES, SHUT, FULL, *deployed("a1", "a1", "b1", pods=LARGE)],
        ask=["rebalance"],
        code=1,
        says=["What keeps Pods off these domains was set on purpose: ask whether it may be changed"],
        says_not=["kubectl taint", "kubectl patch", "Fix this first"],
    ),
    "rebalance waits for the end of maintenance": Row(
        objects=[*ZONES, REBOOTING, FULL, *deployed("a1", "a1", "b1", pods=LARGE)],
        ask=["rebalance"],
        code=1,
        says=["Wait for c1 to be uncordoned: maintenance goes on there. Then plan again."],
        says_not=["kubectl uncordon", "kubectl patch", "set on purpose"],
    ),
    "rebalance waits for a node of the emptiest domain alone": Row(
        objects=[*ZONES, SHUT, FULL, DISK, *deployed("a1", "a1", "b1", pods=SOFT)],
        ask=["rebalance", "--soft"],
        code=1,
        says=["What keeps Pods off these domains was set on purpose"],
        says_not=["Wait for b2"],
    ),
    "rebalance over hosts keeps it too": Row(
        objects=[
            *ZONES,
            SHUT,
            *stateful("a1", "a1", "b1", pods=template(spread(HOSTNAME, selector=app("web")))),
        ],
        ask=["rebalance"],
        code=1,
        says=["kubectl patch statefulset db", "nodeTaintsPolicy"],
        says_not=["kubectl taint"],
    ),
    "a gate holds the Pod, whatever nodes take it": Row(
        objects=[*THREE, *gated("example.com/a")],
        ask=["show", "statefulset/db"],
        says=["OK: held by the scheduling gate example.com/a", "Once it is removed: it can go to c1."],
        says_not=["is Pending: it can go"],
    ),
    "two gates are two": Row(
        objects=[*THREE, *gated("example.com/a", "example.com/b")],
        ask=["why-pending"],
        code=1,
        says=["held by the scheduling gates example.com/a and example.com/b. Once they are removed: "],
    ),
    "a repaired ReplicationController": Row(
        objects=[
            *THREE,
            workload("ReplicationController", "rc", pods=REPAIRED, replicas=2),
            *pods_of("ReplicationController", "rc", "", "", pods=SSD),
        ],
        ask=["why-pending"],
        code=1,
        says=["kubectl delete pod rc-0 rc-1 -n default", "Then both Pending Pods can be scheduled, this one on "],
        says_not=["RelaxNodeSelector"],
    ),
    "a repaired DaemonSet that replaces nothing by itself": Row(
        objects=[
            *ZONES,
            workload("DaemonSet", "agent", pods=template(), updateStrategy={"type": "OnDelete"}),
            *on_its_node(pods_of("DaemonSet", "agent", "", pods=template(requests={"cpu": "100"})), "b1"),
        ],
        ask=["why-pending"],
        code=1,
        says=["Then this Pod can go to b1.", "kubectl delete pod agent-0 -n default"],
    ),
    "a repaired Deployment replaces its Pods": Row(
        objects=[*THREE, *of_two_revisions()],
        ask=["why-pending"],
        code=1,
        says=["Wait for the rollout of deployment/web: it replaces this Pod, which is of an older revision."],
        says_not=["RelaxNodeSelector", "makes room"],
    ),
    "a repaired Deployment that is paused replaces them once it is resumed": Row(
        objects=[*THREE, *of_two_revisions(paused=True)],
        ask=["why-pending"],
        code=1,
        says=["deployment/web is paused", "kubectl rollout resume deployment/web"],
        says_not=["kubectl patch"],
    ),
    "a stuck rollout can be undone": Row(
        objects=[*THREE, *stuck_deployment()],
        ask=["why-pending"],
        code=1,
        says=[
            "  1. RollBack: go back to revision 1 of deployment/web. This undoes what the newest revision changed: ",
            " deployment/web uses replicaset/web-h1 again: its 2 Pods stay. Then the Pending ",
            " Pod is deleted, and 1 new Pod can go to c1. No running Pod restarts.\n     kubectl rollout undo deploy",
            "  2. RelaxNodeSelector: ",
        ],
    ),
    "a repaired CronJob does not change the run that is stuck": Row(
        objects=[*THREE, *nightly_run()],
        ask=["why-pending"],
        code=1,
        says=["Recreates job/nightly-1", "kubectl get job nightly-1 "],
        says_not=["by hand"],
    ),
    "a StatefulSet that goes back to a revision keeps its Pods": Row(
        objects=[*THREE, *stuck_stateful_set()],
        ask=["why-pending"],
        code=1,
        says=["statefulset/db uses revision db-1 again: its 2 Pods stay."],
        says_not=["replaces 3 Pods", "RolloutMixesRevisions"],
    ),
    "a work queue of which a Pod still runs is not complete": Row(
        objects=[
            *THREE,
            workload("Job", "job", pods=REPAIRED, parallelism=2, status={"succeeded": 1, "active": 1}),
            *pods_of("Job", "job", "a1", pods=REPAIRED),
        ],
        ask=["show", "job/job"],
        says=["No next Pod: the Job has as many Pods as it wants."],
    ),
    "one Pod is one": Row(
        objects=[
            node("a1", zone="a"),
            ZONES[0],
            *deployed("", pods=template({**ON_ZONES, "minDomains": 2}, nodeSelector={"x": "y"})),
        ],
        ask=["why-pending"],
        code=1,
        says=["Replaces the Pod of deployment/web (it does not run yet)."],
        says_not=["none of them"],
    ),
    "one domain is one": Row(
        objects=[node("a1", zone="a"), ZONES[0], *deployed("a1", "", pods=template({**ON_ZONES, "minDomains": 2}))],
        ask=["show", "deployment/web"],
        says=["minDomains requires 2 domains of topology.kubernetes.io/zone, but there is 1 (a)"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_rule_holds_elsewhere(tmp_path: Path, row: Row) -> None:
    assert row.wrong(tmp_path) == ""
