"""A cluster that changes: Pods come, are bound, are deleted and gone; nodes are cordoned, lost and removed.

One ClusterState is one outcome: where the scheduler or a controller may choose, its order decides. What is handed in
and out is immutable; only the ClusterState itself changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.controllers.job import TRACKING_FINALIZER
from kubectl_spread.controllers.nodelifecycle import is_shut_down, is_silent
from kubectl_spread.objects.core import Node, Pod, PodCondition, ResourceQuota
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.objects.meta import KubernetesObject, OwnerReference
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.times import last_told, written
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.scheduler.preemption import BY_SCHEDULER, DISRUPTION_TARGET
from kubectl_spread.simulation.chance import Chance
from kubectl_spread.snapshot import Snapshot

PodKey: TypeAlias = tuple[str, str]
ControllerKey: TypeAlias = tuple[str, str, str]
"""Namespace, kind and name of what manages Pods."""

BY_EVICTION, BY_TAINT, BY_POD_GC = "EvictionByEvictionAPI", "DeletionByTaintManager", "DeletionByPodGC"
"""Why a Pod was disrupted. Source: api core/v1/types.go (v1.36)."""
_OF_CONTROLLERS = frozenset((PodDisruptionBudget, ResourceQuota, *WORKLOADS.values()))
"""What changes as controllers go about their work, and lets no Pod onto a node."""
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
"""The time where no Pod has a timestamp."""
_SOONEST, _LATER, _LATEST = timedelta(seconds=1), timedelta(minutes=1), timedelta(minutes=3)
"""How long after the last timestamp of a Pod it may be: nobody knows. Later still, young Pods are of one age."""


def controller_key(namespace: str, owner: OwnerReference) -> ControllerKey:
    """Return the controller's identity."""
    return namespace, owner.kind, owner.name


def _disrupted(pod: Pod, reason: str) -> Pod:
    target = PodCondition(type=DISRUPTION_TARGET, status="True", reason=reason)
    return replace(pod, status=replace(pod.status, conditions=(*pod.status.conditions, target)))


def _may_go(pod: Pod) -> bool:
    """Whether a Pod that is being deleted goes once its kubelet has ended it."""
    return all(each == TRACKING_FINALIZER for each in pod.metadata.finalizers)


