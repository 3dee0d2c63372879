"""A Pod that finds no node, in the cluster as it is or as it would be: what a change has to overcome."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.apiserver.validation import FieldError, validate
from kubectl_spread.controllers.next_pod import is_of_newest_revision
from kubectl_spread.controllers.statefulset import first_updated_ordinal, ordinal_of
from kubectl_spread.controllers.workloads import (
    PodsByOwner,
    Replicas,
    living_pods,
    owner_of,
    revision_of,
    topmost_owner,
    wanted_by,
)
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.domains import diagnose
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.diagnosis.requirements import Requirement, rejected_nodes, requirements_against
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import KubernetesObject, Plain
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.objects.workloads import ON_DELETE, DaemonSet, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.podtopologyspread import DomainCounts, count_all, parsable_constraints
from kubectl_spread.snapshot import Snapshot

Spent: TypeAlias = Callable[[], bool]  # Whether the time for the search is over; the engine itself has no clock


class Written(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The manifest of a Pod that does not exist yet: changes of the Pod are made there."""

    obj: Workload | Pod | None  # the Pod, or its owner; None for a kind of another API
    template: PodTemplateSpec
    path: str  # the template's place in the object, as a JSON pointer; empty for a Pod
    values: Plain
    before: Snapshot
    applied: tuple[KubernetesObject, ...] = ()  # all objects that are applied together
    # those of this manifest: the workload, with the next Job of a CronJob; or the Pods
    own: tuple[KubernetesObject, ...] = ()
    as_if: bool = False  # whether its Pods get a node although somebody refuses or holds them

    @cached_property
    def pods(self) -> frozenset[tuple[str, str]]:
        """The Pods that are applied, by namespace and name."""
        return frozenset(obj.key for obj in self.applied if isinstance(obj, Pod))

    @property
    def live(self) -> KubernetesObject | None:
        """The object as it is in the cluster, None if it does not exist."""
        obj = self.obj
        return self.before.get(type(obj), obj.metadata.namespace, obj.metadata.name) if obj is not None else None


class Destination(msgspec.Struct, frozen=True):
    """The domains for a Pod that replaces another, and the cluster before any eviction: it has the running Pods.

    ``domains``: None if any will do.
    """

    topology_key: str
    domains: frozenset[str] | None
    before: Handle


def placed_by_owner(handle: Handle, pods: Iterable[Pod]) -> PodsByOwner:
    """Return namespace and topmost owner → its Pods on nodes, of these Pods' namespaces; one without is its own."""
    own, there = {pod.metadata.namespace for pod in pods}, (info.pods for info in handle.node_infos.values())
    return living_pods((each for pods in there for each in pods if each.metadata.namespace in own), handle.snapshot)


