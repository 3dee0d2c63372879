"""Why a Pod is not to be evicted, and a constraint does not hold after a plan, in words."""

from __future__ import annotations

import pytest

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import KEEPING_CONTROLLERS, Kept, KeptByController, KeptByMark
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.planned_evictions import ItemReason, SatisfiedSoon
from kubectl_spread.diagnosis.reasons import RejectedByConstraint, RejectedByPlugin, UntoleratedTaints
from kubectl_spread.diagnosis.remaining_skew import (
    BreaksAnother,
    DomainShut,
    GoesElsewhere,
    NotBegun,
    PodsStay,
    RebalanceVerdict,
    RemainingCause,
    RemainingSkew,
    TooFewEvictions,
)
from kubectl_spread.rebalance.movable import StayCause, StayReason, Stays, VolumeShared
from kubectl_spread.rebalance.plan import PlanNote, SoftLeftOut, UnknownOwner, UpgradedPods
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.wording.rebalance import (
    plan_note_text,
    plan_sentence,
    reason_of_item,
    remaining_text,
    stay_text,
    waiting_text,
)

REFUSED = EvictionRefused("No.")
TAINTED = UntoleratedTaints(taints=("a:NoExecute",))


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        (KeptByController("Job"), "its Job would count it as failed"),
        (KeptByController("DaemonSet"), "its DaemonSet would recreate it on the same node"),
        (KeptByController("Node"), "it is a static Pod, which the kubelet manages"),
        (KeptByMark("karpenter.sh/do-not-disrupt", "true"), "it is marked karpenter.sh/do-not-disrupt: true"),
    ],
)
def test_why_a_pod_is_left_alone(kept: Kept, text: str) -> None:
    assert stay_text(kept) == text


def test_every_controller_that_keeps_its_pods_has_its_words() -> None:
    assert all(stay_text(KeptByController(kind)) for kind in KEEPING_CONTROLLERS)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Stays(StayCause.BEING_DELETED), "it is being deleted already"),
        (Stays(StayCause.OTHER_SCHEDULER, "volcano"), "volcano decides where its replacement goes"),
        (Stays(StayCause.NO_CONTROLLER), "no controller recreates it"),
        (Stays(StayCause.CONTROLLER_DELETED, "Job"), "no controller recreates it, because its Job is being deleted"),
        (
            Stays(StayCause.SURPLUS, "ReplicaSet"),
            "no controller recreates it, because its ReplicaSet has more Pods than it wants",
        ),
        (Stays(StayCause.NODE_SILENT, "a1"), "no controller recreates it while a1 does not answer"),
        (Stays(StayCause.UNREADY, "web-0"), "no controller recreates it before web-0 is ready"),
        (EvictionRefused("no"), "no"),
        (Stays(StayCause.VOLUME_THERE), "its claim is bound to a volume there"),
        (VolumeShared("data", "web-1"), "web-1 also uses its volume, and claim data works on only one node at a time"),
        (
            Stays(StayCause.NOT_ASKED_ABOUT, "deployment/api"),
            "it belongs to deployment/api, which was not selected",
        ),
        (
            Stays(StayCause.ROLLOUT, "deployment/api"),
            "a rollout of deployment/api is not finished: finish it, roll it back or pause it first",
        ),
        (Stays(StayCause.REPLACEMENT_REFUSED, "spec: no"), "the API server would refuse its replacement: spec: no"),
        (Stays(StayCause.REPLACEMENT_GATED, "x/y"), "its replacement would wait for the scheduling gate x/y"),
    ],
    ids=str,
)
def test_why_a_pod_stays(reason: StayReason, text: str) -> None:
    assert stay_text(reason) == text


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (PodsStay(("n", "p"), "a", REFUSED, others=0, alike=True), "n/p in a stays: No"),
        (
            PodsStay(("n", "p"), "a", REFUSED, others=2, alike=True),
            "n/p in a stays: No; 2 more stay for the same reason",
        ),
        (
            PodsStay(("n", "p"), "b", REFUSED, others=2, alike=False),
            "n/p in b stays: No; 2 more stay, some for other reasons",
        ),
        (
            PodsStay(("n", "p"), "b", REFUSED, others=1, alike=False),
            "n/p in b stays: No; 1 more stays, for another reason",
        ),
        (
            DomainShut(
                "c",
                (
                    RejectedByConstraint(index=0, topology_key="zone"),
                    RejectedByPlugin(plugin="NodePorts"),
                    TAINTED,
                ),
            ),
            "c takes no more Pods: the constraint on zone allows no Pod there and NodePorts and taint a:NoExecute",
        ),
        (GoesElsewhere(("a",), ("a", "b"), by_chance=True), "a Pod evicted in a may go to a and b by chance"),
        (
            GoesElsewhere(("a", "b", "c", "d"), ("e",), by_chance=False),
            "a Pod evicted in a, b and 2 more goes to e, which scores higher",
        ),
    ],
    ids=["one", "the same", "others", "another", "shut", "chance", "scored"],
)
def test_why_a_constraint_does_not_hold(cause: RemainingCause, text: str) -> None:
    assert remaining_text(RemainingSkew(cause)) == text


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (SatisfiedSoon(), "it is satisfied once every Pending Pod that can be scheduled now has a node"),
        (NotBegun(), "it was not planned, because the plan is already long: run it, then plan again"),
        (RemainingSkew(TooFewEvictions()), "it would take more evictions than --max allows"),
    ],
)
def test_why_nothing_more_is_planned(reason: ItemReason, text: str) -> None:
    assert reason_of_item(reason) == text


def test_a_search_that_was_cut_short() -> None:
    breaks = "every helpful eviction breaks another constraint, or leaves a Pod unschedulable"
    assert remaining_text(RemainingSkew(BreaksAnother(), Ended.PLACEMENTS)) == f"{breaks}; not every plan was simulated"


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (
            UnknownOwner(WorkloadRef(kind="Kafka", name="k"), (("ns", "k-0"),)),
            "how kafka/k replaces ns/k-0 is not known: the plan assumes that it recreates it unchanged",
        ),
        (
            UpgradedPods(WorkloadRef(kind="StatefulSet", name="db"), (("ns", "db-0"), ("ns", "db-1"))),
            "the replacements of ns/db-0, ns/db-1 have the newest template of statefulset/db: they are also upgraded",
        ),
        (SoftLeftOut(1), "1 uneven constraint is only preferred: --soft plans for it too"),
        (SoftLeftOut(2), "2 uneven constraints are only preferred: --soft plans for them too"),
    ],
)
def test_what_else_is_to_be_known_of_a_plan(note: PlanNote, text: str) -> None:
    assert plan_note_text(note) == text


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
    verdicts_of_both = [*map(RebalanceVerdict, verdicts.split())]
    assert plan_sentence(verdicts_of_both, broken=2, soft=soft, evictions=2, soon=0) == text
    needless = plan_sentence(verdicts_of_both, broken=2, soft=soft, evictions=0, soon=2)
    assert needless == "No eviction is needed: 2 constraints are satisfied once Pending Pods are scheduled."
