"""VolumeZone: a volume with zone or region labels is used only on nodes with the same ones.

Source: kube-scheduler volumezone/volume_zone.go, cloud-provider volume/helpers/zones.go LabelZonesToSet (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_spread.objects.well_known_labels import BETA_REGION, BETA_ZONE, REGION, SUCCESSORS, ZONE
from kubectl_spread.scheduler.claims import CLAIM, CLASS, VOLUME, claim_named, not_found
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo

NAME = "VolumeZone"
REASON = "node(s) had no available volume zone"
REASON_NO_CLAIM_NAME = "PersistentVolumeClaim had no name"
REASON_NO_CLASS = "PersistentVolumeClaim had no pv name and storageClass name"
REASON_NO_VOLUME = "PersistentVolume had no name"

TOPOLOGY_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
ZONES_DELIMITER = "__"


class VolumeTopology(msgspec.Struct, frozen=True):
    """Where one label of a volume allows it to be used."""

    key: str
    values: frozenset[str]


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip where no volume has such labels; reject a Pod whose claims or volumes are missing.

    Source: volumezone/volume_zone.go getPVbyPod (v1.36).
    """
    topologies: list[VolumeTopology] = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is None:
            continue
        found = _bound_volume(pod, volume.persistent_volume_claim.claim_name, handle)
        if isinstance(found, Status):
            return found
        if found is not None:
            topologies += volume_topologies(found)
    return PreFilterResult(partial(filter_node, tuple(topologies))) if topologies else SKIP


def filter_node(state: tuple[VolumeTopology, ...], node_info: NodeInfo) -> Status:
    """Reject a node in another zone or region than a volume; a node without any such label will do."""
    labels = node_info.labels
    # A node that says nothing of zones is taken to be in all of them: clusters without zones stay usable.
    if not any(key in labels for key in TOPOLOGY_LABELS):
        return SUCCESS
    for topology in state:
        # A node may carry only the successor of a volume's beta label.
        value = labels.get(topology.key, labels.get(SUCCESSORS.get(topology.key, topology.key)))
        # Every label of every volume must hold; a volume of several zones may be used in any of them.
        if value not in topology.values:
            return unresolvable(REASON)
    return SUCCESS


def volume_topologies(volume: PersistentVolume) -> Iterator[VolumeTopology]:
    """Yield what the volume's labels allow; a label that is no list of zones allows everything."""
    for key in TOPOLOGY_LABELS:
        values = zones(volume.metadata.labels.get(key, ""))
        if values:
            yield VolumeTopology(key, values)


def zones(label: str) -> frozenset[str]:
    """Return the zones of a label such as ``us-east-1a__us-east-1b``; none where one of them is blank."""
    values = frozenset(zone.strip() for zone in label.split(ZONES_DELIMITER))
    return frozenset() if "" in values else values


def _bound_volume(pod: Pod, name: str, handle: Handle) -> PersistentVolume | Status | None:
    """Return the volume of the claim, None where it is still to be found, or why no node will do."""
    if not name:
        return unresolvable(REASON_NO_CLAIM_NAME)
    claim = claim_named(pod, name, handle.snapshot)
    if claim is None:
        return unresolvable(not_found(CLAIM, name))
    if not claim.spec.volume_name:
        return _unbound(claim, handle)
    volume = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
    return volume or unresolvable(not_found(VOLUME, claim.spec.volume_name))


def _unbound(claim: PersistentVolumeClaim, handle: Handle) -> Status | None:
    # A claim whose class waits for the Pod has no zone yet; any other without a volume cannot be judged.
    if not claim.class_name:
        return unresolvable(REASON_NO_CLASS)
    storage_class = handle.snapshot.get(StorageClass, "", claim.class_name)
    if storage_class is None:
        return unresolvable(not_found(CLASS, claim.class_name))
    return None if storage_class.waits_for_consumer else unresolvable(REASON_NO_VOLUME)
