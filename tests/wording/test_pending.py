"""The texts of ``why-pending`` besides the cause."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.workloads import PodName, Replicas
from kubectl_spread.diagnosis.events import Difference
from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Preemption
from kubectl_spread.wording import pending
from kubectl_spread.wording.pending import DIFFERENCES, preempts, waits_for_volumes


@pytest.mark.parametrize(
    ("wanted", "running", "text"),
    [
        (0, 0, ""),
        (1, 0, "its only replica"),
        (1, 1, "its only replica runs"),
        (3, 1, "1 of 3 replicas runs"),
        (3, 0, "0 of 3 replicas run"),
        (3, 2, "2 of 3 replicas run"),
        (3, 3, "all 3 replicas run"),
        (3, 4, "all 3 replicas run"),
    ],
)
def test_how_many_replicas_run(wanted: int, running: int, text: str) -> None:
    assert pending.at_work(Replicas(wanted=wanted, running=running)) == text


def test_the_first_line_about_a_pod_that_no_node_takes() -> None:
    assert pending.waiting_line("shop/web", "Why.", "", rolls_out=True) == "shop/web is Pending. Why."
    running = pending.waiting_line("shop/web", "Why.", "2 of 3 replicas run", rolls_out=True)
    assert running == "shop/web is Pending (rollout not finished: 2 of 3 replicas run). Why."


def test_what_was_never_created() -> None:
    assert pending.never_created(1, 3, refused_now=True) == (
        "1 of 3 Pods was never created, and the API server refuses the next one"
    )
    assert pending.never_created(2, 3, refused_now=False) == (
        "2 of 3 Pods were never created, and the last error of its controller was"
    )


def test_what_the_scheduler_said() -> None:
    assert pending.reported("now") == "The scheduler reported (now)"
    assert pending.reported("", last=True) == "The scheduler last reported"


def test_where_a_pod_can_be_scheduled() -> None:
    assert pending.schedulable(("a", "b"), undecided=False) == "it can be scheduled now, on a, b."
    assert pending.schedulable((), undecided=False) == "the scheduler has nothing to decide about it."
    assert pending.schedulable(("a",), undecided=True) == (
        "no evaluated filter rejects it on a, but not everything was evaluated."
    )


def test_every_difference_has_a_text_of_its_own() -> None:
    assert set(DIFFERENCES) == set(Difference)
    assert len(set(DIFFERENCES.values())) == len(Difference)


@pytest.mark.parametrize(
    ("victims", "text"),
    [
        (("a",), "preempts ns/a on n1"),
        (("a", "b"), "preempts ns/a and ns/b on n1"),
        (("a", "b", "c", "d"), "preempts ns/a, ns/b and 2 more on n1"),
    ],
)
def test_who_is_evicted_is_named(victims: tuple[str, ...], text: str) -> None:
    assert preempts(Preemption(node="n1", victims=tuple(PodName(namespace="ns", name=n) for n in victims))) == text


def test_nothing_is_worded_where_nobody_is_evicted() -> None:
    assert preempts(None) == ""


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        (("data",), "waits until ebs.csi.aws.com has created the volume of claim data."),
        (("data", "logs"), "waits until ebs.csi.aws.com has created the volumes of claims data, logs."),
    ],
)
def test_claims_are_named_with_who_makes_their_volumes(claims: tuple[str, ...], text: str) -> None:
    volumes = AwaitedVolumes(nodes=("b1",), claims=claims, provisioners=("ebs.csi.aws.com",))
    assert waits_for_volumes(volumes) == f"The scheduler has chosen b1 and {text}"
