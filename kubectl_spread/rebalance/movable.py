"""Which Pods may be evicted: Pods that a controller recreates, on any node, and that no budget protects."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import Enum, auto
from functools import cache, cached_property
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver import eviction
from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import Kept, kept_because
from kubectl_spread.controllers.next_pod import NextPod, replacement
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.statefulset import POD_INDEX_LABEL, POD_NAME_LABEL, comes_after
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import (
    WorkloadRef,
    controller_of,
    is_absent,
    owner_of,
    scheduler_of,
    workloads,
)
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.rebalance.goals import Goal, rolls
from kubectl_spread.scheduler.claims import claims_of
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.volumerestrictions import READ_WRITE_ONCE_POD, claim_names
from kubectl_spread.snapshot import PodKey, Snapshot

# Access modes of volumes that attach to one node at a time.
NODE_BY_NODE = frozenset(("ReadWriteOnce", READ_WRITE_ONCE_POD))

OF_ORDINALS = frozenset((POD_NAME_LABEL, POD_INDEX_LABEL))  # The labels that tell Pods of a StatefulSet apart


class StayCause(Enum):
    """Why a Pod is not evicted, where at most a name says more."""

    NOT_ASKED_ABOUT = auto()  # Its workload, of this kind and name, is not part of the plan
    ROLLOUT = auto()  # A rollout of this workload, which is the Pod's, replaces Pods
    BEING_DELETED = auto()  # The Pod is already being deleted, or its node is gone
    OTHER_SCHEDULER = auto()  # This scheduler, whose rules are unknown, places the replacement
    NO_CONTROLLER = auto()
    CONTROLLER_DELETED = auto()  # No replacement comes: its controller, of this kind, is being deleted
    SURPLUS = auto()  # None comes: its controller, of this kind, has more Pods than it wants
    NODE_SILENT = auto()  # None comes while this node, which is the Pod's, does not answer
    UNREADY = auto()  # None comes before this other Pod is Ready
    VOLUME_THERE = auto()  # Its volumes, which its claims are bound to, are only in its domain
    REPLACEMENT_REFUSED = auto()  # The API server would refuse the replacement, with this message
    REPLACEMENT_GATED = auto()  # The replacement would wait for this scheduling gate


class Stays(msgspec.Struct, frozen=True):
    """Why a Pod is not evicted, and the name that its cause mentions; empty if it mentions none."""

    cause: StayCause
    name: str = ""


class VolumeShared(msgspec.Struct, frozen=True):
    """Another Pod uses its claim, for one node at a time, too: the replacement would wait for it on another node."""

    claim: str
    pod: str


class Undecided(msgspec.Struct, frozen=True):
    """Where the replacement can go is not known, because of this gap."""

    gap: Gap


StayReason: TypeAlias = Stays | Kept | VolumeShared | EvictionRefused | Undecided  # Why a Pod is not evicted


class Movable(msgspec.Struct, frozen=True):
    """A Pod that may be evicted."""

    pod: Pod
    again: NextPod
    like: int  # alike Pods have one number: which of them leaves a node makes no difference
    leaves: tuple[tuple[int, int], ...]  # the goals that count it, and in which domain (places of both)
    joins: tuple[int, ...]  # the goals that count the replacement
    bound_by: tuple[int, ...]  # its own goals that keep it off nodes

    def places(self, node_name: str, goals: Sequence[Goal]) -> tuple[int | None, ...]:
        """Return the domain of the node in each goal that counts the replacement; None if it is not counted there."""
        return tuple(goals[at].place.get(node_name) for at in self.joins)


# Returns what is not known or not modelled and decides where a Pod can go; None if there is nothing.
Unknown: TypeAlias = Callable[[Pod, Handle], Gap | None]


class Movables:
    """The Pods of a cluster that may be evicted, each examined once."""

    def __init__(self, handles: Handles, unknown: Unknown) -> None:
        self._handles = handles
        self._unknown = unknown
        self._snapshot = snapshot = handles.snapshot
        self._numbers: dict[Hashable, int] = {}
        self._shared: set[int] = set()
        self._replacements: dict[int, NextPod] = {}
        pods = active(snapshot.all(Pod))
        self._active = grouped(pods, lambda pod: pod.metadata.controller_key)
        self._users: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            for claim in claim_names(pod):
                self._users.setdefault((pod.metadata.namespace, claim), []).append(pod)
        self.why_not = cache(self._why_not)  # Return why the Pod is not to be evicted; None where it may be

    def of(self, goals: Sequence[Goal], pods: Sequence[Pod]) -> Iterator[Movable]:
        """Yield the Pods that may be evicted, the best candidates first: of low priority, not ready, young."""
        by_age = sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name), reverse=True)
        for pod in sorted(by_age, key=_eviction_order):
            if self.why_not(pod.key) is not None:
                continue
            like = self._number_of_alike(pod)
            again = self._replacement(pod, like, self._handles.of(pod))
            yield _movable(pod, again, like, goals, owner=(pod.metadata.namespace, owner_of(pod, self._snapshot)))

    def _replacement(self, pod: Pod, like: int, handle: Handle) -> NextPod:
        if like not in self._replacements:
            self._replacements[like] = replacement(pod, handle.snapshot, handle.profile)
        made = self._replacements[like]
        if like not in self._shared:
            return made
        named = pod.metadata.controller_kind == StatefulSet.__name__
        return replace(made, pod=renamed(made.pod, pod.metadata.name if named else f"{pod.metadata.name}-again"))

    def _why_not(self, key: PodKey) -> StayReason | None:
        pod = self._snapshot.get(Pod, *key)
        if pod is None or pod.terminating or pod.spec.node_name not in self._snapshot.nodes:
            return Stays(StayCause.BEING_DELETED)
        if not self._handles.of(pod).profile.serves(pod):
            return Stays(StayCause.OTHER_SCHEDULER, pod.spec.scheduler_name)
        owner = owner_of(pod, self._snapshot)
        if (pod.metadata.namespace, owner) in self._rolling:
            return Stays(StayCause.ROLLOUT, str(owner))
        if stays := kept_because(pod) or self._why_not_recreated(pod) or self._shared_volume(pod):
            return stays
        refusal = eviction.refusal(pod, self._snapshot)
        return EvictionRefused(refusal) if refusal else self._why_not_scheduled(pod)

    @cached_property
    def _rolling(self) -> frozenset[tuple[str, WorkloadRef]]:
        """The namespaces and names of workloads whose rollout goes on."""
        every, named = workloads(self._snapshot), self._handles.named
        return frozenset((it.namespace, it.ref) for it in every if rolls(it, named(scheduler_of(it))))

    def _why_not_scheduled(self, pod: Pod) -> Stays | Undecided | None:
        handle = self._handles.of(pod)
        again = self._replacement(pod, self._number_of_alike(pod), handle)
        if again.refusals:
            return Stays(StayCause.REPLACEMENT_REFUSED, str(again.refusals[0]))
        if held := again.pod.spec.gates:
            return Stays(StayCause.REPLACEMENT_GATED, held[0])
        gap = self._unknown(again.pod, handle)
        return Undecided(gap) if gap else None

    def _shared_volume(self, pod: Pod) -> VolumeShared | None:
        """Return the volume, for one node at a time, that the Pod shares; None if it shares none.

        Source: kube-controller-manager attachdetach/reconciler/reconciler.go isMultiAttachForbidden (v1.36).
        """
        for claim in claims_of(pod, self._snapshot):
            name = claim.metadata.name
            others = [other for other in self._users.get((pod.metadata.namespace, name), ()) if other.key != pod.key]
            if others and NODE_BY_NODE.issuperset(claim.spec.access_modes):
                return VolumeShared(name, others[0].metadata.name)
        return None

    def _why_not_recreated(self, pod: Pod) -> Stays | None:
        controller, owner = pod.metadata.controller, controller_of(pod, self._snapshot)
        if controller is None:
            return Stays(StayCause.NO_CONTROLLER)
        if owner is None:
            absent = is_absent(controller, pod.metadata.namespace, self._snapshot)
            return Stays(StayCause.NO_CONTROLLER) if absent else None
        if owner.metadata.deletion_timestamp:
            return Stays(StayCause.CONTROLLER_DELETED, controller.kind)
        if not isinstance(owner, ReplicaSet | ReplicationController | StatefulSet):
            return None
        others = self._active.get(pod.metadata.controller_key, [])
        if len(others) > owner.spec.replicas_wanted:
            return Stays(StayCause.SURPLUS, controller.kind)
        return _blocked_by(owner, pod, others, self._snapshot) if isinstance(owner, StatefulSet) else None

    def _number_of_alike(self, pod: Pod) -> int:
        owner = controller_of(pod, self._snapshot)
        claims = any(volume.claims for volume in pod.spec.volumes)
        if claims or not isinstance(owner, ReplicaSet | ReplicationController | StatefulSet):
            return self._numbers.setdefault(pod.key, len(self._numbers))
        labels = {key: value for key, value in pod.metadata.labels.items() if key not in OF_ORDINALS}
        key = type(owner), pod.metadata.namespace, owner.metadata.name, frozenset(labels.items())
        number = self._numbers.setdefault(key, len(self._numbers))
        self._shared.add(number)
        return number


def _blocked_by(owner: StatefulSet, pod: Pod, others: Sequence[Pod], snapshot: Snapshot) -> Stays | None:
    """Source: pkg/controller/statefulset/stateful_set_control.go processReplica (v1.36)."""
    node = snapshot.nodes.get(pod.spec.node_name)
    if node is None or not node.answers:
        return Stays(StayCause.NODE_SILENT, pod.spec.node_name)
    unready = next((other.metadata.name for other in comes_after(owner, pod, others) if not other.ready), "")
    return Stays(StayCause.UNREADY, unready) if unready else None


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


def _eviction_order(pod: Pod) -> tuple[object, ...]:
    """Return the sort key of candidates: the least important first, then the highest ordinal and the youngest."""
    stem, _, ordinal = pod.metadata.name.rpartition("-")
    number = int(ordinal) if ordinal.isdecimal() else 0
    return pod.spec.priority or 0, pod.ready, pod.metadata.namespace, stem, -number
