"""All nodes by what plugins ask of each of them: gathered once, for Pods change none of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Protocol

from kubectl_spread.objects.core import Node

CONDITIONS_KEPT = 16


class NodeCondition(Hashable, Protocol):
    """What a Pod asks of a node's labels and name; equal conditions match the same nodes."""

    def matches(self, node: Node, /) -> bool:
        """Whether the node meets it."""
        ...


class NodeIndex:
    """Names, labels, taints and images of all nodes."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes
        self._values: dict[str, Mapping[str, str]] = {}
        self._domains: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._same_images: NodeIndex | None = None
        self._carrying: dict[frozenset[str], frozenset[str]] = {}
        self._lacking: dict[str, frozenset[str]] = {}
        self.values_on = lru_cache(CONDITIONS_KEPT)(self._values_on)
        """Return the values of the label (key) on these nodes (names)."""
        self.matching = lru_cache(CONDITIONS_KEPT)(self._matching)
        """Return the names of the nodes that meet the condition."""
        self.image_bytes = lru_cache(CONDITIONS_KEPT)(self._image_bytes)
        """Return node's name → bytes of the image (name) there; of images twice on a node the last counts."""
        self.tainted_against = lru_cache(CONDITIONS_KEPT)(self._tainted_against)
        """Return the names of the nodes with taints that meet the condition."""

    def with_nodes(self, changed: Iterable[Node], nodes: Mapping[str, Node]) -> NodeIndex:
        """Return the index of these nodes (name → node), all as they are but for those that are new or changed."""
        index, known = NodeIndex(nodes), self._nodes
        pairs = [(known.get(node.metadata.name), node) for node in changed]
        # Of all there is to know their images are the most, and hardly a change touches them.
        if all(was is not None and was.status.images == node.status.images for was, node in pairs):
            index._same_images = self
        if all(was is not None and was.metadata.labels == node.metadata.labels for was, node in pairs):
            index._share_labels(self)
        return index

    def _share_labels(self, other: NodeIndex) -> None:
        """Know what the other index knows, and will, of names and labels that both have."""
        self._values, self._domains = other._values, other._domains
        self._carrying, self._lacking = other._carrying, other._lacking
        self.names, self.values_on, self.matching = other.names, other.values_on, other.matching

    def _matching(self, condition: NodeCondition) -> frozenset[str]:
        return frozenset(name for name, node in self._nodes.items() if condition.matches(node))

    def _tainted_against(self, condition: NodeCondition) -> frozenset[str]:
        return frozenset(name for name, node in self.tainted.items() if condition.matches(node))

    def _values_on(self, key: str, names: frozenset[str]) -> tuple[str, ...]:
        return tuple(value for value, nodes in self.domains(key).items() if not names.isdisjoint(nodes))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all nodes."""
        return frozenset(self._nodes)

    @cached_property
    def tainted(self) -> Mapping[str, Node]:
        """The nodes that have taints, by name."""
        return {name: node for name, node in self._nodes.items() if node.spec.taints}

    @cached_property
    def cordoned(self) -> frozenset[str]:
        """The names of the nodes that are cordoned."""
        return frozenset(name for name, node in self._nodes.items() if node.spec.unschedulable)

    def values(self, key: str) -> Mapping[str, str]:
        """Return node's name → value of the label; nodes that lack it are left out."""
        if key not in self._values:
            labels = ((name, node.metadata.labels) for name, node in self._nodes.items())
            self._values[key] = {name: carried[key] for name, carried in labels if key in carried}
        return self._values[key]

    def domains(self, key: str) -> Mapping[str, tuple[str, ...]]:
        """Return value of the label → the names of the nodes that carry it, by name."""
        if key not in self._domains:
            found: dict[str, list[str]] = {}
            for name, value in self.values(key).items():
                found.setdefault(value, []).append(name)
            self._domains[key] = {value: tuple(names) for value, names in found.items()}
        return self._domains[key]

    def carrying(self, keys: frozenset[str]) -> frozenset[str]:
        """Return the names of the nodes that carry all the labels."""
        if keys not in self._carrying:
            self._carrying[keys] = self.names.intersection(*(self.values(key) for key in keys))
        return self._carrying[keys]

    def lacking(self, key: str) -> frozenset[str]:
        """Return the names of the nodes without the label."""
        if key not in self._lacking:
            self._lacking[key] = self.names - self.carrying(frozenset((key,)))
        return self._lacking[key]

    def _image_bytes(self, image: str) -> Mapping[str, int]:
        if self._same_images is not None:
            return self._same_images.image_bytes(image)
        return {name: sizes[image] for sizes, names in self._images if image in sizes for name in names}

    @cached_property
    def _images(self) -> Sequence[tuple[Mapping[str, int], Sequence[str]]]:
        """Image's name → bytes, and the nodes (names) that share a list of just these, as the reader made it."""
        sharing: dict[int, list[str]] = {}
        for name, node in self._nodes.items():
            sharing.setdefault(id(node.status.images), []).append(name)
        return [
            ({each: image.size_bytes for image in self._nodes[names[0]].status.images for each in image.names}, names)
            for names in sharing.values()
        ]
