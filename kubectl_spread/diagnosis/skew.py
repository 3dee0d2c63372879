"""How a workload's Pods are spread over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers import job
from kubectl_spread.controllers.next_pod import NextPod, NoneComes, older_revisions, why_none_comes
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, revision_of, wanted_by
from kubectl_spread.diagnosis import lint, statuses
from kubectl_spread.diagnosis.causes import MisspeltKey
from kubectl_spread.diagnosis.constraint_state import ConstraintState, constraint_states, ghosts, idle
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.evaluation import Decision, decide, judge
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.incomplete import incomplete, unread_cluster, unread_owner
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.diagnosis.root_cause import Blame
from kubectl_spread.diagnosis.upcoming_pods import headroom_of, upcoming_pod
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Job
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import parsable_constraints

if TYPE_CHECKING:  # Most clusters have no autoscaler.
    from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer

Decide: TypeAlias = Callable[[Pod, Handle], Decision]  # Returns the scheduler's decision about a Pod, with the reasons

# Why a Job never creates another Pod: its constraints have no problem then.
OVER = frozenset((NoneComes.COMPLETE, NoneComes.FAILED))


class Detail(Enum):
    """How much rows tell, and how much time they take."""

    BRIEF = auto()  # whether a node takes the next Pod, as a table shows it
    NODES = auto()  # how many do, as metrics count them
    REASONS = auto()  # everything


MOST_AWAITED = 8  # Pending Pods of one row (count) that are evaluated


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One revision of a workload, and the Pod that represents it."""

    workload: OwnedPods
    handle: Handle
    name: str = ""  # empty if the workload has only one revision
    pod: Pod  # the Pod that its rows are evaluated for; ``pods``: its Pods that have not ended
    pods: tuple[Pod, ...]
    newest: bool = False  # whether it is the revision of the next Pod
    pending: bool = False
    # the workload's next Pod, if it is of this revision, or the Pending one; None if there is neither
    upcoming: NextPod | None = None

    @property
    def is_next(self) -> bool:
        """Whether its Pod is Pending, or is one that the workload creates next."""
        return self.upcoming is not None and self.upcoming.comes and not self.upcoming.refusals

    @property
    def is_about_now(self) -> bool:
        """Whether its Pod is Pending, or one that the workload wants but does not have."""
        lacks = (wanted_by(self.workload.owner, len(self.workload.pods)) or 0) > len(self.workload.pods)
        return self.pending or (self.newest and lacks)

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
    ``autoscaler``: what the cluster's autoscaler decides about it; absent if that was not asked.
    """

    revision: Revision
    decision: Decision
    incomplete: tuple[Gap, ...]
    constraints: tuple[ConstraintDiagnosis, ...] = ()
    findings: tuple[Finding, ...] = ()
    headroom: statuses.Headroom | None = None
    autoscaler: AutoscalerAnswer | UnsetType = UNSET

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


class SkewItem(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """How the Pods of one revision of a workload are spread over the domains of one constraint."""

    judged: Judged
    state: ConstraintState  # the constraint in numbers, all that the table needs of it
    now: statuses.Status  # its worst status for the Pods that there are or are missing, with the facts
    # its worst status, with the facts; one more Pod may have a worse one than those that there are
    worst: statuses.Status
    cluster: str | UnsetType = UNSET  # the context of its cluster; absent if one cluster was read

    @cached_property
    def namespace(self) -> str:
        """The namespace of the workload."""
        return self.judged.revision.workload.namespace

    @cached_property
    def workload(self) -> WorkloadRef:
        """The workload."""
        return self.judged.revision.workload.ref

    @cached_property
    def revision(self) -> str:
        """The revision of the Pods in the row; empty if the workload has only one."""
        return self.judged.revision.name

    @cached_property
    def pods(self) -> int:
        """The Pods that the constraint counts."""
        return self.state.pods

    @cached_property
    def own_matching(self) -> Mapping[str, int]:
        """Domain → how many of the Pods that the constraint counts there are the workload's."""
        revision, constraint = self.judged.revision, self.state.constraint
        own, values = {pod.key for pod in revision.workload.pods}, revision.handle.index.values(constraint.topology_key)
        counted = podtopologyspread.counted_pods(constraint, revision.pod, revision.handle)
        nodes = [pod.spec.node_name for pod in counted if pod.key in own]
        counts = Counter(values[name] for name in nodes if name in self.state.counts.counted_nodes and name in values)
        return {value: counts[value] for value in self.state.matching}

    @cached_property
    def own_pods(self) -> int:
        """How many of them are the workload's."""
        return sum(self.own_matching.values())

    @cached_property
    def default(self) -> bool:
        """Whether it is one of the cluster's default constraints."""
        return self.state.constraint.default

    @cached_property
    def status(self) -> statuses.SpreadStatus:
        """The worst status, which may be that of one more Pod."""
        return self.worst.name

    @cached_property
    def current(self) -> statuses.SpreadStatus:
        """The worst status for the Pods that there are or are missing."""
        return self.now.name

    @cached_property
    def ghosts(self) -> tuple[str, ...]:
        """The workload's Pods that the constraint does not count because its selector does not match them."""
        return ghosts(self.judged.revision.pods, self.state.constraint.index, self.judged.revision.handle)

    @cached_property
    def constraint(self) -> ConstraintDiagnosis:
        """The constraint with its domains, if the row is not brief; of a DaemonSet as each of its Pods sees it."""
        index, alone = self.state.constraint.index, self.state.alone
        found = next(each for each in self.judged.constraints if each.index == index)
        if alone is not None:
            # A constraint for which each Pod counts only its own node keeps none away.
            states = self.judged.revision.states()
            others = {ConstraintRequirement(each.constraint.index) for each in states if each.alone is not None}
            domains = (_on_own_node(each, found, alone.get(each.value, 0), others) for each in found.domains)
            found = replace(found, domains=tuple(domains), own_node=True)
        return _without_next_pod(found) if isinstance(self.worst, statuses.FailedCreate) else found

    @cached_property
    def pending_pod(self) -> str:
        """The Pending Pod that the row is about; empty if it is about the next one."""
        return self.judged.revision.pod.metadata.name if self.judged.revision.pending else ""

    @cached_property
    def next(self) -> tuple[str, ...]:
        """The nodes it may go to, best first; empty if there is no next Pod."""
        return self.judged.next

    @cached_property
    def held_by(self) -> tuple[str, ...]:
        """The scheduling gates that hold this Pod back."""
        return self.judged.revision.gates

    @cached_property
    def scored(self) -> int | UnsetType:
        """How many of these nodes the scheduler scores, and which is left to chance; absent if all."""
        return self.judged.scored or UNSET

    @cached_property
    def ready(self) -> int:
        """The Pods of the workload, or of the revision, that run and do not report that they are not ready (count)."""
        return sum(pod.at_work for pod in self.judged.revision.pods)

    @cached_property
    def wanted(self) -> int | UnsetType:
        """The Pods that the workload wants (count); absent if unknown."""
        wanted = wanted_by(self.judged.revision.workload.owner, len(self.judged.revision.pods))
        return UNSET if wanted is None or self.revision else wanted

    @cached_property
    def pending(self) -> int:
        """The Pending Pods (count)."""
        return sum(pod.waits for pod in self.judged.revision.pods)

    @cached_property
    def evaluated_filters(self) -> tuple[str, ...]:
        """The filters that decided about `next`."""
        not_modelled = self.judged.decision.evaluation.not_modelled
        return tuple(name for name in self.judged.revision.handle.profile.filters if name not in not_modelled)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings about the Pod."""
        return self.judged.findings

    @cached_property
    def headroom(self) -> statuses.Headroom | UnsetType:
        """How many more replicas find a node; absent if not requested, or if there is no next Pod."""
        return self.judged.headroom or UNSET

    @cached_property
    def autoscaler(self) -> AutoscalerAnswer | UnsetType:
        """The decision of the cluster's autoscaler about `pending_pod`; absent if that finds a node."""
        return self.judged.autoscaler

    @cached_property
    def proved_on(self) -> Literal["read"] | UnsetType:
        """`read` if `next` holds only nodes whose Pods were read, and not all were."""
        return "read" if self.judged.revision.handle.snapshot.inventory.not_read else UNSET


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
    detail: Detail = Detail.REASONS,
    most_verdicts: int = 0,
    upcoming: NextPod | None = None,
    states: Sequence[ConstraintState] = (),
    decide_on: Decide = decide,
) -> Iterator[SkewItem]:
    """Yield a row for each constraint of each revision whose rows would differ.

    With ``defaults``, the cluster's default constraints are shown if the workload has none of its own. The headroom,
    for ``Detail.REASONS``, may cost ``most_verdicts`` verdicts on single nodes
    (count); 0 for no headroom. ``upcoming``: the next Pod and the ``states`` of its constraints, if they are known.
    """
    for shown in _shown_revisions(workload, handle, defaults=defaults, upcoming=upcoming):
        revision = shown.judged_by_waiting(decide_on)
        whole = detail is Detail.REASONS
        judged = _judge(revision, most_verdicts) if whole else _judge_briefly(revision, detail)
        for state in states if upcoming and revision.pod is upcoming.pod else revision.states():
            worst = _worst_status(state, judged)
            now = worst if revision.is_about_now else _status_now(state, judged)
            yield SkewItem(judged=judged, state=state, now=now, worst=worst)


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


