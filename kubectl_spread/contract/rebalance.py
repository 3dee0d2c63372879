"""The report of ``rebalance``."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from kubectl_spread.contract.fixes import Fix
from kubectl_spread.contract.report import Incomplete, Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_change import ChangedConstraint


class RebalanceVerdict(StrEnum):
    """Whether a constraint holds, or can be made to hold, by evictions."""

    IMPOSSIBLE = "Impossible"
    PARTIAL = "Partial"
    INCOMPLETE = "Incomplete"
    PLANNED = "Planned"
    BALANCED = "Balanced"


class PlannedEviction(Report, frozen=True, kw_only=True):
    """One eviction of a plan.

    Attributes:
        order: its place in the plan, from 1: it goes once the Pod in place of the one before has a node.
        wave: the evictions of one wave follow each other so; before the next all that went has to be gone and
            all that came ready: budgets allow no more, a StatefulSet makes one after another, or room is needed.
        pod: the Pod that goes.
        node: where it is.
        workload: whose it is.
        lands: the nodes of which the Pod in its place goes to one, by name.
        command: what evicts it.
    """

    order: int
    wave: int
    namespace: str
    pod: str
    node: str
    workload: WorkloadRef
    lands: tuple[str, ...]
    command: str


class RebalancedConstraint(ChangedConstraint, frozen=True, kw_only=True):
    """Which constraint is spoken of, and whether it is hard."""

    when_unsatisfiable: str


class RebalanceItem(Report, frozen=True, kw_only=True):
    """How the Pods that one constraint counts lie before and after the plan.

    Attributes:
        verdict: Balanced where it holds as it is, Planned where it holds after the plan, Partial where less is left.
        reason: why not all is reached; empty where it is.
        fixes: what to fix first, for a plan to reach more: after each, a Pod evicted where there are most goes where
            there are fewest. Its changes of a Pod are made on one that is evicted then.
        before: eligible domain → Pods.
        after: the same in the end, in the worst case.
        skew_before: the skew as it is (Pods).
        skew_after: the largest skew in the end, whichever of equal nodes the scheduler takes (Pods).
    """

    namespace: str
    workload: WorkloadRef
    verdict: RebalanceVerdict
    reason: str = ""
    fixes: tuple[Fix, ...] = ()
    constraint: RebalancedConstraint
    before: dict[str, int]
    after: dict[str, int]
    skew_before: int
    skew_after: int


class WaitingWorkload(Report, frozen=True, kw_only=True):
    """The Pods of a workload that wait for a node.

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
        pending: how many Pods of the workloads wait for a node, for which nothing is planned.
        waiting: whose they are, by name.
        items: the constraints, worst first.
        search: ``bounded`` where the search ended before it was known that there is nothing better.
        orders: ``sampled`` where there are more choices among equal nodes than were followed.
    """

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["RebalanceReport"] = "RebalanceReport"
    metadata: Metadata
    evictions: tuple[PlannedEviction, ...]
    pending: int = 0
    waiting: tuple[WaitingWorkload, ...] = ()
    items: tuple[RebalanceItem, ...]
    search: Literal["complete", "bounded"] = "complete"
    orders: Literal["all", "sampled"] = "all"
    incomplete: tuple[Incomplete, ...] = ()
