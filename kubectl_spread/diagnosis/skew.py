"""How a workload's Pods are spread over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers import job
from kubectl_spread.controllers.next_pod import NextPod, NoneComes, older_revisions, why_none_comes
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, revision_of
from kubectl_spread.diagnosis import lint, statuses
from kubectl_spread.diagnosis.causes import MisspeltKey
from kubectl_spread.diagnosis.constraint_state import ConstraintState, constraint_states, ghosts, idle
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.evaluation import Decision, decide, judge
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.incomplete import incomplete, unread_cluster
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.diagnosis.root_cause import Blame
from kubectl_spread.diagnosis.upcoming_pods import headroom_of, upcoming_pod
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Job
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import parsable_constraints

Decide: TypeAlias = Callable[[Pod, Handle], Decision]
"""Returns the scheduler's decision about a Pod, with the reasons."""

OVER = frozenset((NoneComes.COMPLETE, NoneComes.FAILED))
"""Why a Job never creates another Pod: its constraints have no problem then."""
MOST_AWAITED = 8
"""Pending Pods of one row (count) that are evaluated."""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One revision of a workload, and the Pod that represents it.

    Attributes:
        name: empty if the workload has only one revision.
        pod: the Pod that its rows are evaluated for; ``pods``: its Pods that have not ended.
        newest: whether it is the revision of the next Pod.
        upcoming: the workload's next Pod, if it is of this revision, or the Pending one; None if there is neither.
    """

    workload: OwnedPods
    handle: Handle
    name: str = ""
    pod: Pod
    pods: tuple[Pod, ...]
    newest: bool = False
    pending: bool = False
    upcoming: NextPod | None = None

    @property
    def is_next(self) -> bool:
        """Whether its Pod is Pending, or is one that the workload creates next."""
        return self.upcoming is not None and self.upcoming.comes and not self.upcoming.refusals

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """The first of its Pods for which no node has been chosen, those like its Pod first."""
        revision = revision_of(self.pod)
        assumed = self.handle.snapshot.assumed
        waiting = (pod for pod in self.pods if pod.waits and pod.key not in assumed)
        return tuple(sorted(waiting, key=lambda pod: revision_of(pod) != revision))[:MOST_AWAITED]

    @property
    def named_node(self) -> str:
        """The node that the template names for its next Pod, which is then not scheduled; empty for none."""
        return self.pod.spec.node_name if self.newest else ""

    @property
    def gates(self) -> tuple[str, ...]:
        """The scheduling gates of its Pod."""
        return self.pod.spec.gates if self.is_next else ()

    @property
    def none_comes(self) -> NoneComes | None:
        """Why the workload creates no other Pod; None if it does, or its Pod is Pending."""
        if self.pending or not self.newest:
            return None
        return NoneComes.REFUSED if self.refused else why_none_comes(self.workload, self.handle.snapshot)

    @property
    def refused(self) -> str:
        """Why the API server would refuse its next Pod; empty if it would not."""
        return str(self.upcoming.refusals[0]) if self.upcoming and self.upcoming.refusals else ""

    @property
    def placed(self) -> Handle:
        """The cluster in which its Pod is scheduled: with its claims."""
        return self.upcoming.place(self.handle) if self.upcoming else self.handle

    def judged_by_waiting(self, decide_on: Decide) -> Revision:
        """Return the revision with the first Pending Pod that finds no node, or else the first Pending Pod.

        A Pod that exists comes before one that may be created. But if it finds a node, a refused Pod comes before it.
        """
        waiting = [(pod, decide_on(pod, self.handle)) for pod in self.waiting]
        stuck = [pod for pod, decision in waiting if decision.blame and not decision.preemption]
        if not waiting or (self.refused and not stuck):
            return self
        pod = stuck[0] if stuck else waiting[0][0]
        from_living = self.upcoming.from_living if self.upcoming else ()
        return replace(self, pod=pod, pending=True, upcoming=NextPod(pod=pod, comes=True, from_living=from_living))

    def states(self) -> Iterator[ConstraintState]:
        """Yield the state of each constraint of its Pod."""
        constraints = parsable_constraints(self.pod, self.handle)
        return constraint_states(self.workload.ref.kind, constraints, self.pod, self.handle)


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The Pod of a revision, judged; its constraints only if requested.

    ``headroom``: how many more Pods like it find a node; None if not requested, or if there is no next Pod.
    """

    revision: Revision
    decision: Decision
    incomplete: tuple[Gap, ...]
    constraints: tuple[ConstraintDiagnosis, ...] = ()
    findings: tuple[Finding, ...] = ()
    headroom: statuses.Headroom | None = None

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that take the next Pod, best first; if none does, those on which the scheduler makes room."""
        if not self.revision.is_next:
            return ()
        if node := self.revision.named_node:
            return (node,)
        preemption, feasible = self.decision.preemption, self.decision.evaluation.feasible
        if preemption:
            return (preemption.node, *preemption.ties)
        # If other nodes were not read, the best node is unknown.
        return tuple(sorted(feasible)) if self.decision.handle.snapshot.inventory.not_read else feasible

    @property
    def scored(self) -> int | None:
        """How many of the nodes that take the next Pod (count) the scheduler scores; None if all."""
        evaluation = self.decision.evaluation
        return cycle.nodes_scored(evaluation, self.decision.handle) if self.next == evaluation.feasible else None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One constraint of one revision of a workload, with its worst status."""

    judged: Judged
    state: ConstraintState
    status: statuses.Status

    @property
    def revision(self) -> Revision:
        """The revision."""
        return self.judged.revision

    @property
    def own_pods(self) -> int:
        """The workload's Pods among those counted (count)."""
        handle, constraint = self.revision.handle, self.state.constraint
        own, values = {pod.key for pod in self.revision.workload.pods}, handle.index.values(constraint.topology_key)
        counted = podtopologyspread.counted_pods(constraint, self.revision.pod, handle)
        nodes = [pod.spec.node_name for pod in counted if pod.key in own]
        return sum(name in self.state.counts.counted_nodes and name in values for name in nodes)

    @property
    def ghosts(self) -> tuple[str, ...]:
        """The Pods of the revision that the constraint does not count because its selector does not match them."""
        return ghosts(self.revision.pods, self.state.constraint.index, self.revision.handle)

    @property
    def constraint(self) -> ConstraintDiagnosis:
        """The constraint with its domains, if requested; of a DaemonSet as each of its Pods sees it."""
        index = self.state.constraint.index
        found = next(each for each in self.judged.constraints if each.index == index)
        alone = self.state.alone
        if alone is None:
            return _without_next_pod(found) if isinstance(self.status, statuses.FailedCreate) else found
        # A constraint for which each Pod counts only its own node keeps none away.
        others = {
            ConstraintRequirement(each.constraint.index) for each in self.revision.states() if each.alone is not None
        }
        skews = (alone.get(each.value, 0) for each in found.domains)
        domains = (_on_own_node(each, found, skew, others) for each, skew in zip(found.domains, skews, strict=True))
        found = replace(found, domains=tuple(domains), own_node=True)
        return _without_next_pod(found) if isinstance(self.status, statuses.FailedCreate) else found

    @property
    def evaluated_filters(self) -> tuple[str, ...]:
        """The filters that decided about the next Pod."""
        not_modelled = self.judged.decision.evaluation.not_modelled
        return tuple(name for name in self.revision.handle.profile.filters if name not in not_modelled)


