"""What the plugins share: verdicts, the results of the phases, and each profile's view of the cluster.

A plugin is a module with plain functions:

* ``pre_filter(pod, handle)`` returns a Status (Skip: nothing to judge; a rejection: no node is feasible), or a
  ``PreFilterResult`` with ``filter_node`` bound to the state that it computed.
* ``filter_node(state, node_info)`` returns the Status of one node.
* ``pre_score(pod, handle, nodes)`` returns None (skipped), the normalised scores of the feasible nodes (0..100), or the
  Status of an error: then the Pod is not scheduled.

No plugin models when a rejected Pod is tried again (queueing hints), Reserve, Permit and Bind. The docstring of each
plugin's module lists what else is not modelled.

Source: kube-scheduler framework/interface.go and framework/types.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.scheduler.affinityterm import ExistingTerms
from kubectl_spread.scheduler.nodeindex import NodeIndex
from kubectl_spread.scheduler.nodeinfo import NodeInfo, NodeRoom
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

MAX_NODE_SCORE = 100


class Code(StrEnum):
    """The code of a Status, spelled as upstream."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"
    NOT_READ = "NotRead"  # Ours: nothing rejects the node, but it may have Pods that were not read


class Status(msgspec.Struct, frozen=True):
    """A plugin's verdict."""

    code: Code  # Unschedulable where preemption may help, UnschedulableAndUnresolvable where it cannot
    reasons: tuple[str, ...] = ()  # upstream's words; empty on success

    @property
    def rejected(self) -> bool:
        """Whether it rejects the node; an error rejects all other nodes too."""
        return self.code not in _PASSING


_PASSING = (Code.SUCCESS, Code.SKIP)
SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a rejection that preemption may resolve."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a rejection that preemption cannot resolve."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(reason: str) -> Status:
    """Return the status of a plugin that failed: the Pod is not scheduled at all."""
    return Status(Code.ERROR, (reason,))


def _node_infos(nodes: Iterable[Node], snapshot: Snapshot, profile: Profile) -> dict[str, NodeInfo]:
    there = ((node, snapshot.assigned.get(node.metadata.name, ())) for node in nodes)
    return {node.metadata.name: NodeInfo(node=node, pods=pods, profile=profile) for node, pods in there}


