"""What the scheduler itself last said of a Pod."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest

from kubectl_spread.diagnosis.events import Difference, LastFailure, difference, last_failure
from kubectl_spread.objects.core import Pod
from tests.build import Object, pod, snapshot
from tests.naming import in_order


def event(
    message: str, *, about: str = "p", reason: str = "FailedScheduling", uid: str = "", **fields: object
) -> Object:
    """Return an Event about a Pod of the namespace default."""
    involved = {"kind": "Pod", "namespace": "default", "name": about, "uid": uid}
    metadata = {"name": f"{about}.{zlib.crc32(message.encode())}", "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": metadata,
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        **fields,
    }


def condition(status: str = "False", reason: str = "Unschedulable", type_: str = "PodScheduled") -> Object:
    """Return a condition that says why."""
    return {"type": type_, "status": status, "reason": reason, "message": "by condition", "lastTransitionTime": "T3"}


@pytest.mark.parametrize(
    ("events", "conditions", "last"),
    [
        ([], [], None),
        ([], [condition()], LastFailure(message="by condition", time="T3")),
        ([], [condition("True")], None),
        ([], [condition(reason="SchedulingGated")], None),
        ([], [condition(type_="Ready"), condition()], LastFailure(message="by condition", time="T3")),
        ([event("m")], [condition()], LastFailure(message="m")),
        ([event("m", lastTimestamp="T1", count=4)], [], LastFailure(message="m", time="T1", count=4)),
        (
            [event("new", lastTimestamp="T2"), event("old", lastTimestamp="T1")],
            [],
            LastFailure(message="new", time="T2"),
        ),
        ([event("old", lastTimestamp="T1"), event("new", eventTime="T2")], [], LastFailure(message="new", time="T2")),
        ([event("m", firstTimestamp="T0")], [], LastFailure(message="m", time="T0")),
        (
            [event("m", eventTime="T1", series={"count": 7, "lastObservedTime": "T5"})],
            [],
            LastFailure(message="m", time="T5", count=7),
        ),
        ([event("m", eventTime="T1", series={"count": 7})], [], LastFailure(message="m", time="T1", count=7)),
        ([event("m", about="q")], [], None),
        ([event("m", reason="Killing")], [], None),
        ([event("m", uid="another")], [], None),
        ([event("m", uid="default/p")], [], LastFailure(message="m")),
        ([event("m") | {"involvedObject": {"kind": "Node", "namespace": "default", "name": "p"}}], [], None),
    ],
    ids=in_order,
)
def test_the_newest_event_or_else_the_condition(
    events: Sequence[Object], conditions: Sequence[Object], last: LastFailure | None
) -> None:
    cluster = snapshot([pod("p", status={"conditions": [*conditions]}), *events])
    waiting = cluster.get(Pod, "default", "p")
    assert waiting is not None
    assert last_failure(waiting, cluster) == last


MESSAGE = "0/4 nodes are available: 4 Insufficient cpu."


@pytest.mark.parametrize(
    ("of_scheduler", "ours", "known", "differs"),
    [
        (MESSAGE, MESSAGE, True, None),
        (f"{MESSAGE} preemption: 0/4 nodes are available.", MESSAGE, True, None),
        (f"{MESSAGE.removesuffix('.')}, and more.", MESSAGE, True, None),
        ("0/9 nodes are available.", None, True, None),
        ("0/9 nodes are available.", MESSAGE, True, Difference.CLUSTER_CHANGED),
        ("0/9 nodes are available.", "", True, Difference.SCHEDULABLE_NOW),
        ("no queue", MESSAGE, False, Difference.OTHER_SCHEDULER),
        ("no queue", "", False, Difference.OTHER_SCHEDULER),
        ("running PreBind plugin: binding volumes: timed out", "", True, Difference.GAVE_UP_ON_VOLUMES),
    ],
    ids=range(9),
)
def test_why_the_schedulers_last_message_differs(
    of_scheduler: str, ours: str | None, differs: Difference | None, *, known: bool
) -> None:
    failure = LastFailure(message=of_scheduler)
    assert difference(failure, ours, chosen=False, feasible=ours == "", known=known, complete=True) is differs


def test_a_message_from_before_the_scheduler_chose_a_node() -> None:
    failure = LastFailure(message=MESSAGE)
    assert difference(failure, "", chosen=True, feasible=True, known=True, complete=True) is Difference.NODE_CHOSEN


@pytest.mark.parametrize("feasible", [False, True])
def test_a_result_that_is_not_complete_does_not_make_the_message_old(*, feasible: bool) -> None:
    failure = LastFailure(message=MESSAGE)
    found = difference(failure, "", chosen=False, feasible=feasible, known=True, complete=False)
    assert found is Difference.NOT_EVALUATED
