"""How one workload lies over the domains of its constraints, and whether its next Pod finds a node."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.controllers.workloads import OwnedPods, makes_next_pod, next_pod, of_revision, revision_of
from kubectl_spread.diagnosis import findings, requirements
from kubectl_spread.diagnosis.domains import SpreadDiagnosis, diagnose
from kubectl_spread.diagnosis.ghosts import ghosts
from kubectl_spread.diagnosis.holders import holders
from kubectl_spread.diagnosis.incomplete import incomplete
from kubectl_spread.diagnosis.reasons import name_of
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import ConstraintReport, Finding, Incomplete, SkewItem, SpreadStatus
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable, constraints_of
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.words import first_and_more


class Revision(msgspec.Struct, frozen=True):
    """One revision of a workload, and the Pod that stands for it.

    Attributes:
        name: the revision; empty where the workload has only one.
        pod: the Pod its rows are evaluated for.
        pods: its Pods that are alive.
        is_next: whether the workload's next Pod is of this revision.
    """

    name: str
    pod: Pod
    pods: tuple[Pod, ...]
    is_next: bool


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
        judged = _judge(revision.pod, handle)
        for constraint in judged.spread.constraints:
            yield _item(workload, revision, constraint, judged, handle)


def _judge(pod: Pod, handle: Handle) -> Judged:
    """Return what the scheduler and the constraints say of the Pod."""
    evaluation = cycle.evaluate(pod, handle)
    spread = diagnose(pod, handle, evaluation)
    return Judged(
        evaluation=evaluation,
        spread=spread,
        findings=findings.of_pod(pod, handle, spread, evaluation),
        incomplete=incomplete(pod, handle, evaluation),
    )


def revisions(workload: OwnedPods, handle: Handle) -> list[Revision]:
    """Return the newest revision first, then older ones that are alive and whose constraints read otherwise.

    The newest stands for all where none does.
    """
    upcoming = next_pod(workload, handle.snapshot)
    if upcoming is None:
        return []
    upcoming = defaulted(upcoming, handle.profile.release)
    newest, is_next = revision_of(upcoming), makes_next_pod(workload)
    alive = {revision_of(pod): pod for pod in workload.pods}
    older = [
        Revision(name, pod, of_revision(workload.pods, name), is_next=False)
        for name, pod in sorted(alive.items())
        if name != newest and constraints_of(pod, handle) != constraints_of(upcoming, handle)
    ]
    if not older:
        return [Revision("", upcoming, workload.pods, is_next)]
    told_apart = {revision.name for revision in older}
    pods = tuple(pod for pod in workload.pods if revision_of(pod) not in told_apart)
    return [Revision(newest, upcoming, pods, is_next), *older]


def _item(
    workload: OwnedPods, revision: Revision, constraint: ConstraintReport, judged: Judged, handle: Handle
) -> SkewItem:
    """Return the row of one constraint."""
    status, reason = _status(constraint, revision, judged, handle)
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
    constraint = next(c for c in constraints_of(pod, handle) if c.index == report.index)
    nodes = {node for domain in report.domains for node in domain.nodes}
    own = {other.key for other in workload.pods}
    counted = podtopologyspread.counted_pods(constraint, pod, handle)
    return sum(1 for found in counted if found.spec.node_name in nodes and found.key in own)


def _status(
    constraint: ConstraintReport, revision: Revision, judged: Judged, handle: Handle
) -> tuple[SpreadStatus, str]:
    """Return the first status that holds, worst first, and the one thing to know about it."""
    hard = constraint.when_unsatisfiable == WhenUnsatisfiable.DO_NOT_SCHEDULE
    # largest count - global minimum > maxSkew, the next Pod not among them
    uneven = constraint.skew > constraint.max_skew
    served = handle.profile.serves(revision.pod)
    blocked = _blocked(constraint, judged) if revision.is_next and hard and served else ""
    held = any(holders(revision.pod, handle.profile))
    no_effect = _no_effect(constraint, handle)
    statuses = (
        (SpreadStatus.BLOCKED, bool(blocked), blocked),
        (SpreadStatus.VIOLATED, hard and uneven, f"maxSkew is {constraint.max_skew}"),
        (SpreadStatus.NO_DOMAINS, not any(d.eligible for d in constraint.domains), _no_domains(constraint)),
        (SpreadStatus.NO_EFFECT, bool(no_effect), no_effect),
        (SpreadStatus.INCOMPLETE, bool(judged.incomplete) and (revision.is_next or held), _incomplete(judged)),
        (SpreadStatus.UNEVEN, uneven, "only preferred"),
    )
    return next(((status, reason) for status, holds, reason in statuses if holds), (SpreadStatus.OK, ""))


def _blocked(constraint: ConstraintReport, judged: Judged) -> str:
    """Return why this constraint leaves the next Pod no node; empty where it finds one, or others are to blame."""
    rejected, nodes = judged.spread.rejected, judged.evaluation.nodes
    by_filters = frozenset[str]().union(*(names for r, names in rejected.items() if isinstance(r, FilterRequirement)))
    core = requirements.conflict_core(rejected, nodes)
    if not core or len(by_filters) == len(nodes):
        return ""
    this = ConstraintRequirement(constraint.index)
    if this not in core:
        return ""
    pins = [pin for domain in constraint.domains for pin in domain.pinned_by]
    if pins:
        pinned_by = [f"{pin.node} ({pin.detail or name_of(pin.requirement)})" for pin in pins]
        return f"min pinned by {first_and_more(pinned_by)}"
    others = [_described(requirement, judged) for requirement in core if requirement != this]
    return f"no node left together with {' and '.join(others)}" if others else "no domain may take one more"


def _described(requirement: Requirement, judged: Judged) -> str:
    """Return a requirement by its topology key, or by its plugin's name."""
    if isinstance(requirement, FilterRequirement):
        return requirement.plugin
    return judged.spread.topology_key(requirement)


def _no_effect(constraint: ConstraintReport, handle: Handle) -> str:
    """Return why the constraint balances nothing; empty when it does."""
    if constraint.selector == str(NOTHING):
        return "no labelSelector: it counts no Pod"
    if constraint.selector == str(EVERYTHING):
        counts = handle.profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
        return "" if counts else "empty labelSelector: it counts no Pod in this release"
    return "" if constraint.self_match else "its selector does not match its own Pods"


def _no_domains(constraint: ConstraintReport) -> str:
    """Return why no node is counted."""
    if constraint.domains:
        return "its policies count no node"
    return f"no node carries {constraint.topology_key}"


def _incomplete(judged: Judged) -> str:
    """Return what the answer does not know."""
    return judged.incomplete[0].consequence if judged.incomplete else ""
