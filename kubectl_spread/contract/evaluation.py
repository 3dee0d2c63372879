"""What the scheduler decides about one Pod, node by node."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.constraints import ConstraintReport, Requirement
from kubectl_spread.contract.findings import Finding
from kubectl_spread.contract.fixes import Fix
from kubectl_spread.contract.report import Incomplete, Report
from kubectl_spread.controllers.workloads import WorkloadRef


class Verdict(StrEnum):
    """Whether the Pod can be scheduled now.

    Incomplete where something that could say no was not evaluated, Invalid where the API server takes no such object.
    """

    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    INCOMPLETE = "Incomplete"
    INVALID = "Invalid"


class Rejection(Report, frozen=True, kw_only=True):
    """What one filter says of a node, and in our words why."""

    plugin: str
    code: str
    reasons: tuple[str, ...]
    detail: str = ""


class NodeReport(Report, frozen=True, kw_only=True):
    """What became of one node.

    Attributes:
        plugin: the filter at which the scheduler stops, with its code and reasons; absent where the node is feasible.
        rejections: every filter that rejects the node.
        scores: score plugin → weighted score, and ``total``; absent where the node is not feasible.
        first: whether ``plugin`` is known to be where the scheduler stops; absent where all Pods were read: it is then.
    """

    name: str
    feasible: bool
    plugin: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    reasons: tuple[str, ...] | UnsetType = UNSET
    rejections: tuple[Rejection, ...] = ()
    scores: dict[str, int] | UnsetType = UNSET
    first: bool | UnsetType = UNSET


class EvaluationReport(Report, frozen=True, kw_only=True):
    """What the scheduler decides about one Pod, and why.

    Attributes:
        summary: what is to blame, in a sentence or two; empty when the Pod is schedulable, but for volumes that a Pod
            waits for once the scheduler has chosen its node.
        message: the scheduler's wording, without preemption; empty when the Pod is schedulable. None where the first
            rejection of some node is not known, and no event tells.
        message_from: ``event`` where it is the scheduler's own, for that reason.
        feasible: the nodes no filter rejects, best total score first, then by name.
        conflict: the fewest requirements that together leave no node; empty where one is left.
        core_of: the requirements that were judged on every node; absent where all Pods were read: all were then.
        fixes: changes that let the Pod in, those that disturb least first, then the cheapest.
        left_alone: what would let the Pod in too and is not offered, with the reason: a sentence each.
        new_nodes: nodes that would let the Pod in if somebody, or an autoscaler, added them; of the shape of fixes.
        fix_search: ``bounded`` where time ran out before every change was tried.
    """

    namespace: str
    name: str
    kind: str = "Pod"
    source: str = ""
    workload: WorkloadRef | UnsetType = UNSET
    verdict: Verdict
    summary: str
    message: str | None
    message_from: Literal["event"] | UnsetType = UNSET
    feasible: tuple[str, ...]
    nodes: tuple[NodeReport, ...]
    constraints: tuple[ConstraintReport, ...]
    conflict: tuple[Requirement, ...] = ()
    core_of: tuple[Requirement, ...] | UnsetType = UNSET
    fixes: tuple[Fix, ...] = ()
    new_nodes: tuple[Fix, ...] = ()
    left_alone: tuple[str, ...] = ()
    fix_search: Literal["complete", "bounded"] = "complete"
    findings: tuple[Finding, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()

    @property
    def stuck(self) -> bool:
        """Whether no node takes the Pod, or nothing could take one that the API server refuses."""
        return self.verdict is Verdict.UNSCHEDULABLE or (self.verdict is Verdict.INVALID and not self.feasible)

    @property
    def assumed(self) -> bool:
        """Whether the scheduler has chosen a node already and waits to bind the Pod, as the summary says."""
        return self.verdict is Verdict.SCHEDULABLE and bool(self.summary)
