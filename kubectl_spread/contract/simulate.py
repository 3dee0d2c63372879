"""The report of ``simulate``."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Incomplete, Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_state import SimulatedItem


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


class DeletedPods(Report, frozen=True, kw_only=True):
    """The Pods of a workload that a step deletes, with no others in their place.

    Attributes:
        count: how many.
    """

    namespace: str
    workload: WorkloadRef
    count: int


class PendingPods(Report, frozen=True, kw_only=True):
    """The Pending Pods of a workload.

    Attributes:
        count: how many, in the reported outcome.
        before: how many were Pending before the step, or would be without it.
        range: the fewest and the most seen in any order.
        message: the scheduler's message; empty if none is Pending in this outcome.
        summary: what is to blame, in a sentence or two.
        incomplete: what that could not take into account.
    """

    namespace: str
    workload: WorkloadRef
    count: int
    before: int = 0
    range: tuple[int, int]
    message: str
    summary: str
    incomplete: tuple[Incomplete, ...] = ()


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
        pending: the Pending Pods after it; of workloads that are not in question, only if more are Pending than at the
            start.
        newly_pending: whether more Pods of some workload are Pending than before, and than without the step, for a
            scheduler with known rules, or are refused.
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
    never_run: int | UnsetType = UNSET
    untried: int | UnsetType = UNSET
    items: tuple[SimulatedItem, ...] = ()
    orders: int = 1
    notes: tuple[str, ...] = ()


class SimulateReport(Report, frozen=True, kw_only=True):
    """The answer of ``simulate``."""

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["SimulateReport"] = "SimulateReport"
    metadata: Metadata
    steps: tuple[SimulatedStep, ...]
    incomplete: tuple[Incomplete, ...] = ()
