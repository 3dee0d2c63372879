"""How one workload lies over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.contract import findings as contract
from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.contract.skew import ConstraintRow, Counts, Headroom, SkewItem, SkewRow
from kubectl_spread.controllers import job
from kubectl_spread.controllers.next_pod import NextPod
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, of_revision, revision_of
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.constraint_state import (
    ConstraintState,
    SpreadStatus,
    own_pods,
    standing_of,
    standings,
    without_effect,
)
from kubectl_spread.diagnosis.evaluation import Decision, decide, judge
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.ghosts import ghosts
from kubectl_spread.diagnosis.incomplete import deciders, incomplete
from kubectl_spread.diagnosis.not_created import upcoming_pod
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, Job
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import DomainCounts, parsable_constraints
from kubectl_spread.wording.incomplete import consequence

Decide: TypeAlias = Callable[[Pod, Handle], Decision]
"""What the scheduler decides about a Pod, and why."""

MOST_AWAITED = 8
"""Pods of one row (count) that wait for a node and are judged."""


class Revision(msgspec.Struct, frozen=True):
    """One revision of a workload, and the Pod that stands for it.

    Attributes:
        name: the revision; empty where the workload has only one.
        pod: the Pod its rows are evaluated for.
        pods: its Pods that are alive.
        upcoming: the workload's next Pod, where it is of this revision; None for older ones.
    """

    name: str
    pod: Pod
    pods: tuple[Pod, ...]
    upcoming: NextPod | None = None

    @property
    def is_next(self) -> bool:
        """Whether the workload makes one more Pod, and of this revision."""
        return self.upcoming is not None and self.upcoming.comes and not self.upcoming.refusals

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """Its Pods that wait for a node, where no other comes."""
        if self.is_next or self.refused:
            return ()
        return tuple(pod for pod in self.pods if pod.waits)

    @property
    def refused(self) -> str:
        """Why the API server would not take its next Pod; empty where it would."""
        return str(self.upcoming.refusals[0]) if self.upcoming and self.upcoming.refusals else ""


class Judged(msgspec.Struct, frozen=True):
    """The Pod of a revision, judged.

    Attributes:
        decision: what the scheduler decides about it, and why.
        awaited: the same of the Pod that waits for a node, where no other comes.
        incomplete: what the verdict does not rest on.
        constraints: what the Pod's constraints say; empty where that was not asked.
        findings: what is worth knowing besides.
        headroom: how many more like it find a node; None where that was not asked, or there is no next Pod.
    """

    decision: Decision
    awaited: Decision | None
    incomplete: tuple[Gap, ...]
    constraints: tuple[ConstraintReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    headroom: Headroom | None = None

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that take the Pod, best first; where none does, those on which the scheduler makes room."""
        preemption, feasible = self.decision.preemption, self.decision.evaluation.feasible
        if preemption:
            return (preemption.node, *preemption.ties)
        # Which is best is not known where others were not read.
        return tuple(sorted(feasible)) if self.decision.handle.snapshot.inventory.not_read else feasible


def skew_items(workload: OwnedPods, handle: Handle, *, defaults: bool, most_verdicts: int = 0) -> Iterator[SkewItem]:
    """Yield a row for each constraint of each revision whose rows would differ, with all that is known of it.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: whether the cluster's default constraints are shown where it has none of its own.
        most_verdicts: verdicts on single nodes (count) that the headroom may cost; 0 where it is not wanted.
    """
    for revision in _shown(workload, handle, defaults=defaults):
        judged = _judge(workload, revision, handle, most_verdicts)
        found = zip(standings(workload, revision.pod, handle), judged.constraints, strict=True)
        for standing, constraint in found:
            yield _item(workload, revision, standing, constraint, judged, handle)


def skew_rows(workload: OwnedPods, handle: Handle, *, defaults: bool) -> Iterator[SkewRow]:
    """Yield the same rows as the table has them, without a look at each node where one takes the next Pod.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: as for ``skew_items``.
    """
    for revision in _shown(workload, handle, defaults=defaults):
        judged = _judge_briefly(revision, handle, decided)
        for standing in standings(workload, revision.pod, handle):
            yield _row(workload, revision, standing, judged, handle)


def statuses(
    workload: OwnedPods,
    handle: Handle,
    *,
    defaults: bool,
    upcoming: NextPod,
    counted: Sequence[DomainCounts],
    decide_on: Decide,
) -> Iterator[tuple[int, SpreadStatus]]:
    """Yield (constraint's index, status) of the same rows.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: as for ``skew_items``.
        upcoming: the workload's next Pod.
        counted: its constraints, counted.
        decide_on: decides about a Pod that waits for a node.
    """
    for revision in _shown(workload, handle, defaults=defaults, upcoming=upcoming):
        judged = _judge_briefly(revision, handle, decide_on)
        newest = revision.pod is upcoming.pod
        of_pod = (standing_of(each, workload, handle) for each in counted)
        for standing in of_pod if newest else standings(workload, revision.pod, handle):
            yield standing.constraint.index, _status(workload, standing, revision, judged, handle)[0]


