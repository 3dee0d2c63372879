"""What the plugins share: verdicts, the results of the phases, and the view of the cluster.

A plugin is a module with plain functions:

* ``pre_filter(pod, handle)`` returns a Status (Skip: nothing to judge here; a rejection: no node can do), or a
  ``PreFilterResult`` that carries ``filter_node`` bound to the state it computed.
* ``filter_node(state, node_info)`` returns the Status of one node.
* ``pre_score(pod, handle, nodes)`` returns None (skipped), the scores of the feasible nodes, normalised to 0..100, or
  the Status of an error: then the Pod goes nowhere.

Not modelled of any plugin: when a rejected Pod is tried again (queueing hints), Reserve, Permit and Bind. What
else is not modelled of a plugin stands in its module's docstring.

Source: kube-scheduler framework/interface.go and framework/types.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.scheduler.affinityterm import ExistingTerms
from kubectl_spread.scheduler.nodeindex import NodeIndex
from kubectl_spread.scheduler.nodeinfo import NodeInfo, NodeRoom
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

MAX_NODE_SCORE = 100


class Code(StrEnum):
    """What a plugin says; spelled as upstream spells it."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"
    NOT_READ = "NotRead"
    """Ours: nothing rejects the node, but Pods that nobody has read may be there."""


class Status(msgspec.Struct, frozen=True):
    """A plugin's verdict.

    Attributes:
        code: the verdict; preemption may help where it is Unschedulable, never where it is unresolvable.
        reasons: why, in upstream's words; empty on success.
    """

    code: Code
    reasons: tuple[str, ...] = ()

    @property
    def rejected(self) -> bool:
        """Whether it keeps the Pod off."""
        # An error keeps it off as well, and off all other nodes too.
        return self.code not in _PASSING


_PASSING = (Code.SUCCESS, Code.SKIP)
SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a rejection that the removal of other Pods might cure."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a rejection that no removal of Pods cures."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


class Handle(msgspec.Struct, frozen=True):
    """The cluster as one profile of the scheduler sees it.

    Attributes:
        node_infos: node's name → node with its Pods.
        existing_terms: the affinity terms of the Pods on these nodes.
        index: the nodes by what is asked of all of them.
        room: the nodes by what is free on them.
    """

    snapshot: Snapshot
    profile: Profile
    node_infos: Mapping[str, NodeInfo]
    existing_terms: ExistingTerms
    index: NodeIndex
    room: NodeRoom

    @classmethod
    def build(cls, snapshot: Snapshot, profile: Profile) -> Handle:
        """Return the snapshot as the profile sees it."""
        infos = {
            name: NodeInfo(node=node, pods=snapshot.assigned.get(name, ()), profile=profile)
            for name, node in snapshot.nodes.items()
        }
        terms = ExistingTerms.of((name, pod) for name, info in infos.items() for pod in info.pods)
        return cls(
            snapshot=snapshot,
            profile=profile,
            node_infos=infos,
            existing_terms=terms,
            index=NodeIndex(snapshot.nodes),
            room=NodeRoom(infos),
        )

    def with_more_read(self, snapshot: Snapshot) -> Handle:
        """Return the snapshot, for which more was read, as the same profile sees it."""
        read = Handle.build(snapshot, self.profile)
        # It is Pods that are read further: what was gathered of the nodes holds.
        return replace(read, index=self.index) if snapshot.nodes == self.snapshot.nodes else read

    def decides(self, pod: Pod) -> bool:
        """Whether the scheduler decides where the Pod goes: neither another one, nor the Pod by naming its node.

        Where the Nodes were not read, nothing decides.

        One that is on its node already stands for such as it, which are yet to be scheduled.

        Source: kube-scheduler eventhandlers.go assignedPod (v1.36).
        """
        there = self.snapshot.get(Pod, *pod.key)
        named = bool(pod.spec.node_name) and not (there is not None and there.spec.node_name)
        return self.profile.serves(pod) and not named and not self.snapshot.inventory.nodes_unread

    def awaiting(self, pod: Pod) -> Handle:
        """Return the cluster in which the Pod waits for a node, though the scheduler may count it on one already."""
        assumed = self.snapshot.assumed.get(pod.key)
        return self.without_pod(assumed) if assumed else self

    def with_assigned(self, pod: Pod, node_name: str) -> Handle:
        """Return the cluster in which the Pod is on that node."""
        snapshot = self.snapshot.with_assigned(pod, node_name)
        changed = self.node_infos[node_name].with_pod(snapshot.assigned[node_name][-1])
        return replace(
            self,
            snapshot=snapshot,
            node_infos={**self.node_infos, node_name: changed},
            existing_terms=self.existing_terms.and_also(node_name, pod),
            room=self.room.and_changed({node_name: changed}),
        )

    def with_all_assigned(self, pods: Mapping[str, Pod]) -> Handle:
        """Return the cluster with a further Pod on each of these nodes (node's name → Pod)."""
        snapshot, terms = self.snapshot.with_all_assigned(pods), self.existing_terms
        changed = {name: self.node_infos[name].with_pod(snapshot.assigned[name][-1]) for name in pods}
        infos = {**self.node_infos, **changed}
        # Most Pods have no terms, and then the index of all terms need not be made again.
        if any(pod.spec.affinity is not None for pod in pods.values()):
            terms = ExistingTerms.of((name, other) for name, info in infos.items() for other in info.pods)
        room = self.room.and_changed(changed)
        return replace(self, snapshot=snapshot, node_infos=infos, existing_terms=terms, room=room)

    def with_others(self, objects: Iterable[KubernetesObject]) -> Handle:
        """Return the cluster in which these objects, neither Pods nor Nodes, exist too."""
        return replace(self, snapshot=self.snapshot.with_others(objects))

    def without_others(self, objects: Iterable[KubernetesObject]) -> Handle:
        """Return the cluster in which these objects, neither Pods nor Nodes, are gone."""
        return replace(self, snapshot=self.snapshot.without_others(objects))

    def with_node(self, node: Node) -> Handle:
        """Return the cluster in which the node is as given; a new one holds no Pods."""
        return self.with_nodes((node,))

    def with_nodes(self, nodes: Sequence[Node]) -> Handle:
        """Return the cluster in which the nodes are as given; new ones hold no Pods."""
        snapshot = self.snapshot.with_nodes(nodes)
        changed = {
            name: NodeInfo(node=node, pods=snapshot.assigned.get(name, ()), profile=self.profile)
            for name, node in ((node.metadata.name, node) for node in nodes)
        }
        infos = {**self.node_infos, **changed}
        if len(infos) > len(self.node_infos):  # by name, as the snapshot has them: a new one is not just the last
            infos = {name: infos[name] for name in snapshot.nodes}
        index, room = self.index.with_nodes(nodes, snapshot.nodes), self.room.and_changed(changed)
        return replace(self, snapshot=snapshot, node_infos=infos, index=index, room=room)

    def without_node(self, node_name: str) -> Handle:
        """Return the cluster in which the node, which holds no Pods, is gone."""
        snapshot = self.snapshot.without_node(node_name)
        infos = {name: self.node_infos[name] for name in snapshot.nodes}
        index, room = NodeIndex(snapshot.nodes), NodeRoom(infos)
        return replace(self, snapshot=snapshot, node_infos=infos, index=index, room=room)

    def with_nominated(self, pod: Pod) -> Handle:
        """Return the cluster in which the Pod waits for room on the node it is nominated to."""
        return replace(self, snapshot=self.snapshot.with_nominated(pod))

    def without_nominated(self, pod: Pod) -> Handle:
        """Return the cluster in which the Pod waits for no node's room."""
        return replace(self, snapshot=self.snapshot.without_nominated(pod))

    def without_pod(self, pod: Pod) -> Handle:
        """Return the cluster in which the Pod, which is on a node, is gone."""
        snapshot, node_name = self.snapshot.without_pod(pod), pod.spec.node_name
        changed = replace(self.node_infos[node_name], pods=snapshot.assigned[node_name])
        infos = {**self.node_infos, node_name: changed}
        terms = self.existing_terms.without(node_name, pod)
        room = self.room.and_changed({node_name: changed})
        return replace(self, snapshot=snapshot, node_infos=infos, existing_terms=terms, room=room)


