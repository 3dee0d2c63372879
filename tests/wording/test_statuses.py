"""The one thing to know about each status of a row, and what stops one more replica."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.next_pod import NoneComes
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.preemption import Preemption
from kubectl_spread.diagnosis.statuses import (
    OK,
    BlockedBy,
    FailedCreate,
    Headroom,
    Idle,
    Incomplete,
    NoDomains,
    NoEffect,
    NoMoreWanted,
    Status,
    Uneven,
    Violated,
)
from kubectl_spread.gaps import NotModelled
from kubectl_spread.wording import statuses as show
from kubectl_spread.wording.statuses import status_text, stop_text

PREEMPTS = OK(preemption=Preemption(node="a1", victims=(PodName(namespace="shop", name="low"),)))


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (NoDomains(topology_key="rack"), "no node has rack"),
        (FailedCreate(message="exceeded quota: q"), "exceeded quota: q"),
        (Violated(skew=2, max_skew=1), "skew 2, maxSkew 1"),
        (NoEffect(why=Idle.NO_NODE_HAS_KEY, topology_key="rack"), "no node has rack"),
        (NoEffect(why=Idle.NO_SELECTOR, topology_key="rack"), "no labelSelector: it counts no Pod"),
        (Incomplete(gap=NotModelled(plugin="Gang")), "the result of Gang is not known"),
        (Uneven(skew=2, max_skew=1), "skew 2, maxSkew 1, only preferred"),
        (OK(), ""),
        (OK(manager="kueue.x-k8s.io/multikueue"), "kueue.x-k8s.io/multikueue creates its Pods"),
        (PREEMPTS, "preempts shop/low on a1"),
    ],
)
def test_the_one_thing_to_know(status: Status, text: str) -> None:
    assert status_text(status) == text


@pytest.mark.parametrize("why", Idle)
def test_a_constraint_without_effect_always_says_why(why: Idle) -> None:
    assert status_text(NoEffect(why=why, topology_key="rack"))


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (NoMoreWanted(), "the workload wants no more"),
        (BlockedBy(constraints=(("c",),)), "Blocked by c"),
        (
            BlockedBy(constraints=(("a", "b", "c", "d"), ("kubernetes.io/hostname",))),
            "Blocked by a, b and 2 more and kubernetes.io/hostname",
        ),
        (BlockedBy(constraints=(("c",), ("c",))), "Blocked by c"),
        (FailedCreate(message="exceeded quota: q"), "FailedCreate: exceeded quota: q"),
        (PREEMPTS, "preempts shop/low on a1"),
    ],
)
def test_what_stops_one_more_replica(stop: Status | BlockedBy | NoMoreWanted, text: str) -> None:
    assert stop_text(stop) == text


def test_which_pods_are_counted() -> None:
    assert (show.pods_text(5, 5), show.pods_text(7, 5)) == ("5", "7 (5 own)")
    spread = "a:5 b:0"
    assert show.counted_text(7, 5, spread) == "Counted: 7 Pods, of which 5 belong to this workload (a:5 b:0)."
    assert show.counted_text(2, 0, spread) == "Counted: 2 Pods, of which none belongs to this workload."
    assert show.ghosts_text(("a", "b")) == "Ghost Pods, which their own constraint does not count: a, b."


def test_where_the_next_replica_goes() -> None:
    assert show.next_replica(("a", "b"), "", some_read=False) == "Next replica: a, b."
    assert show.next_replica(("a",), "", some_read=True) == "Next replica: a, of the nodes whose Pods were read."
    assert show.next_replica((), "", some_read=True) == "Next replica: no node."


def test_why_no_pod_comes_next() -> None:
    texts = [show.next_replica((), show.NONE_COMES[each], some_read=False) for each in NoneComes]
    assert {
        "No next Pod: the Job is complete.",
        "No next Pod: a DaemonSet has one on each node that it selects.",
    } < set(texts)
    assert len(set(texts)) == len(NoneComes)


def test_a_pod_that_nobody_schedules_goes_where_its_template_says() -> None:
    reason = "its template sets spec.nodeName, so it is not scheduled"
    text = show.next_replica(("a1",), reason, some_read=False)
    assert text == "Next replica: a1 (its template sets spec.nodeName, so it is not scheduled)."


def test_where_a_pod_that_waits_can_go() -> None:
    unknown = "web-2 is Pending: where it can go is not known (why-pending explains why)."
    assert show.pending_pod("web-2", (), (), known=False) == unknown
    assert (
        show.pending_pod("web-2", (), (), known=True)
        == "web-2 is Pending: no node takes it (why-pending explains why)."
    )
    assert show.pending_pod("web-2", ("a1", "b1"), (), known=True) == "web-2 is Pending: it can go to a1, b1."
    by_preemption = show.pending_pod("web-2", ("a1",), (), known=True, preempting=True)
    assert by_preemption == "web-2 is Pending: it can go to a1 by preemption."
    assert show.pending_pod("web-2", ("a1",), ("x",), known=True) == (
        "web-2 is held by the scheduling gate x. Once it is removed: it can go to a1."
    )
    assert show.pending_pod("web-2", (), ("x", "y"), known=True) == (
        "web-2 is held by the scheduling gates x and y. Removing them is not enough. No node takes it (why-pending"
        " explains why)."
    )


def test_how_many_more_find_a_node() -> None:
    assert (
        show.headroom_text(Headroom(more=3, tried=4, then=NoMoreWanted())) == "3 more, then the workload wants no more"
    )
    assert show.headroom_text(Headroom(more=100, tried=100)) == "at least 100 more"
