"""The texts about a step of a simulation."""

from __future__ import annotations

import pytest

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.job import FailureReason, JobFailure
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.controllers.statefulset import HeldUp
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.causes import BlamedConstraint, DomainsFull, NoNodes
from kubectl_spread.diagnosis.evaluation import Conclusion
from kubectl_spread.diagnosis.step_changes import (
    BlockedByChance,
    CreateRefused,
    MixedRevisions,
    OutcomeNote,
    PendingPods,
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
    StepNote,
    StuckPods,
    Unmanaged,
)
from kubectl_spread.wording.simulate import blocked_text, note_text, outcome_text, pending_text, why_pending
from tests.build import HOSTNAME, pod, typed_pod

REASONS = (WaitingReason(Conclusion(cause=NoNodes()), 2),)
ON_A1 = DomainsFull(
    constraint=BlamedConstraint(
        index=0, topology_key=HOSTNAME, selector="", max_skew=1, min_domains=1, global_minimum=0, domains=2
    ),
    minimum_domains=("a1",),
)


def waiting(
    namespace: str, name: str, fewest: int, most: int, before: int = 0, reasons: tuple[WaitingReason, ...] = ()
) -> PendingPods:
    """Return Pods of a Deployment that wait."""
    ref, seen = WorkloadRef(kind="Deployment", name=name), (fewest, most)
    return PendingPods(namespace=namespace, workload=ref, count=most, before=before, range=seen, reasons=reasons)


@pytest.mark.parametrize(
    ("pods", "text"),
    [
        (
            [waiting("x", "web", 2, 2, reasons=REASONS), waiting("y", "api", 0, 1)],
            "2 Pods of x/deployment/web and 0 to 1 Pod of y/deployment/api are Pending. The cluster has no nodes.",
        ),
        ([waiting("x", "web", 2, 2)], "2 Pods of x/deployment/web are Pending."),
        (
            [waiting("x", "web", 3, 3, 1), waiting("y", "api", 1, 1, 1)],
            "3 Pods of x/deployment/web (1 as before) and 1 Pod of y/deployment/api (as before) are Pending.",
        ),
        (
            [waiting("x", "web", 0, 2), waiting("y", "api", 0, 1)],
            "0 to 2 Pods of x/deployment/web and 0 to 1 Pod of y/deployment/api are Pending in some random orders.",
        ),
    ],
)
def test_workloads_that_wait_for_one_reason(pods: list[PendingPods], text: str) -> None:
    assert pending_text(pods, news=True) == text


def test_pods_of_the_sentence_before_are_named_by_pronouns() -> None:
    reasons = (WaitingReason(Conclusion(cause=ON_A1), 2),)
    text = pending_text([waiting("x", "web", 2, 2, reasons=reasons)], news=False)
    assert text.startswith(
        "2 Pods of x/deployment/web are Pending. Every node where these Pods could go would exceed maxSkew 1."
    )
    revisions = (
        WaitingReason(Conclusion(cause=ON_A1), 1, old=True),
        WaitingReason(Conclusion(cause=NoNodes()), 2, old=False),
    )
    assert why_pending(revisions) == (
        "1 Pod of the old revision: every node where it could go would exceed maxSkew 1. The fewest Pods (0) are in a1,"
        " where no node can take it. 2 Pods of the new revision: the cluster has no nodes."
    )


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Unmanaged(), "no controller manages it, so kubectl refuses the drain without --force"),
        (DaemonSetGone("logs"), "its DaemonSet logs does not exist, so kubectl refuses the drain without --force"),
        (DrainRefused(), "the drain was refused"),
        (DrainWaits("a1"), "kubectl still waits for a1 to be drained"),
        (EvictionRefused("no"), "no"),
        (EvictionRefused("No."), "No."),
    ],
    ids=str,
)
def test_why_a_pod_does_not_go(reason: BlockReason, text: str) -> None:
    described = typed_pod(pod("p", on="a1"))
    assert blocked_text(Blocked(described, reason)) == text
    with_node = blocked_text(Blocked(described, reason, goes_with_node=True))
    assert with_node == f"{text.removesuffix('.')}, and it is deleted with its node"


