"""How one workload lies over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers.next_pod import NextPod, next_pod
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, of_revision, revision_of
from kubectl_spread.diagnosis import findings, requirements
from kubectl_spread.diagnosis.domains import SpreadDiagnosis, diagnose
from kubectl_spread.diagnosis.ghosts import ghosts
from kubectl_spread.diagnosis.incomplete import holders, incomplete
from kubectl_spread.diagnosis.reasons import name_of
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.report import ConstraintReport, Finding, Incomplete, SkewItem, SpreadStatus
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable, parsable_constraints
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.words import first_and_more


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
    def refused(self) -> str:
        """Why the API server would not take its next Pod; empty where it would."""
        return str(self.upcoming.refusals[0]) if self.upcoming and self.upcoming.refusals else ""


class Judged(msgspec.Struct, frozen=True):
    """The Pod of a revision, judged.

    Attributes:
        evaluation: every filter's verdict on every node.
        spread: what its constraints say.
        findings: what is worth knowing besides.
        incomplete: what the verdict does not rest on.
    """

    evaluation: Evaluation
    spread: SpreadDiagnosis
    findings: tuple[Finding, ...]
    incomplete: tuple[Incomplete, ...]


def skew_items(workload: OwnedPods, handle: Handle, *, defaults: bool) -> Iterator[SkewItem]:
    """Yield a row for each constraint of each revision whose rows would differ.

    Args:
        workload: the workload.
        handle: the cluster.
        defaults: whether the cluster's default constraints are shown where it has none of its own.
    """
    for revision in revisions(workload, handle):
        if not revision.pod.spec.topology_spread_constraints and not defaults:
            continue
        judged = _judge(revision, handle)
        for constraint in judged.spread.constraints:
            yield _item(workload, revision, constraint, judged, handle)


def _judge(revision: Revision, handle: Handle) -> Judged:
    """Return what the scheduler and the constraints say of the revision's Pod, which comes with claims of its own."""
    pod, upcoming = revision.pod, revision.upcoming
    handle = upcoming.place(handle) if upcoming else handle
    evaluation = cycle.evaluate(pod, handle)
    spread = diagnose(pod, handle, evaluation)
    beyond_template = findings.from_living(upcoming.from_living) if upcoming else ()
    not_read = (*unknown(pod, handle.snapshot), *guessed(pod, handle.snapshot)) if upcoming else ()
    return Judged(
        evaluation=evaluation,
        spread=spread,
        findings=(*findings.of_pod(pod, handle, spread, evaluation), *beyond_template),
        incomplete=(*incomplete(pod, handle, evaluation), *not_read),
    )


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
    feasible = judged.evaluation.feasible if revision.is_next else ()
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
        next=feasible,
        evaluated_filters=tuple(f for f in handle.profile.filters if f not in judged.evaluation.not_modelled),
        findings=judged.findings,
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
    decided = revision.is_next and handle.profile.serves(revision.pod)
    blocked = _blocked(constraint, judged) if decided and hard else ""
    unschedulable = _unschedulable(judged) if decided else ""
    waits = any(not pod.spec.node_name for pod in revision.pods)
    held = waits and any(holders(revision.pod, handle, judged.evaluation))
    statuses = (
        (SpreadStatus.NO_DOMAINS, hard and bool(missing), missing),
        (SpreadStatus.BLOCKED, bool(blocked), blocked),
        (SpreadStatus.FAILED_CREATE, bool(revision.refused), revision.refused),
        (SpreadStatus.UNSCHEDULABLE, bool(unschedulable), unschedulable),
        (SpreadStatus.VIOLATED, hard and uneven, f"maxSkew is {constraint.max_skew}"),
        (SpreadStatus.NO_EFFECT, bool(missing or no_effect), missing or no_effect),
        (SpreadStatus.INCOMPLETE, bool(judged.incomplete) and (revision.is_next or held), _incomplete(judged)),
        (SpreadStatus.UNEVEN, uneven, "only preferred"),
    )
    return next(((status, reason) for status, holds, reason in statuses if holds), (SpreadStatus.OK, ""))


def _blocked(constraint: ConstraintReport, judged: Judged) -> str:
    """Return why this constraint leaves the next Pod no node; empty where it finds one, or others are to blame."""
    rejected, nodes = judged.spread.rejected, judged.evaluation.nodes
    by_filters = frozenset[str]().union(*(names for r, names in rejected.items() if isinstance(r, FilterRequirement)))
    if len(by_filters) == len(nodes):
        return ""
    this = ConstraintRequirement(constraint.index)
    core = next((core for core in requirements.conflict_cores(rejected, nodes) if this in core), ())
    if not core:
        return ""
    pins = [pin for domain in constraint.domains for pin in domain.pinned_by]
    if pins:
        pinned_by = [f"{pin.node} ({pin.detail or name_of(pin.requirement)})" for pin in pins]
        return f"min pinned by {first_and_more(pinned_by)}"
    others = [_described(requirement, judged) for requirement in core if requirement != this]
    return f"no node left together with {' and '.join(others)}" if others else "no domain may take one more"


def _unschedulable(judged: Judged) -> str:
    """Return which filters leave the next Pod no node; empty where it finds one, or its constraints are to blame."""
    evaluation = judged.evaluation
    if evaluation.feasible:
        return ""
    of_filters: requirements.Rejected = {
        r: names for r, names in judged.spread.rejected.items() if isinstance(r, FilterRequirement)
    }
    core = requirements.conflict_core(of_filters, evaluation.nodes)
    names = [each.plugin for each in core if isinstance(each, FilterRequirement)]
    return " and ".join(names) if evaluation.nodes else evaluation.message


def _described(requirement: Requirement, judged: Judged) -> str:
    """Return a requirement by its topology key, or by its plugin's name."""
    if isinstance(requirement, FilterRequirement):
        return requirement.plugin
    return judged.spread.topology_key(requirement)


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
