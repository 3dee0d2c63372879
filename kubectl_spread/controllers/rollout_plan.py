"""How a workload gets from the Pods it has to those of a manifest: which come, in which order, and which may go.

What becomes of a rollout that replaces Pods, in which order they go, simulation tells: here is how many there are.

Source: kube-controller-manager deployment/{rolling,recreate}.go and util/deployment_util.go ResolveFenceposts,
statefulset/stateful_set_control.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import islice
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import prepared, unmerged
from kubectl_spread.apiserver.updates import update_errors
from kubectl_spread.controllers import job
from kubectl_spread.controllers.deployment import replica_sets
from kubectl_spread.controllers.replicas import replica
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.rolling_update import fenceposts, surge_of
from kubectl_spread.controllers.statefulset import first_updated_ordinal, of_its_revision, ordinal_pod
from kubectl_spread.controllers.templates import HASH_LABEL, same_template, template_of
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of, revision_of
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot


class PlannedPod(msgspec.Struct, frozen=True):
    """A Pod that comes.

    Attributes:
        gone: how many of the old Pods are gone by then, at the least (count).
    """

    pod: Pod
    gone: int = 0


class Assumption(Enum):
    """What is assumed of a rollout, where no number or name belongs to it."""

    SUSPENDED = "Suspended"
    """The Pods of a Job are deleted. Source: job/job_controller.go manageJob (v1.36)."""
    PAUSED = "Paused"
    PAUSED_BEFORE_FIRST = "PausedBeforeFirst"
    """A Deployment that is paused has made no ReplicaSet yet: no Pod comes."""
    SAME_TEMPLATE = "SameTemplate"
    """Nothing changes that scheduling reads."""
    RUNNING_STAY = "RunningStay"
    """Running Pods stay whatever changes in the template, and the missing ones come."""
    POD_STAYS = "PodStays"
    """Of a Pod that runs nothing changes, or only what may."""
    DELETED_FIRST = "DeletedFirst"
    ALL_GONE_FIRST = "AllGoneFirst"
    DELETED_BY_HAND = "DeletedByHand"
    """Missing ordinals come, running Pods stay until somebody deletes them."""
    DELETED_BY_HAND_ON_NODES = "DeletedByHandOnNodes"
    SURGE_ON_NODES = "SurgeOnNodes"
    ONE_BY_ONE_ON_NODES = "OneByOneOnNodes"


class MadeElsewhere(msgspec.Struct, frozen=True):
    """Not kube-controller-manager but this manager makes the Pods of a Job."""

    manager: str


class UnknownRules(msgspec.Struct, frozen=True):
    """How this kind replaces Pods is not known: running Pods stay while the new ones come."""

    kind: str


class WithinFenceposts(msgspec.Struct, frozen=True):
    """At most and at least so many Pods (count) at any time; old ones stay until a new one needs the place."""

    most: int
    least: int


class FromHighestOrdinal(msgspec.Struct, frozen=True):
    """Missing ordinals come first, then each Pod from the highest ordinal down to ``first`` is replaced."""

    first: int


RolloutAssumption: TypeAlias = Assumption | MadeElsewhere | UnknownRules | WithinFenceposts | FromHighestOrdinal
Strategy: TypeAlias = Literal["RollingUpdate", "Recreate", "OnDelete", "Scale", "Replace", "Unknown"]


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """How the workload gets from the Pods it has to those of the manifest.

    Attributes:
        strategy: ``Scale`` where the template stays and only missing Pods come, ``Replace`` for a Pod that exists,
            ``Unknown`` for kinds of other APIs.
        replaced: how many of them go.
    """

    strategy: Strategy
    running: int
    replaced: int
    assumed: RolloutAssumption


class RolloutPlan(msgspec.Struct, frozen=True):
    """What comes and what goes.

    Attributes:
        steps: the Pods that come, in order; of a DaemonSet the nodes decide, and none is here.
        rollout: what was assumed; None where there is nothing yet.
    """

    steps: tuple[PlannedPod, ...] = ()
    old: tuple[Pod, ...] = ()
    staying: tuple[Pod, ...] = ()
    rollout: Rollout | None = None


class FailedCreate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """At which Pod the API server ends the making of Pods, as a quota does.

    Attributes:
        created: how many come to be.
        message: why the next one does not, in the API server's words.
    """

    created: int
    message: str


class DesiredWorkload(msgspec.Struct, frozen=True):
    """What a manifest asks for.

    Attributes:
        owner: the workload; None for a bare Pod and for a kind of another API.
        replicas: how many (count).
        numbered: whether each replica has a name of its own; a single bare Pod keeps the one it has.
        applied: a bare Pod as its manifest has it, where that is applied as it is; else None.
        release: the API server's, which merges label keys into the selectors of each replica.
    """

    ref: WorkloadRef
    owner: Workload | None
    pod: Pod
    replicas: int
    numbered: bool = True
    applied: Pod | None = None
    release: Release = Release()

    def replica(self, number: int) -> Pod:
        """Return a replica, counted from 1."""
        return self.prepared(replica(self.owner, self.pod, number)) if self.numbered else self.pod

    def prepared(self, pod: Pod) -> Pod:
        """Return the replica with label keys merged by its own labels, which may tell it from the others."""
        spec = pod.spec
        if spec.affinity is None and not any(each.match_label_keys for each in spec.topology_spread_constraints):
            return pod
        return prepared(replace(pod, spec=unmerged(pod.spec)), self.release)


def plan_of(wanted: DesiredWorkload, before: Snapshot) -> RolloutPlan:
    """Return what comes and what goes once the manifest is applied to this cluster."""
    namespace, owner = wanted.pod.metadata.namespace, wanted.owner
    live = owner and before.get(type(owner), namespace, wanted.ref.name)
    own = (pod for pod in active(before.all(Pod)) if pod.metadata.namespace == namespace)
    running = tuple(sorted((pod for pod in own if owner_of(pod, before) == wanted.ref), key=lambda pod: pod.key))
    if plan := _without_new(owner, running, before):
        return plan
    if live is None and not running:
        return RolloutPlan(steps=_all_new(wanted))
    if owner is None or live is None:
        return _without_rules(wanted, running)
    return _update(wanted, owner, live, running)


def _without_new(owner: Workload | None, running: tuple[Pod, ...], before: Snapshot) -> RolloutPlan | None:
    match owner:
        case workloads.Job() if owner.spec.suspend:
            return RolloutPlan(
                old=running, rollout=_rollout("Scale", running, Assumption.SUSPENDED, replaced=len(running))
            )
        case workloads.CronJob() if owner.spec.suspend:
            return RolloutPlan(staying=running, rollout=_rollout("Scale", running, Assumption.SUSPENDED))
        case workloads.Job() | workloads.CronJob() if manager := job.foreign_manager(owner):
            return RolloutPlan(staying=running, rollout=_rollout("Scale", running, MadeElsewhere(manager)))
        case workloads.Deployment() if owner.spec.paused and not running and not replica_sets(owner, before):
            return RolloutPlan(rollout=_rollout("Scale", (), Assumption.PAUSED_BEFORE_FIRST))
        case _:
            return None


def _update(wanted: DesiredWorkload, owner: Workload, live: Workload, running: Sequence[Pod]) -> RolloutPlan:
    unchanged = same_template(template_of(live), template_of(owner))
    match owner:
        case workloads.Deployment() if owner.spec.paused:
            return _filled_up(wanted, running, Assumption.PAUSED)
        case workloads.Deployment():
            return _deployment(wanted, owner, running)
        case workloads.StatefulSet() if isinstance(live, workloads.StatefulSet):
            applied = replace(owner, status=replace(live.status, update_revision=revision_of(wanted.pod)))
            return _stateful_set(wanted, applied, running, unchanged=unchanged)
        case workloads.DaemonSet():
            return _daemon_set(owner, running, unchanged=unchanged)
        case workloads.CronJob():
            return RolloutPlan(steps=_all_new(wanted))
        case _:
            plan = _filled_up(wanted, running, Assumption.RUNNING_STAY)
            if isinstance(live, workloads.Job) and job.is_indexed(live.spec):
                bound = tuple(pod for pod in running if pod.spec.node_name)
                free = islice(job.free_indexes(live, bound), max(wanted.replicas - len(bound), 0))
                plan = replace(plan, steps=tuple(PlannedPod(wanted.replica(index + 1)) for index in free))
            return plan


def _all_new(wanted: DesiredWorkload, *, after: int = 0) -> tuple[PlannedPod, ...]:
    if isinstance(wanted.owner, workloads.DaemonSet):
        return ()
    return tuple(PlannedPod(wanted.replica(number)) for number in range(after + 1, wanted.replicas + 1))


def _without_rules(wanted: DesiredWorkload, running: Sequence[Pod]) -> RolloutPlan:
    """Return the plan for a Pod that exists already, or for a kind whose controller is not known."""
    is_bound = bool(running and running[0].spec.node_name)
    if wanted.applied and is_bound and not any(update_errors(wanted.applied, running[0], wanted.release)):
        return RolloutPlan(staying=tuple(running), rollout=_rollout("Scale", running, Assumption.POD_STAYS))
    if wanted.ref.kind == "Pod":
        steps = tuple(PlannedPod(step.pod, gone=len(running)) for step in _all_new(wanted))
        rollout = _rollout("Replace", running, Assumption.DELETED_FIRST, replaced=len(running))
        return RolloutPlan(steps, tuple(running), rollout=rollout)
    rollout = _rollout("Unknown", running, UnknownRules(wanted.ref.kind))
    return RolloutPlan(_all_new(wanted), staying=tuple(running), rollout=rollout)


def _filled_up(wanted: DesiredWorkload, running: Sequence[Pod], assumed: Assumption) -> RolloutPlan:
    bound = tuple(pod for pod in running if pod.spec.node_name)
    steps = _all_new(wanted, after=len(bound))
    return RolloutPlan(steps, staying=tuple(running), rollout=_rollout("Scale", running, assumed))


def _deployment(wanted: DesiredWorkload, owner: workloads.Deployment, running: Sequence[Pod]) -> RolloutPlan:
    revision = wanted.pod.metadata.labels.get(HASH_LABEL)
    current = tuple(pod for pod in running if pod.metadata.labels.get(HASH_LABEL) == revision)
    old = tuple(pod for pod in running if pod not in current)
    if not old:
        return _filled_up(wanted, current, Assumption.SAME_TEMPLATE)
    # Those that have no node yet are still to be placed.
    placed = sum(1 for pod in current if pod.spec.node_name)
    steps = _all_new(wanted, after=placed)
    if owner.spec.strategy.type == workloads.RECREATE:
        steps = tuple(PlannedPod(step.pod, gone=len(old)) for step in steps)
        rollout = _rollout(workloads.RECREATE, running, Assumption.ALL_GONE_FIRST, replaced=len(old))
        return RolloutPlan(steps, old, current, rollout)
    surge, unavailable = fenceposts(owner.spec.strategy, wanted.replicas)
    most, least = wanted.replicas + surge, wanted.replicas - unavailable
    there = len(old) + placed
    rolled = tuple(
        PlannedPod(step.pod, gone=min(max(number - most, 0), len(old)))
        for number, step in enumerate(steps, start=there + 1)
    )
    rollout = _rollout(workloads.ROLLING_UPDATE, running, WithinFenceposts(most, least), replaced=len(old))
    return RolloutPlan(rolled, old, current, rollout)


def _stateful_set(
    wanted: DesiredWorkload, owner: workloads.StatefulSet, running: Sequence[Pod], *, unchanged: bool
) -> RolloutPlan:
    here = {pod.metadata.name: pod for pod in running if pod.spec.node_name}
    start = owner.spec.ordinals.start
    all_pods = [
        wanted.prepared(ordinal_pod(owner, of_its_revision(owner, wanted.pod, ordinal, running), ordinal))
        for ordinal in range(start, start + wanted.replicas)
    ]
    missing = tuple(PlannedPod(pod) for pod in all_pods if pod.metadata.name not in here)
    if unchanged:
        rollout = _rollout("Scale", running, Assumption.SAME_TEMPLATE)
        return RolloutPlan(missing, staying=tuple(running), rollout=rollout)
    if owner.spec.update_strategy.type == workloads.ON_DELETE:
        rollout = _rollout(workloads.ON_DELETE, running, Assumption.DELETED_BY_HAND)
        return RolloutPlan(missing, staying=tuple(running), rollout=rollout)
    first = first_updated_ordinal(owner)
    renewed = [pod for pod in all_pods[first - start :] if pod.metadata.name in here][::-1]
    old = tuple(here[pod.metadata.name] for pod in renewed)
    steps = (*missing, *(PlannedPod(pod, gone=number) for number, pod in enumerate(renewed, start=1)))
    staying = tuple(pod for pod in running if pod not in old)
    rollout = _rollout(workloads.ROLLING_UPDATE, running, FromHighestOrdinal(first), replaced=len(old))
    return RolloutPlan(steps, old, staying, rollout)


def _daemon_set(owner: workloads.DaemonSet, running: Sequence[Pod], *, unchanged: bool) -> RolloutPlan:
    if unchanged:
        return RolloutPlan(staying=tuple(running), rollout=_rollout("Scale", running, Assumption.SAME_TEMPLATE))
    if owner.spec.update_strategy.type == workloads.ON_DELETE:
        rollout = _rollout(workloads.ON_DELETE, running, Assumption.DELETED_BY_HAND_ON_NODES)
        return RolloutPlan(staying=tuple(running), rollout=rollout)
    surges = surge_of(owner, max(len(running), 1)) > 0
    assumed = Assumption.SURGE_ON_NODES if surges else Assumption.ONE_BY_ONE_ON_NODES
    rollout = _rollout(workloads.ROLLING_UPDATE, running, assumed, replaced=len(running))
    return RolloutPlan(old=() if surges else tuple(running), rollout=rollout)


def _rollout(strategy: Strategy, running: Sequence[Pod], assumed: RolloutAssumption, *, replaced: int = 0) -> Rollout:
    return Rollout(strategy=strategy, running=len(running), replaced=replaced, assumed=assumed)