FAILS = "the job/copy of n fails, and its Pods are deleted"
PODS = (("n", "web-0"), ("n", "web-1"))


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (
            StuckPods(PODS, node_silent=True),
            "the drain waits for n/web-0, n/web-1, Terminating on a node that does not answer",
        ),
        (
            StuckPods(PODS[:1], node_silent=True, go_with_node=True),
            (
                "the drain waits for n/web-0, Terminating on a node that does not answer,"
                " until it is deleted with the node"
            ),
        ),
        (
            StuckPods(PODS[:1], node_silent=False),
            "the drain waits for n/web-0, Terminating until finalizers are removed",
        ),
        (EvictionsStopped(3, 4), "3 of 4 nodes of its zone do not answer, so nothing is evicted there"),
        (EvictionsStopped(4, 4), "no node answers, so nothing is evicted"),
        (
            JobFailed("n", "copy", JobFailure(FailureReason.POD_FAILURE_POLICY)),
            f"{FAILS}: its podFailurePolicy fails it when a Pod is disrupted",
        ),
        (
            JobFailed("n", "copy", JobFailure(FailureReason.BACKOFF_LIMIT_EXCEEDED, 3, 2)),
            f"{FAILS}: 3 of its Pods have failed and its backoffLimit is 2",
        ),
        (
            JobFailed("n", "copy", JobFailure(FailureReason.BACKOFF_LIMIT_EXCEEDED, 1, 0)),
            f"{FAILS}: 1 of its Pods has failed and its backoffLimit is 0",
        ),
        (
            JobFailed("n", "copy", JobFailure(FailureReason.MAX_FAILED_INDEXES_EXCEEDED, 2, 1)),
            f"{FAILS}: 2 of its indexes have failed and its maxFailedIndexes is 1",
        ),
        (JobFailed("n", "copy", JobFailure(FailureReason.FAILED_INDEXES)), f"{FAILS}: every index has finished"),
        (
            WaitsForReady("n", WorkloadRef(kind="StatefulSet", name="db"), HeldUp("db-0", ("db-1", "db-2"))),
            "only when db-0 is Ready, statefulset/db of n creates db-1 and db-2",
        ),
        (
            WaitsForReady("n", WorkloadRef(kind="StatefulSet", name="db"), HeldUp("db-1", ("db-3",), ("db-2", "db-1"))),
            "only when db-1 is Ready, statefulset/db of n creates db-3 and replaces db-2 and db-1",
        ),
        (
            WaitsForReady("n", WorkloadRef(kind="StatefulSet", name="db"), HeldUp("db-1", (), ("db-0",), stuck=True)),
            (
                "the StatefulSet waits for db-1, which stays Pending: delete it. Only then statefulset/db of n replaces"
                " db-0"
            ),
        ),
    ],
    ids=str,
)
def test_what_else_is_to_be_known(note: StepNote, text: str) -> None:
    assert note_text(note) == text


HELD = Blocked(typed_pod(pod("web-0", on="a1")), EvictionRefused("no"))


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (CreateRefused(WorkloadRef(kind="Job", name="copy"), "no"), "the API server refuses Pods of job/copy: no"),
        (
            CreateRefused(WorkloadRef(kind="Job", name="copy"), "no", before=True),
            "the API server refuses Pods of job/copy, as before: no",
        ),
        (
            CreateRefused(WorkloadRef(kind="Job", name="copy"), "no", by_chance=True),
            "the API server refuses Pods of job/copy, in some random orders: no",
        ),
        (
            MixedRevisions(WorkloadRef(kind="Deployment", name="web"), "zone", "pod-template-hash"),
            (
                "the rollout of deployment/web counts Pods of the old revision too, so the skew may exceed maxSkew"
                " in the end."
                " matchLabelKeys: [pod-template-hash] in the constraint on zone counts each revision separately and"
                " keeps it even"
            ),
        ),
        (
            WasChanging(WorkloadRef(kind="Deployment", name="web"), rolls=True, same=True),
            "a rollout of deployment/web is in progress, and ends the same without this step",
        ),
        (
            WasChanging(WorkloadRef(kind="Deployment", name="web"), rolls=False, same=False),
            "a change of the Pods of deployment/web is in progress without this step too",
        ),
        (BlockedByChance(HELD, PODS[:1]), "in other random orders n/web-0 is blocked: no"),
        (BlockedByChance(HELD, PODS), "in other random orders n/web-0, n/web-1 are blocked: no"),
        (Unsettled(), "it does not converge: the controllers and the scheduler would repeat this without end"),
    ],
    ids=[
        "refused",
        "refused before",
        "refused by chance",
        "revisions",
        "goes on",
        "differs",
        "one",
        "two",
        "unsettled",
    ],
)
def test_what_is_to_be_known_of_the_orders(note: OutcomeNote, text: str) -> None:
    assert outcome_text(note) == text