def decided(pod: Pod, handle: Handle) -> Decision:
    """Return what the scheduler decides about the Pod, and of one that some node takes no more than that."""
    return decide(cycle.evaluate_briefly(pod, handle), handle)


def asked_about(workload: OwnedPods, handle: Handle, *, defaults: bool) -> Iterator[tuple[Pod, Handle]]:
    """Yield each Pod whose node the rows tell of, with the cluster in which it waits.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: as for ``skew_items``.
    """
    for revision in _shown(workload, handle, defaults=defaults):
        if revision.is_next:
            yield revision.pod, _placed(revision, handle)
        yield from ((pod, handle) for pod in revision.waiting[:MOST_AWAITED])


def _shown(
    workload: OwnedPods, handle: Handle, *, defaults: bool, upcoming: NextPod | None = None
) -> Iterator[Revision]:
    """Yield the revisions that have constraints, or are shown under the cluster's."""
    for revision in revisions(workload, handle, upcoming):
        if revision.pod.spec.topology_spread_constraints or defaults:
            yield revision


def _judge(workload: OwnedPods, revision: Revision, handle: Handle, most_verdicts: int) -> Judged:
    """Return what the scheduler and the constraints say of the revision's Pod, which comes with claims of its own."""
    pod, upcoming, placed = revision.pod, revision.upcoming, _placed(revision, handle)
    evaluation = cycle.evaluate(pod, placed)
    decision = judge(evaluation, placed)
    beyond_template = lint.from_living(upcoming.from_living) if upcoming else ()
    return Judged(
        decision=decision,
        awaited=_awaited(revision.waiting, handle, decided),
        constraints=decision.spread.constraints,
        findings=(*lint.of_pod(pod, placed, decision.spread, evaluation), *beyond_template),
        incomplete=_gaps(revision, evaluation, placed),
        headroom=_headroom(workload, revision, handle, most_verdicts),
    )


def _judge_briefly(revision: Revision, handle: Handle, decide_on: Decide) -> Judged:
    """Return the same, but of a Pod that some node takes, or that does not come, no more than that."""
    pod, placed = revision.pod, _placed(revision, handle)
    evaluation = cycle.evaluate_briefly(pod, placed)
    decision = decide(evaluation, placed) if revision.is_next else Decision(evaluation=evaluation, handle=placed)
    incomplete = _gaps(revision, evaluation, placed)
    return Judged(decision=decision, awaited=_awaited(revision.waiting, handle, decide_on), incomplete=incomplete)


def _placed(revision: Revision, handle: Handle) -> Handle:
    """Return the cluster in which the revision's Pod waits to be scheduled: with its claims."""
    return revision.upcoming.place(handle) if revision.upcoming else handle


def _gaps(revision: Revision, evaluation: Evaluation, handle: Handle) -> tuple[Gap, ...]:
    """Return what the verdict does not rest on."""
    pod, snapshot = revision.pod, handle.snapshot
    upcoming = revision.upcoming
    not_read = (*unknown(pod, snapshot), *guessed(pod, snapshot), *upcoming.unread) if upcoming else ()
    return (*incomplete(pod, handle, evaluation), *not_read)


def _awaited(waiting: Sequence[Pod], handle: Handle, decide_on: Decide) -> Decision | None:
    """Return what is decided about the first that finds no node, or else about the first; None where none waits."""
    first: Decision | None = None
    for pod in waiting[:MOST_AWAITED]:
        decision = decide_on(pod, handle)
        if decision.blame:
            return decision
        first = first or decision
    return first


def _headroom(workload: OwnedPods, revision: Revision, handle: Handle, most_verdicts: int) -> Headroom | None:
    """Return how many more replicas find a node; None where that is not wanted, or there is no next Pod."""
    if not most_verdicts or revision.upcoming is None or not revision.is_next:
        return None
    if not handle.decides(revision.pod):
        return None
    from kubectl_spread.diagnosis.headroom import headroom

    return headroom(workload, revision.upcoming, handle, most_verdicts=most_verdicts)


def revisions(workload: OwnedPods, handle: Handle, upcoming: NextPod | None = None) -> list[Revision]:
    """Return the newest revision first, then older ones that are alive and whose constraints read otherwise.

    The newest, which is that of the next Pod, stands for all where none does.
    """
    upcoming = upcoming or upcoming_pod(workload, handle)
    if upcoming is None:
        return []
    newest = revision_of(upcoming.pod)
    alive = {revision_of(pod): pod for pod in workload.pods}
    older = [
        Revision(name, pod, of_revision(workload.pods, name))
        for name, pod in sorted(alive.items())
        if name != newest and parsable_constraints(pod, handle) != parsable_constraints(upcoming.pod, handle)
    ]
    if not older:
        return [Revision("", upcoming.pod, workload.pods, upcoming)]
    told_apart = {revision.name for revision in older}
    pods = tuple(pod for pod in workload.pods if revision_of(pod) not in told_apart)
    return [Revision(newest, upcoming.pod, pods, upcoming), *older]


