"""The report of ``simulate``."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Incomplete, Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_change import SimulatedItem


class EvictedPod(Report, frozen=True, kw_only=True):
    """A Pod that went, whose it is, and the node it was on; empty for none."""

    namespace: str
    workload: WorkloadRef
    pod: str
    node: str


class BlockedPod(Report, frozen=True, kw_only=True):
    """A Pod that should have gone and did not."""

    namespace: str
    pod: str
    why: str


class PendingPods(Report, frozen=True, kw_only=True):
    """The Pods of a workload that wait for a node.

    Attributes:
        count: how many, in the outcome that is reported.
        before: how many waited before the step, or would wait without it.
        range: the fewest and the most that were seen in any order.
        message: the scheduler's wording; empty where none waits in this outcome.
        summary: what is to blame, in a sentence or two.
        incomplete: what that does not rest on.
    """

    namespace: str
    workload: WorkloadRef
    count: int
    before: int = 0
    range: tuple[int, int]
    message: str
    summary: str
    incomplete: tuple[Incomplete, ...] = ()


class SimulatedStep(Report, frozen=True, kw_only=True):
    """What one step does.

    Attributes:
        step: the step, as ``drain n1``.
        evicted: the Pods that go for it; what manages them makes others.
        blocked: the Pods that should go and do not.
        lost: the Pods that go and that nothing makes again.
        preempted: the Pods that the scheduler evicts for those that come.
        pending: what waits for a node then; of workloads that are not asked about, where more wait than at the start.
        newly_pending: whether more Pods of some workload wait than before, and than would without the step, for a
            scheduler whose rules are known, or are refused.
        untried: how many of the Pods that wait were not tried on any node, for too many had been before;
            absent where all were.
        items: the constraints, changed or not.
        orders: in how many orders chance was tried.
        notes: what else is to be known, a sentence each.
    """

    step: str
    evicted: tuple[EvictedPod, ...] = ()
    blocked: tuple[BlockedPod, ...] = ()
    lost: tuple[EvictedPod, ...] = ()
    preempted: tuple[EvictedPod, ...] = ()
    pending: tuple[PendingPods, ...] = ()
    newly_pending: bool = False
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
