"""What becomes of one manifest: the scheduler's decision about its first Pod, and where all its replicas go."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers import statefulset
from kubectl_spread.controllers.rollout_plan import (
    DesiredWorkload,
    FailedCreate,
    PlannedPod,
    Rollout,
    RolloutPlan,
    plan_of,
)
from kubectl_spread.controllers.statefulset import PARALLEL
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, diagnose
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.incomplete import deciders
from kubectl_spread.gaps import Gap, UnreadRevision
from kubectl_spread.objects.core import Pod, ResourceQuota
from kubectl_spread.objects.kinds import REPLICA_SET, Workload
from kubectl_spread.objects.workloads import DaemonSet, Deployment, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import (
    SAMPLED_NODES,
    DomainRange,
    Jam,
    Placed,
    Placement,
    PlacementOutcomes,
    place_daemon,
    place_in_all_orders,
    with_claims,
    without,
)
from kubectl_spread.snapshot import Snapshot


class ManifestOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a manifest.

    Attributes:
        judgement: what the scheduler decides about its first Pod.
        unread_revisions: what is not known of Pods of an older revision that come.
        blameless: whether the first Pod needs no node as it is, or gets one, whatever was decided about it.
        replicas: how many Pods are asked for.
        placements: where each replica goes, in order; ties go to the first name.
        jam: the first replica that finds no node; None where all find one, or another scheduler decides.
        jam_judgement: what the scheduler decides about that replica.
        pending: how many Pods then wait for a node (count), with ties going to the first name.
        failed_create: the first Pod that the API server refuses; None where it takes all.
        held_by: the scheduling gates that hold its Pods back.
        constraints: those of the replica that finds no node, else of the first, with all placed replicas counted.
        orders: in how many orders ties were broken, by name first.
        ranges: the domains of ``constraints`` whose counts differ between these orders.
        sampled: whether there are so many nodes that the scheduler may look at some of them only.
        rollout: what was assumed about the workload's running Pods; None where it has none.
        after: the cluster with its replicas.
        jammed: the outcome in which the first of them finds no node; None as for ``jam``.
    """

    judgement: Judgement
    unread_revisions: tuple[Gap, ...] = ()
    blameless: bool = False
    replicas: int
    placements: tuple[Placement, ...] = ()
    jam: Jam | None = None
    jam_judgement: Judgement | None = None
    pending: int = 0
    failed_create: FailedCreate | None = None
    held_by: tuple[str, ...] = ()
    constraints: tuple[ConstraintDiagnosis, ...] = ()
    orders: int = 1
    ranges: tuple[DomainRange, ...] = ()
    sampled: bool = False
    rollout: Rollout | None = None
    after: Snapshot
    jammed: Placed | None = None

    @property
    def unknown(self) -> tuple[Gap, ...]:
        """What the decision about the first Pod does not rest on besides."""
        pod, snapshot = self.judgement.evaluation.pod, self.judgement.handle.snapshot
        return (*unknown(pod, snapshot), *volumes.guessed(pod, snapshot))

    @property
    def preempts(self) -> bool:
        """Whether the scheduler makes room for the first Pod."""
        return any(each.preempts for each in self.placements[:1])

    @property
    def is_cleared(self) -> bool:
        """Whether the first Pod finds no node by itself, and nothing is to blame for that."""
        return self.judgement.is_unschedulable and self.blameless


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
    """Return what comes of one manifest; for the arguments and errors see ``outcome_of``."""
    plan = plan_of(wanted, before)
    failed = _failed_create(plan, before, handle)
    if failed and failed.created:
        plan = replace(plan, steps=plan.steps[: failed.created])
    first = plan.steps[0].pod if plan.steps else wanted.pod
    handle = with_claims([first, *(step.pod for step in plan.steps)], wanted.owner, handle)
    return Coming(plan, first, handle, failed)


def outcome_of(wanted: DesiredWorkload, before: Snapshot, handle: Handle) -> ManifestOutcome:
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
    outcomes = _outcomes(wanted, plan, before, handle, rolls=rolls)
    if isinstance(wanted.owner, DaemonSet) and any(handle.snapshot.all(ResourceQuota)):
        failed = _failed_create(_with_daemons(plan, wanted, outcomes), before, handle)
    if failed and failed.created and outcomes.jam and _one_by_one(wanted.owner):
        # The Pod that finds no node keeps the one that would be refused from ever being made.
        failed = None
    sticks = rolls and not outcomes.first.placements and outcomes.jammed is not None
    judgement = _judge_first(first, () if sticks else plan.old, plan, outcomes.first.handle if sticks else handle)
    # What kube-scheduler would do is no reason to say that another one will not, or a kubelet.
    jammed = outcomes.jammed if handle.decides(first) else None
    # Each daemon counts its own node alone: the first one stands for all.
    waiting = () if jammed is None or isinstance(wanted.owner, DaemonSet) else outcomes.first.waiting or jammed.waiting
    shown = waiting[0] if waiting else first
    after = outcomes.first.handle
    outcome = ManifestOutcome(
        judgement=judgement,
        unread_revisions=_unread_revisions(wanted, plan),
        blameless=_is_blameless(wanted, plan, outcomes, rolls=rolls),
        replicas=_nodes_wanted(plan, outcomes) if isinstance(wanted.owner, DaemonSet) else wanted.replicas,
        placements=outcomes.first.placements,
        pending=_waiting(wanted, outcomes.first) if jammed else 0,
        failed_create=failed,
        held_by=_held_by(first) if plan.steps else (),
        constraints=diagnose(shown, after, cycle.evaluate(shown, after)).constraints,
        orders=len(outcomes.all),
        ranges=outcomes.ranges(first),
        sampled=len(handle.node_infos) >= SAMPLED_NODES,
        rollout=plan.rollout,
        after=after.snapshot,
        jammed=jammed,
    )
    return _with_jam(outcome, outcomes.jam, jammed) if jammed and outcomes.jam else outcome


