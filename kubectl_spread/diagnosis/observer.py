"""Observes the state of workloads, and the Pods that they create next, after each step of a simulation.

Only what may have changed since the last observation is counted again: very little in a large cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers import deployment
from kubectl_spread.controllers.next_pod import NextPod, next_pod, older_revisions
from kubectl_spread.controllers.workloads import (
    OwnedPods,
    WorkloadRef,
    living_pods,
    owner_of,
    revision_of,
    wanted_by,
    workloads,
)
from kubectl_spread.diagnosis.constraint_state import ConstraintState, constraint_states
from kubectl_spread.objects.core import Node, Pod, ReplicationController
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import grouped, name_order
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.workloads import DaemonSet, Deployment, ReplicaSet, StatefulSet
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.podtopologyspread import constraints_of
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.snapshot import Snapshot

Key: TypeAlias = tuple[str, WorkloadRef]
"""Namespace and workload."""

CHANGING = frozenset(
    (Pod, Node, PodDisruptionBudget, Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet)
)
"""Kinds whose objects, when they change in a simulation, affect only the workload they belong to."""


class Observation(msgspec.Struct, frozen=True):
    """The cluster after a step, as far as it is compared.

    Attributes:
        states: workload → the state of each of its next Pod's constraints.
        older: workload → revision → the same of a Pod of that revision, if its constraints differ.
        models: workload → revision → that Pod, in the first order.
        pending: workload, in question or not → its Pending Pods.
        preempted: the Pods that the scheduler has evicted so far.
        pdb_violations: how many of them a PodDisruptionBudget protected.
        spared: the Pods that it could have evicted instead, in the first order.
        free: whether anything was left to chance so far, in the first order.
        sampled: whether the scheduler scored only some of the nodes that fit a Pod.
        refused: namespace, kind and name of a controller → why the API server refuses its Pods.
        living: workload → its Pods that have not ended, in the first order.
        touched: the Pods that were created, changed or deleted so far, in the first order, also with earlier labels.
        placed: a Pod of each controller that found a node so far, and the cluster then, in the first order.
        defaults: whether the cluster's default constraints count too.
    """

    asked: frozenset[Key]
    states: Mapping[Key, tuple[ConstraintState, ...]]
    older: Mapping[Key, Mapping[str, tuple[ConstraintState, ...]]]
    models: Mapping[Key, Mapping[str, Pod]]
    upcoming: Mapping[Key, NextPod]
    pending: Mapping[Key, tuple[Pod, ...]]
    preempted: tuple[Pod, ...]
    pdb_violations: int
    spared: tuple[Pod, ...]
    free: bool
    sampled: bool
    refused: Mapping[tuple[str, str, str], str]
    handles: Handles
    living: Mapping[Key, Sequence[Pod]]
    touched: tuple[Pod, ...]
    placed: tuple[tuple[Pod, Handle], ...]
    defaults: bool

    @property
    def snapshot(self) -> Snapshot:
        """The cluster."""
        return self.handles.snapshot

    def owner(self, key: Key) -> Workload | None:
        """Return the workload as an object; None if there is none."""
        return _owner(key, self.snapshot)

    def newest(self, key: Key) -> str:
        """Return the revision of the workload's next Pod."""
        return revision_of(self.upcoming[key].pod)

    def states_of(self, key: Key, revision: str) -> tuple[ConstraintState, ...] | None:
        """Return the state of each constraint of a revision; None if it has no row of its own."""
        if key in self.upcoming and self.newest(key) == revision:
            return self.states[key]
        return self.older.get(key, {}).get(revision)

    def model_of(self, key: Key, revision: str) -> Pod | None:
        """Return the Pod that the revision's constraints are counted for; None if it has no row of its own."""
        if self.newest(key) == revision:
            return self.upcoming[key].pod
        return self.models.get(key, {}).get(revision)

    def rolls(self, key: Key) -> bool:
        """Whether a rollout of the workload is in progress: it has Pods of other revisions than its next Pod's."""
        owner, newest = self.owner(key), self.newest(key)
        paused = isinstance(owner, Deployment) and owner.spec.paused
        return not paused and any(revision_of(pod) != newest for pod in self.living[key])

    def is_changing(self, key: Key) -> bool:
        """Whether controllers or the scheduler may still change the workload's Pods."""
        pods = self.living[key]
        several = any(revision_of(pod) != self.newest(key) for pod in pods)
        wanted = wanted_by(self.owner(key), len(pods))
        return several or wanted not in {None, len(pods)} or any(pod.waits or pod.terminating for pod in pods)

    def workload(self, key: Key) -> OwnedPods:
        """Return the workload with its Pods."""
        return _owned_pods(key, self.living[key], self.snapshot)


