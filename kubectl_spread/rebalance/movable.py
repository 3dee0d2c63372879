"""Which Pods may be evicted: those that something makes again, on whatever node, and that no budget keeps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from enum import Enum, auto
from functools import cache
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver import eviction
from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import Kept, kept_because
from kubectl_spread.controllers.next_pod import NextPod, replacement
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.statefulset_control import comes_after
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import WorkloadRef, controller_of, is_absent, owner_of
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.scheduler.claims import claims_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.scheduler.schedulinggates import gates
from kubectl_spread.scheduler.volumerestrictions import READ_WRITE_ONCE_POD, claim_names
from kubectl_spread.simulation.cluster_state import PodKey
from kubectl_spread.snapshot import Snapshot

NODE_BY_NODE = frozenset(("ReadWriteOnce", READ_WRITE_ONCE_POD))
"""Access modes of volumes that are attached to one node at a time."""


class BeingDeleted(msgspec.Struct, frozen=True):
    """The Pod goes already, for it is being deleted or its node is gone."""


class OtherScheduler(msgspec.Struct, frozen=True):
    """A scheduler whose rules are not known decides where the Pod in its place goes."""

    name: str


class Loss(Enum):
    """Why no other Pod comes in the place of one."""

    NO_CONTROLLER = auto()
    CONTROLLER_DELETED = auto()
    SURPLUS = auto()
    """Its controller has more Pods than it wants."""
    NODE_SILENT = auto()
    """Not while its node does not answer."""
    UNREADY = auto()
    """Not before another Pod is ready."""


class NotMadeAgain(msgspec.Struct, frozen=True):
    """No other Pod comes in its place, or none as things are.

    Attributes:
        loss: why.
        name: the kind of its controller, the node, or the other Pod that is not ready; empty without a controller.
    """

    loss: Loss
    name: str = ""


class VolumeShared(msgspec.Struct, frozen=True):
    """Its claim is for one node at a time, and another Pod uses it too: on another node the next would wait for it."""

    claim: str
    pod: str


class ReplacementRefused(msgspec.Struct, frozen=True):
    """The API server would refuse the Pod in its place, in these words."""

    message: str


class ReplacementGated(msgspec.Struct, frozen=True):
    """The Pod in its place would wait for this scheduling gate."""

    gate: str


class NotAskedAbout(msgspec.Struct, frozen=True):
    """It is of a workload that the plan is not asked about."""

    workload: WorkloadRef


StayReason: TypeAlias = (
    NotAskedAbout
    | BeingDeleted
    | OtherScheduler
    | Kept
    | NotMadeAgain
    | VolumeShared
    | EvictionRefused
    | ReplacementRefused
    | ReplacementGated
)
"""Why a Pod is not to be evicted."""


class Movable(msgspec.Struct, frozen=True):
    """A Pod that may be evicted.

    Attributes:
        pod: the Pod.
        again: the Pod that comes in its place.
        like: Pods of one number are alike: which of them goes from a node makes no difference.
        leaves: the goals that count it, and in which domain (places of both).
        joins: the goals that count the Pod that comes in its place.
        bound_by: the goals that are its own and that keep it off nodes.
    """

    pod: Pod
    again: NextPod
    like: int
    leaves: tuple[tuple[int, int], ...]
    joins: tuple[int, ...]
    bound_by: tuple[int, ...]

    def places(self, node_name: str, goals: Sequence[Goal]) -> tuple[int | None, ...]:
        """Return where each goal that counts the Pod in its place counts it on that node; None for nowhere."""
        return tuple(goals[at].place.get(node_name) for at in self.joins)


class Movables:
    """The Pods of a cluster that may be evicted, each looked at once.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
    """

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._snapshot = snapshot = handles.snapshot
        self._numbers: dict[Hashable, int] = {}
        self._shared: set[int] = set()
        self._made: dict[int, NextPod] = {}
        self._active: dict[tuple[str, str, str], list[Pod]] = {}
        self._users: dict[tuple[str, str], list[Pod]] = {}
        for pod in active(snapshot.all(Pod)):
            self._active.setdefault(controlled_by(pod), []).append(pod)
            for claim in claim_names(pod):
                self._users.setdefault((pod.metadata.namespace, claim), []).append(pod)
        self.why_not = cache(self._why_not)
        """Return why the Pod is not to be evicted; None where it may be."""

    def of(self, goals: Sequence[Goal], pods: Sequence[Pod]) -> Iterator[Movable]:
        """Yield what may be evicted of the Pods, those that had best go first: of low priority, not ready, young.

        Args:
            goals: what counts them.
            pods: on nodes.
        """
        by_age = sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name), reverse=True)
        for pod in sorted(by_age, key=_turn):
            if self.why_not(pod.key) is not None:
                continue
            like = self._number(pod)
            again = self._again(pod, like, self._handles.of(pod))
            yield _movable(pod, again, like, goals, owner=(pod.metadata.namespace, owner_of(pod, self._snapshot)))

    def _again(self, pod: Pod, like: int, handle: Handle) -> NextPod:
        """Return the Pod that comes in place of one; that of Pods that are alike differs by its name alone."""
        if like not in self._made:
            self._made[like] = replacement(pod, handle.snapshot, handle.profile)
        made = self._made[like]
        return replace(made, pod=renamed(made.pod, f"{pod.metadata.name}-again")) if like in self._shared else made

    def _why_not(self, key: PodKey) -> StayReason | None:
        pod = self._snapshot.get(Pod, *key)
        if pod is None or pod.terminating or pod.spec.node_name not in self._snapshot.nodes:
            return BeingDeleted()
        if not self._handles.of(pod).profile.serves(pod):
            return OtherScheduler(pod.spec.scheduler_name)
        if stays := kept_because(pod) or self._lost(pod) or self._shares_volume(pod):
            return stays
        refusal = eviction.refusal(pod, self._snapshot)
        return EvictionRefused(refusal) if refusal else self._held_up(pod)

    def _held_up(self, pod: Pod) -> ReplacementRefused | ReplacementGated | None:
        """Return why the Pod that comes in its place would not be scheduled; None where it is."""
        again = self._again(pod, self._number(pod), self._handles.of(pod))
        if again.refusals:
            return ReplacementRefused(str(again.refusals[0]))
        held = gates(again.pod)
        return ReplacementGated(held[0]) if held else None

    def _shares_volume(self, pod: Pod) -> VolumeShared | None:
        """Return which volume the Pod shares that only one node may use at a time; None where it shares none.

        Source: kube-controller-manager attachdetach/reconciler/reconciler.go isMultiAttachForbidden (v1.36).
        """
        for claim in claims_of(pod, self._snapshot):
            name = claim.metadata.name
            others = [other for other in self._users.get((pod.metadata.namespace, name), ()) if other.key != pod.key]
            if others and NODE_BY_NODE.issuperset(claim.spec.access_modes):
                return VolumeShared(name, others[0].metadata.name)
        return None

    def _lost(self, pod: Pod) -> NotMadeAgain | None:
        """Return why no other Pod comes in its place; None where one does."""
        controller, owner = pod.metadata.controller, controller_of(pod, self._snapshot)
        if controller is None:
            return NotMadeAgain(Loss.NO_CONTROLLER)
        if owner is None:
            absent = is_absent(controller, pod.metadata.namespace, self._snapshot)
            return NotMadeAgain(Loss.NO_CONTROLLER) if absent else None
        if owner.metadata.deletion_timestamp:
            return NotMadeAgain(Loss.CONTROLLER_DELETED, controller.kind)
        if not isinstance(owner, ReplicaSet | ReplicationController | StatefulSet):
            return None
        others = self._active.get(controlled_by(pod), [])
        if len(others) > owner.spec.replicas_wanted:
            return NotMadeAgain(Loss.SURPLUS, controller.kind)
        return _waits_for(owner, pod, others, self._snapshot) if isinstance(owner, StatefulSet) else None

    def _number(self, pod: Pod) -> int:
        """Return what is the same of Pods that are alike: of one ReplicaSet, with the same labels and no claims."""
        owner = controller_of(pod, self._snapshot)
        claims = any(volume.claims for volume in pod.spec.volumes)
        if claims or not isinstance(owner, ReplicaSet | ReplicationController):
            return self._numbers.setdefault(pod.key, len(self._numbers))
        key = pod.metadata.namespace, owner.metadata.name, frozenset(pod.metadata.labels.items())
        number = self._numbers.setdefault(key, len(self._numbers))
        self._shared.add(number)
        return number


def _waits_for(owner: StatefulSet, pod: Pod, others: Sequence[Pod], snapshot: Snapshot) -> NotMadeAgain | None:
    """Return what the Pod in place of a StatefulSet's waits for; None for nothing but that the Pod is gone.

    Source: pkg/controller/statefulset/stateful_set_control.go processReplica (v1.36).
    """
    node = snapshot.nodes.get(pod.spec.node_name)
    if node is None or not node.answers:
        return NotMadeAgain(Loss.NODE_SILENT, pod.spec.node_name)
    unready = next((other.metadata.name for other in comes_after(owner, pod, others) if not other.ready), "")
    return NotMadeAgain(Loss.UNREADY, unready) if unready else None


def _movable(pod: Pod, again: NextPod, like: int, goals: Sequence[Goal], *, owner: tuple[str, WorkloadRef]) -> Movable:
    node, counting = pod.spec.node_name, [(at, goal) for at, goal in enumerate(goals) if goal.matches(pod)]
    own = ((at, goal) for at, goal in counting if (goal.workload.namespace, goal.workload.ref) == owner)
    return Movable(
        pod=pod,
        again=again,
        like=like,
        leaves=tuple((at, goal.place[node]) for at, goal in counting if node in goal.place),
        joins=tuple(at for at, goal in enumerate(goals) if goal.matches(again.pod)),
        bound_by=tuple(at for at, goal in own if goal.constraint.hard),
    )


def controlled_by(pod: Pod) -> tuple[str, str, str]:
    """Return what manages the Pod: namespace, kind and name; the latter two are empty where nothing does."""
    controller = pod.metadata.controller
    return pod.metadata.namespace, controller.kind if controller else "", controller.name if controller else ""


def _turn(pod: Pod) -> tuple[object, ...]:
    """Return what Pods sort by that might go: the least important first, the highest ordinal and the youngest."""
    stem, _, ordinal = pod.metadata.name.rpartition("-")
    number = int(ordinal) if ordinal.isdecimal() else 0
    return pod.spec.priority or 0, pod.ready, pod.metadata.namespace, stem, -number
