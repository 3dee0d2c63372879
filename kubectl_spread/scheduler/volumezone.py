"""VolumeZone: a volume with zone or region labels can be used only on nodes with the same labels.

Source: kube-scheduler volumezone/volume_zone.go, cloud-provider volume/helpers/zones.go LabelZonesToSet (v1.36).
"""

from collections.abc import Iterator
from functools import partial

import msgspec

from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.storage import PersistentVolume, StorageClass
from kubectl_spread.objects.well_known_labels import BETA_REGION, BETA_ZONE, REGION, SUCCESSORS, ZONE
from kubectl_spread.scheduler.claims import CLAIM, CLASS, NO_CLAIM_NAME, VOLUME, claim_named, class_unknown, not_found
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo

NAME = "VolumeZone"
REASON = "node(s) had no available volume zone"
REASON_NO_CLASS = "PersistentVolumeClaim had no pv name and storageClass name"
REASON_NO_VOLUME = "PersistentVolume had no name"

TOPOLOGY_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
ZONES_DELIMITER = "__"


class VolumeTopology(msgspec.Struct, frozen=True):
    """A topology label of a volume, and the values that a node may have."""

    key: str
    values: frozenset[str]


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip if no volume has such labels; reject a Pod whose claims or volumes do not exist.

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
    """Reject a node in another zone or region than a volume; a node without any such label is not rejected."""
    labels = node_info.labels
    if not any(key in labels for key in TOPOLOGY_LABELS):
        return SUCCESS
    for topology in state:
        # A node may have only the successor of a volume's beta label.
        value = labels.get(topology.key, labels.get(SUCCESSORS.get(topology.key, topology.key)))
        if value not in topology.values:
            return unresolvable(REASON)
    return SUCCESS


def volume_topologies(volume: PersistentVolume) -> Iterator[VolumeTopology]:
    """Yield the topologies of the volume's labels; a label that is no list of zones has none."""
    for key in TOPOLOGY_LABELS:
        values = zones(volume.metadata.labels.get(key, ""))
        if values:
            yield VolumeTopology(key, values)


def zones(label: str) -> frozenset[str]:
    """Return the zones of a label such as ``us-east-1a__us-east-1b``; none if one of them is blank."""
    values = frozenset(zone.strip() for zone in label.split(ZONES_DELIMITER))
    return frozenset() if "" in values else values


def _bound_volume(pod: Pod, name: str, handle: Handle) -> PersistentVolume | Status | None:
    """Return the volume of the claim, None if it is bound when the Pod is scheduled, or why all nodes are rejected."""
    if not name:
        return unresolvable(NO_CLAIM_NAME)
    claim = claim_named(pod, name, handle.snapshot)
    if claim is None:
        return unresolvable(not_found(CLAIM, name))
    if claim.spec.volume_name:
        volume = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
        return volume or unresolvable(not_found(VOLUME, claim.spec.volume_name))
    if not claim.class_name:
        return unresolvable(REASON_NO_CLASS)
    storage_class = handle.snapshot.get(StorageClass, "", claim.class_name)
    if storage_class is None:
        unknown = class_unknown(claim, handle.snapshot)
        return None if unknown else unresolvable(not_found(CLASS, claim.class_name))
    return None if storage_class.waits_for_consumer else unresolvable(REASON_NO_VOLUME)
