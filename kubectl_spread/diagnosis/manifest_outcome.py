"""What becomes of one manifest: the scheduler's decision about its first Pod, and where all its replicas go."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers import statefulset
from kubectl_spread.controllers.rollout_plan import (
    Assumption,
    DesiredWorkload,
    FailedCreate,
    Rollout,
    rollout_of,
    running_pods,
)
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, diagnose
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.incomplete import deciders
from kubectl_spread.gaps import Gap, UnreadRevision
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import DaemonSet, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.applied import AppliedOutcomes
from kubectl_spread.simulation.placement import (
    DomainRange,
    Jam,
    Placed,
    Placement,
    with_claims,
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
        orders: in how many orders chance was tried, by name first.
        ranges: the domains of ``constraints`` whose counts differ between these orders.
        sampled: whether the scheduler scores only some of the nodes that a replica fits on.
        rollout: what was assumed about the workload's running Pods; None where it has none.
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
        first: the first Pod that comes; where none does, what one would be.
        handle: the cluster with the claims that are made along with it.
        alone: whether nothing but new Pods that are like the first are to be placed.
    """

    first: Pod
    handle: Handle
    alone: bool

    @property
    def undecided(self) -> bool:
        """Whether not all Pods were read, and the first that comes may find a node."""
        if not self.handle.snapshot.inventory.not_read:
            return False
        return bool(cycle.not_read(self.first, self.handle, most=1) or cycle.feasible_node(self.first, self.handle))


def coming(wanted: DesiredWorkload, before: Snapshot, handle: Handle) -> Coming:
    """Return what comes of one manifest; for the arguments and errors see ``outcome_of``."""
    first = wanted.replica(1) if wanted.replicas and not isinstance(wanted.owner, DaemonSet) else wanted.pod
    alone = bool(wanted.replicas) and not isinstance(wanted.owner, DaemonSet) and rollout_of(wanted, before) is None
    return Coming(first, with_claims([first], wanted.owner, handle), alone)


def undecided_outcome(wanted: DesiredWorkload, came: Coming) -> ManifestOutcome:
    """Return the decision about the first Pod alone: some of the Pods do not tell where the others go."""
    return ManifestOutcome(
        judgement=judge(cycle.evaluate(came.first, came.handle), came.handle),
        replicas=wanted.replicas,
        held_by=_held_by(came.first),
    )


def outcome_of(wanted: DesiredWorkload, before: Snapshot, seen: AppliedOutcomes) -> ManifestOutcome:
    """Return what becomes of one manifest.

    Args:
        wanted: what it asks for, its Pod as the API server stores it.
        before: the cluster without any manifest.
        seen: what becomes of its Pods once all manifests are applied.

    Raises:
        ValueError: a selector or quantity cannot be read.
    """
    applied, outcomes, rollout = seen.first, seen.outcomes, rollout_of(wanted, before)
    if rollout is None and applied.staying:
        there = applied.staying + applied.gone
        rollout = Rollout(strategy="Scale", running=there, replaced=applied.gone, assumed=Assumption.ADOPTED)
    placed = applied.placed
    at_the_end = placed.handle if placed.waiting else with_claims([wanted.pod], wanted.owner, placed.handle)
    first, handle = applied.first or ((placed.waiting or (wanted.pod,))[0], at_the_end)
    if isinstance(wanted.owner, DaemonSet):
        first = wanted.pod  # Pinned to no node it stands for all.
    # What kube-scheduler would do is no reason to say that another one will not, or a kubelet.
    jammed = outcomes.jammed if handle.decides(first) else None
    # Each daemon counts its own node alone: the first one stands for all.
    waiting = () if jammed is None or isinstance(wanted.owner, DaemonSet) else placed.waiting or jammed.waiting
    shown = waiting[0] if waiting else first
    failed = FailedCreate(created=len(applied.came), message=applied.refused) if applied.refused else None
    outcome = ManifestOutcome(
        judgement=judge(cycle.evaluate(first, handle), handle),
        unread_revisions=_unread_revisions(wanted, before, applied.came),
        blameless=bool(placed.placements) or (outcomes.jam is None and _may_be_idle(wanted, rollout)),
        replicas=_nodes_wanted(seen) if isinstance(wanted.owner, DaemonSet) else wanted.replicas,
        placements=placed.placements,
        pending=len(placed.waiting) if jammed else 0,
        failed_create=failed,
        held_by=_held_by(first),
        constraints=diagnose(shown, placed.handle, cycle.evaluate(shown, placed.handle)).constraints,
        orders=len(outcomes.all),
        ranges=outcomes.ranges(first),
        sampled=any(each.sampled for each in outcomes.all),
        rollout=rollout,
        jammed=jammed,
    )
    return _with_jam(outcome, outcomes.jam, jammed) if jammed and outcomes.jam else outcome


def _may_be_idle(wanted: DesiredWorkload, rollout: Rollout | None) -> bool:
    """Whether it says nothing about the template that no Pod comes."""
    # A Pod that no daemon is, pinned to no node, stands for daemons that all have one.
    return isinstance(wanted.owner, DaemonSet) or rollout is not None


def _held_by(pod: Pod) -> tuple[str, ...]:
    """Return the scheduling gates that hold the Pod back; they are rare, and what tells of them is loaded then."""
    if not pod.spec.scheduling_gates:
        return ()
    from kubectl_spread.scheduler.schedulinggates import gates

    return gates(pod)


def _unread_revisions(wanted: DesiredWorkload, before: Snapshot, came: Sequence[Pod]) -> tuple[UnreadRevision, ...]:
    """Return what is not known of the Pods that come below a StatefulSet's partition."""
    if not isinstance(wanted.owner, StatefulSet):
        return ()
    # Its template may name a pod-template-hash besides, which is none of its revisions.
    newest = wanted.pod.metadata.labels.get(REVISION_HASH_LABEL, "")
    owner, living = wanted.owner, running_pods(wanted, before)
    return tuple(gap for pod in came for gap in statefulset.guessed(owner, pod, living, newest=newest))


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


def _nodes_wanted(seen: AppliedOutcomes) -> int:
    """Return how many Pods a DaemonSet asks for (count): those that come, and the old ones of a stuck rollout."""
    first = seen.first
    left = first.staying if first.placed.jam and first.gone else 0
    return len(first.placed.placements) + len(first.placed.waiting) + left