def _item(
    workload: OwnedPods,
    revision: Revision,
    standing: ConstraintState,
    constraint: ConstraintReport,
    judged: Judged,
    handle: Handle,
) -> SkewItem:
    """Return the row of one constraint, with all that is known of it."""
    status, reason = _status(workload, standing, revision, judged, handle)
    evaluation = judged.decision.evaluation
    return SkewItem(
        namespace=workload.namespace,
        workload=workload.ref,
        revision=revision.name,
        pods=standing.pods,
        own_pods=own_pods(standing, workload, revision.pod, handle),
        default=constraint.default,
        status=status,
        status_reason=reason(),
        constraint=_each_alone(constraint) if standing.each_alone else constraint,
        ghosts=ghosts(revision.pods, constraint.index, handle),
        next=judged.next if revision.is_next else (),
        evaluated_filters=tuple(f for f in handle.profile.filters if f not in evaluation.not_modelled),
        findings=tuple(map(contract.Finding.of, judged.findings)),
        headroom=judged.headroom or UNSET,
        proved_on="read" if handle.snapshot.inventory.not_read else UNSET,
    )


def _row(workload: OwnedPods, revision: Revision, standing: ConstraintState, judged: Judged, handle: Handle) -> SkewRow:
    """Return the row of one constraint."""
    status, reason = _status(workload, standing, revision, judged, handle)
    constraint = standing.constraint
    return SkewRow(
        namespace=workload.namespace,
        workload=workload.ref,
        revision=revision.name,
        pods=standing.pods,
        own_pods=own_pods(standing, workload, revision.pod, handle),
        default=constraint.default,
        status=status,
        status_reason=reason(),
        constraint=ConstraintRow(
            index=constraint.index,
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            when_unsatisfiable=constraint.when_unsatisfiable.value,
            selector=str(constraint.selector),
            skew=standing.skew,
            counts=Counts.of(standing.matching),
        ),
    )


def _each_alone(report: ConstraintReport) -> ConstraintReport:
    """Return the constraint as daemon Pods see it: each has one domain, which holds the minimum."""
    return replace(report, domains=tuple(replace(domain, skew=0) for domain in report.domains))


def _status(
    workload: OwnedPods, standing: ConstraintState, revision: Revision, judged: Judged, handle: Handle
) -> tuple[SpreadStatus, Callable[[], str]]:
    """Return the first status that holds, worst first, and what says the one thing to know about it."""
    hard, index, missing = standing.constraint.hard, standing.constraint.index, standing.missing
    decision = judged.decision if revision.is_next else judged.awaited
    decided = decision if decision and handle.decides(revision.pod) else None
    preempts = decided.preempts if decided else ""
    to_blame = decided.blame if decided and not preempts else None
    blocking = to_blame.blocking if to_blame else {}
    waits = any(not pod.spec.node_name for pod in revision.pods)
    held = waits and any(deciders(revision.pod, handle, judged.decision.evaluation))
    no_effect = without_effect(standing, handle.profile)
    in_order: tuple[tuple[SpreadStatus, bool, Callable[[], str]], ...] = (
        (SpreadStatus.NO_DOMAINS, hard and bool(missing), lambda: missing),
        (SpreadStatus.BLOCKED, index in blocking, lambda: blocking[index]),
        (SpreadStatus.FAILED_CREATE, bool(revision.refused), lambda: revision.refused),
        (SpreadStatus.UNSCHEDULABLE, bool(to_blame) and not blocking, lambda: to_blame.reason if to_blame else ""),
        (SpreadStatus.VIOLATED, hard and standing.uneven, lambda: standing.skew_text),
        (SpreadStatus.NO_EFFECT, bool(no_effect), lambda: no_effect),
        (SpreadStatus.INCOMPLETE, bool(judged.incomplete) and (revision.is_next or held), lambda: _unknown(judged)),
        (SpreadStatus.UNEVEN, standing.uneven, lambda: f"{standing.skew_text}, only preferred"),
    )
    return next(
        ((status, reason) for status, holds, reason in in_order if holds),
        (SpreadStatus.OK, lambda: preempts or _made_by(workload)),
    )


def _made_by(workload: OwnedPods) -> str:
    """Return who makes the Pods of a Job where that is not kube-controller-manager; empty elsewhere."""
    manager = job.foreign_manager(workload.owner) if isinstance(workload.owner, Job | CronJob) else ""
    return f"{manager} makes its Pods" if manager else ""


def _unknown(judged: Judged) -> str:
    """Return what the answer does not know."""
    return consequence(judged.incomplete[0]) if judged.incomplete else ""