class Handle(msgspec.Struct, frozen=True):
    """The cluster as one profile of the scheduler sees it."""

    snapshot: Snapshot
    profile: Profile
    node_infos: Mapping[str, NodeInfo]  # node's name → node with its Pods
    existing_terms: ExistingTerms  # the affinity terms of the Pods on these nodes
    index: NodeIndex  # the nodes by labels, taints and images
    room: NodeRoom  # the nodes by free resources

    @classmethod
    def build(cls, snapshot: Snapshot, profile: Profile) -> Handle:
        """Return the snapshot as the profile sees it."""
        infos = _node_infos(snapshot.nodes.values(), snapshot, profile)
        terms = ExistingTerms.of((name, pod) for name, info in infos.items() for pod in info.pods)
        return cls(snapshot, profile, infos, terms, NodeIndex(snapshot.nodes), NodeRoom(infos))

    def with_filters(self, names: Collection[str]) -> Handle:
        """Return the cluster as the profile sees it with only these of its filters."""
        filters = tuple(name for name in self.profile.filters if name in names)
        return replace(self, profile=replace(self.profile, filters=filters))

    def with_more_read(self, snapshot: Snapshot) -> Handle:
        """Return the view of a snapshot for which more was read."""
        read = Handle.build(snapshot, self.profile)
        # Mostly Pods are read: then the index of the nodes stays valid.
        return replace(read, index=self.index) if snapshot.nodes == self.snapshot.nodes else read

    def decides(self, pod: Pod) -> bool:
        """Whether this scheduler decides where the Pod runs: no other one does, and the Pod does not name its node.

        False where the Nodes were not read. A Pod that already is on its node counts as one that waits.

        Source: kube-scheduler eventhandlers.go assignedPod (v1.36).
        """
        unread = self.snapshot.inventory.nodes_unread
        return self.profile.serves(pod) and not self.names_its_node(pod) and not unread

    def names_its_node(self, pod: Pod) -> bool:
        """Whether the Pod names its node in the manifest, so that no scheduler is involved."""
        there = self.snapshot.get(Pod, *pod.key)
        return bool(pod.spec.node_name) and not (there is not None and there.spec.node_name)

    def is_orphan(self, pod: Pod) -> bool:
        """Whether the Pod's node does not exist: the Pod never runs, and is deleted.

        Source: kube-controller-manager podgc/gc_controller.go gcOrphaned (v1.36).
        """
        known = not self.snapshot.inventory.nodes_unread
        return known and bool(pod.spec.node_name) and pod.spec.node_name not in self.node_infos

    def awaiting(self, pod: Pod) -> Handle:
        """Return the cluster in which the Pod waits for a node, even if the scheduler has assumed it on one."""
        assumed = self.snapshot.assumed.get(pod.key)
        return self.without_pod(assumed) if assumed else self

    def with_assigned(self, pod: Pod, node_name: str) -> Handle:
        """Return the cluster in which the Pod is on that node."""
        snapshot = self.snapshot.with_assigned(pod, node_name)
        changed = self.node_infos[node_name].with_pod(snapshot.assigned[node_name][-1])
        return self._with_pods_of(changed, snapshot, self.existing_terms.changed(node_name, pod, 1))

    def without_pod(self, pod: Pod) -> Handle:
        """Return the cluster without the Pod, which is on a node."""
        snapshot, node_name = self.snapshot.without_pod(pod), pod.spec.node_name
        changed = replace(self.node_infos[node_name], pods=snapshot.assigned[node_name])
        return self._with_pods_of(changed, snapshot, self.existing_terms.changed(node_name, pod, -1))

    def _with_pods_of(self, changed: NodeInfo, snapshot: Snapshot, terms: ExistingTerms) -> Handle:
        infos, room = {**self.node_infos, changed.name: changed}, self.room.and_changed({changed.name: changed})
        return replace(self, snapshot=snapshot, node_infos=infos, existing_terms=terms, room=room)

    def with_others(self, objects: Collection[KubernetesObject]) -> Handle:
        """Return the cluster with these objects, which are neither Pods nor Nodes."""
        return replace(self, snapshot=self.snapshot.with_others(objects)) if objects else self

    def without_others(self, objects: Iterable[KubernetesObject]) -> Handle:
        """Return the cluster without these objects, which are neither Pods nor Nodes."""
        return replace(self, snapshot=self.snapshot.without_others(objects))

    def with_nodes(self, nodes: Sequence[Node]) -> Handle:
        """Return the cluster in which these nodes are as given; new ones have no Pods."""
        snapshot = self.snapshot.with_nodes(nodes)
        changed = _node_infos(nodes, snapshot, self.profile)
        infos = {**self.node_infos, **changed}
        if len(infos) > len(self.node_infos):  # in the snapshot's order, by name: a new one may not be the last
            infos = {name: infos[name] for name in snapshot.nodes}
        index, room = self.index.with_nodes(nodes, snapshot.nodes), self.room.and_changed(changed)
        return replace(self, snapshot=snapshot, node_infos=infos, index=index, room=room)

    def without_node(self, node_name: str) -> Handle:
        """Return the cluster without the node, which has no Pods."""
        snapshot = self.snapshot.without_node(node_name)
        infos = {name: self.node_infos[name] for name in snapshot.nodes}
        index, room = NodeIndex(snapshot.nodes), NodeRoom(infos)
        return replace(self, snapshot=snapshot, node_infos=infos, index=index, room=room)


Scores: TypeAlias = dict[str, int]  # Feasible node's name → score (0..100)
NodeFilter: TypeAlias = Callable[[NodeInfo], Status]
# Returns the result after a Pod was added to a node (1) or removed from it (-1); upstream's PreFilterExtensions.
PodUpdate: TypeAlias = Callable[[Pod, NodeInfo, int], "PreFilterResult"]


