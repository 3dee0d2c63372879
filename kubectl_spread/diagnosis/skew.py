"""How one workload lies over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers import job
from kubectl_spread.controllers.next_pod import NextPod, next_pod
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, of_revision, revision_of
from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.ghosts import ghosts
from kubectl_spread.diagnosis.incomplete import holders, incomplete
from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.objects.workloads import CronJob, Job
from kubectl_spread.report import ConstraintReport, Finding, Headroom, Incomplete, SkewItem, SpreadStatus
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable, parsable_constraints
from kubectl_spread.scheduler.profile import Behaviour

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
        return tuple(pod for pod in self.pods if not (pod.spec.node_name or pod.terminating or pod.finished))

    @property
    def refused(self) -> str:
        """Why the API server would not take its next Pod; empty where it would."""
        return str(self.upcoming.refusals[0]) if self.upcoming and self.upcoming.refusals else ""


class Judged(msgspec.Struct, frozen=True):
    """The Pod of a revision, judged.

    Attributes:
        decision: what the scheduler decides about it, and why.
        awaited: the same of the Pod that waits for a node, where no other comes.
        findings: what is worth knowing besides.
        incomplete: what the verdict does not rest on.
        headroom: how many more like it find a node; None where that was not asked, or there is no next Pod.
    """

    decision: Judgement
    awaited: Judgement | None
    findings: tuple[Finding, ...]
    incomplete: tuple[Incomplete, ...]
    headroom: Headroom | None

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that take the Pod, best first; where none does, those on which the scheduler makes room."""
        preemption = self.decision.preemption
        return (preemption.node, *preemption.ties) if preemption else self.decision.evaluation.feasible


def skew_items(workload: OwnedPods, handle: Handle, *, defaults: bool, most_verdicts: int = 0) -> Iterator[SkewItem]:
    """Yield a row for each constraint of each revision whose rows would differ.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: whether the cluster's default constraints are shown where it has none of its own.
        most_verdicts: verdicts on single nodes (count) that the headroom may cost; 0 where it is not wanted.
    """
    for revision in revisions(workload, handle):
        if not revision.pod.spec.topology_spread_constraints and not defaults:
            continue
        judged = _judge(workload, revision, handle, most_verdicts)
        for constraint in judged.decision.spread.constraints:
            yield _item(workload, revision, constraint, judged, handle)


def _judge(workload: OwnedPods, revision: Revision, handle: Handle, most_verdicts: int) -> Judged:
    """Return what the scheduler and the constraints say of the revision's Pod, which comes with claims of its own."""
    pod, upcoming, before = revision.pod, revision.upcoming, handle
    handle = upcoming.place(handle) if upcoming else handle
    evaluation = cycle.evaluate(pod, handle)
    decision = judge(evaluation, handle)
    beyond_template = findings.from_living(upcoming.from_living) if upcoming else ()
    not_read = (*unknown(pod, handle.snapshot), *guessed(pod, handle.snapshot)) if upcoming else ()
    return Judged(
        decision=decision,
        awaited=_awaited(revision.waiting, before),
        findings=(*findings.of_pod(pod, handle, decision.spread, evaluation), *beyond_template),
        incomplete=(*incomplete(pod, handle, evaluation), *not_read),
        headroom=_headroom(workload, revision, before, most_verdicts),
    )


def _awaited(waiting: Sequence[Pod], handle: Handle) -> Judgement | None:
    """Return what is decided about the first that finds no node, or else about the first; None where none waits."""
    judged = [judge(cycle.evaluate(pod, handle), handle) for pod in waiting[:MOST_AWAITED]]
    return next((each for each in judged if each.blame), next(iter(judged), None))


def _headroom(workload: OwnedPods, revision: Revision, handle: Handle, most_verdicts: int) -> Headroom | None:
    """Return how many more replicas find a node; None where that is not wanted, or there is no next Pod."""
    if not most_verdicts or revision.upcoming is None or not revision.is_next:
        return None
    if not handle.profile.serves(revision.pod):
        return None
    from kubectl_spread.diagnosis.headroom import headroom

    return headroom(workload, revision.upcoming, handle, most_verdicts=most_verdicts)


