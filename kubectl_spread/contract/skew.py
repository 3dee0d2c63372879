"""The report of ``show``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from kubectl_spread.contract.autoscaler import AutoscalerReport
from kubectl_spread.contract.constraints import ConstraintReport, constraint_report
from kubectl_spread.contract.findings import Finding
from kubectl_spread.contract.report import Incomplete, Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef, wanted_by
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.wording.statuses import STATUSES, reason_of_next, stop_text

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.skew import Row

FEW_DOMAINS = 5
"""Domains (count) up to which the table has the count of each."""


class Headroom(Report, frozen=True, kw_only=True):
    """How many more replicas find a node, one after another.

    Attributes:
        more: how many do (count), before the first that does not.
        tried: how many were tried (count).
        then: what stops that one; empty where all that were tried found a node.
    """

    more: int
    tried: int
    then: str = ""


class Counts(Report, frozen=True, kw_only=True):
    """The Pods in each domain, or in so many of them.

    Attributes:
        each: domain → its Pods, where there are few domains.
        domains: Pods → how many domains hold so many, where there are more.
    """

    each: dict[str, int] = {}
    domains: dict[int, int] = {}

    @classmethod
    def of(cls, matching: Mapping[str, int]) -> Counts:
        """Return the Pods in each of these domains (domain → Pods), or in so many of them."""
        if len(matching) <= FEW_DOMAINS:
            return cls(each=dict(sorted(matching.items())))
        return cls(domains=dict(sorted(Counter(matching.values()).items())))


class ConstraintRow(Report, frozen=True, kw_only=True):
    """What the table says of a constraint; as in a ConstraintReport where that has it too."""

    index: int
    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    selector: str
    skew: int
    counts: Counts


class SkewRow(Report, frozen=True, kw_only=True):
    """What the table says of a workload and one of its constraints; as in a SkewItem."""

    namespace: str
    workload: WorkloadRef
    revision: str = ""
    pods: int
    own_pods: int
    default: bool
    status: SpreadStatus
    status_reason: str = ""
    constraint: ConstraintRow | ConstraintReport


class SkewItem(SkewRow, frozen=True, kw_only=True):
    """How one workload lies over the domains of one constraint.

    Attributes:
        revision: of the Pods the row speaks of; empty where the workload has only one.
        pods: the Pods the constraint counts.
        own_pods: how many of them are the workload's.
        status_reason: the one thing to know about the status; empty for OK.
        ghosts: the workload's Pods that the constraint does not count because its selector does not match them.
        pending_pod: the Pod that waits for a node and that the row is about; empty where it is about the next one.
        next: the nodes it may go to, best first; empty when there is no next Pod.
        next_reason: why no Pod comes next, or why it goes to no other node; empty where the scheduler decides.
        ready: the workload's Pods, or those of the revision, that run and do not say that they are not ready (count).
        wanted: the Pods that the workload asks for (count); absent where that is not known.
        pending: the Pods that wait for a node (count).
        evaluated_filters: the filters that decided about ``next``.
        headroom: how many more replicas find a node; absent where that was not asked, or there is no next Pod.
        autoscaler: what the cluster's autoscaler decides about ``pending_pod``; absent where that finds a node.
        proved_on: ``read`` where ``next`` holds only nodes whose Pods were read, which are not all.
    """

    constraint: ConstraintReport
    ghosts: tuple[str, ...] = ()
    pending_pod: str = ""
    next: tuple[str, ...] = ()
    next_reason: str = ""
    ready: int = 0
    wanted: int | UnsetType = UNSET
    pending: int = 0
    evaluated_filters: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    headroom: Headroom | UnsetType = UNSET
    autoscaler: AutoscalerReport | UnsetType = UNSET
    proved_on: Literal["read"] | UnsetType = UNSET


class SkewTable(Report, frozen=True, kw_only=True):
    """The answer of ``show`` as its table has it; no report of the contract, for it is never printed as JSON."""

    metadata: Metadata
    items: tuple[SkewRow, ...]
    incomplete: tuple[Incomplete, ...] = ()


class SkewReport(Report, frozen=True, kw_only=True):
    """The answer of ``show``."""

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["SkewReport"] = "SkewReport"
    metadata: Metadata
    items: tuple[SkewItem, ...]
    incomplete: tuple[Incomplete, ...] = ()


def counts_of(constraint: ConstraintRow | ConstraintReport) -> Counts:
    """Return the Pods in each domain that is counted, or in so many of them."""
    if isinstance(constraint, ConstraintRow):
        return constraint.counts
    return Counts.of({domain.value: domain.matching for domain in constraint.domains if domain.eligible})


def skew_row(row: Row) -> SkewRow:
    """Return what the table says of the row."""
    state, constraint = row.state, row.state.constraint
    return SkewRow(
        namespace=row.revision.workload.namespace,
        workload=row.revision.workload.ref,
        revision=row.revision.name,
        pods=state.pods,
        own_pods=row.own_pods,
        default=constraint.default,
        status=row.status.name,
        status_reason=STATUSES.text(row.status),
        constraint=ConstraintRow(
            index=constraint.index,
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            when_unsatisfiable=constraint.when_unsatisfiable.value,
            selector=str(constraint.selector),
            skew=state.skew,
            counts=Counts.of(state.matching),
        ),
    )


def skew_item(row: Row) -> SkewItem:
    """Return all that is known of the row."""
    headroom, in_part = row.judged.headroom, bool(row.revision.handle.snapshot.inventory.not_read)
    wanted = wanted_by(row.revision.workload.owner, len(row.revision.pods))
    then = stop_text(headroom.then) if headroom and headroom.then else ""
    return SkewItem(
        **{**asdict(skew_row(row)), "constraint": constraint_report(row.constraint)},
        ghosts=row.ghosts,
        pending_pod=row.revision.pod.metadata.name if row.revision.pending else "",
        next=row.judged.next,
        next_reason=reason_of_next(row.revision.none_comes, row.revision.named_node),
        ready=sum(pod.at_work for pod in row.revision.pods),
        wanted=UNSET if wanted is None or row.revision.name else wanted,
        pending=sum(pod.waits for pod in row.revision.pods),
        evaluated_filters=row.evaluated_filters,
        findings=tuple(map(Finding.of, row.judged.findings)),
        headroom=Headroom(more=headroom.more, tried=headroom.tried, then=then) if headroom else UNSET,
        proved_on="read" if in_part else UNSET,
    )