class Observer:
    """Observes a cluster after each step, in one order of chance after another; it counts ``wanted`` workloads."""

    def __init__(self, start: Snapshot, wanted: Callable[[OwnedPods], bool], *, defaults: bool) -> None:
        self._keys = [(each.namespace, each.ref) for each in workloads(start) if wanted(each)]
        self._defaults = defaults
        self._first: dict[int, Observation] = {}

    def __call__(self, cluster: ClusterState, number: int) -> Observation:
        """Return the cluster after this number of steps, or left alone until nothing changes."""
        if number in self._first:
            return self._in_other_order(cluster, self._first[number])
        self._first[number] = self._in_first_order(cluster, self._first.get(max(number - 1, 0)))
        return self._first[number]

    def _in_other_order(self, cluster: ClusterState, first: Observation) -> Observation:
        pods = living_pods(cluster.pods.values(), cluster.snapshot)
        touched = grouped(
            (*cluster.touched.values(), *cluster.relabelled, *first.touched), lambda pod: pod.metadata.namespace
        )
        states = {
            key: states_of(key, first.upcoming[key].pod, cluster.handles)
            if _select_any(were, touched.get(key[0], ()))
            else were
            for key, were in first.states.items()
        }
        return replace(
            first,
            states=states,
            older=_count_older(first.models, cluster.handles),
            pending=waiting_pods(pods),
            preempted=tuple(cluster.preempted),
            pdb_violations=cluster.pdb_violations,
            sampled=cluster.chance.sampled,
            refused=dict(cluster.refused),
            handles=cluster.handles,
        )

    def _in_first_order(self, cluster: ClusterState, earlier: Observation | None) -> Observation:
        handles, living = cluster.settled(), living_pods(cluster.pods.values(), cluster.snapshot)
        snapshot = handles.snapshot
        last = earlier if earlier and _same_but_pods(earlier.snapshot, snapshot) else None
        upcoming: dict[Key, NextPod] = {}
        for key in self._keys:
            known = last is not None and _has_same_next_pod(key, last, snapshot, living[key])
            found = last.upcoming.get(key) if last and known else self._next_pod(key, living[key], handles)
            if found is not None:
                upcoming[key] = found
        touched = (*cluster.touched.values(), *cluster.relabelled)
        models = {
            key: {
                name: model
                for name, model in _models(_owned_pods(key, living[key], snapshot), each, handles)
                if model.spec.topology_spread_constraints or self._defaults
            }
            for key, each in upcoming.items()
        }
        return Observation(
            asked=frozenset(self._keys),
            states=_count_states(upcoming, last, handles, grouped(touched, lambda pod: pod.metadata.namespace)),
            older=_count_older(models, handles),
            models=models,
            upcoming=upcoming,
            pending=waiting_pods(living),
            preempted=tuple(cluster.preempted),
            pdb_violations=cluster.pdb_violations,
            spared=tuple(pod for pods in cluster.spared.values() for pod in pods),
            free=cluster.chance.free,
            sampled=cluster.chance.sampled,
            refused=dict(cluster.refused),
            handles=handles,
            living=living,
            touched=touched,
            placed=tuple(cluster.first_tried.values()),
            defaults=self._defaults,
        )

    def _next_pod(self, key: Key, pods: Sequence[Pod], handles: Handles) -> NextPod | None:
        snapshot = handles.snapshot
        owner = _owner(key, snapshot)
        if owner is not None and owner_of(owner, snapshot) != key[1]:
            return None  # A Deployment has adopted it.
        found = next_pod(_owned_pods(key, pods, snapshot), snapshot, handles.default.profile)
        if found is None or not (found.pod.spec.topology_spread_constraints or self._defaults):
            return None
        return found


