"""All nodes by labels, taints and images: computed once, since Pods change none of these."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import Protocol

from kubectl_spread.objects.core import Node
from kubectl_spread.objects.meta import grouped

CONDITIONS_KEPT = 16


class NodeMatcher(Hashable, Protocol):
    """What a Pod requires of a node's labels, name or taints; equal matchers match the same nodes."""

    def matches(self, node: Node, /) -> bool:
        """Whether the node matches."""
        ...


def _matching(nodes: Mapping[str, Node], condition: NodeMatcher) -> frozenset[str]:
    return frozenset(name for name, node in nodes.items() if condition.matches(node))


class NodeIndex:
    """Names, labels, taints and images of all nodes."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes
        # The nodes that have taints, by name.
        self.tainted = {name: node for name, node in nodes.items() if node.spec.taints}
        # Return node's name → value of the label (key); nodes that lack it are absent.
        self.values = cache(self._values)
        self.domains = cache(self._domains)  # Return value of the label (key) → the names of its nodes, sorted
        # Return the names of the nodes that have all the labels (frozenset of keys).
        self.carrying = cache(lambda keys: self.names.intersection(*map(self.values, keys)))
        # Return the names of the nodes without the label (key).
        self.lacking = cache(lambda key: self.names.difference(self.values(key)))
        # Return the values of the label (key) on these nodes (names).
        self.values_on = lru_cache(CONDITIONS_KEPT)(self._values_on)
        # Return the names of the nodes that the NodeMatcher matches.
        self.matching = lru_cache(CONDITIONS_KEPT)(partial(_matching, nodes))
        # Return node's name → bytes of the image (name); of duplicates on a node the last counts.
        self.image_bytes = lru_cache(CONDITIONS_KEPT)(self._image_bytes)
        # Return the names of the nodes with taints that the NodeMatcher matches.
        self.tainted_against = lru_cache(CONDITIONS_KEPT)(partial(_matching, self.tainted))

    def with_nodes(self, changed: Iterable[Node], nodes: Mapping[str, Node]) -> NodeIndex:
        """Return the index of these nodes (name → node), of which only the changed ones differ."""
        index, known = NodeIndex(nodes), self._nodes
        pairs = [(known.get(node.metadata.name), node) for node in changed]
        # Images are the largest part of the index, and rarely change.
        if all(was is not None and was.status.images == node.status.images for was, node in pairs):
            index.image_bytes = self.image_bytes
        if all(was is not None and was.metadata.labels == node.metadata.labels for was, node in pairs):
            index.names, index.values, index.domains = self.names, self.values, self.domains
            index.carrying, index.lacking = self.carrying, self.lacking
            index.values_on, index.matching = self.values_on, self.matching
        return index

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all nodes."""
        return frozenset(self._nodes)

    @cached_property
    def cordoned(self) -> frozenset[str]:
        """The names of the nodes that are cordoned."""
        return frozenset(name for name, node in self._nodes.items() if node.spec.unschedulable)

    def _values(self, key: str) -> Mapping[str, str]:
        labels = ((name, node.metadata.labels) for name, node in self._nodes.items())
        return {name: of_node[key] for name, of_node in labels if key in of_node}

    def _domains(self, key: str) -> Mapping[str, tuple[str, ...]]:
        values = self.values(key)
        return {value: tuple(names) for value, names in grouped(values, values.__getitem__).items()}

    def _values_on(self, key: str, names: frozenset[str]) -> tuple[str, ...]:
        return tuple(value for value, nodes in self.domains(key).items() if not names.isdisjoint(nodes))

    def _image_bytes(self, image: str) -> Mapping[str, int]:
        return {name: sizes[image] for sizes, names in self._images if image in sizes for name in names}

    @cached_property
    def _images(self) -> Sequence[tuple[Mapping[str, int], Sequence[str]]]:
        """Image's name → bytes, and the names of the nodes that share this list of images in the reader's memory."""
        sharing = grouped(self._nodes, lambda name: id(self._nodes[name].status.images))
        return [
            ({each: image.size_bytes for image in self._nodes[names[0]].status.images for each in image.names}, names)
            for names in sharing.values()
        ]
