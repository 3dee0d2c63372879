"""The outcome of one manifest: the scheduler's decision about its first Pod, and where its replicas go."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown
from kubectl_spread.controllers import daemonset, statefulset
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers.replicas import adopted_pods
from kubectl_spread.controllers.rollout_plan import (
    AdoptsSets,
    Assumption,
    DesiredWorkload,
    FailedCreate,
    Rollout,
    Strategy,
    rollout_of,
    running_pods,
)
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL
from kubectl_spread.controllers.workloads import adopted_sets
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, diagnose
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.incomplete import deciders
from kubectl_spread.diagnosis.preemption import may_preempt
from kubectl_spread.gaps import Gap, Purpose, UnreadRevision
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import ON_DELETE, RECREATE, DaemonSet, Deployment, Job, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation import placement
from kubectl_spread.simulation.applied import AppliedOutcomes, AppliedWorkload
from kubectl_spread.snapshot import Snapshot


class ManifestOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a manifest; for the fields not listed here see ``contract.check.CheckItem``."""

    judgement: Judgement  # the scheduler's decision about its first Pod
    unread_revisions: tuple[Gap, ...] = ()  # what is unknown about Pods of an older revision that are created
    blameless: bool = False  # whether the first Pod needs no node, or gets one, whatever the decision
    scaled_to_zero: bool = False  # whether the workload wants no Pods, but may be scaled up
    replicas: int
    placements: tuple[placement.Placement, ...] = ()
    jam: placement.Jam | None = None
    jam_judgement: Judgement | None = None  # the scheduler's decision about the first replica that finds no node
    pending: int = 0
    failed_create: FailedCreate | None = None
    refused_by_chance: str = ""  # as in ``AppliedOutcomes``
    held_by: tuple[str, ...] = ()
    # those of that replica, else of the first, with all placed replicas counted
    constraints: tuple[ConstraintDiagnosis, ...] = ()
    orders: int = 1
    ranges: tuple[placement.DomainRange, ...] = ()
    violations: tuple[placement.Violation, ...] = ()
    elsewhere: tuple[str, ...] = ()
    sampled: bool = False
    rollout: Rollout | None = None
    jammed: AppliedWorkload | None = None  # the outcome in which it finds no node; None as for ``jam``

    @property
    def unknown(self) -> tuple[Gap, ...]:
        """What else the decision about the first Pod could not take into account."""
        pod, snapshot = self.judgement.evaluation.pod, self.judgement.handle.snapshot
        unread, stuck = unknown(pod, snapshot), self.jam_judgement or self.judgement
        if any(each.kind == kinds.PRIORITY_CLASS for each in unread) and may_preempt(stuck.evaluation, stuck.handle):
            purposes = {kinds.PRIORITY_CLASS: Purpose.PREEMPTION}
            unread = tuple(replace(each, purpose=purposes.get(each.kind, each.purpose)) for each in unread)
        return (*unread, *volumes.guessed(pod, snapshot))

    @property
    def is_cleared(self) -> bool:
        """Whether kube-scheduler finds the first Pod no node, whatever was not evaluated, and nothing is to blame."""
        evaluation = self.judgement.evaluation
        stuck = self.judgement.handle.decides(evaluation.pod) and not (evaluation.feasible or evaluation.undecided)
        return stuck and self.blameless


class UnplacedPods(msgspec.Struct, frozen=True):
    """The Pods of a manifest, before any is placed: the first, or a model of one, and the cluster with their claims.

    ``alone``: only new Pods like the first are to be placed.
    """

    first: Pod
    handle: Handle
    alone: bool

    @property
    def undecided(self) -> bool:
        """Whether not all Pods were read, and the first Pod may find a node."""
        if not self.handle.snapshot.inventory.not_read:
            return False
        return bool(cycle.not_read(self.first, self.handle, most=1) or cycle.feasible_node(self.first, self.handle))


def unplaced_pods(wanted: DesiredWorkload, before: Snapshot, handle: Handle) -> UnplacedPods:
    """Return the Pods of one manifest; for the arguments and errors see ``outcome_of``."""
    first = wanted.replica(1) if wanted.replicas and not isinstance(wanted.owner, DaemonSet) else wanted.pod
    alone = bool(wanted.replicas) and not isinstance(wanted.owner, DaemonSet) and rollout_of(wanted, before) is None
    return UnplacedPods(first, placement.with_claims([first], wanted.owner, handle), alone)


def undecided_outcome(wanted: DesiredWorkload, came: UnplacedPods) -> ManifestOutcome:
    """Return only the decision about the first Pod: with some Pods unread, the placement of the others is unknown."""
    return ManifestOutcome(
        judgement=judge(came.first, came.handle),
        replicas=wanted.replicas,
        held_by=came.first.spec.gates,
    )


