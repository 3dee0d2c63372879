"""The report of ``simulate``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.step_changes import DeletedPods, StepChange, WaitingPods, WaitingReason
from kubectl_spread.errors import ManifestProblem
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod
from kubectl_spread.simulation.steps import BoundByName
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.simulate import blocked_text, note_text, outcome_text, why_pending


class EvictedPod(Report, frozen=True, kw_only=True):
    """A Pod that was evicted or deleted, its workload, and its node; empty for none."""

    namespace: str
    workload: WorkloadRef
    pod: str
    node: str


class BlockedPod(Report, frozen=True, kw_only=True):
    """A Pod that should have been evicted and was not."""

    namespace: str
    pod: str
    why: str


class PendingPods(Report, frozen=True, kw_only=True):
    """The Pending Pods of a workload.

    Attributes:
        count: how many, in the reported outcome.
        before: how many would be Pending without the step; the most in any order.
        range: the fewest and the most seen in any order.
        message: the scheduler's message; empty if none is Pending in this outcome.
        reasons: why they wait; empty if none is Pending in this outcome.
        incomplete: what that could not take into account.
    """

    namespace: str
    workload: WorkloadRef
    count: int
    before: int = 0
    range: tuple[int, int]
    message: str
    reasons: tuple[WaitingReason, ...] = ()
    incomplete: tuple[Gap, ...] = ()

    @property
    def summary(self) -> str:
        """What is to blame, in a sentence or two."""
        return why_pending(self.reasons)


class RefusedManifest(Report, frozen=True, kw_only=True):
    """Why a manifest of the step is not applied.

    Attributes:
        source: its file, URL or ``standard input``.
        document: the number of its document there, from 1.
        field: the field to blame; empty for none.
        message: in the words of the API server or of kubectl.
    """

    source: str
    document: int
    field: str
    message: str


class SimulatedStep(Report, frozen=True, kw_only=True):
    """The result of one step.

    Attributes:
        step: the step, as ``drain n1``.
        refused: why the API server or kubectl refuses manifests; absent if all are applied.
        evicted: the Pods that the step removes; their owners create others.
        blocked: the Pods that it should remove but does not.
        lost: the Pods that it removes and that nothing recreates.
        preempted: the Pods that the scheduler evicts for new ones.
        pdb_violations: how many of these a PodDisruptionBudget protects; absent if none.
        deleted: the workloads that have fewer Pods after an apply or a scaling.
        pending: the Pending Pods after it; of workloads that are not in question, only if more are Pending than
            without any step.
        newly_pending: whether more Pods of some workload are Pending or refused than without the step. Pending Pods
            count only if the rules of their scheduler are known.
        newly_violated: whether a hard constraint is violated that without the step is not, and keeps no Pod Pending.
        never_run: how many new Pods name a node that does not exist; absent if none does.
        untried: how many Pending Pods were not tried on any node, because too many had been tried before; absent if all
            were tried.
        items: the constraints, changed or not.
        orders: in how many orders chance was tried.
        notes: what else matters, a sentence each.
    """

    step: str
    refused: tuple[RefusedManifest, ...] | UnsetType = UNSET
    evicted: tuple[EvictedPod, ...] = ()
    blocked: tuple[BlockedPod, ...] = ()
    lost: tuple[EvictedPod, ...] = ()
    preempted: tuple[EvictedPod, ...] = ()
    pdb_violations: int | UnsetType = UNSET
    deleted: tuple[DeletedPods, ...] = ()
    pending: tuple[PendingPods, ...] = ()
    newly_pending: bool = False
    newly_violated: bool = False
    never_run: int | UnsetType = UNSET
    untried: int | UnsetType = UNSET
    items: tuple[SimulatedItem, ...] = ()
    orders: int = 1
    notes: tuple[str, ...] = ()


class SimulateReport(Report, frozen=True, kw_only=True):
    """The answer of ``simulate``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["SimulateReport"] = "SimulateReport"
    metadata: Metadata
    steps: tuple[SimulatedStep, ...]
    incomplete: tuple[Gap, ...] = ()


def simulated_step(
    change: StepChange,
    connection_flags: Sequence[str],
    of_manifests: Iterable[str],
    refused: Iterable[ManifestProblem] = (),
) -> SimulatedStep:
    """Return the result of one step, with these connection flags in the commands, and notes on applied manifests.

    ``refused``: why other manifests are not applied.
    """
    done = change.done
    notes = (note_text(note, connection_flags) for note in done.notes)
    return SimulatedStep(
        step=str(change.step),
        refused=tuple(
            RefusedManifest(source=each.source, document=each.document, field=each.field_path, message=each.message)
            for each in refused
        )
        or UNSET,
        evicted=_evicted_pods(done.evicted, change.before),
        blocked=tuple(
            BlockedPod(namespace=each.pod.metadata.namespace, pod=each.pod.metadata.name, why=blocked_text(each))
            for each in done.blocked
        ),
        lost=_evicted_pods(done.lost, change.before),
        preempted=_evicted_pods(change.preempted, change.before),
        pdb_violations=change.pdb_violations or UNSET,
        deleted=change.fewer,
        pending=tuple(map(_pending_pods, change.waiting)),
        newly_pending=change.newly_pending,
        newly_violated=change.newly_violated,
        never_run=sum(each.number for each in done.notes if isinstance(each, BoundByName) and each.absent) or UNSET,
        untried=change.untried or UNSET,
        items=change.constraints,
        orders=change.orders,
        notes=(*notes, *of_manifests, *map(outcome_text, change.notes)),
    )


def _evicted_pods(pods: Iterable[Pod], before: Snapshot) -> tuple[EvictedPod, ...]:
    return tuple(
        EvictedPod(
            namespace=pod.metadata.namespace,
            workload=owner_of(pod, before),
            pod=pod.metadata.name,
            node=pod.spec.node_name,
        )
        for pod in pods
    )


def _pending_pods(waiting: WaitingPods) -> PendingPods:
    namespace, ref = waiting.key
    reasons = waiting.reasons
    decisions = {each.decision.conclusion: each.decision for each in reversed(waiting.revisions)}
    explained = [decisions[reason.conclusion] for reason in reasons]
    return PendingPods(
        namespace=namespace,
        workload=ref,
        count=waiting.counts[0],
        before=waiting.before,
        range=(min(waiting.counts), max(waiting.counts)),
        message=(explained[0].message or "") if explained else "",
        reasons=reasons,
        incomplete=tuple(dict.fromkeys(gap for decision in explained for gap in decision.gaps)),
    )
