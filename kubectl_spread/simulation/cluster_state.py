"""A cluster that changes: Pods are created, bound, deleted and removed; nodes are cordoned, lost and removed.

One ClusterState is one outcome: its order of chance decides whatever the scheduler or a controller may choose. Only the
ClusterState is mutable; all objects in it are not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count

from msgspec.structs import replace

from kubectl_spread.controllers.job import TRACKING_FINALIZER
from kubectl_spread.controllers.nodelifecycle import is_shut_down, is_silent
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.workloads import MIRRORED, WorkloadRef, owner_of
from kubectl_spread.objects.autoscaling import NodeClaim
from kubectl_spread.objects.core import Node, Pod, PodCondition, ResourceQuota
from kubectl_spread.objects.kinds import WORKLOADS
from kubectl_spread.objects.meta import ControllerKey, KubernetesObject
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.times import last_told, written
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.preemption import BY_SCHEDULER, DISRUPTION_TARGET, Candidate
from kubectl_spread.simulation.chance import Chance
from kubectl_spread.snapshot import PodKey, Snapshot

# The reasons of a DisruptionTarget condition. Source: api core/v1/types.go (v1.36).
BY_EVICTION, BY_TAINT, BY_POD_GC = "EvictionByEvictionAPI", "DeletionByTaintManager", "DeletionByPodGC"
# Kinds that controllers change, and that never make a node feasible for a Pod.
_OF_CONTROLLERS = frozenset((PodDisruptionBudget, ResourceQuota, *WORKLOADS.values()))
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)  # The time if no Pod has a timestamp
# How long ago the last timestamp of a Pod may be. After more time, young Pods are of the same age.
_SOONEST, _LATER, _LATEST = timedelta(seconds=1), timedelta(minutes=1), timedelta(minutes=3)


def _disrupted(pod: Pod, reason: str) -> Pod:
    target = PodCondition(type=DISRUPTION_TARGET, status="True", reason=reason)
    return replace(pod, status=replace(pod.status, conditions=(*pod.status.conditions, target)))


def can_be_removed(pod: Pod) -> bool:
    """Whether nothing but its kubelet keeps a terminating Pod."""
    return all(each == TRACKING_FINALIZER for each in pod.metadata.finalizers)


class IndexedPods:
    """All Pods of a cluster, including finished ones, and which of them are asked for."""

    def __init__(self, pods: Mapping[PodKey, Pod]) -> None:
        self.pods = dict(pods)
        self.owned: dict[ControllerKey, dict[PodKey, Pod]] = {}
        # namespace → the Pods without a controller that have not finished
        self.orphans: dict[str, dict[PodKey, Pod]] = defaultdict(dict)
        # Pod that was created or bound in the simulation → (the round in which it was created, -1 before the first; its
        # number in that round)
        self.born: dict[PodKey, tuple[int, int]] = {}
        self.waiting: dict[PodKey, Pod] = {}  # the Pods that wait for a node
        # node's name → the Pods on it that its kubelet has to start or stop
        self.restless: dict[str, dict[PodKey, Pod]] = defaultdict(dict)
        self.lowest_priority = 0  # the lowest of any Pod so far, at most 0
        self.places = dict(zip(self.pods, count()))  # their order
        for pod in self.pods.values():
            self._index(pod)

    @cached_property
    def last_time(self) -> datetime:
        """The latest time that they tell of."""
        return last_told(self.pods.values()) or LONG_AGO

    @cached_property
    def active(self) -> Mapping[ControllerKey, int]:
        """Controller → its Pods that have not finished and are not terminating (count)."""
        return {key: len(active(pods.values())) for key, pods in self.owned.items()}

    def _take(self, other: IndexedPods) -> None:
        """Become a copy of the other ones."""
        self.pods, self.waiting, self.places = dict(other.pods), dict(other.waiting), dict(other.places)
        self.owned = {key: dict(pods) for key, pods in other.owned.items()}
        self.orphans.update({namespace: dict(pods) for namespace, pods in other.orphans.items()})
        self.restless.update({name: dict(pods) for name, pods in other.restless.items()})
        self.lowest_priority = other.lowest_priority

    def _index(self, pod: Pod) -> None:
        if pod.metadata.controller is not None:
            self.owned.setdefault(pod.metadata.controller_key, {})[pod.key] = pod
        elif not pod.finished:
            self.orphans[pod.metadata.namespace][pod.key] = pod
        self.lowest_priority = min(self.lowest_priority, pod.spec.priority or 0)
        if pod.finished:
            return
        if not pod.spec.node_name:
            if not pod.terminating:
                self.waiting[pod.key] = pod
        elif can_be_removed(pod) if pod.terminating else pod.key in self.born and not pod.ready:
            self.restless[pod.spec.node_name][pod.key] = pod


class ClusterState(IndexedPods):
    """The cluster in one outcome.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
        seed: which order of chance decides free choices; 0 is the order of names.
    """

    def __init__(self, handles: Handles, seed: int) -> None:
        super().__init__({})
        self.handles = handles
        self.start = self.snapshot.made_of(Pod, IndexedPods)  # its Pods at the start
        self._take(self.start)
        self.seed = seed
        self.chance = Chance(seed)  # this order
        self.order = self.chance.order
        self.dirty: dict[ControllerKey, None] = dict.fromkeys(self.owned)  # the controllers that have to sync
        silent = [name for name, node in self.nodes.items() if is_silent(node)]
        # unreachable node → the Pods on it that are ready once it answers again
        self.lost: dict[str, frozenset[PodKey]] = {
            name: frozenset(pod.key for pod in pods) for name, pods in self.on_nodes(silent).items()
        }
        self.version = 0  # changes with everything that may affect the scheduler
        self._last_time = self.start.last_time
        self._passed = min(_SOONEST * 2 ** (seed / 2), _LATEST) if seed else _LATER
        self.preempted: list[Pod] = []  # the Pods that the scheduler has preempted, in order
        self.pdb_violations = 0  # how many of them a PodDisruptionBudget protected
        self.preempted_for: dict[PodKey, tuple[Pod, ...]] = {}  # Pod → those that were preempted for it
        self.violations: dict[PodKey, int] = {}  # Pod → how many of these a budget protected (count)
        self.spared: dict[PodKey, tuple[Pod, ...]] = {}  # Pod → those that might have been preempted for it instead
        # Pod → the nodes that it might have been bound to; Pods in the order in which they were bound
        self.best: dict[PodKey, tuple[str, ...]] = {}
        # controller, or Pod without one → its first Pod that found a node or room, and the cluster then
        self.first_tried: dict[ControllerKey, tuple[Pod, Handle]] = {}
        self.refused: dict[ControllerKey, str] = {}  # controller → why the API server refuses its next Pod
        self.round = 0
        # verdicts: on how many nodes Pods were tried (count)
        # loosened: changes with everything that may make a node feasible: Pods removed, nodes or volumes changed
        self.verdicts = self.loosened = 0
        self.moves: Counter[str] = Counter()  # namespace → how often a Pod in it was bound, deleted or removed (count)
        self._next_place = count(len(self.pods))
        self.touched: dict[PodKey, Pod] = {}  # the Pods that were created, changed or removed, as they were last
        self.relabelled: list[Pod] = []  # earlier versions of those whose labels changed

    @property
    def now(self) -> datetime:
        """The time. It starts some time after the last timestamp in the cluster, which differs between orders."""
        return self._last_time + self._passed

    @property
    def moments(self) -> Sequence[datetime]:
        """The time, the earliest that it may be, and the latest."""
        return self.now, self._last_time + _SOONEST, self._last_time + _LATEST

    @property
    def handle(self) -> Handle:
        """The cluster as the default profile sees it."""
        return self.handles.default

    @property
    def snapshot(self) -> Snapshot:
        """The cluster without its unbound Pods, which only ``pods`` has."""
        return self.handles.snapshot

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Node's name → node."""
        return self.snapshot.nodes

    def in_order(self, pods: Iterable[Pod]) -> list[Pod]:
        """Return the Pods in the order in which they were created."""
        return sorted(pods, key=lambda pod: self.places[pod.key])

    def living(self) -> defaultdict[tuple[str, WorkloadRef], list[Pod]]:
        """Return what ``living_pods`` returns of its Pods, without a look at the owner of each."""
        found: defaultdict[tuple[str, WorkloadRef], list[Pod]] = defaultdict(list)
        alone = [pod for pods in self.orphans.values() for pod in pods.values()]
        for key, pods in self.owned.items():
            left = [pod for pod in pods.values() if not pod.finished]
            if key[1] == MIRRORED:
                alone += left
            elif left:
                found[key[0], owner_of(left[0], self.snapshot)] += left
        for pod in alone:
            found[pod.metadata.namespace, owner_of(pod, self.snapshot)].append(pod)
        for each in found.values():
            each.sort(key=lambda pod: self.places[pod.key])
        return defaultdict(list, sorted(found.items(), key=lambda item: self.places[item[1][0].key]))

    def with_pods(self, pods: Mapping[PodKey, Pod]) -> Snapshot:
        """Return the cluster in which these are all Pods; its indexes stay as they are."""
        return replace(self.snapshot, objects={**self.snapshot.objects, Pod: pods})

    def settled(self) -> Handles:
        """Return the whole cluster as each profile sees it now, with unbound Pods."""
        return self.handles.with_snapshot(self.with_pods(dict(self.pods)))

    # Pods

    def make(self, pod: Pod, *, number: int = 0) -> None:
        """Create a Pod that waits for a node; ``number`` counts the Pods that are created together."""
        stamped = replace(pod.metadata, creation_timestamp=written(self.now))
        status = replace(pod.status, phase="Pending")
        self.born[pod.key] = (self.round, number)
        self._store(replace(pod, metadata=stamped, status=status))

    def bind(self, pod: Pod, node_name: str) -> None:
        """Bind the Pod to the node, where its kubelet starts it."""
        self.born.setdefault(pod.key, (-1, 0))
        status = replace(pod.status, phase="Running", nominated_node_name="", start_time=written(self.now))
        self._store(replace(pod, spec=replace(pod.spec, node_name=node_name), status=status))

    def delete(self, *pods: Pod) -> None:
        """Delete Pods: one that no kubelet runs is removed at once, any other is terminating."""
        for pod in pods:
            if not pod.spec.node_name or pod.finished or pod.spec.node_name not in self.nodes:
                self.remove(pod)
            elif not pod.terminating:
                self._store(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=written(self.now))))

    def evict(self, pod: Pod, reason: str) -> None:
        """Delete the Pod with a DisruptionTarget condition."""
        self.delete(_disrupted(pod, reason))

    def preempt(self, chosen: Candidate, pod: Pod) -> None:
        """Delete the victims and nominate the Pod to their node."""
        self.preempted_for[pod.key] = chosen.victims
        self.pdb_violations += chosen.violations
        for victim in self.preempted_for[pod.key]:
            self.preempted.append(victim)
            self.evict(victim, BY_SCHEDULER)
        self._store(replace(pod, status=replace(pod.status, nominated_node_name=chosen.node_name)))

    def set_ready(self, pod: Pod, *, ready: bool) -> None:
        """Set whether the Pod is ready."""
        others = tuple(condition for condition in pod.status.conditions if condition.type != "Ready")
        condition = PodCondition(type="Ready", status=str(ready), last_transition_time=written(self.now))
        self._store(replace(pod, status=replace(pod.status, conditions=(*others, condition))))

    def is_stuck(self, pod: Pod) -> bool:
        """Whether the Pod stays Terminating, because its node does not answer or it has a finalizer."""
        silent = pod.spec.node_name in self.lost and not is_shut_down(self.nodes[pod.spec.node_name])
        return pod.terminating and (not can_be_removed(pod) or silent)

    def remove(self, pod: Pod) -> None:
        """Remove the Pod."""
        self.touched[pod.key] = self.pods.pop(pod.key)
        self._forget(self.touched[pod.key])
        del self.places[pod.key]
        self.loosened += 1
        self.moves[pod.metadata.namespace] += 1

    def update(self, pod: Pod) -> None:
        """Store a changed Pod."""
        self.loosened += 1
        self._store(pod)

    def _store(self, pod: Pod) -> None:
        self.touched[pod.key] = pod
        before = self.pods.get(pod.key)
        if before is not None:
            self._forget(before)
            if before.metadata.labels != pod.metadata.labels:
                self.relabelled.append(before)
            if (before.spec.node_name, before.terminating) != (pod.spec.node_name, pod.terminating):
                self.moves[pod.metadata.namespace] += 1
            # The room that was nominated for the Pod is free again.
            self.loosened += bool(before.status.nominated_node_name)
        else:
            self.places[pod.key] = next(self._next_place)
        self.pods[pod.key] = pod
        self._index(pod)
        self.version += 1
        if pod.metadata.controller is not None:
            self.dirty[pod.metadata.controller_key] = None
        if pod.spec.node_name in self.nodes and not pod.finished:
            self.handles = self.handles.each(lambda handle: handle.with_assigned(pod, pod.spec.node_name))
        elif pod.status.nominated_node_name and not pod.spec.node_name:
            self.handles = self.handles.with_snapshot(self.snapshot.with_nominated(pod))

    def _forget(self, pod: Pod) -> None:
        self.waiting.pop(pod.key, None)
        self.restless[pod.spec.node_name].pop(pod.key, None)
        self.orphans[pod.metadata.namespace].pop(pod.key, None)
        if pod.metadata.controller is not None:
            key = pod.metadata.controller_key
            self.owned[key].pop(pod.key, None)
            self.dirty[key] = None
        self.version += 1
        if pod.spec.node_name in self.nodes and not pod.finished:
            self.handles = self.handles.each(lambda handle: handle.without_pod(pod))
        elif pod.status.nominated_node_name and not pod.spec.node_name:
            self.handles = self.handles.with_snapshot(self.snapshot.without_nominated(pod))

    # Nodes and other objects

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
        # Karpenter deletes it with its node: node/termination/controller.go (v1.14).
        if claims := [claim for claim in self.snapshot.all(NodeClaim) if claim.status.node_name == node_name]:
            self.drop(*claims)

    def on_nodes(self, node_names: Iterable[str]) -> dict[str, list[Pod]]:
        """Return node's name → the Pods on it, including finished ones, by name; nodes in the order given."""
        found: dict[str, list[Pod]] = {name: [] for name in node_names}
        if not found:
            return found
        for key in sorted(key for key, pod in self.pods.items() if pod.spec.node_name in found):
            found[self.pods[key].spec.node_name].append(self.pods[key])
        return found

    def put(self, *objects: KubernetesObject) -> None:
        """Store objects that are neither Pods nor Nodes."""
        self.loosened += any(type(obj) not in _OF_CONTROLLERS for obj in objects)
        self.handles = self.handles.with_snapshot(self.snapshot.with_others(objects))

    def drop(self, *objects: KubernetesObject) -> None:
        """Remove objects that are neither Pods nor Nodes."""
        self.version += 1
        self.loosened += 1
        self.handles = self.handles.with_snapshot(self.snapshot.without_others(objects))

    def pass_time(self) -> None:
        """Let some seconds pass."""
        self._last_time += timedelta(seconds=2)
        self.round += 1
