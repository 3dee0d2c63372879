"""The report of ``rebalance``."""

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.planned_evictions import PlannedEviction, RebalanceItem
from kubectl_spread.gaps import Gap
from kubectl_spread.rebalance.plan import PlanNote


class WaitingWorkload(Report, frozen=True, kw_only=True):
    """The Pending Pods of a workload."""

    namespace: str
    workload: WorkloadRef
    count: int  # how many there are


class RebalanceReport(Report, frozen=True, kw_only=True):
    """The answer of ``rebalance``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["RebalanceReport"] = "RebalanceReport"
    metadata: Metadata
    evictions: tuple[PlannedEviction, ...]  # the plan, in order
    # the command that prints a script for the plan; empty if there is no plan, or the same input cannot be read again
    script: str = ""
    pending: int = 0  # how many Pods of the workloads stay Pending; nothing is planned for them
    waiting: tuple[WaitingWorkload, ...] = ()  # their workloads, by name
    # how many Pending Pods of the cluster find a node now, one after another: the plan begins once they are on it;
    # absent if none does, or no constraint is violated
    schedulable: int | UnsetType = UNSET
    notes: tuple[PlanNote, ...] = ()  # what else matters about the plan
    items: tuple[RebalanceItem, ...]  # the constraints, worst first
    # `bounded` if the search ended before it was known that no plan is better
    search: Literal["complete", "bounded"] = "complete"
    # `sampled` if there are more choices among equal nodes than were followed
    orders: Literal["all", "sampled"] = "all"
    scored: Literal["all", "some"] = "all"  # `some` if the scheduler scores only some of the nodes that fit a Pod
    incomplete: tuple[Gap, ...] = ()
