"""The report of ``show``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.controllers.workloads import WorkloadRef, wanted_by
from kubectl_spread.diagnosis.constraint_state import ChangedConstraint
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.gaps import Gap
from kubectl_spread.wording.statuses import STATUSES, reason_of_next, stop_text

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
    from kubectl_spread.diagnosis.skew import Row


class Headroom(Report, frozen=True, kw_only=True):
    """How many more replicas find a node, one after another.

    Attributes:
        more: how many do (count), before the first that does not.
        tried: how many were tried (count).
        then: what stops that one; empty if all tried replicas found a node.
    """

    more: int
    tried: int
    then: str = ""


class ConstraintRow(ChangedConstraint, frozen=True, kw_only=True):
    """A constraint in the table, which needs no ConstraintDiagnosis; ``matching``: eligible domain → matching Pods."""

    selector: str
    skew: int
    matching: Mapping[str, int]


class SkewRow(Report, frozen=True, kw_only=True):
    """A workload and one of its constraints in the table, with the fields of a SkewItem that the table needs."""

    namespace: str
    workload: WorkloadRef
    revision: str = ""
    pods: int
    own_pods: int
    default: bool
    status: SpreadStatus
    status_reason: str = ""
    constraint: ConstraintRow | ConstraintDiagnosis


class SkewItem(SkewRow, frozen=True, kw_only=True):
    """How one workload's Pods are spread over the domains of one constraint.

    Attributes:
        revision: of the Pods in the row; empty if the workload has only one.
        pods: the Pods that the constraint counts.
        own_pods: how many of them are the workload's.
        status_reason: the reason for the status; empty for OK.
        ghosts: the workload's Pods that the constraint does not count because its selector does not match them.
        pending_pod: the Pending Pod that the row is about; empty if it is about the next one.
        next: the nodes it may go to, best first; empty if there is no next Pod.
        scored: how many of these nodes the scheduler scores, and which is left to chance; absent if all.
        held_by: the scheduling gates that hold this Pod back.
        next_reason: why there is no next Pod, or why it goes to no other node; empty if the scheduler decides.
        ready: the Pods of the workload, or of the revision, that run and do not report that they are not ready (count).
        wanted: the Pods that the workload wants (count); absent if unknown.
        pending: the Pending Pods (count).
        evaluated_filters: the filters that decided about ``next``.
        headroom: how many more replicas find a node; absent if not requested, or if there is no next Pod.
        autoscaler: the decision of the cluster's autoscaler about ``pending_pod``; absent if that finds a node.
        proved_on: ``read`` if ``next`` holds only nodes whose Pods were read, and not all were.
    """

    constraint: ConstraintDiagnosis
    ghosts: tuple[str, ...] = ()
    pending_pod: str = ""
    next: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()
    scored: int | UnsetType = UNSET
    next_reason: str = ""
    ready: int = 0
    wanted: int | UnsetType = UNSET
    pending: int = 0
    evaluated_filters: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    headroom: Headroom | UnsetType = UNSET
    autoscaler: AutoscalerAnswer | UnsetType = UNSET
    proved_on: Literal["read"] | UnsetType = UNSET


class SkewTable(Report, frozen=True, kw_only=True):
    """The answer of ``show`` for its table; it is never printed as JSON, so it is no report of the contract."""

    metadata: Metadata
    items: tuple[SkewRow, ...]
    incomplete: tuple[Gap, ...] = ()


class SkewReport(Report, frozen=True, kw_only=True):
    """The answer of ``show``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["SkewReport"] = "SkewReport"
    metadata: Metadata
    items: tuple[SkewItem, ...]
    incomplete: tuple[Gap, ...] = ()


def skew_row(row: Row) -> SkewRow:
    """Return the row of the table."""
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
            matching=state.matching,
        ),
    )


def skew_item(row: Row) -> SkewItem:
    """Return the row with all its facts."""
    headroom, in_part = row.judged.headroom, bool(row.revision.handle.snapshot.inventory.not_read)
    wanted = wanted_by(row.revision.workload.owner, len(row.revision.pods))
    then = stop_text(headroom.then) if headroom and headroom.then else ""
    return SkewItem(
        **{**asdict(skew_row(row)), "constraint": row.constraint},
        ghosts=row.ghosts,
        pending_pod=row.revision.pod.metadata.name if row.revision.pending else "",
        next=row.judged.next,
        held_by=row.revision.gates,
        scored=row.judged.scored or UNSET,
        next_reason=reason_of_next(
            row.revision.none_comes,
            row.revision.named_node,
            absent=row.revision.handle.is_orphan(row.revision.pod),
        ),
        ready=sum(pod.at_work for pod in row.revision.pods),
        wanted=UNSET if wanted is None or row.revision.name else wanted,
        pending=sum(pod.waits for pod in row.revision.pods),
        evaluated_filters=row.evaluated_filters,
        findings=row.judged.findings,
        headroom=Headroom(more=headroom.more, tried=headroom.tried, then=then) if headroom else UNSET,
        proved_on="read" if in_part else UNSET,
    )
