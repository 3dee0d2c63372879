"""PersistentVolumeClaim, PersistentVolume and the kinds of storage.k8s.io/v1 that decide where a volume can be used.

Source: api core/v1/types.go, storage/v1/types.go (v1.37); component-helpers storage/volume/helpers.go (v1.36).
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from kubectl_spread.objects import core
from kubectl_spread.objects.meta import AnnotatedMeta, LabelSelector, ObjectMeta, Struct
from kubectl_spread.objects.times import moment

STORAGE = "storage"
"""The resource that a claim requests and a volume has."""

ANN_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
ANN_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
ANN_SELECTED_NODE = "volume.kubernetes.io/selected-node"
ANN_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
"""What marks a StorageClass as the cluster's default."""
ANN_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

IMMEDIATE = "Immediate"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class ManagedClaimAnnotations(Struct, frozen=True):
    """Which annotations of a claim somebody manages, as far as that matters."""

    selected_node: dict[str, object] | None = msgspec.field(name=f"f:{ANN_SELECTED_NODE}", default=None)


class ManagedClaimMetadata(Struct, frozen=True):
    """Which metadata of a claim somebody manages."""

    annotations: ManagedClaimAnnotations = msgspec.field(name="f:annotations", default=ManagedClaimAnnotations())


class ManagedClaimFields(Struct, frozen=True):
    """Which fields of a claim somebody manages."""

    metadata: ManagedClaimMetadata = msgspec.field(name="f:metadata", default=ManagedClaimMetadata())


class ManagedClaimEntry(Struct, frozen=True):
    """What one manager has written into a claim, and when it last did."""

    time: str | None = None
    fields_v1: ManagedClaimFields = msgspec.field(name="fieldsV1", default=ManagedClaimFields())


class ClaimMeta(AnnotatedMeta, frozen=True):
    """AnnotatedMeta of a claim, which says when a node was chosen for it."""

    managed_fields: tuple[ManagedClaimEntry, ...] = ()


class PersistentVolumeClaimStatus(Struct, frozen=True):
    """What has become of a claim."""

    phase: str = ""


class PersistentVolumeClaim(Struct, frozen=True):
    """A request for a volume, which Pods of its namespace mount."""

    metadata: ClaimMeta = ClaimMeta()
    spec: core.PersistentVolumeClaimSpec = core.PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def class_name(self) -> str:
        """The StorageClass it asks for; empty for none."""
        return self.metadata.annotations.get(ANN_STORAGE_CLASS, self.spec.storage_class_name or "")

    @property
    def wants_default_class(self) -> bool:
        """Whether it leaves its StorageClass to the cluster."""
        return ANN_STORAGE_CLASS not in self.metadata.annotations and self.spec.storage_class_name is None

    @property
    def fully_bound(self) -> bool:
        """Whether it has its volume, and the controller has finished binding both."""
        return bool(self.spec.volume_name) and ANN_BIND_COMPLETED in self.metadata.annotations

    @property
    def node_chosen_at(self) -> datetime | None:
        """When the scheduler last chose the node that the volume is being made for, None where that is not known."""
        entries = ((each.time, each.fields_v1.metadata.annotations) for each in self.metadata.managed_fields)
        times = (moment(time) for time, annotations in entries if annotations.selected_node is not None)
        return max(filter(None, times), default=None)


def claim_name(pod: core.Pod, volume: core.Volume) -> str | None:
    """Return the name of the claim behind the volume, None where there is none.

    Source: component-helpers storage/ephemeral/ephemeral.go VolumeClaimName (v1.36).
    """
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


class CSIPersistentVolumeSource(Struct, frozen=True):
    """A volume that a CSI driver knows by its handle."""

    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(Struct, frozen=True):
    """The nodes a volume can be used on."""

    required: core.NodeSelector | None = None


class PersistentVolumeSpec(core.InTreeVolumeSources, frozen=True):
    """A volume, and the claim it is kept for."""

    capacity: dict[str, core.Quantity] = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: core.ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str = core.FILESYSTEM
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str = ""
    csi: CSIPersistentVolumeSource | None = None


class PersistentVolumeStatus(Struct, frozen=True):
    """What has become of a volume."""

    phase: str = ""


class PersistentVolume(Struct, frozen=True):
    """A piece of storage in the cluster."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()

    @property
    def class_name(self) -> str:
        """The StorageClass it belongs to; empty for none."""
        return self.metadata.annotations.get(ANN_STORAGE_CLASS, self.spec.storage_class_name)


class TopologySelectorLabelRequirement(Struct, frozen=True):
    """A node label and the values it may have."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Struct, frozen=True):
    """Requirements that must all hold; a term without any matches no node."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(Struct, frozen=True):
    """How volumes of a class are made, when, and where; an API server sets the binding mode where it is left out."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    provisioner: str = ""
    volume_binding_mode: str = IMMEDIATE
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()

    @property
    def waits_for_consumer(self) -> bool:
        """Whether a claim is bound only when a Pod that mounts it is scheduled."""
        return self.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def is_default(self) -> bool:
        """Whether claims that name no class get this one."""
        return any(self.metadata.annotations.get(annotation) == "true" for annotation in ANN_DEFAULT_CLASS)


class VolumeNodeResources(Struct, frozen=True):
    """How many volumes of a driver a node can have attached; None for no limit."""

    count: int | None = None


class CSINodeDriver(Struct, frozen=True):
    """A CSI driver that runs on a node, and the node labels that say from where its volumes can be reached."""

    name: str = ""
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources = VolumeNodeResources()


class CSINodeSpec(Struct, frozen=True):
    """The CSI drivers on a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Struct, frozen=True):
    """What CSI drivers say of a node; it has the node's name."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: CSINodeSpec = CSINodeSpec()

    @property
    def migrated_plugins(self) -> frozenset[str]:
        """The in-tree plugins whose volumes a CSI driver serves on this node, such as ``kubernetes.io/aws-ebs``."""
        return frozenset(self.metadata.annotations.get(ANN_MIGRATED_PLUGINS, "").split(","))


class CSIDriverSpec(Struct, frozen=True):
    """What a CSI driver wants of the scheduler."""

    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False


class CSIDriver(Struct, frozen=True):
    """A CSI driver in the cluster."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Struct, frozen=True):
    """The storage of a class that is left for new volumes on the nodes of a topology; None is unknown."""

    metadata: ObjectMeta = ObjectMeta()
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: core.Quantity | None = None
    maximum_volume_size: core.Quantity | None = None


class VolumeAttachmentSource(Struct, frozen=True):
    """What is attached."""

    persistent_volume_name: str = ""


class VolumeAttachmentSpec(Struct, frozen=True):
    """A volume, a node, and the driver that attaches one to the other."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachment(Struct, frozen=True):
    """A volume that is, or shall be, attached to a node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