def _without_next_pod(constraint: ConstraintDiagnosis) -> ConstraintDiagnosis:
    """Return the constraint for a Pod that the API server refuses: no domain gets it."""
    domains = (
        replace(domain, next="NotCreated") if domain.allowed and not domain.pinned_by else domain
        for domain in constraint.domains
    )
    return replace(constraint, domains=tuple(domains))


def _on_own_node(domain: Domain, constraint: ConstraintDiagnosis, skew: int, others: Collection[Requirement]) -> Domain:
    """Return the domain as a Pod of a DaemonSet sees it, which counts only its own node."""
    after = skew + constraint.self_match
    pinned_by = tuple(pin for pin in domain.pinned_by if pin.requirement not in others)
    allowed = domain.eligible and after <= constraint.max_skew
    return replace(domain, skew=skew, skew_if_placed=after, allowed=allowed, pinned_by=pinned_by)


def rows(
    workload: OwnedPods,
    handle: Handle,
    *,
    defaults: bool,
    brief: bool = False,
    most_verdicts: int = 0,
    upcoming: NextPod | None = None,
    states: Sequence[ConstraintState] = (),
    decide_on: Decide = decide,
) -> Iterator[Row]:
    """Yield a row for each constraint of each revision whose rows would differ.

    With ``defaults``, the cluster's default constraints are shown if the workload has none of its own. ``brief`` rows
    tell only whether a node takes the next Pod. The headroom may cost ``most_verdicts`` verdicts on single nodes
    (count); 0 for no headroom. ``upcoming``: the next Pod and the ``states`` of its constraints, if they are known.
    """
    for shown in _shown_revisions(workload, handle, defaults=defaults, upcoming=upcoming):
        revision = shown.judged_by_waiting(decide_on)
        judged = _judge_briefly(revision) if brief else _judge(revision, most_verdicts)
        for state in states if upcoming and revision.pod is upcoming.pod else revision.states():
            yield Row(judged=judged, state=state, status=_worst_status(state, judged))


def asked_about(workload: OwnedPods, handle: Handle, *, defaults: bool) -> Iterator[tuple[Pod, Handle]]:
    """Yield each Pod whose nodes the rows report, with the cluster in which it is scheduled."""
    for revision in _shown_revisions(workload, handle, defaults=defaults):
        yield from ((pod, handle) for pod in revision.waiting)
        if revision.is_next and not revision.waiting:
            yield revision.pod, revision.placed


