"""Which PersistentVolume a claim gets on a node: the one that is reserved for it, or else the smallest that fits.

Source: component-helpers storage/volume/{helpers,pv_helpers}.go FindMatchingVolume (v1.36).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import merge
from typing import TypeAlias

import msgspec

from kubectl_spread import quantity
from kubectl_spread.labels import EVERYTHING, Operator, Selector, SelectorRequirement
from kubectl_spread.objects.core import NodeSelector, Quantity
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.storage import STORAGE, PersistentVolume, PersistentVolumeClaim
from kubectl_spread.scheduler.nodeaffinity import parse_terms

AVAILABLE = "Available"

AllowedNodes: TypeAlias = tuple[Selector, ...] | None  # Alternatives of node labels; None for all nodes


def allowed_nodes(required: NodeSelector | None) -> AllowedNodes:
    """Return the nodes that a volume's node affinity allows. Source: helpers.go CheckNodeAffinity (v1.36)."""
    # upstream: only labels are compared: requirements on fields match every node.
    return None if required is None else tuple(term.expressions for term in parse_terms(required))


def allows(nodes: AllowedNodes, labels: Mapping[str, str]) -> bool:
    """Whether a node with these labels is allowed."""
    return nodes is None or any(selector.matches(labels) for selector in nodes)


class Candidate(msgspec.Struct, frozen=True):
    """A volume that a claim may get."""

    volume: PersistentVolume
    nodes: AllowedNodes
    kept: bool  # whether it is reserved for this claim
    size: Fraction  # the volume's capacity (bytes)


class Candidates(msgspec.Struct, frozen=True):
    """The volumes that a claim may get, by the nodes that can use them."""

    ranked: tuple[Candidate, ...] = ()  # the volumes: first those that are reserved for the claim, then by size
    # (key, value) of a node label → the ranks of volumes that only nodes with this label can use
    by_label: Mapping[tuple[str, str], Sequence[int]] = msgspec.field(default_factory=dict)
    others: Sequence[int] = ()  # the ranks of all other volumes

    @classmethod
    def of(cls, found: Iterable[Candidate]) -> Candidates:
        """Return the volumes, ranked and indexed, as each node may have disks of its own."""
        # differs: of volumes of equal size upstream takes any, we take the first that was read.
        ranked = tuple(sorted(found, key=lambda c: (not c.kept, Fraction(0) if c.kept else c.size)))
        by_label: dict[tuple[str, str], list[int]] = defaultdict(list)
        others = []
        for rank, candidate in enumerate(ranked):
            required = _required_label(candidate)
            if required is None:
                others.append(rank)
            else:
                for value in required.values:
                    by_label[required.key, value].append(rank)
        return cls(ranked, by_label, others)

    def near(self, labels: Mapping[str, str]) -> Iterator[Candidate]:
        """Yield the candidates that a node with these labels may use, best first."""
        ranks = (found for label in labels.items() if (found := self.by_label.get(label)))
        return (self.ranked[rank] for rank in merge(self.others, *ranks))


def candidates(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, attributes_classes: bool
) -> Candidates:
    """Return the volumes that fit the claim, regardless of the node.

    Raises:
        ValueError: the claim's selector cannot be parsed, or the release does not support VolumeAttributesClasses.
    """
    name = "/".join(claim.key)
    if claim.spec.volume_attributes_class_name and not attributes_classes:
        problem = f"unsupported volumeAttributesClassName is set on claim {name}"
        raise ValueError(f"{problem} when the feature-gate VolumeAttributesClass is disabled")
    try:
        selector = EVERYTHING if claim.spec.selector is None else parse_label_selector(claim.spec.selector)
    except ValueError as error:
        raise ValueError(f"error creating internal label selector for claim: {name}: {error}") from error
    found = []
    for volume in volumes:
        kept = is_kept_for(volume, claim)
        # upstream: a reserved volume need not match the claim's selector or access modes, nor be available. The
        # controller is about to change a volume in another phase, and binding it would fail.
        free = kept or (
            volume.status.phase == AVAILABLE
            and selector.matches(volume.metadata.labels)
            and frozenset(claim.spec.access_modes) <= frozenset(volume.spec.access_modes)
        )
        if free and fits(claim, volume):
            affinity = volume.spec.node_affinity
            nodes = allowed_nodes(affinity.required if affinity else None)
            found.append(Candidate(volume=volume, nodes=nodes, kept=kept, size=storage(volume.spec.capacity)))
    return Candidates.of(found)


def find_matching_volume(
    found: Candidates, labels: Mapping[str, str], *, chosen: Container[str]
) -> PersistentVolume | None:
    """Return the volume that a claim gets on a node, None if it gets none.

    ``chosen``: the names of the volumes that other claims of the Pod get.
    """
    for candidate in found.near(labels):
        if candidate.volume.metadata.name in chosen:
            continue
        # If the node cannot use the reserved volume, the claim gets no other.
        if allows(candidate.nodes, labels):
            return candidate.volume
        if candidate.kept:
            return None
    return None


def fits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether the volume is not reserved for another claim, large enough, of the claim's mode and not being deleted."""
    wanted, offered = claim.spec, volume.spec
    return (
        (offered.claim_ref is None or is_kept_for(volume, claim))
        and storage(offered.capacity) >= storage(wanted.resources.requests)
        and offered.volume_mode == wanted.volume_mode
        and offered.volume_attributes_class_name == wanted.volume_attributes_class_name
        and volume.metadata.deletion_timestamp is None
    )


def is_kept_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is reserved for this claim; without a UID, for any claim of the name.

    Source: pv_helpers.go IsVolumeBoundToClaim (v1.36).
    """
    ref, metadata = volume.spec.claim_ref, claim.metadata
    if ref is None or (ref.namespace, ref.name) != (metadata.namespace, metadata.name):
        return False
    return ref.uid in ("", metadata.uid)


def storage(resources: Mapping[str, Quantity]) -> Fraction:
    """Return the amount of storage (bytes, not rounded, as upstream compares it), 0 for none."""
    return quantity.parse(resources.get(STORAGE, 0))


def _required_label(candidate: Candidate) -> SelectorRequirement | None:
    """Return a label, with values, that a node must have to use the volume; None if no single label is required.

    Every node must look at a reserved volume, since it excludes all others.
    """
    if candidate.kept or candidate.nodes is None or len(candidate.nodes) != 1:
        return None
    return next((r for r in candidate.nodes[0].requirements if r.operator is Operator.IN), None)