class PreFilterResult(msgspec.Struct, frozen=True):
    """The result of a plugin that does not skip the Pod."""

    filter_node: NodeFilter
    node_names: frozenset[str] | None = None  # the only nodes that may be feasible; None for all
    suspects: AbstractSet[str] | None = None  # the only nodes that the filter may reject; None where each must be asked
    certain: bool = False  # whether the filter rejects all of these, so that none needs to be asked
    # the result after a Pod was added or removed; None where it does not depend on other Pods
    updated: PodUpdate | None = None


def score_each(nodes: Iterable[NodeInfo], key: Hashable, score: Callable[[NodeInfo], int]) -> Scores:
    """Return node's name → score, computed once for each NodeInfo and key.

    ``key``: the plugin, and what the score depends on besides the node and its profile.
    """
    scores = {}
    for info in nodes:
        known = info.scores
        if key not in known:
            known[key] = score(info)
        scores[info.name] = known[key]
    return scores


def normalize(raw: Mapping[str, int], *, lowest_is_best: bool = False) -> Scores:
    """Return node's name → score (0..100), in proportion to the highest.

    Source: kube-scheduler helper/normalize_score.go DefaultNormalizeScore (v1.36).
    """
    # 100 x score / highest, cut to an integer; 100 minus that where the lowest is best.
    highest = max(raw.values(), default=0)
    if highest == 0:
        return dict.fromkeys(raw, MAX_NODE_SCORE if lowest_is_best else 0)
    scores = {name: MAX_NODE_SCORE * score // highest for name, score in raw.items()}
    return {name: MAX_NODE_SCORE - score for name, score in scores.items()} if lowest_is_best else scores


def go_round(number: float) -> int:
    """Return the nearest integer, halves away from zero, as Go's math.Round; Python rounds halves to even."""
    whole = int(number)
    # int() cuts towards zero.
    if abs(number - whole) < 0.5:  # noqa: PLR2004 - one half
        return whole
    return whole + (1 if number > 0 else -1)


# The scheduler name of the default profile if the configuration has no default-scheduler: it serves no Pod.
NO_SCHEDULER = ""


class Handles(msgspec.Struct, frozen=True):
    """The cluster as each profile sees it."""

    # as the default profile sees it; also used for schedulers that no profile describes. Answers about their Pods are
    # incomplete (``Profile.serves``).
    default: Handle
    others: Mapping[str, Handle] = {}  # scheduler's name → as its profile sees it, without the default scheduler

    @classmethod
    def build(cls, snapshot: Snapshot, profiles: Iterable[Profile]) -> Handles:
        """Return the snapshot as the profiles see it; one of them is for default-scheduler or NO_SCHEDULER."""
        found = {profile.scheduler_name: Handle.build(snapshot, profile) for profile in profiles}
        default = found.pop(DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in found else NO_SCHEDULER)
        return cls(default, found)

    @property
    def snapshot(self) -> Snapshot:
        """The cluster."""
        return self.default.snapshot

    def named(self, scheduler_name: str) -> Handle:
        """Return the cluster as that scheduler sees it, or as the default profile does if no profile describes it."""
        return self.others.get(scheduler_name, self.default)

    def of(self, pod: Pod) -> Handle:
        """Return the cluster as the Pod's scheduler sees it, or the default profile's if no profile describes it.

        Source: kube-scheduler schedule_one.go frameworkForPod, eventhandlers.go responsibleForPod (v1.36): a Pod with a
        schedulerName that no profile has is ignored.
        """
        return self.named(pod.spec.scheduler_name)

    def with_snapshot(self, snapshot: Snapshot) -> Handles:
        """Return the cluster with this snapshot, in which Nodes and the Pods on them are the same."""
        return self.each(lambda handle: replace(handle, snapshot=snapshot))

    def each(self, change: Callable[[Handle], Handle]) -> Handles:
        """Return the result of the change for every profile."""
        return Handles(change(self.default), {name: change(handle) for name, handle in self.others.items()})
