"""Volumes that can be used on certain nodes only, and the cluster has none of these."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.diagnosis.causes import VolumeWithoutNode
from kubectl_spread.labels import Operator
from kubectl_spread.objects.core import NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.objects.well_known_labels import SUCCESSORS
from kubectl_spread.scheduler.claims import claims_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeindex import NodeIndex
from kubectl_spread.scheduler.volumezone import volume_topologies


def volumes_without_node(pod: Pod, handle: Handle) -> Iterator[VolumeWithoutNode]:
    """Yield each volume of the Pod's claims that no node can use because none has a label with the right value."""
    for claim in claims_of(pod, handle.snapshot):
        volume = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
        key, values = (volume and _missing_label(volume, handle.index)) or ("", ())
        if volume and values:
            name, volume_name = claim.metadata.name, volume.metadata.name
            yield VolumeWithoutNode(claim=name, volume=volume_name, topology_key=key, values=values)


def _missing_label(volume: PersistentVolume, index: NodeIndex) -> tuple[str, tuple[str, ...]] | None:
    """Return a label and the values that the volume needs and no node has; None if some node may do."""
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    # All terms must need a value that no node has.
    unmet = [_unmet_expression(term, index) for term in terms]
    if unmet and all(unmet) and len({each.key for each in unmet if each}) == 1:
        first = next(each for each in unmet if each)
        return first.key, tuple(dict.fromkeys(value for each in unmet if each for value in each.values))
    for topology in volume_topologies(volume):
        keys = (topology.key, SUCCESSORS.get(topology.key, topology.key))
        if topology.values.isdisjoint(value for key in keys for value in index.domains(key)) and index.values(keys[1]):
            return topology.key, tuple(sorted(topology.values))
    return None


def _unmet_expression(term: NodeSelectorTerm, index: NodeIndex) -> NodeSelectorRequirement | None:
    wanted = (each for each in term.match_expressions if each.operator == Operator.IN)
    return next((each for each in wanted if not any(value in index.domains(each.key) for value in each.values)), None)