def outcome_of(wanted: DesiredWorkload, before: Snapshot, seen: AppliedOutcomes) -> ManifestOutcome:
    """Return the outcome of one manifest, given what happens to its Pods once all manifests are applied.

    ``wanted`` has its Pod as the API server stores it; ``before`` is the cluster without any manifest. ValueError if a
    selector or quantity cannot be parsed.
    """
    applied, rollout = seen.first, _rollout(wanted, before, seen.first)
    handle = applied.handle
    at_the_end = handle if applied.waiting else placement.with_claims([wanted.pod], wanted.owner, handle)
    first, handle = applied.first or ((applied.waiting or (wanted.pod,))[0], at_the_end)
    is_daemon = isinstance(wanted.owner, DaemonSet)
    if is_daemon or handle.names_its_node(first):
        first = wanted.pod  # It is pinned to no node, or names it, and stands for all.
    if rollout is not None and rollout.assumed is Assumption.POD_TERMINATING:
        first = replace(first, spec=replace(first.spec, node_name=""))
    # Another scheduler, or a kubelet, may decide otherwise than kube-scheduler.
    jammed = seen.jammed if handle.decides(first) else None
    waiting = () if jammed is None else applied.waiting or jammed.waiting
    replicas = wanted.replicas
    if is_daemon:
        # A Pod that waits for a node keeps waiting when the node gets a NoSchedule taint.
        names = daemonset.nodes_with_pod(cycle.evaluate(wanted.pod, handle)) | {*map(daemonset.pinned_node, waiting)}
        replicas, pinned = len(names), (daemonset.pinned_to(wanted.pod, min(names)),) if names else ()
        # It counts only its own node.
        first = next(iter(waiting or pinned), wanted.pod)
    shown = waiting[0] if waiting else first
    failed = FailedCreate(created=len(applied.came), message=seen.refused) if seen.refused else None
    outcome = ManifestOutcome(
        judgement=replace(judge(first, handle), now=before),
        unread_revisions=_unread_revisions(wanted, before, applied.came),
        # If no Pod comes, the template of a daemon or of a rollout is not to blame.
        blameless=bool(applied.placements) or (seen.jam is None and (is_daemon or rollout is not None or not replicas)),
        scaled_to_zero=not (replicas or isinstance(wanted.owner, DaemonSet | Job)),
        replicas=replicas,
        placements=applied.placements,
        pending=len(applied.waiting) + applied.waiting_before if handle.decides(first) else 0,
        failed_create=failed,
        refused_by_chance=seen.refused_by_chance,
        held_by=first.spec.gates,
        constraints=diagnose(cycle.evaluate(shown, applied.handle), applied.handle).constraints,
        orders=len(seen.orders),
        ranges=tuple(seen.ranges(first)),
        violations=() if is_daemon or rollout is None else tuple(seen.violations(first)),
        elsewhere=() if is_daemon else seen.elsewhere,
        sampled=any(each.sampled for each in seen.orders),
        rollout=rollout,
        jammed=jammed,
    )
    return _with_jam(outcome, seen.jam, jammed) if jammed and seen.jam else outcome


def _rollout(wanted: DesiredWorkload, before: Snapshot, applied: AppliedWorkload) -> Rollout | None:
    rollout = rollout_of(wanted, before)
    if rollout is None and wanted.owner is not None and (there := adopted_pods(wanted.owner, before)):
        return _rollout_of_adopted(wanted.owner, there, before, applied)
    if rollout is None:
        return None
    if rollout.strategy == "Scale":
        return replace(rollout, deleted=applied.gone)
    if isinstance(wanted.owner, DaemonSet):
        return _rollout_of_daemons(wanted, wanted.owner, before, applied, rollout)
    return rollout


def _rollout_of_daemons(
    wanted: DesiredWorkload, owner: DaemonSet, before: Snapshot, applied: AppliedWorkload, rollout: Rollout
) -> Rollout:
    """Return the rollout with the Pods that go for good: on nodes that get none any more.

    Where a Pod is not replaced, a NoSchedule taint does not matter.
    """
    handle = applied.handle
    if rollout.strategy == ON_DELETE:
        kept = handle.index.names - daemonset.nodes_without_pod(owner, handle)
    else:
        kept = daemonset.nodes_with_pod(cycle.evaluate(wanted.pod, handle))
    deleted = sum(daemonset.place_of(pod) not in kept for pod in running_pods(wanted, before))
    return replace(rollout, replaced=max(rollout.replaced - deleted, 0), deleted=deleted)


def _rollout_of_adopted(owner: Workload, there: Sequence[Pod], before: Snapshot, applied: AppliedWorkload) -> Rollout:
    came = {pod.key for pod in applied.came}
    again = sum(pod.key in came for pod in there)  # Only a StatefulSet uses a name again.
    renewed = again or min(applied.gone, len(came))
    strategy: Strategy = "RollingUpdate" if renewed else "Scale"
    sets: tuple[str, ...] = ()
    if isinstance(owner, Deployment):
        sets = tuple(each.metadata.name for each in adopted_sets(owner, before))
        strategy = "Recreate" if renewed and owner.spec.strategy.type == RECREATE else strategy
    return Rollout(
        strategy=strategy,
        running=len(there),
        at_work=sum(pod.at_work for pod in there),
        replaced=renewed,
        deleted=applied.gone if again else applied.gone - renewed,
        assumed=AdoptsSets(sets, owner.spec.paused) if isinstance(owner, Deployment) and sets else Assumption.ADOPTED,
    )


def _unread_revisions(wanted: DesiredWorkload, before: Snapshot, came: Sequence[Pod]) -> tuple[UnreadRevision, ...]:
    if not isinstance(wanted.owner, StatefulSet):
        return ()
    # Its template may also have a pod-template-hash, which is not one of its revisions.
    newest = wanted.pod.metadata.labels.get(REVISION_HASH_LABEL, "")
    owner, living = wanted.owner, running_pods(wanted, before)
    return tuple(gap for pod in came for gap in statefulset.guessed(owner, pod, living, before, newest=newest))


def _with_jam(outcome: ManifestOutcome, jam: placement.Jam, jammed: AppliedWorkload) -> ManifestOutcome:
    pod, handle, first = jammed.waiting[0], jammed.handle, outcome.judgement
    decider = next(deciders(first.evaluation.pod, first.handle, first.evaluation), None)
    explained = not outcome.is_cleared and (first.blame is not None or decider is not None)
    if explained and not jammed.placements and not jam.nodes:
        message = first.message if handle.snapshot.inventory.not_read else jam.message
        return replace(outcome, jam=replace(jam, message=message), jam_judgement=first)
    return replace(outcome, jam=jam, jam_judgement=judge(pod, handle))
