"""What becomes of one manifest: the scheduler's decision about its first Pod, and where all its replicas go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict, replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.contract.check import CheckItem, Jam, Rollout
from kubectl_spread.contract.constraints import constraint_report, requirement_report
from kubectl_spread.contract.evaluation import EvaluationReport, as_item, evaluation_report, explanation_of
from kubectl_spread.contract.incomplete import incomplete_entries
from kubectl_spread.contract.report import Incomplete
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers import rollout_plan, statefulset
from kubectl_spread.controllers.rollout_plan import DesiredWorkload, FailedCreate, PlannedPod, RolloutPlan, plan_of
from kubectl_spread.controllers.statefulset import PARALLEL
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL
from kubectl_spread.diagnosis.domains import diagnose
from kubectl_spread.diagnosis.evaluation import Judgement, Verdict, judge
from kubectl_spread.gaps import Gap, UnreadRevision
from kubectl_spread.objects.core import Pod, ResourceQuota
from kubectl_spread.objects.kinds import REPLICA_SET, Workload
from kubectl_spread.objects.workloads import DaemonSet, Deployment, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation import placement
from kubectl_spread.simulation.placement import (
    SAMPLED_NODES,
    Placed,
    PlacementOutcomes,
    place_daemon,
    place_in_all_orders,
    with_claims,
    without,
)
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.rollouts import assumption

ReportT = TypeVar("ReportT", bound=EvaluationReport)


class Checked(msgspec.Struct, frozen=True):
    """What becomes of a manifest.

    Attributes:
        item: the answer, in the name of its first Pod.
        after: the cluster with its replicas.
        jammed: the outcome in which the first of them finds no node; None where all find one, or another scheduler
            decides.
    """

    item: CheckItem
    after: Snapshot
    jammed: Placed | None = None


class Coming(msgspec.Struct, frozen=True):
    """What comes of a manifest, before any of it is placed.

    Attributes:
        plan: which Pods come and which go, up to the first that the API server refuses.
        first: the first Pod that comes; where none does, what one would be.
        handle: the cluster with the claims that are made along with them.
        failed: the first Pod that the API server refuses; None where it takes all.
    """

    plan: RolloutPlan
    first: Pod
    handle: Handle
    failed: FailedCreate | None


def coming(wanted: DesiredWorkload, before: Snapshot, handle: Handle) -> Coming:
    """Return what comes of one manifest; for the arguments and errors see ``checked``."""
    plan = plan_of(wanted, before)
    failed = _failed_create(plan, before, handle)
    if failed and failed.created:
        plan = replace(plan, steps=plan.steps[: failed.created])
    first = plan.steps[0].pod if plan.steps else wanted.pod
    handle = with_claims([first, *(step.pod for step in plan.steps)], wanted.owner, handle)
    return Coming(plan, first, handle, failed)


def checked(wanted: DesiredWorkload, before: Snapshot, handle: Handle) -> Checked:
    """Return what becomes of one manifest.

    Args:
        wanted: what it asks for, its Pod as the API server stores it.
        before: the cluster without any manifest.
        handle: the cluster with them.

    Raises:
        ValueError: a selector or quantity cannot be read.
    """
    came = coming(wanted, before, handle)
    plan, first, handle, failed = came.plan, came.first, came.handle, came.failed
    if _is_undecided(came):
        return _of_the_first(wanted, came)
    rolls = _rolls_out(wanted, plan, before) and not (failed and failed.created)
    outcomes = _rolled_out(wanted, plan, before, handle) if rolls else _placed(wanted, plan, handle)
    if isinstance(wanted.owner, DaemonSet) and any(handle.snapshot.all(ResourceQuota)):
        failed = _failed_create(_with_daemons(plan, wanted, outcomes), before, handle)
    if failed and failed.created and outcomes.jam and _one_by_one(wanted.owner):
        # The Pod that finds no node keeps the one that would be refused from ever being made.
        failed = None
    sticks = rolls and not outcomes.first.placements and outcomes.jammed is not None
    report = _evaluated(first, () if sticks else plan.old, plan, outcomes.first.handle if sticks else handle)
    report = _without_blame(report, wanted, plan, outcomes, rolls=rolls)
    if older := _of_unread_revisions(wanted, plan):
        report = with_missing(report, incomplete_entries(older))
    # What kube-scheduler would do is no reason to say that another one will not, or a kubelet.
    jammed = outcomes.jammed if handle.decides(first) else None
    after = outcomes.first.handle
    item = as_item(
        CheckItem,
        report,
        replicas=_nodes_wanted(plan, outcomes) if isinstance(wanted.owner, DaemonSet) else wanted.replicas,
        placements=outcomes.first.placements,
        jam=_explained(outcomes.jam, jammed, report) if jammed else None,
        pending=_waiting(wanted, outcomes.first) if jammed else 0,
        failed_create=failed,
        held_by=_held_by(first) if plan.steps else (),
        after=tuple(map(constraint_report, diagnose(first, after, cycle.evaluate(first, after)).constraints)),
        orders=len(outcomes.all),
        ranges=outcomes.ranges(first),
        sampled=len(handle.node_infos) >= SAMPLED_NODES,
        rollout=_reported(plan.rollout),
    )
    return Checked(item, after.snapshot, jammed)


def _is_undecided(came: Coming) -> bool:
    """Whether not all Pods were read, and the first that comes may find a node."""
    pod, handle = came.first, came.handle
    if not handle.snapshot.inventory.not_read:
        return False
    return bool(cycle.not_read(pod, handle, most=1) or cycle.feasible_node(pod, handle))


def _of_the_first(wanted: DesiredWorkload, came: Coming) -> Checked:
    """Return the decision about the first Pod alone: where the others go is not told from some of the Pods."""
    report = _evaluated(came.first, (), came.plan, came.handle)
    held_by = _held_by(came.first)
    item = as_item(CheckItem, report, replicas=wanted.replicas, failed_create=came.failed, held_by=held_by)
    return Checked(item, came.handle.snapshot)


def with_missing(report: ReportT, missing: tuple[Incomplete, ...]) -> ReportT:
    """Return the report, of which more is not known."""
    verdict = Verdict.INCOMPLETE if report.verdict is Verdict.SCHEDULABLE else report.verdict
    return replace(report, verdict=verdict, incomplete=(*report.incomplete, *missing))


def _failed_create(plan: RolloutPlan, before: Snapshot, handle: Handle) -> FailedCreate | None:
    """Return at which Pod a quota ends the plan; quotas are rare, and what knows them is loaded then."""
    if not any(handle.snapshot.all(ResourceQuota)):
        return None
    from kubectl_spread.simulation.quotas import failed_create

    return failed_create(plan, before, handle)


def _with_daemons(plan: RolloutPlan, wanted: DesiredWorkload, outcomes: PlacementOutcomes) -> RolloutPlan:
    """Return the plan of a DaemonSet with the Pods that come, each in the place of an old one as long as there are."""
    numbers = range(1, _nodes_wanted(plan, outcomes) + 1)
    return replace(plan, steps=tuple(PlannedPod(wanted.replica(n), gone=min(n, len(plan.old))) for n in numbers))


def _one_by_one(owner: Workload | None) -> bool:
    """Whether the owner makes a Pod only once those before it are ready."""
    return isinstance(owner, StatefulSet) and owner.spec.pod_management_policy != PARALLEL


def _held_by(pod: Pod) -> tuple[str, ...]:
    """Return the scheduling gates that hold the Pod back; they are rare, and what tells of them is loaded then."""
    if not pod.spec.scheduling_gates:
        return ()
    from kubectl_spread.scheduler.schedulinggates import gates

    return gates(pod)


def _evaluated(pod: Pod, old: Sequence[Pod], plan: RolloutPlan, handle: Handle) -> EvaluationReport:
    """Return what the scheduler decides about the first Pod, when as many of the old have gone as it waits for."""
    gone = _gone_before(plan.steps[0], old, handle) if plan.steps else len(old)
    report = evaluation_report(_judged(pod, without(old[:gone], handle)))
    missing: tuple[Gap, ...] = (*unknown(pod, handle.snapshot), *volumes.guessed(pod, handle.snapshot))
    return with_missing(report, incomplete_entries(missing)) if missing else report


def _judged(pod: Pod, handle: Handle) -> Judgement:
    return judge(cycle.evaluate(pod, handle), handle)


def _gone_before(step: PlannedPod, old: Sequence[Pod], handle: Handle) -> int:
    """Return how many old Pods go before the Pod finds a node (count): where none does, no more than go anyway."""
    numbers = range(step.gone, len(old) + 1)
    return next((n for n in numbers if cycle.feasible_nodes(step.pod, without(old[:n], handle))), step.gone)


def _of_unread_revisions(wanted: DesiredWorkload, plan: RolloutPlan) -> tuple[UnreadRevision, ...]:
    """Return what is not known of the Pods that come below a StatefulSet's partition."""
    if not isinstance(wanted.owner, StatefulSet):
        return ()
    # Its template may name a pod-template-hash besides, which is none of its revisions.
    newest = wanted.pod.metadata.labels.get(REVISION_HASH_LABEL, "")
    owner, living = wanted.owner, (*plan.staying, *plan.old)
    return tuple(gap for step in plan.steps for gap in statefulset.guessed(owner, step.pod, living, newest=newest))