class Situation(msgspec.Struct, frozen=True, dict=True):
    """A Pod and a cluster."""

    pod: Pod
    handle: Handle
    now: str = ""  # the current time, RFC 3339 in UTC; empty if unknown
    written: Written | None = None  # the manifest of the Pod; None if the Pod exists
    bound_for: Destination | None = None  # the destination of a Pod that replaces another; None if any node will do
    # the Pods on the cluster's nodes, if they were counted once for many Pods; None to count them here
    placed: PodsByOwner | None = None

    def exists(self, pod: Pod) -> bool:
        """Whether the other Pod exists, and no manifest creates it, or another of its name."""
        if self.written is None:
            return True
        live = self.written.before.get(Pod, *pod.key)
        if live is None or pod.key in self.written.pods:
            return False
        was, now = live.metadata, pod.metadata
        return (was.uid, was.creation_timestamp) == (now.uid, now.creation_timestamp)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Every filter's verdict on every node."""
        return cycle.evaluate(self.pod, self.handle)

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """The nodes that no filter rejects, best first. Most changes need no more than this.

        For a Pod with a destination, the nodes of the highest score, if all of them are in it.
        """
        if self.bound_for is None or self.bound_for.domains is None:
            return cycle.feasible_nodes(self.pod, self.handle)
        best = cycle.best_nodes(self.pod, self.handle)
        return best if all(self.may_be_bound_for(self.handle.node_infos[name]) for name in best) else ()

    def may_be_bound_for(self, info: NodeInfo) -> bool:
        """Whether the node is in the destination of the Pod, if it has one."""
        aim = self.bound_for
        return aim is None or aim.domains is None or info.labels.get(aim.topology_key) in aim.domains

    @cached_property
    def counts(self) -> tuple[DomainCounts, ...]:
        """The hard constraints with their domains."""
        constraints = parsable_constraints(self.pod, self.handle)
        return tuple(counts for counts in count_all(constraints, self.pod, self.handle) if counts.constraint.hard)

    @cached_property
    def errors(self) -> frozenset[FieldError]:
        """Why the API server would refuse the Pod."""
        return frozenset(validate(self.pod, self.handle.profile.release))

    @cached_property
    def warnings(self) -> frozenset[tuple[Severity, str, str]]:
        """(severity, id, path) of each finding about the Pod that is not just information."""
        # Without information, only findings about a pinned minimum need the verdicts on nodes.
        pinned = any(map(self._may_be_pinned, self.counts))
        evaluation = self.evaluation if pinned else Evaluation(pod=self.pod, nodes={})
        spread = diagnose(evaluation, self.handle)
        found = lint.warnings_of(evaluation, spread)
        return frozenset((each.severity, each.id, each.path) for each in found)

    def _may_be_pinned(self, counts: DomainCounts) -> bool:
        """Whether the constraint closes domains, and none of its counted nodes that hold the minimum is feasible."""
        holding = {value for value, number in counts.match_num.items() if number == counts.global_minimum}
        if not holding or not any(map(counts.is_full, counts.match_num)):
            return False
        values = self.handle.index.values(counts.constraint.topology_key)
        return all(values[name] not in holding for name in counts.counted_nodes.intersection(self.feasible))

    @cached_property
    def running(self) -> tuple[Pod, ...]:
        """The Pods of the workload that are on a node, before any is evicted for this one."""
        handle = self.bound_for.before if self.bound_for else self.handle
        placed = placed_by_owner(handle, (self.pod,)) if self.placed is None else self.placed
        there = placed.get((self.pod.metadata.namespace, owner_of(self.pod, handle.snapshot)), ())
        # Counts shared by many Pods may have this one on its assumed node.
        return tuple(pod for pod in there if self.exists(pod) and (self.bound_for or pod.key != self.pod.key))

    @cached_property
    def living(self) -> int:
        """How many Pods of the workload exist, with and without a node, before any is evicted (count)."""
        namespace = self.pod.metadata.namespace
        snapshot = (self.bound_for.before if self.bound_for else self.handle).snapshot
        owner = owner_of(self.pod, snapshot)
        waiting = (pod for pod in snapshot.all(Pod) if pod.waits and pod.metadata.namespace == namespace)
        there = sum(not pod.terminating for pod in self.running)
        return there + sum(owner_of(pod, snapshot) == owner for pod in waiting)

    @property
    def at_work(self) -> int:
        """How many of them run and do not report that they are not ready (count)."""
        return sum(pod.at_work for pod in self.running)

    @cached_property
    def topmost_owner(self) -> Workload | None:
        """The topmost owner of the Pod; None if there is none, or it cannot be read."""
        return topmost_owner(self.pod, self.handle.snapshot)

    @property
    def patchable_owner(self) -> Workload | None:
        """The topmost owner of the Pod; None if there is none, or if one of the owners cannot be read."""
        owner = self.topmost_owner
        return owner if owner is not None and owner.metadata.controller is None else None

    @property
    def is_of_newest_revision(self) -> bool | None:
        """Whether the Pod is of the newest revision of its owner; None if no revision shows it."""
        return is_of_newest_revision(self.pod, self.handle.snapshot)

    def replicas(self, waiting: Sequence[Pod]) -> Replicas | UnsetType:
        """Return how many Pods the topmost owner wants and how many of them run (counts).

        Unset if no readable owner recreates every deleted Pod: for bare Pods and for Jobs. ``waiting`` are the owner's
        Pending Pods, this one included.
        """
        wanted = wanted_by(self.topmost_owner, len(self.running) + len(waiting))
        if wanted is None:
            return UNSET
        pods, owner = (*self.running, *waiting), self.topmost_owner
        first = first_updated_ordinal(owner) if isinstance(owner, StatefulSet) else 0
        # Pods behind a partition keep their revision.
        meant = {revision_of(pod) for pod in pods if not (pod.terminating or (first and ordinal_of(pod) < first))}
        by_hand = isinstance(owner, StatefulSet | DaemonSet) and owner.spec.update_strategy.type == ON_DELETE
        rolls = len(meant - {""}) > 1 and not by_hand
        return Replicas(wanted=wanted, running=self.at_work, rolling_out=True if rolls else UNSET)

    @cached_property
    def rejected(self) -> Mapping[Requirement, frozenset[str]]:
        """Requirement → the names of the nodes that it rejects; a requirement that rejects none is absent."""
        return rejected_nodes(self.evaluation, self.counts, self.handle)

    @cached_property
    def against(self) -> Mapping[str, frozenset[Requirement]]:
        """Node's name → the requirements that reject it."""
        return requirements_against(self.rejected, self.handle.node_infos)

    @cached_property
    def domain_keys(self) -> tuple[str, ...]:
        """The topology keys of the hard constraints without the hostname; nodes with equal values are alike."""
        keys = (counts.constraint.topology_key for counts in self.counts)
        return tuple(dict.fromkeys(key for key in keys if key != HOSTNAME))

    def domains_of(self, info: NodeInfo) -> tuple[str, ...]:
        """Return the domains of the node; empty text if it lacks a key."""
        return tuple(info.labels.get(key, "") for key in self.domain_keys)

    def nodes_only_against(self, requirements: Collection[Requirement], *, others: int = 0) -> list[NodeInfo]:
        """Return the nodes rejected by any of these requirements and by at most ``others`` others."""
        wanted = frozenset(requirements)
        kinds = frozenset(self.against.values())
        meant = {kind for kind in kinds if kind & wanted and len(kind - wanted) <= others}
        return [info for name, info in self.handle.node_infos.items() if self.against[name] in meant]
