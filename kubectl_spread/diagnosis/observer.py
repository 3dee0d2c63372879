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

Key: TypeAlias = tuple[str, WorkloadRef]  # Namespace and workload

# Kinds whose objects, when they change in a simulation, affect only the workload they belong to.
CHANGING = frozenset(
    (Pod, Node, PodDisruptionBudget, Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet)
)


class CountedRevision(msgspec.Struct, frozen=True):
    """A revision of a workload: the Pod that represents it, and the state of each constraint of that Pod."""

    pod: Pod
    states: tuple[ConstraintState, ...]

    def recounted(
        self, key: Key, handles: Handles, touched: Iterable[Pod], *, retainted: bool = False
    ) -> CountedRevision:
        """Return the revision after these Pods of its namespace, or node taints, have changed; often the same."""
        changed = any(each.constraint.selector.matches(pod.metadata.labels) for pod in touched for each in self.states)
        if not changed and not (retainted and any(each.constraint.honors_taints for each in self.states)):
            return self
        return CountedRevision(self.pod, states_of(key, self.pod, handles))


class Observation(msgspec.Struct, frozen=True):
    """The cluster after a step, as far as it is compared."""

    asked: frozenset[Key]
    # workload → its revisions by name: that of its next Pod first, then older ones with other constraints
    revisions: Mapping[Key, Mapping[str, CountedRevision]]
    upcoming: Mapping[Key, NextPod]
    pending: Mapping[Key, tuple[Pod, ...]]  # workload, in question or not → its Pending Pods
    preempted: tuple[Pod, ...]  # the Pods that the scheduler has evicted so far
    pdb_violations: int  # how many of them a PodDisruptionBudget protected
    spared: tuple[Pod, ...]  # the Pods that it could have evicted instead, in the first order
    free: bool  # whether anything was left to chance so far, in the first order
    sampled: bool  # whether the scheduler scored only some of the nodes that fit a Pod
    # namespace, kind and name of a controller → why the API server refuses its Pods
    refused: Mapping[tuple[str, str, str], str]
    handles: Handles
    living: Mapping[Key, Sequence[Pod]]  # workload → its Pods that have not ended, in the first order
    # the Pods that were created, changed or deleted so far, in the first order, also with earlier labels
    touched: tuple[Pod, ...]
    # a Pod of each controller that found a node so far, and the cluster then, in the first order
    placed: tuple[tuple[Pod, Handle], ...]
    defaults: bool  # whether the cluster's default constraints count too

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

    def counted(self, key: Key, revision: str) -> CountedRevision | None:
        """Return a revision of the workload; None if it has no row of its own."""
        return self.revisions.get(key, {}).get(revision)

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
        pods = cluster.living()
        touched = grouped(
            (*cluster.touched.values(), *cluster.relabelled, *first.touched), lambda pod: pod.metadata.namespace
        )
        revisions = {
            key: {name: each.recounted(key, cluster.handles, touched.get(key[0], ())) for name, each in found.items()}
            for key, found in first.revisions.items()
        }
        return replace(
            first,
            revisions=revisions,
            pending=waiting_pods(pods),
            preempted=tuple(cluster.preempted),
            pdb_violations=cluster.pdb_violations,
            sampled=cluster.chance.sampled,
            refused=dict(cluster.refused),
            handles=cluster.handles,
        )

    def _in_first_order(self, cluster: ClusterState, earlier: Observation | None) -> Observation:
        handles, living = cluster.settled(), cluster.living()
        snapshot = handles.snapshot
        last = earlier if earlier and _same_but_pods(earlier.snapshot, snapshot) else None
        retainted = last is not None and snapshot.nodes is not last.snapshot.nodes
        touched = (*cluster.touched.values(), *cluster.relabelled)
        by_namespace = grouped(touched, lambda pod: pod.metadata.namespace)
        upcoming: dict[Key, NextPod] = {}
        revisions: dict[Key, Mapping[str, CountedRevision]] = {}
        for key in self._keys:
            known = last is not None and _has_same_next_pod(key, last, snapshot, living[key])
            found = last.upcoming.get(key) if last and known else self._next_pod(key, living[key], handles)
            if found is None:
                continue
            upcoming[key], name = found, revision_of(found.pod)
            newest = last.counted(key, name) if last and known else None
            if newest is None:
                newest = CountedRevision(found.pod, states_of(key, found.pod, handles))
            else:
                newest = newest.recounted(key, handles, by_namespace.get(key[0], ()), retainted=retainted)
            revisions[key] = {name: newest, **dict(self._older(key, found, living[key], handles))}
        return Observation(
            asked=frozenset(self._keys),
            revisions=revisions,
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

    def _older(
        self, key: Key, upcoming: NextPod, pods: Sequence[Pod], handles: Handles
    ) -> Iterator[tuple[str, CountedRevision]]:
        """Yield the older revisions, by name, if their constraints differ from those of the next Pod."""
        if all(revision_of(pod) == revision_of(upcoming.pod) for pod in pods):
            return
        workload = _owned_pods(key, pods, handles.snapshot)
        for name, (model, _) in older_revisions(workload, upcoming.pod, handles.of(upcoming.pod)).items():
            if model.spec.topology_spread_constraints or self._defaults:
                yield name, CountedRevision(model, states_of(key, model, handles))


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
