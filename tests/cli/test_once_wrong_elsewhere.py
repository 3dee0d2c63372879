"""The rules behind answers that once were wrong, for other kinds of workloads and other causes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import revision, template, workload
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


def gated(*gates: str) -> list[Object]:
    """Return a StatefulSet whose third Pod has these scheduling gates."""
    made = stateful("a1", "b1", "", podManagementPolicy="Parallel")
    made[-1]["spec"]["schedulingGates"] = [{"name": each} for each in gates]
    return made


def stuck_deployment() -> list[Object]:
    """Return a Deployment whose rollout is stuck at its first Pod: the two others have the template before it."""
    sets = [revision("web", 1, pods=REPAIRED), revision("web", 2, pods=SSD)]
    sets[0]["spec"]["replicas"], sets[1]["spec"]["replicas"] = 2, 1
    old = pods_of("ReplicaSet", "web-h1", "a1", "b1", pods=sets[0]["spec"]["template"])
    new = pods_of("ReplicaSet", "web-h2", "", pods=sets[1]["spec"]["template"])
    rolling = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    return [workload("Deployment", "web", pods=SSD, replicas=3, strategy=rolling), *sets, *old, *new]


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
    "a gate holds the Pod, whatever nodes take it": Row(
        objects=[*THREE, *gated("example.com/a")],
        ask=["show", "statefulset/db"],
        says=["OK: held by the scheduling gate example.com/a", "Once it is removed: it can go to c1."],
        says_not=["is Pending: it can go"],
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
    "a work queue of which a Pod still runs is not complete": Row(
        objects=[
            *THREE,
            workload("Job", "job", pods=REPAIRED, parallelism=2, status={"succeeded": 1, "active": 1}),
            *pods_of("Job", "job", "a1", pods=REPAIRED),
        ],
        ask=["show", "job/job"],
        says=["No next Pod: the Job has as many Pods as it wants."],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_rule_holds_elsewhere(tmp_path: Path, row: Row) -> None:
    assert row.wrong(tmp_path) == ""
