"""Why a Pod is not to be evicted, and a constraint does not hold after a plan, in words."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.do_not_evict import KEEPING_CONTROLLERS, Kept, KeptByController, KeptByMark
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.reasons import UntoleratedTaints
from kubectl_spread.diagnosis.remaining_skew import (
    BreaksAnother,
    ByConstraint,
    ByFilter,
    DomainShut,
    PodsStay,
    RemainingCause,
    RemainingSkew,
    ScoredHigher,
)
from kubectl_spread.rebalance.movable import (
    BeingDeleted,
    Loss,
    NotAskedAbout,
    NotMadeAgain,
    OtherScheduler,
    Refused,
    ReplacementGated,
    ReplacementRefused,
    StayReason,
)
from kubectl_spread.wording.rebalance import kept_text, remaining_text, stay_text

REFUSED = Refused("No.")
TAINTED = UntoleratedTaints(taints=("a:NoExecute",))


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        (KeptByController("Job"), "its Job would count it as failed"),
        (KeptByController("DaemonSet"), "its DaemonSet would make it again on the same node"),
        (KeptByController("Node"), "it is a static Pod, which the kubelet keeps"),
        (KeptByMark("karpenter.sh/do-not-disrupt", "true"), "it is marked karpenter.sh/do-not-disrupt: true"),
    ],
)
def test_why_a_pod_is_left_alone(kept: Kept, text: str) -> None:
    assert kept_text(kept) == stay_text(kept) == text


def test_every_controller_that_keeps_its_pods_has_its_words() -> None:
    assert all(kept_text(KeptByController(kind)) for kind in KEEPING_CONTROLLERS)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (BeingDeleted(), "it is being deleted already"),
        (OtherScheduler("volcano"), "volcano decides where the Pod in its place goes"),
        (NotMadeAgain(Loss.NO_CONTROLLER), "nothing makes it again"),
        (NotMadeAgain(Loss.CONTROLLER_DELETED, "Job"), "nothing makes it again: its Job is being deleted"),
        (
            NotMadeAgain(Loss.SURPLUS, "ReplicaSet"),
            "nothing makes it again: its ReplicaSet has more Pods than it wants",
        ),
        (NotMadeAgain(Loss.NODE_SILENT, "a1"), "nothing makes it again while a1 does not answer"),
        (NotMadeAgain(Loss.UNREADY, "web-0"), "nothing makes it again before web-0 is ready"),
        (Refused("no"), "no"),
        (
            NotAskedAbout(WorkloadRef(kind="Deployment", name="api")),
            "it is of deployment/api, which was not asked about",
        ),
        (ReplacementRefused("spec: no"), "the API server would refuse the Pod in its place: spec: no"),
        (ReplacementGated("x/y"), "the Pod in its place would wait for its scheduling gate x/y"),
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
            "n/p in a stays: No; the same keeps 2 more",
        ),
        (
            PodsStay(("n", "p"), "b", REFUSED, others=2, alike=False),
            "n/p in b stays: No; 2 more stay, for other reasons too",
        ),
        (
            DomainShut(
                "c",
                (
                    ByConstraint("zone"),
                    ByFilter("NodePorts", None),
                    ByFilter("x", TAINTED),
                ),
            ),
            "c takes no Pod: the constraint on zone allows none there and NodePorts and taint a:NoExecute",
        ),
        (
            ScoredHigher(("a", "b", "c", "d"), ("e",)),
            "a Pod evicted in a, b and 2 more goes to e, which the scheduler scores higher",
        ),
    ],
    ids=["one", "the same", "others", "shut", "scored"],
)
def test_why_a_constraint_does_not_hold(cause: RemainingCause, text: str) -> None:
    assert remaining_text(RemainingSkew(cause)) == text


def test_a_search_that_was_cut_short() -> None:
    breaks = "what would help here breaks another constraint, or leaves a Pod without a node"
    assert remaining_text(RemainingSkew(BreaksAnother(), tried_all=False)) == f"{breaks}; not everything was tried"
