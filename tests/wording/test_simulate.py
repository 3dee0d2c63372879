"""The texts about a step of a simulation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.job import FailureReason, JobFailure
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.controllers.statefulset import HeldUp
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.causes import BlamedConstraint, DomainsFull, NoNodes
from kubectl_spread.diagnosis.evaluation import Conclusion
from kubectl_spread.diagnosis.fixes.future import WorseConstraint
from kubectl_spread.diagnosis.step_changes import (
    BlockedByChance,
    CreateRefused,
    EvictedPod,
    MixedRevisions,
    OutcomeNote,
    PendingPods,
    SimulatedStep,
    StepVerdict,
    Unsettled,
    WaitingReason,
    WasChanging,
)
from kubectl_spread.simulation.control_loop import JobFailed, WaitsForReady
from kubectl_spread.simulation.steps import (
    Blocked,
    BlockReason,
    DaemonSetGone,
    DrainRefused,
    DrainWaits,
    NotReplaced,
    Step,
    StepNote,
    StuckPods,
    Unmanaged,
    Verb,
)
from kubectl_spread.wording.simulate import (
    blocked_text,
    note_text,
    outcome_text,
    pending_text,
    removed_text,
    step_sentence,
    why_pending,
)
from tests.build import HOSTNAME, ZONE, pod, typed_pod

ON_A1 = DomainsFull(
    constraint=BlamedConstraint(
        index=0, topology_key=HOSTNAME, selector="", max_skew=1, min_domains=1, global_minimum=0, domains=2
    ),
    minimum_domains=("a1",),
)


def waiting(namespace: str, name: str, fewest: int, most: int, before: int = 0) -> PendingPods:
    ref, seen = WorkloadRef(kind="Deployment", name=name), (fewest, most)
    return PendingPods(namespace=namespace, workload=ref, count=most, before=before, range=seen)


WAITING = (
    waiting("x", "web", 2, 2),
    waiting("x", "web", 0, 2),
    waiting("x", "web", 3, 3, 1),
    waiting("x", "api", 1, 1, 1),
)


def test_pods_of_each_revision_are_named_by_pronouns() -> None:
    revisions = (
        WaitingReason(Conclusion(cause=ON_A1), 1, old=True),
        WaitingReason(Conclusion(cause=NoNodes()), 2, old=False),
    )
    assert why_pending(revisions) == (
        "1 Pod of the old revision: every node where it could go would exceed maxSkew 1. The fewest Pods (0) are in a1,"
        " where no node can take it. 2 Pods of the new revision: the cluster has no nodes."
    )


def broken(namespace: str, name: str, skew: int) -> WorseConstraint:
    """Return a constraint of a StatefulSet on zones that a step breaks."""
    ref = WorkloadRef(kind="StatefulSet", name=name)
    return WorseConstraint(namespace=namespace, workload=ref, topology_key=ZONE, skew=skew, max_skew=1)


@pytest.mark.parametrize(
    ("violated", "whose"),
    [
        ([broken("data", "kafka", 2), broken("data", "web", 3)], "kafka 2, web 3"),
        ([broken("data", "kafka", 2), broken("shop", "kafka", 2)], "data/kafka 2, shop/kafka 2"),
    ],
    ids=["one namespace", "two namespaces"],
)
def test_a_broken_constraint_is_named_by_its_skew_because_its_status_may_be_that_of_a_pending_pod(
    violated: list[WorseConstraint], whose: str
) -> None:
    verdict = StepVerdict(kind=Verb.LOSE, safe=False, violated=tuple(violated))
    step = SimulatedStep(step=Step(Verb.LOSE, "a1"), verdict=verdict)
    assert step_sentence(step) == f"not safe: the skew on zone exceeds maxSkew 1 ({whose})."


BLOCKING: list[BlockReason] = [
    Unmanaged(),
    DaemonSetGone("logs"),
    DrainRefused(),
    DrainWaits("a1"),
    EvictionRefused("no"),
    EvictionRefused("No."),
]


PODS = (("n", "web-0"), ("n", "web-1"))


STEP_NOTES: list[StepNote] = [
    StuckPods(PODS, node_silent=True),
    StuckPods(PODS[:1], node_silent=True, go_with_node=True),
    StuckPods(PODS[:1], node_silent=False),
    NotReplaced(PODS[:1], WorkloadRef(kind="StatefulSet", name="web"), ("a1",)),
    NotReplaced(PODS, WorkloadRef(kind="StatefulSet", name="web"), ("a1", "a2")),
    EvictionsStopped(3, 4),
    EvictionsStopped(4, 4),
    JobFailed("n", "copy", JobFailure(FailureReason.POD_FAILURE_POLICY)),
    JobFailed("n", "copy", JobFailure(FailureReason.BACKOFF_LIMIT_EXCEEDED, 3, 2)),
    JobFailed("n", "copy", JobFailure(FailureReason.BACKOFF_LIMIT_EXCEEDED, 1, 0)),
    JobFailed("n", "copy", JobFailure(FailureReason.MAX_FAILED_INDEXES_EXCEEDED, 2, 1)),
    JobFailed("n", "copy", JobFailure(FailureReason.FAILED_INDEXES)),
    WaitsForReady("n", WorkloadRef(kind="StatefulSet", name="db"), HeldUp("db-0", ("db-1", "db-2"))),
    WaitsForReady("n", WorkloadRef(kind="StatefulSet", name="db"), HeldUp("db-1", ("db-3",), ("db-2", "db-1"))),
    WaitsForReady("n", WorkloadRef(kind="StatefulSet", name="db"), HeldUp("db-1", (), ("db-0",), stuck=True)),
]


def test_removed_pods_of_several_namespaces_are_named_with_them() -> None:
    web, api = (
        EvictedPod(namespace=each, workload=WorkloadRef(kind="Job", name="j"), pod="p", node="a1")
        for each in ("x", "y")
    )
    step, verdict = Step(Verb.DRAIN, "a1"), StepVerdict(kind=Verb.DRAIN)
    said = (removed_text(SimulatedStep(step=step, verdict=verdict, evicted=pods), 4) for pods in ((web,), (web, api)))
    assert [*said] == ["Evicted: p", "Evicted: x/p, y/p"]


HELD = Blocked(typed_pod(pod("web-0", on="a1")), EvictionRefused("no"))


OUTCOME_NOTES: list[OutcomeNote] = [
    CreateRefused(("n", WorkloadRef(kind="Job", name="copy")), "no"),
    CreateRefused(("n", WorkloadRef(kind="Job", name="copy")), "no", before=True),
    CreateRefused(("n", WorkloadRef(kind="Job", name="copy")), "no", by_chance=True),
    MixedRevisions(("n", WorkloadRef(kind="Deployment", name="web")), "zone", "pod-template-hash"),
    MixedRevisions(("n", WorkloadRef(kind="Deployment", name="web")), "zone", ""),
    WasChanging(("n", WorkloadRef(kind="Deployment", name="web")), rolls=True, same=True),
    WasChanging(("n", WorkloadRef(kind="Deployment", name="web")), rolls=False, same=False),
    BlockedByChance(HELD, PODS[:1]),
    BlockedByChance(HELD, PODS),
    Unsettled(),
]


def test_the_sentences_of_a_step(same_as_golden: Callable[[str, str], None]) -> None:
    described = typed_pod(pod("p", on="a1"))
    told = (
        *(f"Pending: {pending_text(each)}" for each in WAITING),
        *(
            f"{type(each).__name__}: {blocked_text(Blocked(described, each, goes_with_node=goes))}"
            for each in BLOCKING
            for goes in (False, True)
        ),
        *(f"{type(each).__name__}: {note_text(each)}" for each in STEP_NOTES),
        *(f"{type(each).__name__}: {outcome_text(each)}" for each in OUTCOME_NOTES),
    )
    same_as_golden("".join(f"{each}\n" for each in told), "phrasebook/simulate.txt")