Scores: TypeAlias = dict[str, int]
"""Feasible node's name → score (0..100)."""
NodeFilter: TypeAlias = Callable[[NodeInfo], Status]
PodUpdate: TypeAlias = Callable[[Pod, NodeInfo, int], "PreFilterResult"]
"""The result once a Pod is one more (1) or one less (-1) on a node: what upstream calls PreFilterExtensions."""


class PreFilterResult(msgspec.Struct, frozen=True):
    """A plugin that has something to judge.

    Attributes:
        node_names: the only nodes that can do; None when it leaves all of them.
        suspects: the only nodes that the verdict may go against; None where each has to be looked at.
        certain: whether it goes against each of these, so that there is no need to ask.
        updated: the result after a Pod came to or left a node; None where that changes nothing but the node itself.
    """

    filter_node: NodeFilter
    node_names: frozenset[str] | None = None
    suspects: AbstractSet[str] | None = None
    certain: bool = False
    updated: PodUpdate | None = None


def score_each(nodes: Iterable[NodeInfo], asked: Hashable, score: Callable[[NodeInfo], int]) -> Scores:
    """Return node's name → score, made once for each node.

    ``asked`` is the plugin, and what it looks at besides the node and its profile.
    """
    found = {}
    for info in nodes:
        known = info.scores
        if asked not in known:
            known[asked] = score(info)
        found[info.name] = known[asked]
    return found


def normalize(raw: Mapping[str, int], *, lowest_is_best: bool = False) -> dict[str, int]:
    """Return node's name → score (0..100), in proportion to the highest.

    Source: kube-scheduler helper/normalize_score.go DefaultNormalizeScore (v1.36).
    """
    # 100 x score / highest, cut to an integer, or 100 less that where less is better.
    highest = max(raw.values(), default=0)
    if highest == 0:
        return dict.fromkeys(raw, MAX_NODE_SCORE if lowest_is_best else 0)
    scores = {name: MAX_NODE_SCORE * score // highest for name, score in raw.items()}
    return {name: MAX_NODE_SCORE - score for name, score in scores.items()} if lowest_is_best else scores


def go_round(number: float) -> int:
    """Return the nearest integer, halves away from zero, as Go's math.Round; Python rounds halves to even."""
    whole = int(number)
    # int() cuts towards zero, so what is left decides about the next integer away from it.
    if abs(number - whole) < 0.5:  # noqa: PLR2004 - one half
        return whole
    return whole + (1 if number > 0 else -1)
