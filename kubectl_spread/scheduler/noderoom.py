"""The nodes by what is free on them, so that a Pod's requests find those that lack something without asking each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_spread.objects.core import Pod
    from kubectl_spread.scheduler.framework import NodeInfo


MOST_CHANGED = 100
"""Nodes (count) that may have changed since all were put in order."""


class NodeRoom:
    """What is free on all nodes; each resource is put in order once, when it is first asked about.

    Args:
        nodes: node's name → node.
    """

    def __init__(self, nodes: Mapping[str, NodeInfo]) -> None:
        self._nodes = nodes
        self._in_order: dict[str, tuple[Sequence[int], Sequence[str]]] = {}
        self._lacking: dict[tuple[str, int], frozenset[str]] = {}
        self._requests: dict[tuple[str, str], tuple[Pod, Mapping[str, int]]] = {}
        self._changed: Mapping[str, NodeInfo] = {}

    def and_changed(self, nodes: Mapping[str, NodeInfo]) -> NodeRoom:
        """Return the room where these nodes are as given; what is known of the others stays so."""
        changed = {**self._changed, **nodes}
        # Each that has changed is asked one by one: once they are many, all are put in order anew.
        if len(changed) > MOST_CHANGED:
            room = NodeRoom({**self._nodes, **changed})
        else:
            room = NodeRoom(self._nodes)
            room._in_order, room._lacking, room._changed = self._in_order, self._lacking, changed
        room._requests = self._requests
        return room

    def lacking(self, resource: str, wanted: int) -> frozenset[str]:
        """Return the names of the nodes that have less than so much of the resource (amount) free."""
        key = (resource, wanted)
        if key not in self._lacking:
            free, names = self._order(resource)
            self._lacking[key] = frozenset(names[: bisect_left(free, wanted)])
        if not self._changed:
            return self._lacking[key]
        short = (name for name, info in self._changed.items() if info.free(resource) < wanted)
        return self._lacking[key].difference(self._changed).union(short)

    def requests(self, pod: Pod, on: NodeInfo) -> Mapping[str, int]:
        """Return what a Pod on the node requests (amounts), added up once."""
        known = self._requests.get(pod.key)
        if known is None or known[0] is not pod:
            known = self._requests[pod.key] = pod, on.requests(pod)
        return known[1]

    def _order(self, resource: str) -> tuple[Sequence[int], Sequence[str]]:
        """Return what is free of the resource, least first, and on which nodes."""
        if resource not in self._in_order:
            free = {name: info.free(resource) for name, info in self._nodes.items()}
            names = sorted(free, key=free.__getitem__)
            self._in_order[resource] = [free[name] for name in names], names
        return self._in_order[resource]
