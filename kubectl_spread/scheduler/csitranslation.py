"""In-tree volumes translated to CSI: driver, handle and topology.

Azure Files and vSphere volumes are not translated: for the scheduler they are never migrated.

Source: csi-translation-lib translate.go, plugins/{aws_ebs,gce_pd,openstack_cinder,azure_disk,portworx,
in_tree_volume}.go (v1.36).
"""

import re
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from kubectl_spread.labels import Operator
from kubectl_spread.objects import core
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.objects.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from kubectl_spread.scheduler.volumezone import ZONES_DELIMITER

UNSPECIFIED = "UNSPECIFIED"
MANAGED_DISK = "managed"
_GCE_ZONE_PARTS = 3


class InTreePlugin(msgspec.Struct, frozen=True):
    """An in-tree volume plugin that is migrated to a CSI driver."""

    source: str  # the attribute of a volume that has its settings
    name: str
    driver: str
    topology_key: str = ""  # the driver's node label for zones; empty if volumes keep their node affinity


AWS_EBS = InTreePlugin(
    "aws_elastic_block_store", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"
)
GCE_PD = InTreePlugin("gce_persistent_disk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
CINDER = InTreePlugin(
    "cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"
)
AZURE_DISK = InTreePlugin("azure_disk", "kubernetes.io/azure-disk", "disk.csi.azure.com")
PORTWORX = InTreePlugin("portworx_volume", "kubernetes.io/portworx-volume", "pxd.portworx.com")

NEVER_MIGRATED = frozenset(("kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"))
# Provisioner of a StorageClass → its plugin.
PLUGINS = {plugin.name: plugin for plugin in (AWS_EBS, GCE_PD, CINDER, AZURE_DISK, PORTWORX)}


def plugin_of(sources: core.InTreeVolumeSources) -> InTreePlugin | None:
    """Return the in-tree plugin of the volume, None for other volumes."""
    return next((plugin for plugin in PLUGINS.values() if getattr(sources, plugin.source) is not None), None)


def inline_handle(sources: core.InTreeVolumeSources, zones_label: str = "") -> str:
    """Return the CSI volume handle of an in-tree volume.

    ``zones_label``: the zone label of its PersistentVolume; empty if there is none.

    Raises:
        ValueError: the volume cannot be translated.
    """
    if sources.aws_elastic_block_store is not None:
        return _ebs_volume_id(sources.aws_elastic_block_store.volume_id)
    if sources.gce_persistent_disk is not None:
        # The driver fills in the project.
        return f"projects/{UNSPECIFIED}/{_gce_location(zones_label)}/disks/{sources.gce_persistent_disk.pd_name}"
    if sources.azure_disk is not None:
        if sources.azure_disk.kind.lower() != MANAGED_DISK:
            raise ValueError(f"kind({sources.azure_disk.kind}) is not supported in csi migration")
        return sources.azure_disk.disk_uri
    return (sources.cinder or sources.portworx_volume or core.VolumeIDSource()).volume_id


def volume_handle(volume: PersistentVolume) -> str:
    """Return the CSI volume handle of an in-tree PersistentVolume.

    Raises:
        ValueError: the volume cannot be translated.
    """
    labels = volume.metadata.labels
    # upstream: the deprecated beta label comes first.
    return inline_handle(volume.spec, labels.get(BETA_ZONE) or labels.get(ZONE, ""))


def _ebs_volume_id(volume_id: str) -> str:
    """Return the ID, also from a URL such as ``aws://us-east-1a/vol-1234``, whose host is the zone.

    Source: plugins/aws_ebs.go KubernetesVolumeIDToEBSVolumeID (v1.36).
    """
    if not volume_id.startswith("aws://"):
        return volume_id
    bare = urlsplit(volume_id).path.strip("/")
    if re.fullmatch("vol-[^/]*", bare) is None:
        problem = f"Invalid format for AWS volume ({volume_id})"
        raise ValueError(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return bare


def _gce_location(zones_label: str) -> str:
    """Return the location in a handle: a zone, or the region of a disk that is replicated to several zones.

    Source: plugins/gce_pd.go TranslateInTreePVToCSI, gceGetRegionFromZones (v1.36).
    """
    zones = zones_label.split(ZONES_DELIMITER)
    if len(zones) == 1:
        return f"zones/{zones_label or UNSPECIFIED}"
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
    return f"regions/{regions.pop()}"


def csi_node_selector(volume: PersistentVolume, plugin: InTreePlugin) -> core.NodeSelector | None:
    """Return the nodes that can use the volume, with the CSI driver's label for zones; None for all nodes.

    Raises:
        ValueError: the volume cannot be translated.

    Source: plugins/in_tree_volume.go translateTopologyFromInTreeToCSI (v1.36).
    """
    # upstream: the whole volume is translated, so a volume without a valid handle fails here.
    volume_handle(volume)
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    # upstream: volumes of Azure and Portworx keep their node affinity.
    if not plugin.topology_key:
        return required
    terms = required.node_selector_terms if required else ()
    zone, region = _topology_labels(volume, terms)
    # The node affinity takes precedence over the label.
    if _has_values(terms, zone):
        terms = _rename_key(terms, zone, plugin.topology_key)
    elif zone in volume.metadata.labels:
        terms = _add_zones(terms, plugin.topology_key, volume.metadata.labels[zone])
    # upstream: only the beta label of regions is renamed, and the volume's region label is not used.
    if region == BETA_REGION and _has_values(terms, region):
        terms = _rename_key(terms, region, REGION)
    return core.NodeSelector(node_selector_terms=terms) if terms else required


Terms = tuple[core.NodeSelectorTerm, ...]


def _topology_labels(volume: PersistentVolume, terms: Terms) -> tuple[str, str]:
    """Source: plugins/in_tree_volume.go getTopologyLabel (v1.36)."""
    keys = {expression.key for term in terms for expression in term.match_expressions}
    for used in (keys, volume.metadata.labels):
        if ZONE in used:
            break
        if BETA_ZONE in used:
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _has_values(terms: Terms, key: str) -> bool:
    return any(e.values for term in terms for e in term.match_expressions if e.key == key)


def _rename_key(terms: Terms, old: str, new: str) -> Terms:
    expressions = (tuple(replace(e, key=new) if e.key == old else e for e in t.match_expressions) for t in terms)
    return tuple(replace(term, match_expressions=found) for term, found in zip(terms, expressions, strict=True))


def _add_zones(terms: Terms, key: str, zones_label: str) -> Terms:
    """Source: plugins/in_tree_volume.go addTopology (v1.36)."""
    zones = sorted({zone.strip() for zone in zones_label.split(ZONES_DELIMITER)} - {""})
    if not zones:
        return terms
    expression = core.NodeSelectorRequirement(key=key, operator=Operator.IN, values=tuple(zones))
    asked = terms or (core.NodeSelectorTerm(),)
    return tuple(replace(term, match_expressions=(*term.match_expressions, expression)) for term in asked)
