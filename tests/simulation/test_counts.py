"""A simulation counts the Pods of a constraint as show does, also where the scheduler counts otherwise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.exit_code import ExitCode
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import controller, template, workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import SERVICE, rows_of
from tests.simulation.test_steps import READY, SIX, deployment, item, last, pending, running, simulated

BY_ZONE = spread(ZONE, selector=app("web"), soft=True)
DAEMONS = [
    workload("DaemonSet", "web", pods=template(BY_ZONE)),
    *(
        running(f"web-{on}", on, controller("DaemonSet", "web"), topologySpreadConstraints=[BY_ZONE])
        for on in ("a1", "a2", "b1")
    ),
]
NO_ZONE = [SERVICE, node("x"), *deployment(["a1", "a2", "b1", "c1", "x", "x"])]


def in_zones(objects: Sequence[Object]) -> SimulatedItem:
    """Return what a simulation without effect says of the constraint on zones."""
    options = SimulateOptions(steps=(("uncordon", "a1"),), defaults=True)
    (step,) = simulate(Memory(objects), Scope(namespace=""), options, SchedulerOptions()).steps
    return next(item for item in step.items if item.constraint.topology_key == ZONE)


@pytest.mark.parametrize(
    ("objects", "counts", "skew"),
    [
        # differs: kube-scheduler has a domain "" then, but scores no node by it.
        ([*SIX, *NO_ZONE], {"a": 2, "b": 1, "c": 1}, 1),
        # Each Pod counts its own node alone.
        ([*SIX, *DAEMONS], {"a": 2, "b": 1, "c": 0}, 0),
    ],
    ids=["nodes without the key", "daemons"],
)
def test_a_simulation_counts_as_show_does(objects: Sequence[Object], counts: dict[str, int], skew: int) -> None:
    item = in_zones(objects)
    assert (item.before, item.skew_before) == (counts, skew)
    row = next(row for row in rows_of(objects, defaults=True) if row.constraint.topology_key == ZONE)
    shown = {domain.value: domain.matching for domain in row.constraint.domains}
    assert (shown, row.constraint.skew, row.status) == (counts, skew, item.status_before)


@pytest.mark.parametrize("full", [False, True])
def test_a_pod_that_waits_decides_the_status_as_in_show(full: bool) -> None:  # noqa: FBT001 - a parameter of the test
    constraint, room = spread(ZONE, selector=app("web")), {"cpu": "2"}
    daemon = {"requests": room, "topologySpreadConstraints": [constraint]}
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "1" if full and zone == "c" else "4"}) for zone in "abc"]
    made = workload("DaemonSet", "web", pods=template(constraint, requests=room))
    living = [running(f"web-{on}", on, controller("DaemonSet", "web"), **daemon) for on in ("a1", "b1")]
    report = simulated([*nodes, made, *living], "restart daemonset/web")
    found, status = item(report.steps[0]), SpreadStatus.UNSCHEDULABLE if full else SpreadStatus.NO_EFFECT
    assert (found.status_before, found.status_after, report.steps[0].newly_pending) == (status, status, False)
    assert (pending(report.steps[0]), exit_codes.of_simulate(report)) == (
        {"daemonset/web": (1, 1)} if full else {},
        ExitCode.ANSWERED,
    )


def test_pods_without_a_revisions_label_have_the_status_of_show() -> None:
    strict, loose = (spread(ZONE, selector=app("web"), maxSkew=most) for most in (1, 2))
    owner, rolls = controller("StatefulSet", "web"), {"currentRevision": "web-1", "updateRevision": "web-2"}
    made = workload("StatefulSet", "web", pods=template(loose), replicas=4, updateStrategy={"type": "OnDelete"})
    made["status"] = rolls
    old = [running(f"web-{n}", "a1", owner, topologySpreadConstraints=[strict]) for n in range(3)]
    new = running("web-3", "b1", owner, topologySpreadConstraints=[loose])
    new["metadata"]["labels"]["controller-revision-hash"] = "web-2"
    objects = [*SIX, made, *old, new]
    shown = {row.constraint.max_skew: row.status for row in rows_of(objects)}
    options = SimulateOptions(steps=(("uncordon", "a1"),))
    (step,) = simulate(Memory(objects), Scope(namespace=""), options, SchedulerOptions()).steps
    assert shown[1] is SpreadStatus.VIOLATED
    assert {each.constraint.max_skew: each.status_before for each in step.items} == shown


def test_a_pod_of_an_older_revision_that_waits_decides_the_status_as_in_show() -> None:
    by_zone = spread(ZONE, selector=app("web"))
    made = workload("StatefulSet", "web", pods=template(by_zone), replicas=3)
    made["status"] = {"currentRevision": "web-2", "updateRevision": "web-3"}
    pods = [
        running(f"web-{n}", on, controller("StatefulSet", "web"), topologySpreadConstraints=[by_zone])
        for n, on in enumerate(("a1", "b1", ""))
    ]
    for each in pods:
        each["metadata"]["labels"]["controller-revision-hash"] = "web-1"
    objects = [*SIX[:4], node("c1", zone="c", unschedulable=True), made, *pods]
    (row,), found = rows_of(objects), item(last(objects, "uncordon a1"))
    assert (row.status, found.status_before, found.status_after) == (SpreadStatus.BLOCKED,) * 3


def test_old_revisions_that_shared_a_row_with_the_newest_have_its_status(tmp_path: Path) -> None:
    strict, loose = (spread(ZONE, selector=app("web"), maxSkew=most) for most in (1, 2))
    owner, by_hand = controller("StatefulSet", "web"), {"type": "OnDelete"}
    pods = map(template, (strict, loose))
    made, then = (workload("StatefulSet", "web", pods=each, replicas=3, updateStrategy=by_hand) for each in pods)
    made["status"] = {"currentRevision": "web-1", "updateRevision": "web-2"}
    living = [running(f"web-{n}", "a1", owner, topologySpreadConstraints=[strict]) for n in range(3)]
    for each, number in zip(living, "112", strict=True):
        each["metadata"]["labels"]["controller-revision-hash"] = f"web-{number}"
    path = tmp_path / "web.json"
    path.write_text(json.dumps(then), encoding="utf-8")
    step = last([*SIX, made, *living], f"apply {path}")
    was = {each.revision: each.status_before for each in step.items if each.old}
    assert was == dict.fromkeys(("web-1", "web-2"), SpreadStatus.VIOLATED)
    assert [each.status_before for each in step.items if not each.old] == [None]


def test_a_job_that_has_failed_has_no_problem_as_in_show() -> None:
    constraint, owner = spread(ZONE, selector=app("web")), controller("Job", "web")
    made = workload("Job", "web", pods=template(constraint, restartPolicy="Never"), parallelism=2, backoffLimit=0)
    fields = {"topologySpreadConstraints": [constraint], "restartPolicy": "Never"}
    living = [running(f"web-{on}", on, owner, **fields) for on in ("a1", "a2")]
    found = item(last([*SIX[:2], made, *living], "drain a1"))
    assert (found.status_before, found.status_after) == (SpreadStatus.NO_EFFECT, SpreadStatus.OK)


@pytest.mark.parametrize(("old", "new", "after"), [("other", "web", 1), ("web", "other", 0)])
def test_a_pod_is_counted_by_the_labels_that_are_applied(tmp_path: Path, old: str, new: str, after: int) -> None:
    objects = [*SIX, *deployment(["a1", "b1", "c1"], spread(ZONE, selector={"matchLabels": {"team": "web"}}))]
    bare = pod("bare", on="a1", labels={"team": old}, status=READY)
    manifest = tmp_path / "bare.json"
    manifest.write_text(json.dumps(pod("bare", on="a1", labels={"team": new})), encoding="utf-8")
    assert item(last([*objects, bare], f"apply {manifest}")).after == {"a": after, "b": 0, "c": 0}