def _shown_revisions(
    workload: OwnedPods, handle: Handle, *, defaults: bool, upcoming: NextPod | None = None
) -> Iterator[Revision]:
    """Yield the revisions that have constraints, or to which the cluster's are applied."""
    for revision in revisions(workload, handle, upcoming):
        if revision.pod.spec.topology_spread_constraints or defaults:
            yield revision


def _judge(revision: Revision, most_verdicts: int) -> Judged:
    pod, placed, upcoming = revision.pod, revision.placed, revision.upcoming
    decision = judge(pod, placed)
    beyond_template = lint.from_living(upcoming.from_living) if upcoming else ()
    headroom: statuses.Headroom | None = None
    # A DaemonSet has a Pod for each node, and no replicas.
    scales = revision.newest and revision.is_next and not isinstance(revision.workload.owner, DaemonSet)
    gaps = _gaps_of(revision, decision)
    if most_verdicts and upcoming and scales and not gaps and revision.handle.decides(pod):
        headroom = headroom_of(revision.workload, upcoming, revision.handle, most_verdicts=most_verdicts)
    return Judged(
        revision=revision,
        decision=decision,
        constraints=decision.spread.constraints,
        findings=(*decision.findings, *beyond_template),
        incomplete=gaps,
        headroom=headroom,
    )


def _judge_briefly(revision: Revision) -> Judged:
    """Return the same, without reasons for a Pod that some node takes or that is not created."""
    pod, placed = revision.pod, revision.placed
    if revision.is_next:
        decision = decide(pod, placed)
    else:
        decision = Decision(evaluation=cycle.evaluate_briefly(pod, placed), handle=placed)
    return Judged(revision=revision, decision=decision, incomplete=_gaps_of(revision, decision))


def _gaps_of(revision: Revision, decision: Decision) -> tuple[Gap, ...]:
    pod, snapshot, upcoming = revision.pod, decision.handle.snapshot, revision.upcoming
    found = incomplete(pod, decision.handle, decision.evaluation)
    if upcoming is None:
        return found
    # Admission has already changed a Pod that exists.
    not_read = () if revision.pending else unknown(pod, snapshot)
    return (*found, *not_read, *guessed(pod, snapshot), *upcoming.unread)


def revisions(workload: OwnedPods, handle: Handle, upcoming: NextPod | None = None) -> list[Revision]:
    """Return the newest revision, then older ones that want Pods and have other constraints.

    The newest is the revision of the next Pod. It represents all revisions with the same constraints.
    """
    upcoming = upcoming or upcoming_pod(workload, handle)
    if upcoming is None:
        return []
    older = {
        name: Revision(workload=workload, handle=handle, name=name, pod=model, pods=pods)
        for name, (model, pods) in older_revisions(workload, upcoming.pod, handle).items()
    }
    first = Revision(
        workload=workload,
        handle=handle,
        name=revision_of(upcoming.pod) if older else "",
        pod=upcoming.pod,
        pods=tuple(pod for pod in workload.pods if revision_of(pod) not in older) if older else workload.pods,
        newest=True,
        upcoming=upcoming,
    )
    return [first, *older.values()]


def _worst_status(state: ConstraintState, judged: Judged) -> statuses.Status:
    constraint, revision, handle = state.constraint, judged.revision, judged.revision.handle
    decision = judged.decision if revision.is_next else None
    decided = decision if decision and handle.decides(revision.pod) else None
    preemption = decided.preemption if decided else None
    if stuck := _status_of_next(state, revision, decided.blame if decided and not preemption else None):
        return stuck
    if constraint.hard and state.uneven:
        return statuses.Violated(skew=state.skew, max_skew=constraint.max_skew)
    if why := idle(state, handle.profile):
        return statuses.NoEffect(why=why, topology_key=constraint.topology_key)
    if judged.incomplete and revision.is_next:
        return statuses.Incomplete(gap=judged.incomplete[0])
    if state.uneven:
        return statuses.Uneven(skew=state.skew, max_skew=constraint.max_skew)
    owner = revision.workload.owner
    manager = job.foreign_manager(owner) if isinstance(owner, Job | CronJob) else ""
    return statuses.OK(preemption=preemption, manager=manager, gates=revision.gates)


def _status_of_next(state: ConstraintState, revision: Revision, blame: Blame | None) -> statuses.Status | None:
    """Return why no next Pod is created or finds a node; None if one does, or none is wanted now."""
    if revision.none_comes in OVER and not revision.pods:
        return statuses.OK()
    constraint, blocking = state.constraint, blame.blocking if blame else {}
    if unread := next(unread_cluster(revision.handle.snapshot.inventory), None):
        return statuses.Incomplete(gap=unread)
    if constraint.hard and not state.keyed:
        key, cause = constraint.topology_key, blame.cause if blame else None
        similar = cause.similar if isinstance(cause, MisspeltKey) and cause.topology_key == key else ""
        return statuses.NoDomains(topology_key=key, similar=similar)
    if blame and constraint.index in blocking:
        return statuses.Blocked(index=constraint.index, blame=blame)
    if revision.refused:
        return statuses.FailedCreate(message=revision.refused)
    return statuses.Unschedulable(blame=blame) if blame and not blocking else None
