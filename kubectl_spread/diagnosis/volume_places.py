"""Volumes that can be used on certain nodes alone, of which the cluster has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubectl_spread.labels import Operator
from kubectl_spread.objects.core import NodeSelectorRequirement, Pod
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.objects.well_known_labels import SUCCESSORS
from kubectl_spread.scheduler.claims import claims_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeindex import NodeIndex
from kubectl_spread.scheduler.volumezone import volume_topologies


class VolumePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the volume of a claim can be used, and no node is.

    Attributes:
        topology_key: a label of all nodes that could use it.
        values: what its value is there.
    """

    claim: str
    volume: str
    topology_key: str
    values: tuple[str, ...]


def places_without_node(pod: Pod, handle: Handle) -> Iterator[VolumePlace]:
    """Yield the place of each volume of the Pod's claims that no node can use for want of a label's value."""
    for claim in claims_of(pod, handle.snapshot):
        volume = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
        key, values = (volume and _missing(volume, handle.index)) or ("", ())
        if volume and values:
            yield VolumePlace(claim=claim.metadata.name, volume=volume.metadata.name, topology_key=key, values=values)


def _missing(volume: PersistentVolume, index: NodeIndex) -> tuple[str, tuple[str, ...]] | None:
    """Return a label and the values of it that the volume wants and no node has; None where some node may do."""
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    # Only a term of a value that no node has is closed for good, and all have to be.
    unmet = [_unmet(term.match_expressions, index) for term in terms]
    if unmet and all(unmet) and len({each.key for each in unmet if each}) == 1:
        first = next(each for each in unmet if each)
        return first.key, tuple(dict.fromkeys(value for each in unmet if each for value in each.values))
    for topology in volume_topologies(volume):
        keys = (topology.key, SUCCESSORS.get(topology.key, topology.key))
        if topology.values.isdisjoint(value for key in keys for value in index.domains(key)) and index.values(keys[1]):
            return topology.key, tuple(sorted(topology.values))
    return None


def _unmet(expressions: Sequence[NodeSelectorRequirement], index: NodeIndex) -> NodeSelectorRequirement | None:
    wanted = (each for each in expressions if each.operator == Operator.IN)
    return next((each for each in wanted if not any(value in index.domains(each.key) for value in each.values)), None)
