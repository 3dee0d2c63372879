"""Which PersistentVolume a claim would get on a node: the one kept for it, or else the smallest that fits.

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

AllowedNodes: TypeAlias = tuple[Selector, ...] | None
"""Node labels, one of which a node must have; None for all nodes."""


def allowed_nodes(required: NodeSelector | None) -> AllowedNodes:
    """Return the nodes that a volume's node affinity allows.

    Source: helpers.go CheckNodeAffinity (v1.36).
    """
    # upstream: a node is matched by its labels alone, so that conditions on its fields hold for every node.
    return None if required is None else tuple(term.expressions for term in parse_terms(required))


def allows(nodes: AllowedNodes, labels: Mapping[str, str]) -> bool:
    """Whether a node with these labels is one of them."""
    return nodes is None or any(selector.matches(labels) for selector in nodes)


class Candidate(msgspec.Struct, frozen=True):
    """A volume that a claim could get.

    Attributes:
        kept: whether it is kept for this claim.
        size: of the volume (bytes, exactly).
    """

    volume: PersistentVolume
    nodes: AllowedNodes
    kept: bool
    size: Fraction


class Candidates(msgspec.Struct, frozen=True):
    """The volumes that a claim could get, by the nodes that can use them.

    Attributes:
        ranked: the volumes: those that are kept for the claim first, then the smallest first.
        by_label: (key, value) of a node label → the ranks of volumes that only nodes with this label can use.
        others: the ranks of all other volumes.
    """

    ranked: tuple[Candidate, ...] = ()
    by_label: Mapping[tuple[str, str], Sequence[int]] = msgspec.field(default_factory=dict)
    others: Sequence[int] = ()

    @classmethod
    def of(cls, found: Iterable[Candidate]) -> Candidates:
        """Return the volumes, ranked and indexed: a node with a disk of its own must not look at everybody's."""
        # differs: of volumes of one size upstream takes any; here the first that was read.
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
        """Yield the candidates that a node with these labels may be able to use, best first."""
        ranks = (found for label in labels.items() if (found := self.by_label.get(label)))
        return (self.ranked[rank] for rank in merge(self.others, *ranks))


def candidates(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, attributes_classes: bool
) -> Candidates:
    """Return the volumes that fit the claim wherever its Pod goes.

    Raises:
        ValueError: the claim's selector cannot be read, or the release does not know its VolumeAttributesClass.
    """
    name = f"{claim.metadata.namespace}/{claim.metadata.name}"
    if claim.spec.volume_attributes_class_name and not attributes_classes:
        raise ValueError(
            f"unsupported volumeAttributesClassName is set on claim {name}"
            " when the feature-gate VolumeAttributesClass is disabled"
        )
    try:
        selector = EVERYTHING if claim.spec.selector is None else parse_label_selector(claim.spec.selector)
    except ValueError as error:
        raise ValueError(f"error creating internal label selector for claim: {name}: {error}") from error
    # upstream: a volume kept for the claim need not match its selector, nor its access modes, nor be available.
    found = (_candidate(claim, volume) for volume in volumes if fits(claim, volume))
    return Candidates.of(c for c in found if c.kept or is_free(claim, c.volume, selector))


def find_matching_volume(
    found: Candidates, labels: Mapping[str, str], *, chosen: Container[str]
) -> PersistentVolume | None:
    """Return the volume a claim gets on a node, None where it gets none.

    ``chosen``: the names of volumes that other claims of the Pod get.
    """
    for candidate in found.near(labels):
        if candidate.volume.metadata.name in chosen:
            continue
        # A volume kept for the claim is its only one: where a node cannot use that, it gets no other.
        if allows(candidate.nodes, labels):
            return candidate.volume
        if candidate.kept:
            return None
    return None


def fits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether the volume is not kept for another claim, and neither too small nor of another kind."""
    wanted, offered = claim.spec, volume.spec
    return (
        # The cheap conditions; node affinity, the dear one, is left for the node.
        (offered.claim_ref is None or is_kept_for(volume, claim))
        and storage(offered.capacity) >= storage(wanted.resources.requests)
        and offered.volume_mode == wanted.volume_mode
        and offered.volume_attributes_class_name == wanted.volume_attributes_class_name
        and volume.metadata.deletion_timestamp is None
    )


def is_kept_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume names this claim as the one it is for; without a UID it means any claim of the name.

    Source: pv_helpers.go IsVolumeBoundToClaim (v1.36).
    """
    ref, metadata = volume.spec.claim_ref, claim.metadata
    if ref is None or (ref.namespace, ref.name) != (metadata.namespace, metadata.name):
        return False
    return ref.uid in ("", metadata.uid)


def is_free(claim: PersistentVolumeClaim, volume: PersistentVolume, selector: Selector) -> bool:
    """Whether a volume that is kept for nobody can be given to the claim."""
    return (
        # upstream: a volume of another phase will be changed by the controller soon, and binding it would fail.
        volume.status.phase == AVAILABLE
        and selector.matches(volume.metadata.labels)
        and frozenset(claim.spec.access_modes) <= frozenset(volume.spec.access_modes)
    )


def storage(resources: Mapping[str, Quantity]) -> Fraction:
    """Return the amount of storage (bytes), 0 where there is none."""
    # Exactly, as upstream compares them: rounded up, a volume of 1.5 bytes would do for a claim of 2.
    return quantity.parse(resources.get(STORAGE, 0))


def _candidate(claim: PersistentVolumeClaim, volume: PersistentVolume) -> Candidate:
    affinity = volume.spec.node_affinity
    return Candidate(
        volume=volume,
        nodes=allowed_nodes(affinity.required if affinity else None),
        kept=is_kept_for(volume, claim),
        size=storage(volume.spec.capacity),
    )


def _required_label(candidate: Candidate) -> SelectorRequirement | None:
    """Return a label and the values of which a node must have one to use the volume, None where there is no such label.

    A volume that is kept for the claim has none: where it cannot be used, no other is taken, so every node looks at it.
    """
    if candidate.kept or candidate.nodes is None or len(candidate.nodes) != 1:
        return None
    # Of several terms any one would do, so no single label is required.
    return next((r for r in candidate.nodes[0].requirements if r.operator is Operator.IN), None)