def _judge_briefly(revision: Revision, detail: Detail) -> Judged:
    """Return the same, without reasons for a Pod that some node takes or that is not created."""
    pod, placed = revision.pod, revision.placed
    if revision.is_next:
        decision = decide(pod, placed, every_node=detail is Detail.NODES)
    else:
        decision = Decision(evaluation=cycle.evaluate_briefly(pod, placed), handle=placed)
    return Judged(revision=revision, decision=decision, incomplete=_gaps_of(revision, decision))


def _gaps_of(revision: Revision, decision: Decision) -> tuple[Gap, ...]:
    pod, snapshot, upcoming = revision.pod, decision.handle.snapshot, revision.upcoming
    found = incomplete(pod, decision.handle, decision.evaluation)
    found = (*found, *unread_owner(revision.workload, revision.handle.snapshot))
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
    revision, handle = judged.revision, judged.revision.handle
    decision = judged.decision if revision.is_next else None
    decided = decision if decision and handle.decides(revision.pod) else None
    preemption = decided.preemption if decided else None
    stuck = _status_of_next(state, revision, decided.blame if decided and not preemption else None)
    if found := stuck or _status_of_spread(state, handle, judged.incomplete if revision.is_next else ()):
        return found
    owner = revision.workload.owner
    manager = job.foreign_manager(owner) if isinstance(owner, Job | CronJob) else ""
    return statuses.OK(preemption=preemption, manager=manager, gates=revision.gates)


def _status_now(state: ConstraintState, judged: Judged) -> statuses.Status:
    """Return the worst status where all the Pods that the workload wants have a node."""
    revision, handle = judged.revision, judged.revision.handle
    without_blame = _status_of_next(state, revision, None)
    if isinstance(without_blame, statuses.NoDomains | statuses.Incomplete | statuses.OK):
        return without_blame
    return _status_of_spread(state, handle, tuple(unread_owner(revision.workload, handle.snapshot))) or statuses.OK()


def _status_of_spread(state: ConstraintState, handle: Handle, gaps: Sequence[Gap]) -> statuses.Status | None:
    """Return what is wrong with how the Pods are spread, or not known; None for nothing."""
    constraint = state.constraint
    if constraint.hard and state.uneven:
        return statuses.Violated(skew=state.skew, max_skew=constraint.max_skew)
    if why := idle(state, handle.profile):
        return statuses.NoEffect(why=why, topology_key=constraint.topology_key)
    if gaps:
        return statuses.Incomplete(gap=gaps[0])
    return statuses.Uneven(skew=state.skew, max_skew=constraint.max_skew) if state.uneven else None


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
