"""How the Pods of a workload are spread over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.controllers import job
from kubectl_spread.controllers.next_pod import NextPod
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, of_revision, revision_of
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.causes import Blame
from kubectl_spread.diagnosis.constraint_state import ConstraintState, constraint_states, idle, own_pods
from kubectl_spread.diagnosis.evaluation import Decision, decide, judge
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.ghosts import ghosts
from kubectl_spread.diagnosis.incomplete import deciders, incomplete
from kubectl_spread.diagnosis.not_created import upcoming_pod
from kubectl_spread.diagnosis.statuses import (
    OK,
    Blocked,
    FailedCreate,
    Headroom,
    Incomplete,
    NoDomains,
    NoEffect,
    SpreadStatus,
    Status,
    Uneven,
    Unschedulable,
    Violated,
)
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, Job
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import parsable_constraints

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


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One constraint of one revision of a workload.

    Attributes:
        workload: the workload.
        revision: the revision.
        state: the constraint's domains in numbers.
        judged: the revision's Pod.
        status: what holds of the constraint, the worst.
        handle: the cluster.
    """

    workload: OwnedPods
    revision: Revision
    state: ConstraintState
    judged: Judged
    status: Status
    handle: Handle

    @property
    def own_pods(self) -> int:
        """The Pods of the workload among those that are counted (count)."""
        return own_pods(self.state, self.workload, self.revision.pod, self.handle)

    @property
    def ghosts(self) -> tuple[str, ...]:
        """The Pods of the revision that the constraint does not count, for its selector does not match them."""
        return ghosts(self.revision.pods, self.state.constraint.index, self.handle)

    @property
    def constraint(self) -> ConstraintReport:
        """The constraint with its domains, where that was asked; of a DaemonSet as each of its Pods sees it."""
        index = self.state.constraint.index
        found = next(each for each in self.judged.constraints if each.index == index)
        if not self.state.each_alone:
            return found
        return replace(found, domains=tuple(replace(domain, skew=0) for domain in found.domains))

    @property
    def evaluated_filters(self) -> tuple[str, ...]:
        """The filters that decided about the next Pod."""
        not_modelled = self.judged.decision.evaluation.not_modelled
        return tuple(name for name in self.handle.profile.filters if name not in not_modelled)


def rows(
    workload: OwnedPods, handle: Handle, *, defaults: bool, brief: bool = False, most_verdicts: int = 0
) -> Iterator[Row]:
    """Yield a row for each constraint of each revision whose rows would differ.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: whether the cluster's default constraints are shown where it has none of its own.
        brief: whether the table is all that is wanted: no more is asked than whether a node takes the next Pod.
        most_verdicts: verdicts on single nodes (count) that the headroom may cost; 0 where it is not wanted.
    """
    for revision in _shown(workload, handle, defaults=defaults):
        if brief:
            judged = _judge_briefly(revision, handle, decided)
        else:
            judged = _judge(workload, revision, handle, most_verdicts)
        constraints = parsable_constraints(revision.pod, handle)
        for state in constraint_states(workload.ref.kind, constraints, revision.pod, handle):
            status = _status(workload, state, revision, judged, handle)
            yield Row(workload=workload, revision=revision, state=state, judged=judged, status=status, handle=handle)


def statuses(
    workload: OwnedPods,
    handle: Handle,
    *,
    defaults: bool,
    upcoming: NextPod,
    states: Sequence[ConstraintState],
    decide_on: Decide,
) -> Iterator[tuple[int, SpreadStatus]]:
    """Yield (constraint's index, status) of the same rows.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: as for ``rows``.
        upcoming: the workload's next Pod.
        states: its constraints.
        decide_on: decides about a Pod that waits for a node.
    """
    kind = workload.ref.kind
    for revision in _shown(workload, handle, defaults=defaults, upcoming=upcoming):
        pod, judged = revision.pod, _judge_briefly(revision, handle, decide_on)
        of_pod = constraint_states(kind, parsable_constraints(pod, handle), pod, handle)
        for state in states if pod is upcoming.pod else of_pod:
            yield state.constraint.index, _status(workload, state, revision, judged, handle).name


def decided(pod: Pod, handle: Handle) -> Decision:
    """Return what the scheduler decides about the Pod, and of one that some node takes no more than that."""
    return decide(cycle.evaluate_briefly(pod, handle), handle)


def asked_about(workload: OwnedPods, handle: Handle, *, defaults: bool) -> Iterator[tuple[Pod, Handle]]:
    """Yield each Pod whose node the rows tell of, with the cluster in which it waits.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: as for ``rows``.
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


def _status(workload: OwnedPods, state: ConstraintState, revision: Revision, judged: Judged, handle: Handle) -> Status:
    """Return the first status that holds, worst first."""
    constraint = state.constraint
    decision = judged.decision if revision.is_next else judged.awaited
    decided = decision if decision and handle.decides(revision.pod) else None
    preemption = decided.preemption if decided else None
    if stuck := _stuck(state, revision, decided.blame if decided and not preemption else None):
        return stuck
    if constraint.hard and state.uneven:
        return Violated(skew=state.skew, max_skew=constraint.max_skew)
    if why := idle(state, handle.profile):
        return NoEffect(why=why, topology_key=constraint.topology_key)
    waits = any(not pod.spec.node_name for pod in revision.pods)
    held = waits and any(deciders(revision.pod, handle, judged.decision.evaluation))
    if judged.incomplete and (revision.is_next or held):
        return Incomplete(gap=judged.incomplete[0])
    if state.uneven:
        return Uneven(skew=state.skew, max_skew=constraint.max_skew)
    manager = job.foreign_manager(workload.owner) if isinstance(workload.owner, Job | CronJob) else ""
    return OK(preemption=preemption, manager=manager)


def _stuck(state: ConstraintState, revision: Revision, blame: Blame | None) -> Status | None:
    """Return why no next Pod comes or finds a node; None where one does, or none is wanted."""
    constraint, blocking = state.constraint, blame.blocking if blame else {}
    if constraint.hard and not state.keyed:
        return NoDomains(topology_key=constraint.topology_key)
    if blame and constraint.index in blocking:
        return Blocked(index=constraint.index, blame=blame)
    if revision.refused:
        return FailedCreate(message=revision.refused)
    return Unschedulable(blame=blame) if blame and not blocking else None