def _without_blame(
    report: EvaluationReport, wanted: DesiredWorkload, plan: RolloutPlan, outcomes: PlacementOutcomes, *, rolls: bool
) -> EvaluationReport:
    """Return the report, without blame about a Pod that does not come as it is, or that is made room for."""
    # A Pod that no daemon is, pinned to no node, stands for daemons that all have one.
    none_waits = isinstance(wanted.owner, DaemonSet) or (not plan.steps and plan.rollout is not None)
    preempts = any(placement.preempts for placement in outcomes.first.placements[:1])
    if preempts:
        # Where room is made, the minimum is not held by what is full.
        held = tuple(finding for finding in report.findings if finding.id != "PinnedMinimum")
        report = replace(report, findings=held)
    comes = rolls and bool(outcomes.first.placements)
    blameless = preempts or comes or (none_waits and outcomes.jam is None)
    if report.verdict is not Verdict.UNSCHEDULABLE or not blameless:
        return report
    return replace(report, verdict=Verdict.SCHEDULABLE, summary="", cause=UNSET, message="", conflict=())


def _explained(jam: placement.Jam | None, jammed: Placed, first: EvaluationReport) -> Jam | None:
    """Return the jam with what is to blame for it.

    Args:
        jam: the earliest, with how late it may be.
        jammed: the outcome in which it is that early.
        first: what was found of the first Pod.
    """
    pod, handle = jammed.waiting[0], jammed.handle
    if jam is None:
        return None
    if not jammed.placements and not jam.nodes and first.summary:
        message = first.message if handle.snapshot.inventory.not_read else jam.message
        return Jam(**{**asdict(jam), "message": message}, summary=first.summary, conflict=first.conflict)
    found = judge(cycle.evaluate(pod, handle), handle)
    conflict = tuple(map(requirement_report, found.blame.core)) if found.blame else ()
    return Jam(**asdict(jam), summary=explanation_of(found).summary, conflict=conflict)


