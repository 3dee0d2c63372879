"""The report of ``rebalance``."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.fixes import ExpectedChange, Fix
from kubectl_spread.contract.report import Incomplete, Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_state import ChangedConstraint
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict


class PlannedEviction(Report, frozen=True, kw_only=True):
    """One eviction of a plan.

    Attributes:
        order: its place in the plan, from 1: it starts once the Pod that replaces the previous one is Ready.
        wave: evictions of one wave wait only for the previous replacement. Before the next wave, all evicted Pods must
            also be gone: a budget, a StatefulSet, room, affinity between Pods or a volume requires it.
        pod: the evicted Pod.
        uid: its UID; empty in files that hold none.
        node: its node.
        workload: its workload.
        lands: the Pod that replaces it goes to one of these nodes, by name.
        command: the command that evicts it.
    """

    order: int
    wave: int
    namespace: str
    pod: str
    uid: str = ""
    node: str
    workload: WorkloadRef
    lands: tuple[str, ...]
    command: str


class RebalanceItem(Report, frozen=True, kw_only=True):
    """How the Pods that one constraint counts are spread before and after the plan.

    Attributes:
        revision: of the Pods that have the constraint; empty if the workload has only one.
        verdict: Balanced if it is satisfied now or once the ``schedulable`` Pods are on their nodes, Planned if it is
            after the plan, Partial if some skew is left.
        reason: why some skew is left; empty if none is.
        fixes: what to fix first, for a plan to reach more: after each, a Pod evicted in the fullest domain goes to the
            emptiest. Its changes of a Pod are made on one that is evicted then.
        waits: what lets a plan reach more without any action, once it is over; absent if nothing is known to.
        before: eligible domain → Pods.
        after: the same in the end, in the worst case, with the ``schedulable`` Pods.
        skew_before: the current skew (Pods).
        skew_after: the largest skew in the end, whichever of equal nodes the scheduler takes (Pods).
    """

    namespace: str
    workload: WorkloadRef
    revision: str = ""
    verdict: RebalanceVerdict
    reason: str = ""
    fixes: tuple[Fix, ...] = ()
    waits: tuple[ExpectedChange, ...] | UnsetType = UNSET
    constraint: ChangedConstraint
    before: dict[str, int]
    after: dict[str, int]
    skew_before: int
    skew_after: int


class WaitingWorkload(Report, frozen=True, kw_only=True):
    """The Pending Pods of a workload.

    Attributes:
        count: how many there are.
    """

    namespace: str
    workload: WorkloadRef
    count: int


class RebalanceReport(Report, frozen=True, kw_only=True):
    """The answer of ``rebalance``.

    Attributes:
        evictions: the plan, in order.
        pending: how many Pods of the workloads are Pending; nothing is planned for them.
        waiting: their workloads, by name.
        schedulable: how many Pending Pods of the cluster find a node now, one after another: the plan begins once they
            are on it; absent if none does, or no constraint is violated.
        notes: what else matters about the plan, a sentence each.
        items: the constraints, worst first.
        search: ``bounded`` if the search ended before it was known that no plan is better.
        orders: ``sampled`` if there are more choices among equal nodes than were followed.
        scored: ``some`` if the scheduler scores only some of the nodes that fit a Pod.
    """

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["RebalanceReport"] = "RebalanceReport"
    metadata: Metadata
    evictions: tuple[PlannedEviction, ...]
    pending: int = 0
    waiting: tuple[WaitingWorkload, ...] = ()
    schedulable: int | UnsetType = UNSET
    notes: tuple[str, ...] = ()
    items: tuple[RebalanceItem, ...]
    search: Literal["complete", "bounded"] = "complete"
    orders: Literal["all", "sampled"] = "all"
    scored: Literal["all", "some"] = "all"
    incomplete: tuple[Incomplete, ...] = ()
