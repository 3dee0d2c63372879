"""Which Pods may be evicted: those that something makes again, on whatever node, and that no budget keeps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

import msgspec

from kubectl_spread.apiserver import eviction
from kubectl_spread.controllers.keeping import kept_because
from kubectl_spread.controllers.next_pod import NextPod, replacement
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.kinds import WORKLOAD_KINDS
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.scheduler.framework import Handle
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
    """

    pod: Pod
    again: NextPod
    like: int
    leaves: tuple[tuple[int, int], ...]
    joins: tuple[int, ...]


class Movables:
    """The Pods of a cluster that may be evicted, each looked at once.

    Args:
        snapshot: the cluster.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._numbers: dict[Hashable, int] = {}
        self._pods_of: dict[tuple[str, str, str], list[Pod]] = {}
        for pod in snapshot.all(Pod):
            if (controller := pod.metadata.controller) is not None:
                self._pods_of.setdefault((pod.metadata.namespace, controller.kind, controller.name), []).append(pod)

    def of(self, goals: Sequence[Goal], pods: Sequence[Pod], handle_of: Callable[[str], Handle]) -> Iterator[Movable]:
        """Yield what may be evicted of the Pods, those that had best go first: of low priority, not ready, young.

        Args:
            goals: what counts them.
            pods: on nodes.
            handle_of: scheduler's name → the cluster as its profile sees it.
        """
        for pod in sorted(sorted(pods, key=_created, reverse=True), key=_turn):
            handle = handle_of(pod.spec.scheduler_name)
            if self.why_not(pod) or not handle.profile.serves(pod):
                continue
            again = replacement(pod, handle.snapshot, handle.profile)
            if not again.refusals:
                counting = [(at, goal) for at, goal in enumerate(goals) if goal.matches(pod)]
                node = pod.spec.node_name
                yield Movable(
                    pod=pod,
                    again=again,
                    like=self._number(pod),
                    leaves=tuple((at, goal.place[node]) for at, goal in counting if node in goal.place),
                    joins=tuple(at for at, goal in enumerate(goals) if goal.matches(again.pod)),
                )

    def why_not(self, pod: Pod) -> str:
        """Return why the Pod is not to be evicted; empty where it may be."""
        if pod.terminating:
            return "it is being deleted already"
        return kept_because(pod) or self._lost(pod) or eviction.refusal(pod, self._snapshot)

    def _lost(self, pod: Pod) -> str:
        """Return why no other Pod comes in its place; empty where one does."""
        controller = pod.metadata.controller
        if controller is None:
            return NOBODY_MAKES_IT_AGAIN
        owner = controller_of(pod, self._snapshot)
        if owner is None:
            known = next((kind for kind in WORKLOAD_KINDS if kind.name == controller.kind), None)
            return NOBODY_MAKES_IT_AGAIN if known and self._snapshot.inventory.has(known) else ""
        if owner.metadata.deletion_timestamp:
            return f"{NOBODY_MAKES_IT_AGAIN}: its {controller.kind} is being deleted"
        if not isinstance(owner, ReplicaSet | ReplicationController | StatefulSet):
            return ""
        siblings = active(self._pods_of[pod.metadata.namespace, controller.kind, controller.name])
        more = len(siblings) > owner.spec.replicas_wanted
        return f"{NOBODY_MAKES_IT_AGAIN}: its {controller.kind} has more Pods than it wants" if more else ""

    def _number(self, pod: Pod) -> int:
        """Return what is the same of Pods that are alike."""
        controller = pod.metadata.controller
        mine = controller_of(pod, self._snapshot) is None or any(volume.claims for volume in pod.spec.volumes)
        labels = frozenset(pod.metadata.labels.items())
        key = pod.key if mine else (pod.metadata.namespace, controller and (controller.kind, controller.name), labels)
        return self._numbers.setdefault(key, len(self._numbers))


def _turn(pod: Pod) -> tuple[object, ...]:
    """Return what Pods sort by that might go: the least important first, the highest ordinal and the youngest."""
    stem, _, ordinal = pod.metadata.name.rpartition("-")
    number = int(ordinal) if ordinal.isdecimal() else 0
    return pod.spec.priority or 0, pod.ready, pod.metadata.namespace, stem, -number


def _created(pod: Pod) -> tuple[str, str]:
    """Return when the Pod was made, and its name."""
    return pod.metadata.creation_timestamp or "", pod.metadata.name
