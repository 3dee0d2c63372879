"""What the scheduler itself last said of a Pod."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.pending import EventReport
from kubectl_spread.diagnosis.events import compared, last_failure
from kubectl_spread.objects.core import Pod
from tests.build import Object, pod, snapshot
from tests.diagnosis.judged import ABC, TAINTED, incoming, report_of, web
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
        ([], [condition()], EventReport(message="by condition", time="T3")),
        ([], [condition("True")], None),
        ([], [condition(reason="SchedulingGated")], None),
        ([], [condition(type_="Ready"), condition()], EventReport(message="by condition", time="T3")),
        ([event("m")], [condition()], EventReport(message="m")),
        ([event("m", lastTimestamp="T1", count=4)], [], EventReport(message="m", time="T1", count=4)),
        (
            [event("new", lastTimestamp="T2"), event("old", lastTimestamp="T1")],
            [],
            EventReport(message="new", time="T2"),
        ),
        ([event("old", lastTimestamp="T1"), event("new", eventTime="T2")], [], EventReport(message="new", time="T2")),
        ([event("m", firstTimestamp="T0")], [], EventReport(message="m", time="T0")),
        (
            [event("m", eventTime="T1", series={"count": 7, "lastObservedTime": "T5"})],
            [],
            EventReport(message="m", time="T5", count=7),
        ),
        ([event("m", eventTime="T1", series={"count": 7})], [], EventReport(message="m", time="T1", count=7)),
        ([event("m", about="q")], [], None),
        ([event("m", reason="Killing")], [], None),
        ([event("m", uid="another")], [], None),
        ([event("m", uid="default/p")], [], EventReport(message="m")),
        ([event("m") | {"involvedObject": {"kind": "Node", "namespace": "default", "name": "p"}}], [], None),
    ],
    ids=in_order,
)
def test_the_newest_event_or_else_the_condition(
    events: Sequence[Object], conditions: Sequence[Object], last: EventReport | None
) -> None:
    cluster = snapshot([pod("p", status={"conditions": [*conditions]}), *events])
    waiting = cluster.get(Pod, "default", "p")
    assert waiting is not None
    assert last_failure(waiting, cluster) == last


BLOCKED = report_of(incoming(), [*TAINTED, *web("a1", "b1")])
FREE = report_of(incoming(), ABC)


@pytest.mark.parametrize(
    ("said", "report", "known", "differs"),
    [
        (str(BLOCKED.message), BLOCKED, True, ""),
        (f"{BLOCKED.message} preemption: 0/4 nodes are available.", BLOCKED, True, ""),
        (f"{str(BLOCKED.message).removesuffix('.')}, and more.", BLOCKED, True, ""),
        ("0/9 nodes are available.", BLOCKED, True, "the cluster has changed since, or while it was read"),
        ("0/9 nodes are available.", FREE, True, "it is out of date: the Pod can be scheduled now"),
        ("no queue", BLOCKED, False, "another scheduler said it"),
        ("no queue", FREE, False, "another scheduler said it"),
    ],
    ids=range(7),
)
def test_why_the_schedulers_last_word_differs(
    said: str, report: EvaluationReport, differs: str, *, known: bool
) -> None:
    event = compared(EventReport(message=said), report, known=known)
    assert event is not None
    assert event.message == said
    assert event.differs.startswith(differs)
    assert bool(event.differs) == bool(differs)


def test_there_may_be_no_word_to_compare() -> None:
    assert compared(None, BLOCKED, known=True) is None
