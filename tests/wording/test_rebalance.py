"""Why a Pod is not to be evicted, and a constraint does not hold after a plan, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import KEEPING_CONTROLLERS, Kept, KeptByController, KeptByMark
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.diagnosis.planned_evictions import ItemReason, SatisfiedSoon
from kubectl_spread.diagnosis.reasons import RejectedByConstraint, RejectedByPlugin, UntoleratedTaints
from kubectl_spread.diagnosis.remaining_skew import (
    BreaksAnother,
    DomainShut,
    GoesElsewhere,
    NotBegun,
    PodsStay,
    RemainingCause,
    RemainingSkew,
    TooFewEvictions,
)
from kubectl_spread.rebalance.movable import StayCause, StayReason, Stays, VolumeShared
from kubectl_spread.rebalance.plan import PlanNote, SoftLeftOut, UnknownOwner, UpgradedPods
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.wording.rebalance import plan_note_text, plan_sentence, reason_of_item, remaining_text, waiting_text
from kubectl_spread.wording.stays import stay_text

REFUSED = EvictionRefused("No.")
TAINTED = UntoleratedTaints(taints=("a:NoExecute",))


KEPT: list[Kept] = [
    KeptByController("Job"),
    KeptByController("DaemonSet"),
    KeptByController("Node"),
    KeptByMark("karpenter.sh/do-not-disrupt", "true"),
]


def test_every_controller_that_keeps_its_pods_has_its_words() -> None:
    assert all(stay_text(KeptByController(kind)) for kind in KEEPING_CONTROLLERS)


STAYING: list[StayReason] = [
    Stays(StayCause.BEING_DELETED),
    Stays(StayCause.OTHER_SCHEDULER, "volcano"),
    Stays(StayCause.NO_CONTROLLER),
    Stays(StayCause.CONTROLLER_DELETED, "Job"),
    Stays(StayCause.SURPLUS, "ReplicaSet"),
    Stays(StayCause.NODE_SILENT, "a1"),
    Stays(StayCause.UNREADY, "web-0"),
    EvictionRefused("no"),
    Stays(StayCause.VOLUME_THERE),
    VolumeShared("data", "web-1"),
    Stays(StayCause.NOT_ASKED_ABOUT, "deployment/api"),
    Stays(StayCause.ROLLOUT, "deployment/api"),
    Stays(StayCause.REPLACEMENT_REFUSED, "spec: no"),
    Stays(StayCause.REPLACEMENT_GATED, "x/y"),
]


REMAINING: list[RemainingCause] = [
    PodsStay(("n", "p"), "a", REFUSED, others=0, alike=True),
    PodsStay(("n", "p"), "a", REFUSED, others=2, alike=True),
    PodsStay(("n", "p"), "b", REFUSED, others=2, alike=False),
    PodsStay(("n", "p"), "b", REFUSED, others=1, alike=False),
    DomainShut(
        "c", (RejectedByConstraint(index=0, topology_key="zone"), RejectedByPlugin(plugin="NodePorts"), TAINTED)
    ),
    GoesElsewhere(("a",), ("a", "b"), by_chance=True),
    GoesElsewhere(("a", "b", "c", "d"), ("e",), by_chance=False),
]


REASONS: list[ItemReason] = [SatisfiedSoon(), NotBegun(), RemainingSkew(TooFewEvictions())]


def test_a_search_that_was_cut_short() -> None:
    breaks = "every helpful eviction breaks another constraint, or leaves a Pod unschedulable"
    assert remaining_text(RemainingSkew(BreaksAnother(), Ended.PLACEMENTS)) == f"{breaks}; not every plan was simulated"


NOTES: list[PlanNote] = [
    UnknownOwner(WorkloadRef(kind="Kafka", name="k"), (("ns", "k-0"),)),
    UpgradedPods(WorkloadRef(kind="StatefulSet", name="db"), (("ns", "db-0"), ("ns", "db-1"))),
    SoftLeftOut(1),
    SoftLeftOut(2),
]


def test_the_command_that_says_why_pods_wait_reaches_the_same_cluster() -> None:
    one = waiting_text(1, ["a/job/x"], ["a"], ("--context", "prod"))
    assert one == "1 Pod of a/job/x waits for a node: `kubectl spread why-pending -n a --context prod` explains why."
    assert waiting_text(2, ["a/job/x", "b/job/x"], ["a", "b"], ()).endswith(
        "`kubectl spread why-pending -A` explains why."
    )
    assert waiting_text(2, ["a/job/x"], ["a"], None).endswith(": why-pending explains why.")


@pytest.mark.parametrize(
    ("verdicts", "soft", "text"),
    [
        ("Planned Partial", 0, "2 evictions balance 1 of 2 violated constraints and improve 1 other."),
        ("Partial", 0, "2 evictions improve 1 of 2 violated constraints."),
        ("Partial Partial", 2, "2 evictions improve 2 uneven constraints."),
        ("Planned", 1, "2 evictions balance 1 of 2 violated or uneven constraints."),
        ("Incomplete Impossible", 0, "2 evictions are planned for 2 violated constraints; not all is known."),
        ("Partial Incomplete", 0, "2 evictions improve 1 of 2 violated constraints; not all is known."),
    ],
)
def test_what_a_plan_does(verdicts: str, soft: int, text: str) -> None:
    verdicts_of_both = [*map(ItemStatus, verdicts.split())]
    assert plan_sentence(verdicts_of_both, broken=2, soft=soft, evictions=2, soon=0) == text
    needless = plan_sentence(verdicts_of_both, broken=2, soft=soft, evictions=0, soon=2)
    assert needless == "No eviction is needed: 2 constraints are satisfied once Pending Pods are scheduled."


@pytest.mark.parametrize(
    ("constraints", "idle", "left_out", "text"),
    [
        (2, 0, False, "All constraints are satisfied: there is nothing to evict."),
        (1, 0, False, "The only constraint is satisfied: there is nothing to evict."),
        (2, 0, True, "All hard constraints are satisfied: there is nothing to evict."),
        (2, 1, False, "No constraint is violated, but 1 of 2 has no effect: there is nothing to evict."),
        (3, 2, True, "No constraint is violated, but 2 of 3 have no effect: there is nothing to evict."),
        (2, 2, False, "No constraint has an effect: there is nothing to evict."),
        (1, 1, False, "The only constraint has no effect: there is nothing to evict."),
    ],
)
def test_satisfied_is_what_has_an_effect_and_was_asked_about(
    constraints: int, idle: int, *, left_out: bool, text: str
) -> None:
    verdicts = [ItemStatus.NO_EFFECT] * idle + [ItemStatus.BALANCED] * (constraints - idle)
    assert plan_sentence(verdicts, broken=0, soft=0, evictions=0, left_out=left_out) == text


def test_the_sentences_of_a_plan(same_as_golden: Callable[[str, str], None]) -> None:
    told = (
        *(f"{type(each).__name__}: {stay_text(each)}" for each in (*KEPT, *STAYING)),
        *(f"{type(each).__name__}: {remaining_text(RemainingSkew(each))}" for each in REMAINING),
        *(f"{type(each).__name__}: {reason_of_item(each)}" for each in REASONS),
        *(f"{type(each).__name__}: {plan_note_text(each)}" for each in NOTES),
    )
    same_as_golden("".join(f"{each}\n" for each in told), "phrasebook/rebalance.txt")
