"""Which Pods may be evicted: those that something makes again, on whatever node, and that no budget keeps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver import eviction
from kubectl_spread.controllers.do_not_evict import kept_because
from kubectl_spread.controllers.next_pod import NextPod, replacement
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.statefulset_control import comes_after
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import WorkloadRef, controller_of, is_absent, owner_of
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.scheduler.schedulinggates import gates
from kubectl_spread.simulation.cluster_state import PodKey
from kubectl_spread.snapshot import Snapshot

NOBODY_MAKES_IT_AGAIN = "nothing makes it again"


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
        for pod in active(snapshot.all(Pod)):
            self._active.setdefault(_controller(pod), []).append(pod)
        self.why_not = cache(self._why_not)
        """Return why the Pod is not to be evicted; empty where it may be."""

    def of(self, goals: Sequence[Goal], pods: Sequence[Pod]) -> Iterator[Movable]:
        """Yield what may be evicted of the Pods, those that had best go first: of low priority, not ready, young.

        Args:
            goals: what counts them.
            pods: on nodes.
        """
        for pod in sorted(sorted(pods, key=_created, reverse=True), key=_turn):
            if self.why_not(pod.key):
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

    def _why_not(self, key: PodKey) -> str:
        pod = self._snapshot.get(Pod, *key)
        if pod is None or pod.terminating:
            return "it is being deleted already"
        if not self._handles.of(pod).profile.serves(pod):
            return f"{pod.spec.scheduler_name} decides where the Pod in its place goes"
        return kept_because(pod) or self._lost(pod) or eviction.refusal(pod, self._snapshot) or self._held_up(pod)

    def _held_up(self, pod: Pod) -> str:
        """Return why the Pod that comes in its place would not be scheduled; empty where it is."""
        again = self._again(pod, self._number(pod), self._handles.of(pod))
        if again.refusals:
            return f"the API server would refuse the Pod in its place: {again.refusals[0]}"
        held = gates(again.pod)
        return f"the Pod in its place would wait for its scheduling gate {held[0]}" if held else ""

    def _lost(self, pod: Pod) -> str:
        """Return why no other Pod comes in its place; empty where one does."""
        controller, owner = pod.metadata.controller, controller_of(pod, self._snapshot)
        if controller is None:
            return NOBODY_MAKES_IT_AGAIN
        if owner is None:
            return NOBODY_MAKES_IT_AGAIN if is_absent(controller, pod.metadata.namespace, self._snapshot) else ""
        if owner.metadata.deletion_timestamp:
            return f"{NOBODY_MAKES_IT_AGAIN}: its {controller.kind} is being deleted"
        if not isinstance(owner, ReplicaSet | ReplicationController | StatefulSet):
            return ""
        others = self._active.get(_controller(pod), [])
        if len(others) > owner.spec.replicas_wanted:
            return f"{NOBODY_MAKES_IT_AGAIN}: its {controller.kind} has more Pods than it wants"
        return _waits_for(owner, pod, others, self._snapshot) if isinstance(owner, StatefulSet) else ""

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


def _waits_for(owner: StatefulSet, pod: Pod, others: Sequence[Pod], snapshot: Snapshot) -> str:
    """Return what the Pod in place of a StatefulSet's waits for; empty for nothing but that the Pod is gone.

    Source: pkg/controller/statefulset/stateful_set_control.go processReplica (v1.36).
    """
    node = snapshot.nodes.get(pod.spec.node_name)
    if node is None or not node.answers:
        return f"{NOBODY_MAKES_IT_AGAIN} while {pod.spec.node_name} does not answer"
    unready = next((other.metadata.name for other in comes_after(owner, pod, others) if not other.ready), "")
    return f"{NOBODY_MAKES_IT_AGAIN} before {unready} is ready" if unready else ""


def _movable(pod: Pod, again: NextPod, like: int, goals: Sequence[Goal], *, owner: tuple[str, WorkloadRef]) -> Movable:
    """Return the Pod with what counts it."""
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


def _controller(pod: Pod) -> tuple[str, str, str]:
    """Return what manages the Pod: namespace, kind and name, both empty where nothing does."""
    controller = pod.metadata.controller
    return pod.metadata.namespace, controller.kind if controller else "", controller.name if controller else ""


def _turn(pod: Pod) -> tuple[object, ...]:
    """Return what Pods sort by that might go: the least important first, the highest ordinal and the youngest."""
    stem, _, ordinal = pod.metadata.name.rpartition("-")
    number = int(ordinal) if ordinal.isdecimal() else 0
    return pod.spec.priority or 0, pod.ready, pod.metadata.namespace, stem, -number


def _created(pod: Pod) -> tuple[str, str]:
    """Return when the Pod was made, and its name."""
    return pod.metadata.creation_timestamp or "", pod.metadata.name