def revisions(workload: OwnedPods, handle: Handle) -> list[Revision]:
    """Return the newest revision first, then older ones that are alive and whose constraints read otherwise.

    The newest stands for all where none does.
    """
    upcoming = next_pod(workload, handle.snapshot, handle.profile)
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
    workload: OwnedPods, revision: Revision, constraint: ConstraintReport, judged: Judged, handle: Handle
) -> SkewItem:
    """Return the row of one constraint."""
    pinned = workload.ref.kind == DAEMON_SET.name and _honors_affinity(constraint, revision.pod, handle)
    constraint = _each_alone(constraint) if pinned else constraint
    no_effect = _no_effect(constraint, handle) or (EACH_ALONE if pinned else "")
    status, reason = _status(constraint, revision, judged, no_effect=no_effect, handle=handle)
    manager = job.foreign_manager(workload.owner) if isinstance(workload.owner, Job | CronJob) else ""
    if manager and not reason:
        reason = f"{manager} makes its Pods"
    return SkewItem(
        namespace=workload.namespace,
        workload=workload.ref,
        revision=revision.name,
        pods=sum(domain.matching for domain in constraint.domains if domain.eligible),
        own_pods=_own_pods(workload, constraint, revision.pod, handle),
        default=constraint.default,
        status=status,
        status_reason=reason,
        constraint=constraint,
        ghosts=ghosts(revision.pods, constraint.index, handle),
        next=judged.next if revision.is_next else (),
        evaluated_filters=tuple(f for f in handle.profile.filters if f not in judged.decision.evaluation.not_modelled),
        findings=judged.findings,
        headroom=judged.headroom or UNSET,
    )


def _own_pods(workload: OwnedPods, report: ConstraintReport, pod: Pod, handle: Handle) -> int:
    """Return how many of the Pods that are counted belong to the workload."""
    constraint = next(c for c in parsable_constraints(pod, handle) if c.index == report.index)
    nodes = {node for domain in report.domains for node in domain.nodes}
    own = {other.key for other in workload.pods}
    counted = podtopologyspread.counted_pods(constraint, pod, handle)
    return sum(1 for found in counted if found.spec.node_name in nodes and found.key in own)


EACH_ALONE = "the affinity of each Pod counts its own node alone: skew is always 0"


def _honors_affinity(report: ConstraintReport, pod: Pod, handle: Handle) -> bool:
    """Whether the constraint counts only nodes that the Pod's affinity allows: for a daemon Pod, its own."""
    return any(each.honors_affinity for each in parsable_constraints(pod, handle) if each.index == report.index)


def _each_alone(report: ConstraintReport) -> ConstraintReport:
    """Return the constraint as daemon Pods see it: each has one domain, which holds the minimum."""
    return replace(report, domains=tuple(replace(domain, skew=0) for domain in report.domains))


def _status(
    constraint: ConstraintReport, revision: Revision, judged: Judged, *, no_effect: str, handle: Handle
) -> tuple[SpreadStatus, str]:
    """Return the first status that holds, worst first, and the one thing to know about it."""
    hard = constraint.when_unsatisfiable == WhenUnsatisfiable.DO_NOT_SCHEDULE
    # largest count - global minimum > maxSkew, the next Pod not among them
    uneven = constraint.skew > constraint.max_skew
    missing = "" if constraint.domains else f"no node carries {constraint.topology_key}"
    skew = f"skew {constraint.skew}, maxSkew {constraint.max_skew}"
    decision = judged.decision if revision.is_next else judged.awaited
    decided = decision if decision and handle.profile.serves(revision.pod) else None
    preempts = decided.preempts if decided else ""
    to_blame = decided.blame if decided and not preempts else None
    blocked = to_blame.blocking.get(constraint.index, "") if to_blame else ""
    unschedulable = to_blame.reason if to_blame and not to_blame.blocking else ""
    waits = any(not pod.spec.node_name for pod in revision.pods)
    held = waits and any(holders(revision.pod, handle, judged.decision.evaluation))
    statuses = (
        (SpreadStatus.NO_DOMAINS, hard and bool(missing), missing),
        (SpreadStatus.BLOCKED, bool(blocked), blocked),
        (SpreadStatus.FAILED_CREATE, bool(revision.refused), revision.refused),
        (SpreadStatus.UNSCHEDULABLE, bool(unschedulable), unschedulable),
        (SpreadStatus.VIOLATED, hard and uneven, skew),
        (SpreadStatus.NO_EFFECT, bool(missing or no_effect), missing or no_effect),
        (SpreadStatus.INCOMPLETE, bool(judged.incomplete) and (revision.is_next or held), _incomplete(judged)),
        (SpreadStatus.UNEVEN, uneven, f"{skew}, only preferred"),
    )
    return next(((status, reason) for status, holds, reason in statuses if holds), (SpreadStatus.OK, preempts))


def _no_effect(constraint: ConstraintReport, handle: Handle) -> str:
    """Return why the constraint balances nothing; empty when it does."""
    if not any(domain.eligible for domain in constraint.domains):
        return "its policies count no node"
    if constraint.selector == str(NOTHING):
        return "no labelSelector: it counts no Pod"
    if constraint.selector == str(EVERYTHING):
        counts = handle.profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
        return "" if counts else "empty labelSelector: it counts no Pod in this release"
    return "" if constraint.self_match else "its selector does not match its own Pods"


def _incomplete(judged: Judged) -> str:
    """Return what the answer does not know."""
    return judged.incomplete[0].consequence if judged.incomplete else ""
