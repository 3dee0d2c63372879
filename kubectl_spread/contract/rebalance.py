"""The report of ``rebalance``."""

from __future__ import annotations

from typing import Literal

from kubectl_spread.contract.fixes import Fix
from kubectl_spread.contract.report import Incomplete, Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_change import ChangedConstraint
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict


class PlannedEviction(Report, frozen=True, kw_only=True):
    """One eviction of a plan.

    Attributes:
        order: its place in the plan, from 1: it goes once the Pod in place of the one before is Ready.
        wave: the evictions of one wave follow each other so; before the next, all evicted Pods have to be gone too:
            a budget, a StatefulSet, room, anti-affinity or a volume requires it.
        pod: the Pod that goes.
        uid: its UID; empty in files that hold none.
        node: where it is.
        workload: whose it is.
        lands: the nodes of which the Pod in its place goes to one, by name.
        command: what evicts it.
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
        notes: what else is to be known of the plan, a sentence each.
        items: the constraints, worst first.
        search: ``bounded`` where the search ended before it was known that there is nothing better.
        orders: ``sampled`` where there are more choices among equal nodes than were followed.
        scored: ``some`` where the scheduler scores only some of the nodes that a Pod fits on.
    """

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["RebalanceReport"] = "RebalanceReport"
    metadata: Metadata
    evictions: tuple[PlannedEviction, ...]
    pending: int = 0
    waiting: tuple[WaitingWorkload, ...] = ()
    notes: tuple[str, ...] = ()
    items: tuple[RebalanceItem, ...]
    search: Literal["complete", "bounded"] = "complete"
    orders: Literal["all", "sampled"] = "all"
    scored: Literal["all", "some"] = "all"
    incomplete: tuple[Incomplete, ...] = ()