def _rolled_out(wanted: DesiredWorkload, plan: RolloutPlan, before: Snapshot, handle: Handle) -> PlacementOutcomes:
    """Return where the replicas go that come in the place of others; most manifests replace none."""
    from kubectl_spread.simulation.manifest_rollout import rolled_out

    return rolled_out(wanted, plan, before, handle)


def _placed(wanted: DesiredWorkload, plan: RolloutPlan, handle: Handle) -> PlacementOutcomes:
    """Return where the replicas go."""
    if isinstance(wanted.owner, DaemonSet):
        return PlacementOutcomes(place_daemon(wanted.owner, wanted.pod, plan, handle))
    return place_in_all_orders(plan, handle)


def _reported(rollout: rollout_plan.Rollout | None) -> Rollout | None:
    """Return the rollout with what was assumed in words."""
    return Rollout(**{**asdict(rollout), "assumed": assumption(rollout.assumed)}) if rollout else None


def _rolls_out(wanted: DesiredWorkload, plan: RolloutPlan, before: Snapshot) -> bool:
    """Whether Pods that live are replaced by controllers, of which enough was read to tell how."""
    if isinstance(wanted.owner, Deployment) and not before.inventory.has(REPLICA_SET):
        return False
    return bool(plan.old) and isinstance(wanted.owner, Deployment | StatefulSet | DaemonSet)


def _waiting(wanted: DesiredWorkload, placed: Placed) -> int:
    """Return how many Pods wait for a node at the end (count)."""
    return min(len(placed.waiting), 1) if _one_by_one(wanted.owner) else len(placed.waiting)


def _nodes_wanted(plan: RolloutPlan, outcomes: PlacementOutcomes) -> int:
    """Return how many Pods a DaemonSet asks for (count): those that come, and the old ones of a rollout that sticks."""
    placed = outcomes.first
    there = {pod.key for info in placed.handle.node_infos.values() for pod in info.pods} if placed.jam else set()
    left = sum(pod.key in there for pod in plan.old)
    return len(placed.placements) + len(placed.waiting) + left