def _is_undecided(came: Coming) -> bool:
    """Whether not all Pods were read, and the first that comes may find a node."""
    pod, handle = came.first, came.handle
    if not handle.snapshot.inventory.not_read:
        return False
    return bool(cycle.not_read(pod, handle, most=1) or cycle.feasible_node(pod, handle))


def _of_the_first(wanted: DesiredWorkload, came: Coming) -> ManifestOutcome:
    """Return the decision about the first Pod alone: some of the Pods do not tell where the others go."""
    judgement = _judge_first(came.first, (), came.plan, came.handle)
    return ManifestOutcome(
        judgement=judgement,
        replicas=wanted.replicas,
        failed_create=came.failed,
        held_by=_held_by(came.first),
        after=came.handle.snapshot,
    )


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


def _judge_first(pod: Pod, old: Sequence[Pod], plan: RolloutPlan, handle: Handle) -> Judgement:
    """Return what the scheduler decides about the first Pod, when as many of the old have gone as it waits for."""
    gone = _gone_before(plan.steps[0], old, handle) if plan.steps else len(old)
    handle = without(old[:gone], handle)
    return judge(cycle.evaluate(pod, handle), handle)


def _gone_before(step: PlannedPod, old: Sequence[Pod], handle: Handle) -> int:
    """Return how many old Pods go before the Pod finds a node (count): where none does, no more than go anyway."""
    numbers = range(step.gone, len(old) + 1)
    return next((n for n in numbers if cycle.feasible_nodes(step.pod, without(old[:n], handle))), step.gone)


def _unread_revisions(wanted: DesiredWorkload, plan: RolloutPlan) -> tuple[UnreadRevision, ...]:
    """Return what is not known of the Pods that come below a StatefulSet's partition."""
    if not isinstance(wanted.owner, StatefulSet):
        return ()
    # Its template may name a pod-template-hash besides, which is none of its revisions.
    newest = wanted.pod.metadata.labels.get(REVISION_HASH_LABEL, "")
    owner, living = wanted.owner, (*plan.staying, *plan.old)
    return tuple(gap for step in plan.steps for gap in statefulset.guessed(owner, step.pod, living, newest=newest))


def _is_blameless(wanted: DesiredWorkload, plan: RolloutPlan, outcomes: PlacementOutcomes, *, rolls: bool) -> bool:
    """Whether the first Pod does not come as it is, or comes although it would find no node by itself."""
    # A Pod that no daemon is, pinned to no node, stands for daemons that all have one.
    none_waits = isinstance(wanted.owner, DaemonSet) or (not plan.steps and plan.rollout is not None)
    comes = any(rolls or each.preempts for each in outcomes.first.placements[:1])
    return comes or (none_waits and outcomes.jam is None)


def _with_jam(outcome: ManifestOutcome, jam: Jam, jammed: Placed) -> ManifestOutcome:
    """Return the outcome with the replica that finds no node; the jam is the earliest, as in the outcome ``jammed``."""
    pod, handle, first = jammed.waiting[0], jammed.handle, outcome.judgement
    if not jammed.placements and not jam.nodes and _is_explained(outcome):
        message = first.message if handle.snapshot.inventory.not_read else jam.message
        return replace(outcome, jam=replace(jam, message=message), jam_judgement=first)
    return replace(outcome, jam=jam, jam_judgement=judge(cycle.evaluate(pod, handle), handle))


def _is_explained(outcome: ManifestOutcome) -> bool:
    """Whether there is something to blame, or somebody else to decide, for the first Pod."""
    judgement = outcome.judgement
    if outcome.is_cleared:
        return False
    decider = next(deciders(judgement.evaluation.pod, judgement.handle, judgement.evaluation), None)
    return judgement.blame is not None or decider is not None


def _outcomes(
    wanted: DesiredWorkload, plan: RolloutPlan, before: Snapshot, handle: Handle, *, rolls: bool
) -> PlacementOutcomes:
    """Return where the replicas go, in the place of others or not."""
    if rolls:
        from kubectl_spread.simulation.manifest_rollout import rolled_out  # Most manifests replace none.

        return rolled_out(wanted, plan, before, handle)
    if isinstance(wanted.owner, DaemonSet):
        return PlacementOutcomes(place_daemon(wanted.owner, wanted.pod, plan, handle))
    return place_in_all_orders(plan, handle)


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
