"""How a workload gets from the Pods it has to those of a manifest: by which rules, and how many Pods go.

Which Pods come and go, and in which order, simulation finds out.

Source: kube-controller-manager deployment/{rolling,recreate}.go and util/deployment_util.go ResolveFenceposts,
statefulset/stateful_set_control.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import prepared, unmerged
from kubectl_spread.controllers import job
from kubectl_spread.controllers.deployment import replica_sets
from kubectl_spread.controllers.replicas import replica
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.rolling_update import fenceposts, surge_of
from kubectl_spread.controllers.statefulset import first_updated_ordinal
from kubectl_spread.controllers.templates import HASH_LABEL, REVISION_HASH_LABEL, same_template, template_of
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot


class Assumption(Enum):
    """What is assumed of a rollout, where no number or name belongs to it."""

    SUSPENDED = "Suspended"
    """The Pods of a Job are deleted. Source: job/job_controller.go manageJob (v1.36)."""
    PAUSED = "Paused"
    PAUSED_BEFORE_FIRST = "PausedBeforeFirst"
    """A Deployment that is paused has made no ReplicaSet yet: no Pod comes."""
    UNCHANGED = "Unchanged"
    """Nothing changes in the template."""
    SAME_TEMPLATE = "SameTemplate"
    """Nothing changes that scheduling reads, and the rest is not known."""
    REVISION_AGAIN = "RevisionAgain"
    """The template is that of an older revision, whose Pods stay."""
    ADOPTED = "Adopted"
    """The Pods that nothing controls and that its selector matches become its own."""
    RUNNING_STAY = "RunningStay"
    """Running Pods stay whatever changes in the template, and the missing ones come."""
    POD_STAYS = "PodStays"
    """Of a Pod that runs nothing changes, or only what may."""
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
        unchanged: whether applying the manifest changes nothing of what the object asks for.
    """

    strategy: Strategy
    running: int
    replaced: int
    assumed: RolloutAssumption
    unchanged: bool = False


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
        release: the API server's, which merges label keys into the selectors of each replica.
    """

    ref: WorkloadRef
    owner: Workload | None
    pod: Pod
    replicas: int
    numbered: bool = True
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


def rollout_of(wanted: DesiredWorkload, before: Snapshot) -> Rollout | None:
    """Return how the workload gets to the Pods of its manifest; None where it has none yet."""
    found, obj = _rollout_of(wanted, before), wanted.owner or wanted.pod
    live = before.get(type(obj), obj.metadata.namespace, obj.metadata.name)
    as_many = getattr(obj.spec, "replicas", None) in {None, wanted.replicas}
    return replace(found, unchanged=live is not None and live.spec == obj.spec and as_many) if found else None


def _rollout_of(wanted: DesiredWorkload, before: Snapshot) -> Rollout | None:
    namespace, owner = wanted.pod.metadata.namespace, wanted.owner
    live = owner and before.get(type(owner), namespace, wanted.ref.name)
    running = running_pods(wanted, before)
    if found := _without_new(owner, running, before):
        return found
    if live is None and not running:
        return None
    if owner is None or live is None:
        return _without_rules(wanted, running)
    return _update(wanted, owner, live, running)


def running_pods(wanted: DesiredWorkload, before: Snapshot) -> tuple[Pod, ...]:
    """Return the Pods that the workload has, by name."""
    own = (pod for pod in active(before.all(Pod)) if pod.metadata.namespace == wanted.pod.metadata.namespace)
    return tuple(sorted((pod for pod in own if owner_of(pod, before) == wanted.ref), key=lambda pod: pod.key))


def _without_new(owner: Workload | None, running: Sequence[Pod], before: Snapshot) -> Rollout | None:
    match owner:
        case workloads.Job() if owner.spec.suspend:
            return _rollout("Scale", running, Assumption.SUSPENDED, replaced=len(running))
        case workloads.CronJob() if owner.spec.suspend:
            return _rollout("Scale", running, Assumption.SUSPENDED)
        case workloads.Job() | workloads.CronJob() if manager := job.foreign_manager(owner):
            return _rollout("Scale", running, MadeElsewhere(manager))
        case workloads.Deployment() if owner.spec.paused and not running and not replica_sets(owner, before):
            return _rollout("Scale", (), Assumption.PAUSED_BEFORE_FIRST)
        case _:
            return None


def _update(wanted: DesiredWorkload, owner: Workload, live: Workload, running: Sequence[Pod]) -> Rollout | None:
    same = same_template(template_of(live), template_of(owner))
    known = template_of(live).rest and template_of(owner).rest
    unchanged = (Assumption.UNCHANGED if known else Assumption.SAME_TEMPLATE) if same else None
    match owner:
        case workloads.Deployment() if owner.spec.paused:
            return _rollout("Scale", running, Assumption.PAUSED)
        case workloads.Deployment():
            return _deployment(wanted, owner, running, unchanged)
        case workloads.StatefulSet():
            return _stateful_set(wanted, owner, running, unchanged)
        case workloads.DaemonSet():
            return _daemon_set(owner, running, unchanged)
        case workloads.CronJob():
            return None
        case _:
            return _rollout("Scale", running, Assumption.RUNNING_STAY)


def _without_rules(wanted: DesiredWorkload, running: Sequence[Pod]) -> Rollout:
    """Return what is assumed of a Pod that exists already, or of a kind whose controller is not known."""
    if wanted.ref.kind == Pod.__name__:
        return _rollout("Scale", running, Assumption.POD_STAYS)
    return _rollout("Unknown", running, UnknownRules(wanted.ref.kind))


def _deployment(
    wanted: DesiredWorkload, owner: workloads.Deployment, running: Sequence[Pod], unchanged: Assumption | None
) -> Rollout:
    if unchanged:  # A rollout that is under way goes on.
        return _rollout("Scale", running, unchanged)
    revision = wanted.pod.metadata.labels.get(HASH_LABEL)
    old = sum(pod.metadata.labels.get(HASH_LABEL) != revision for pod in running)
    if not old:
        return _rollout("Scale", running, Assumption.REVISION_AGAIN)
    if owner.spec.strategy.type == workloads.RECREATE:
        return _rollout(workloads.RECREATE, running, Assumption.ALL_GONE_FIRST, replaced=old)
    surge, unavailable = fenceposts(owner.spec.strategy, wanted.replicas)
    within = WithinFenceposts(wanted.replicas + surge, wanted.replicas - unavailable)
    return _rollout(workloads.ROLLING_UPDATE, running, within, replaced=old)


def _stateful_set(
    wanted: DesiredWorkload, owner: workloads.StatefulSet, running: Sequence[Pod], unchanged: Assumption | None
) -> Rollout:
    if unchanged:
        return _rollout("Scale", running, unchanged)
    if owner.spec.update_strategy.type == workloads.ON_DELETE:
        return _rollout(workloads.ON_DELETE, running, Assumption.DELETED_BY_HAND)
    revision = wanted.pod.metadata.labels.get(REVISION_HASH_LABEL)
    old = [pod for pod in running if pod.metadata.labels.get(REVISION_HASH_LABEL) != revision]
    if not old:
        return _rollout("Scale", running, Assumption.REVISION_AGAIN)
    first, here = first_updated_ordinal(owner), {pod.metadata.name for pod in old if pod.spec.node_name}
    renewed = range(first, owner.spec.ordinals.start + wanted.replicas)
    replaced = sum(f"{owner.metadata.name}-{ordinal}" in here for ordinal in renewed)
    return _rollout(workloads.ROLLING_UPDATE, running, FromHighestOrdinal(first), replaced=replaced)


def _daemon_set(owner: workloads.DaemonSet, running: Sequence[Pod], unchanged: Assumption | None) -> Rollout:
    if unchanged:
        return _rollout("Scale", running, unchanged)
    if owner.spec.update_strategy.type == workloads.ON_DELETE:
        return _rollout(workloads.ON_DELETE, running, Assumption.DELETED_BY_HAND_ON_NODES)
    surges = surge_of(owner, max(len(running), 1)) > 0
    assumed = Assumption.SURGE_ON_NODES if surges else Assumption.ONE_BY_ONE_ON_NODES
    return _rollout(workloads.ROLLING_UPDATE, running, assumed, replaced=len(running))


def _rollout(strategy: Strategy, running: Sequence[Pod], assumed: RolloutAssumption, *, replaced: int = 0) -> Rollout:
    return Rollout(strategy=strategy, running=len(running), replaced=replaced, assumed=assumed)
