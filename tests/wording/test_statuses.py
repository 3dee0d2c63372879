"""The one thing to know about each status of a row, and what stops one more replica."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.preemption import Preemption
from kubectl_spread.diagnosis.statuses import (
    OK,
    BlockedBy,
    FailedCreate,
    Idle,
    Incomplete,
    NoDomains,
    NoEffect,
    NoMoreWanted,
    SpreadStatus,
    Status,
    Uneven,
    Violated,
)
from kubectl_spread.gaps import NotModelled
from kubectl_spread.wording.statuses import STATUSES, stop_text

PREEMPTS = OK(preemption=Preemption(node="a1", victims=(PodName(namespace="shop", name="low"),)))


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (NoDomains(topology_key="rack"), "no node carries rack"),
        (FailedCreate(message="exceeded quota: q"), "exceeded quota: q"),
        (Violated(skew=2, max_skew=1), "skew 2, maxSkew 1"),
        (NoEffect(why=Idle.NO_NODE_HAS_KEY, topology_key="rack"), "no node carries rack"),
        (NoEffect(why=Idle.NO_SELECTOR, topology_key="rack"), "no labelSelector: it counts no Pod"),
        (Incomplete(gap=NotModelled(plugin="Gang")), "what it would say is not known"),
        (Uneven(skew=2, max_skew=1), "skew 2, maxSkew 1, only preferred"),
        (OK(), ""),
        (OK(manager="kueue.x-k8s.io/multikueue"), "kueue.x-k8s.io/multikueue makes its Pods"),
        (PREEMPTS, "preempts shop/low on a1"),
    ],
)
def test_the_one_thing_to_know(status: Status, text: str) -> None:
    assert STATUSES.text(status) == text


@pytest.mark.parametrize("why", Idle)
def test_a_constraint_without_effect_always_says_why(why: Idle) -> None:
    assert STATUSES.text(NoEffect(why=why, topology_key="rack"))


def test_each_status_is_explained_the_worst_first() -> None:
    assert [each.name for each in STATUSES.entries] == list(SpreadStatus)


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (NoMoreWanted(), "no more are wanted"),
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
