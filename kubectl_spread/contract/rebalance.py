"""The report of ``rebalance``."""

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.planned_evictions import PlannedEviction, RebalanceItem
from kubectl_spread.gaps import Gap
from kubectl_spread.rebalance.plan import PlanNote


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
        pending: how many Pods of the workloads stay Pending; nothing is planned for them.
        waiting: their workloads, by name.
        schedulable: how many Pending Pods of the cluster find a node now, one after another: the plan begins once they
            are on it; absent if none does, or no constraint is violated.
        notes: what else matters about the plan.
        items: the constraints, worst first.
        search: ``bounded`` if the search ended before it was known that no plan is better.
        orders: ``sampled`` if there are more choices among equal nodes than were followed.
        scored: ``some`` if the scheduler scores only some of the nodes that fit a Pod.
    """

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["RebalanceReport"] = "RebalanceReport"
    metadata: Metadata
    evictions: tuple[PlannedEviction, ...]
    pending: int = 0
    waiting: tuple[WaitingWorkload, ...] = ()
    schedulable: int | UnsetType = UNSET
    notes: tuple[PlanNote, ...] = ()
    items: tuple[RebalanceItem, ...]
    search: Literal["complete", "bounded"] = "complete"
    orders: Literal["all", "sampled"] = "all"
    scored: Literal["all", "some"] = "all"
    incomplete: tuple[Gap, ...] = ()
