"""In-tree volumes as the CSI drivers that serve them know them: driver, handle and topology.

Azure Files and vSphere volumes are not among them: the scheduler takes those for migrated nowhere.

Source: csi-translation-lib translate.go, plugins/{aws_ebs,gce_pd,openstack_cinder,azure_disk,portworx,
in_tree_volume}.go (v1.36).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec

from kubectl_spread.labels import Operator
from kubectl_spread.objects import core
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.objects.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from kubectl_spread.scheduler.volumezone import (
    ZONES_DELIMITER,
)

UNSPECIFIED = "UNSPECIFIED"
MANAGED_DISK = "managed"
_GCE_ZONE_PARTS = 3


class InTreePlugin(msgspec.Struct, frozen=True):
    """A kind of volume that Kubernetes once served itself.

    Attributes:
        topology_key: the driver's node label for zones; empty where volumes keep their node affinity.
    """

    name: str
    driver: str
    topology_key: str = ""


AWS_EBS = InTreePlugin("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone")
GCE_PD = InTreePlugin("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
CINDER = InTreePlugin("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone")
AZURE_DISK = InTreePlugin("kubernetes.io/azure-disk", "disk.csi.azure.com")
PORTWORX = InTreePlugin("kubernetes.io/portworx-volume", "pxd.portworx.com")

NEVER_MIGRATED = frozenset(("kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"))
PLUGINS = {plugin.name: plugin for plugin in (AWS_EBS, GCE_PD, CINDER, AZURE_DISK, PORTWORX)}
"""Provisioner of a StorageClass → the plugin it means."""


def plugin_of(sources: core.InTreeVolumeSources) -> InTreePlugin | None:
    """Return the plugin whose volume it is, None for any other volume."""
    candidates = (
        (sources.aws_elastic_block_store, AWS_EBS),
        (sources.gce_persistent_disk, GCE_PD),
        (sources.cinder, CINDER),
        (sources.azure_disk, AZURE_DISK),
        (sources.portworx_volume, PORTWORX),
    )
    return next((plugin for source, plugin in candidates if source is not None), None)


def inline_handle(sources: core.InTreeVolumeSources, zones_label: str = "") -> str:
    """Return the handle by which the CSI driver knows a volume of one of the plugins.

    The zones are those of its PersistentVolume, as its label lists them; empty where they are not known.

    Raises:
        ValueError: the driver cannot know the volume.
    """
    if sources.aws_elastic_block_store is not None:
        return _ebs_volume_id(sources.aws_elastic_block_store.volume_id)
    if sources.gce_persistent_disk is not None:
        # Neither volume nor Pod names the project; the driver fills that in.
        return f"projects/{UNSPECIFIED}/{_gce_location(zones_label)}/disks/{sources.gce_persistent_disk.pd_name}"
    if sources.azure_disk is not None:
        # Disks that lie as blobs in a storage account have no counterpart in the driver.
        if sources.azure_disk.kind.lower() != MANAGED_DISK:
            raise ValueError(f"kind({sources.azure_disk.kind}) is not supported in csi migration")
        return sources.azure_disk.disk_uri
    return (sources.cinder or sources.portworx_volume or core.VolumeIDSource()).volume_id


def volume_handle(volume: PersistentVolume) -> str:
    """Return the handle by which the CSI driver knows a PersistentVolume of one of the plugins.

    Raises:
        ValueError: the driver cannot know the volume.
    """
    labels = volume.metadata.labels
    # upstream: the beta label first, though it is the older one.
    return inline_handle(volume.spec, labels.get(BETA_ZONE) or labels.get(ZONE, ""))


def _ebs_volume_id(volume_id: str) -> str:
    """Return the ID without the form of a URL that it may have: ``aws://us-east-1a/vol-1234``.

    Source: plugins/aws_ebs.go KubernetesVolumeIDToEBSVolumeID (v1.36).
    """
    if not volume_id.startswith("aws://"):
        return volume_id
    # The zone, where there is one, is the host of the URL: aws:///vol-1234 has none.
    bare = urlsplit(volume_id).path.strip("/")
    if re.fullmatch("vol-[^/]*", bare) is None:
        problem = f"Invalid format for AWS volume ({volume_id})"
        raise ValueError(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return bare


def _gce_location(zones_label: str) -> str:
    """Return the part of a handle that says where the disk is.

    Source: plugins/gce_pd.go TranslateInTreePVToCSI (v1.36).
    """
    # A disk of one zone, or one that is mirrored in several zones of a region.
    zones = zones_label.split(ZONES_DELIMITER)
    if len(zones) == 1:
        return f"zones/{zones_label or UNSPECIFIED}"
    return f"regions/{_gce_region(zones)}"


def _gce_region(zones: Iterable[str]) -> str:
    """Return the region all the zones are in.

    Source: plugins/gce_pd.go gceGetRegionFromZones (v1.36).
    """
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != _GCE_ZONE_PARTS:
            problem = f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            raise ValueError(f"failed to get region from zones: {problem}")
        regions.add("-".join(parts[:2]))
    if len(regions) > 1:
        found = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise ValueError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{found}]"
        )
    return regions.pop()


def csi_node_selector(volume: PersistentVolume, plugin: InTreePlugin) -> core.NodeSelector | None:
    """Return the nodes that can use the volume, zones by the CSI driver's own label; None for all nodes.

    Raises:
        ValueError: the driver cannot know the volume.

    Source: plugins/in_tree_volume.go translateTopologyFromInTreeToCSI (v1.36).
    """
    # upstream: all of the volume is translated, so one without a handle stops here, whatever its topology.
    volume_handle(volume)
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    # upstream: volumes of Azure and Portworx keep the node affinity they have.
    if not plugin.topology_key:
        return required
    terms = required.node_selector_terms if required else ()
    zone, region = _topology_labels(volume, terms)
    # What the affinity says comes before what the label says.
    if _has_values(terms, zone):
        terms = _renamed(terms, zone, plugin.topology_key)
    elif zone in volume.metadata.labels:
        terms = _with_zones(terms, plugin.topology_key, volume.metadata.labels[zone])
    # upstream: only the beta label of regions is renamed, and never taken from the volume's labels.
    if region == BETA_REGION and _has_values(terms, region):
        terms = _renamed(terms, region, REGION)
    return core.NodeSelector(node_selector_terms=terms) if terms else required


Terms = tuple[core.NodeSelectorTerm, ...]


def _topology_labels(volume: PersistentVolume, terms: Terms) -> tuple[str, str]:
    """Return the keys of zone and region that the volume uses: in its node affinity, or else as labels.

    Source: plugins/in_tree_volume.go getTopologyLabel (v1.36).
    """
    keys = {expression.key for term in terms for expression in term.match_expressions}
    for used in (keys, volume.metadata.labels):
        if ZONE in used:
            return ZONE, REGION
        if BETA_ZONE in used:
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _has_values(terms: Terms, key: str) -> bool:
    return any(e.values for term in terms for e in term.match_expressions if e.key == key)


def _renamed(terms: Terms, old: str, new: str) -> Terms:
    replace = msgspec.structs.replace
    return tuple(
        replace(
            term, match_expressions=tuple(replace(e, key=new) if e.key == old else e for e in term.match_expressions)
        )
        for term in terms
    )


def _with_zones(terms: Terms, key: str, zones_label: str) -> Terms:
    """Return the terms, each restricted to the zones the label lists; unchanged where it lists none.

    Source: plugins/in_tree_volume.go addTopology (v1.36).
    """
    zones = sorted({zone.strip() for zone in zones_label.split(ZONES_DELIMITER)} - {""})
    if not zones:
        return terms
    expression = core.NodeSelectorRequirement(key=key, operator=Operator.IN, values=tuple(zones))
    return tuple(
        msgspec.structs.replace(term, match_expressions=(*term.match_expressions, expression))
        for term in terms or (core.NodeSelectorTerm(),)
    )