def _owned_pods(key: Key, pods: Sequence[Pod], snapshot: Snapshot) -> OwnedPods:
    return OwnedPods(*key, _owner(key, snapshot), tuple(sorted(pods, key=name_order)))


def _owner(key: Key, snapshot: Snapshot) -> Workload | None:
    namespace, ref = key
    return snapshot.workload(namespace, ref.kind, ref.name)


def _same_but_pods(were: Snapshot, are: Snapshot) -> bool:
    """Whether the clusters differ only in Pods and their owners, budgets, and node fields other than labels."""
    changed = (struct for struct, found in are.objects.items() if were.objects.get(struct) is not found)
    return (
        CHANGING.issuperset(changed)
        and were.nodes.keys() == are.nodes.keys()
        and all(node.metadata.labels == were.nodes[name].metadata.labels for name, node in are.nodes.items())
    )


def _has_same_next_pod(key: Key, last: Observation, snapshot: Snapshot, pods: Sequence[Pod]) -> bool:
    owner, was = _owner(key, snapshot), _owner(key, last.snapshot)
    if owner is not was or not _same_objects(pods, last.living[key]):
        return False
    if not isinstance(owner, Deployment):
        return True
    return _same_objects(*(deployment.replica_sets(owner, each) for each in (snapshot, last.snapshot)))


def _same_objects(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def _count_states(
    upcoming: Mapping[Key, NextPod],
    last: Observation | None,
    handles: Handles,
    touched: Mapping[str, Sequence[Pod]],
) -> dict[Key, tuple[ConstraintState, ...]]:
    """Return the states of the constraints of each workload's next Pod, counted again only if they may have changed."""
    nodes = handles.snapshot.nodes
    retainted = last is not None and nodes is not last.snapshot.nodes
    counted = {}
    for key, found in upcoming.items():
        were = last.states.get(key) if last and last.upcoming.get(key) is found else None
        changed = were is not None and (
            _select_any(were, touched.get(key[0], ())) or (retainted and any(e.constraint.honors_taints for e in were))
        )
        counted[key] = states_of(key, found.pod, handles) if were is None or changed else were
    return counted


def _models(workload: OwnedPods, upcoming: NextPod, handles: Handles) -> Iterator[tuple[str, Pod]]:
    """Yield (older revision, a model of its Pods) if their constraints differ from those of the next Pod."""
    if any(revision_of(pod) != revision_of(upcoming.pod) for pod in workload.pods):
        found = older_revisions(workload, upcoming.pod, handles.of(upcoming.pod))
        yield from ((name, model) for name, (model, _) in found.items())


def _count_older(
    models: Mapping[Key, Mapping[str, Pod]], handles: Handles
) -> dict[Key, dict[str, tuple[ConstraintState, ...]]]:
    return {
        key: {name: states_of(key, pod, handles) for name, pod in found.items()}
        for key, found in models.items()
        if found
    }


def _select_any(states: Iterable[ConstraintState], pods: Sequence[Pod]) -> bool:
    return any(each.constraint.selector.matches(pod.metadata.labels) for each in states for pod in pods)


def waiting_pods(living: Mapping[Key, Sequence[Pod]]) -> dict[Key, tuple[Pod, ...]]:
    """Return workload → its Pending Pods, by name."""
    pending: dict[Key, tuple[Pod, ...]] = {}
    for key, pods in living.items():
        if waiting := [pod for pod in pods if pod.waits]:
            pending[key] = tuple(sorted(waiting, key=name_order))
    return pending


def states_of(key: Key, pod: Pod, handles: Handles) -> tuple[ConstraintState, ...]:
    """Return the state of each constraint of a workload's Pod."""
    handle = handles.of(pod)
    return tuple(constraint_states(key[1].kind, constraints_of(pod, handle), pod, handle))
