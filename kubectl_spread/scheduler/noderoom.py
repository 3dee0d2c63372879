"""The nodes by what is free on them, so that a Pod's requests find those that lack something without asking each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_spread.scheduler.framework import NodeInfo


class NodeRoom:
    """What is free on all nodes; each resource is put in order once, when it is first asked about.

    Args:
        nodes: node's name → node.
    """

    def __init__(self, nodes: Mapping[str, NodeInfo]) -> None:
        self._nodes = nodes
        self._in_order: dict[str, Sequence[tuple[int, str]]] = {}
        self._changed: Mapping[str, NodeInfo] = {}

    def and_changed(self, nodes: Mapping[str, NodeInfo]) -> NodeRoom:
        """Return the room where these nodes are as given; what is in order stays so."""
        room = NodeRoom(self._nodes)
        room._in_order = self._in_order
        room._changed = {**self._changed, **nodes}
        return room

    def with_less_than(self, wanted: int, resource: str) -> Iterator[str]:
        """Yield the names of the nodes that have less than so much of the resource (amount) free."""
        less = takewhile(lambda pair: pair[0] < wanted, self._order(resource))
        yield from (name for _, name in less if name not in self._changed)
        yield from (name for name, info in self._changed.items() if info.free(resource) < wanted)

    def _order(self, resource: str) -> Sequence[tuple[int, str]]:
        """Return what is free of the resource on which node, least first."""
        if resource not in self._in_order:
            self._in_order[resource] = sorted((info.free(resource), name) for name, info in self._nodes.items())
        return self._in_order[resource]