class ClusterState:
    """The cluster as it is in one outcome.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
        seed: which order of chance decides free choices: 0 for the order of names.

    Attributes:
        chance: this order.
        pods: every Pod that is not gone, finished ones too.
        owned: controller → its Pods.
        orphans: namespace → the Pods that nothing controls, and that have not ended.
        dirty: the controllers that have to look again.
        lost: node whose kubelet does not answer → the Pods there that are ready once it does again.
        version: changes with everything that the scheduler may take notice of.
        waiting: the Pods that wait for a node.
        restless: node's name → the Pods on it whose kubelet has something to do once it answers.
        verdicts: on how many nodes Pods were tried (count), one after another.
        lowest_priority: of all Pods that there are or were, 0 where none is lower.
        loosened: changes with all that may let any Pod onto a node: others gone, nodes and volumes changed.
        moves: namespace → how often a Pod there came to a node, was to be deleted, or went (count).
        touched: the Pods that have come, changed or gone.
        born: the Pods that are to become ready, for they came or found a node here → the round in which they came, -1
            before the first, and their numbers in it.
        preempted: the Pods that the scheduler has evicted, in order.
        preempted_for: Pod → those that were evicted for it.
        spared: Pod → those that might have been evicted for it instead.
        best: Pod → the nodes that it might have been put on, in the order in which they came to nodes.
        first_tried: controller, or Pod without one → its first Pod that found a node, or room, and the cluster it met.
        refused: controller → why the API server would not take its next Pod.
    """

    def __init__(self, handles: Handles, seed: int) -> None:
        self.handles = handles
        self.seed = seed
        self.chance = Chance(seed)
        self.order = self.chance.order
        self.pods: dict[PodKey, Pod] = {pod.key: pod for pod in self.snapshot.all(Pod)}
        self.owned: dict[ControllerKey, dict[PodKey, Pod]] = {}
        self.orphans: dict[str, dict[PodKey, Pod]] = defaultdict(dict)
        self.dirty: dict[ControllerKey, None] = {}
        silent = [name for name, node in self.nodes.items() if is_silent(node)]
        self.lost: dict[str, frozenset[PodKey]] = {
            name: frozenset(pod.key for pod in pods) for name, pods in self.on_nodes(silent).items()
        }
        self.version = 0
        self._last_time = last_told(self.pods.values()) or LONG_AGO
        self._passed = min(_SOONEST * 2 ** (seed / 2), _LATEST) if seed else _LATER
        self.preempted: list[Pod] = []
        self.preempted_for: dict[PodKey, tuple[Pod, ...]] = {}
        self.spared: dict[PodKey, tuple[Pod, ...]] = {}
        self.best: dict[PodKey, tuple[str, ...]] = {}
        self.first_tried: dict[ControllerKey, tuple[Pod, Handle]] = {}
        self.refused: dict[ControllerKey, str] = {}
        self.born: dict[PodKey, tuple[int, int]] = {}
        self.round = 0
        self.waiting: dict[PodKey, Pod] = {}
        self.restless: dict[str, dict[PodKey, Pod]] = defaultdict(dict)
        self.verdicts = self.loosened = 0
        self.moves: Counter[str] = Counter()
        self.lowest_priority = 0
        self._places = dict(zip(self.pods, count()))
        self._next_place = count(len(self.pods))
        for pod in self.pods.values():
            self._own(pod)
            self._sort(pod)
        self.version = 0
        self.touched: dict[PodKey, Pod] = {}

    @property
    def now(self) -> datetime:
        """The time; it begins some time after the last timestamp in the cluster, different in each order."""
        return self._last_time + self._passed

    @property
    def moments(self) -> Sequence[datetime]:
        """The time, and the soonest and the latest that it may be."""
        return self.now, self._last_time + _SOONEST, self._last_time + _LATEST

    @property
    def handle(self) -> Handle:
        """The cluster as the default profile sees it."""
        return self.handles.default

    @property
    def snapshot(self) -> Snapshot:
        """The cluster but for its Pods without a node, which only ``pods`` knows."""
        return self.handles.snapshot

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes there are."""
        return self.snapshot.nodes

    def in_order(self, pods: Iterable[Pod]) -> list[Pod]:
        """Return the Pods in the order in which they came."""
        return sorted(pods, key=lambda pod: self._places[pod.key])

    def settled(self) -> Handles:
        """Return the cluster as each profile sees it now, whole: with the Pods that have come."""
        objects = {**self.snapshot.objects, Pod: dict(self.pods)}
        whole = replace(self.snapshot, objects=objects)
        return self.handles.each(lambda handle: replace(handle, snapshot=whole))

    # What happens to Pods.

    def make(self, pod: Pod, *, number: int = 0) -> None:
        """Create a Pod that waits for a node; ``number`` counts those that are made together."""
        stamped = replace(pod.metadata, creation_timestamp=written(self.now))
        status = replace(pod.status, phase="Pending")
        self.born[pod.key] = (self.round, number)
        self._put(replace(pod, metadata=stamped, status=status))

    def bind(self, pod: Pod, node_name: str) -> None:
        """Put the Pod on the node, where its kubelet starts it, though it came before the first round."""
        self.born.setdefault(pod.key, (-1, 0))
        status = replace(pod.status, phase="Running", nominated_node_name="", start_time=written(self.now))
        self._put(replace(pod, spec=replace(pod.spec, node_name=node_name), status=status))

    def delete(self, pod: Pod) -> None:
        """Have the Pod deleted: gone at once where no kubelet knows of it, else terminating."""
        if not pod.spec.node_name or pod.finished or pod.spec.node_name not in self.nodes:
            self.remove(pod)
        elif not pod.terminating:
            self._put(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=written(self.now))))

    def evict(self, pod: Pod, reason: str) -> None:
        """Have the Pod deleted, marked as one that was disrupted."""
        self.delete(_disrupted(pod, reason))

    def preempt(self, victims: Iterable[Pod], pod: Pod, node_name: str) -> None:
        """Delete the victims, and nominate the Pod to their node."""
        self.preempted_for[pod.key] = tuple(victims)
        for victim in self.preempted_for[pod.key]:
            self.preempted.append(victim)
            self.evict(victim, BY_SCHEDULER)
        self._put(replace(pod, status=replace(pod.status, nominated_node_name=node_name)))

    def set_ready(self, pod: Pod, *, ready: bool) -> None:
        """Set whether the Pod is ready."""
        others = tuple(condition for condition in pod.status.conditions if condition.type != "Ready")
        condition = PodCondition(type="Ready", status=str(ready), last_transition_time=written(self.now))
        self._put(replace(pod, status=replace(pod.status, conditions=(*others, condition))))

    def is_stuck(self, pod: Pod) -> bool:
        """Whether the Pod is being deleted and stays: its node does not answer, or somebody has to finalize it."""
        silent = pod.spec.node_name in self.lost and not is_shut_down(self.nodes[pod.spec.node_name])
        return pod.terminating and (not _may_go(pod) or silent)

    def remove(self, pod: Pod) -> None:
        """Remove the Pod."""
        self._take(self.pods.pop(pod.key))
        del self._places[pod.key]
        self.loosened += 1
        self.moves[pod.metadata.namespace] += 1

    def update(self, pod: Pod) -> None:
        """Store the Pod as somebody has changed it."""
        self.loosened += 1
        self._put(pod)

    def _put(self, pod: Pod) -> None:
        """Store the Pod in place of the one of its name."""
        self.touched[pod.key] = pod
        before = self.pods.get(pod.key)
        if before is not None:
            self._take(before)
            if (before.spec.node_name, before.terminating) != (pod.spec.node_name, pod.terminating):
                self.moves[pod.metadata.namespace] += 1
            # Room that is kept for a Pod is free again.
            self.loosened += bool(before.status.nominated_node_name)
        else:
            self._places[pod.key] = next(self._next_place)
        self.pods[pod.key] = pod
        self._own(pod)
        self._sort(pod)
        if pod.spec.node_name in self.nodes and not pod.finished:
            self.handles = self.handles.each(lambda handle: handle.with_assigned(pod, pod.spec.node_name))
        elif pod.status.nominated_node_name and not pod.spec.node_name:
            self.handles = self.handles.each(lambda handle: handle.with_nominated(pod))

    def _take(self, pod: Pod) -> None:
        """Take the Pod out of what is indexed."""
        self.touched[pod.key] = pod
        self.waiting.pop(pod.key, None)
        self.restless[pod.spec.node_name].pop(pod.key, None)
        owner = pod.metadata.controller
        self.orphans[pod.metadata.namespace].pop(pod.key, None)
        if owner is not None:
            key = controller_key(pod.metadata.namespace, owner)
            self.owned[key].pop(pod.key, None)
            self.dirty[key] = None
        self.version += 1
        if pod.spec.node_name in self.nodes and not pod.finished:
            self.handles = self.handles.each(lambda handle: handle.without_pod(pod))
        elif pod.status.nominated_node_name and not pod.spec.node_name:
            self.handles = self.handles.each(lambda handle: handle.without_nominated(pod))

    def _own(self, pod: Pod) -> None:
        """Give the Pod to its controller, which has to look again."""
        owner = pod.metadata.controller
        if owner is not None:
            key = controller_key(pod.metadata.namespace, owner)
            self.owned.setdefault(key, {})[pod.key] = pod
            self.dirty[key] = None
        elif not pod.finished:
            self.orphans[pod.metadata.namespace][pod.key] = pod
        self.version += 1

    def _sort(self, pod: Pod) -> None:
        """Remember the Pod where somebody has something to do about it."""
        self.lowest_priority = min(self.lowest_priority, pod.spec.priority or 0)
        if pod.finished:
            return
        if not pod.spec.node_name:
            if not pod.terminating:
                self.waiting[pod.key] = pod
        elif _may_go(pod) if pod.terminating else pod.key in self.born and not pod.ready:
            self.restless[pod.spec.node_name][pod.key] = pod

    # What happens to nodes and other objects.

    def set_nodes(self, nodes: Sequence[Node]) -> None:
        """Store the nodes."""
        self.version += len(nodes)
        self.loosened += 1
        self.handles = self.handles.each(lambda handle: handle.with_nodes(nodes))

    def remove_node(self, node_name: str) -> None:
        """Remove the node and all Pods on it."""
        for pod in self.on_nodes([node_name])[node_name]:
            self.remove(pod)
            self.touched[pod.key] = _disrupted(pod, BY_POD_GC)
        self.version += 1
        self.loosened += 1
        self.lost.pop(node_name, None)
        self.handles = self.handles.each(lambda handle: handle.without_node(node_name))

    def on_nodes(self, node_names: Iterable[str]) -> dict[str, list[Pod]]:
        """Return node's name → the Pods on it, finished ones too, by name, in the order of the nodes."""
        found: dict[str, list[Pod]] = {name: [] for name in node_names}
        for key in sorted(key for key, pod in self.pods.items() if pod.spec.node_name in found):
            found[self.pods[key].spec.node_name].append(self.pods[key])
        return found

    def put(self, *objects: KubernetesObject) -> None:
        """Store objects that are neither Pods nor Nodes."""
        self.loosened += any(type(obj) not in _OF_CONTROLLERS for obj in objects)
        self.handles = self.handles.each(lambda handle: handle.with_others(objects))

    def drop(self, *objects: KubernetesObject) -> None:
        """Remove objects that are neither Pods nor Nodes."""
        self.version += 1
        self.loosened += 1
        self.handles = self.handles.each(lambda handle: handle.without_others(objects))

    def owner(self, key: ControllerKey, struct: type[Workload]) -> Workload | None:
        """Return what manages Pods, None where it was not read."""
        namespace, _, name = key
        return self.snapshot.get(struct, namespace, name)

    def pass_time(self) -> None:
        """Let some seconds pass."""
        self._last_time += timedelta(seconds=2)
        self.round += 1
