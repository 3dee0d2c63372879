"""PersistentVolumeClaim, PersistentVolume, and the kinds of storage.k8s.io that decide where a volume can be used.

Source: api core/v1/types.go, storage/v1/types.go (v1.37); component-helpers storage/volume/helpers.go (v1.36).
"""

from datetime import datetime

import msgspec

from kubectl_spread.objects import core
from kubectl_spread.objects.meta import AnnotatedMeta, KubernetesObject, LabelSelector, Struct
from kubectl_spread.objects.times import moment

STORAGE = "storage"  # The resource that a claim requests and that a volume has as capacity

ANN_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
ANN_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
ANN_SELECTED_NODE = "volume.kubernetes.io/selected-node"
# The annotations that mark a StorageClass as the cluster's default.
ANN_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
ANN_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"


class ManagedClaimAnnotations(Struct, frozen=True):
    """Whether a manager manages the selected-node annotation."""

    selected_node: dict[str, object] | None = msgspec.field(name=f"f:{ANN_SELECTED_NODE}", default=None)


class ManagedClaimMetadata(Struct, frozen=True):
    """The metadata of a claim that a manager manages."""

    annotations: ManagedClaimAnnotations = msgspec.field(name="f:annotations", default=ManagedClaimAnnotations())


class ManagedClaimFields(Struct, frozen=True):
    """The fields of a claim that a manager manages."""

    metadata: ManagedClaimMetadata = msgspec.field(name="f:metadata", default=ManagedClaimMetadata())


class ManagedClaimEntry(Struct, frozen=True):
    """What one manager wrote into a claim, and when it last did so."""

    time: str | None = None
    fields_v1: ManagedClaimFields = msgspec.field(name="fieldsV1", default=ManagedClaimFields())


class ClaimMeta(AnnotatedMeta, frozen=True):
    """AnnotatedMeta of a claim, with the time at which a node was selected for it."""

    managed_fields: tuple[ManagedClaimEntry, ...] = ()


class PersistentVolumeClaim(KubernetesObject, frozen=True):
    """A request for a volume that Pods of its namespace mount."""

    metadata: ClaimMeta = ClaimMeta()
    spec: core.PersistentVolumeClaimSpec = core.PersistentVolumeClaimSpec()
    status: core.Phase = core.Phase()

    @property
    def class_name(self) -> str:
        """The StorageClass that it names; empty for none."""
        return self.metadata.annotations.get(ANN_STORAGE_CLASS, self.spec.storage_class_name or "")

    @property
    def wants_default_class(self) -> bool:
        """Whether it gets the cluster's default StorageClass."""
        return ANN_STORAGE_CLASS not in self.metadata.annotations and self.spec.storage_class_name is None

    @property
    def fully_bound(self) -> bool:
        """Whether it has a volume and the controller has completed the binding."""
        return bool(self.spec.volume_name) and ANN_BIND_COMPLETED in self.metadata.annotations

    @property
    def node_chosen_at(self) -> datetime | None:
        """When the scheduler last selected the node for the new volume, None where that is not known."""
        entries = self.metadata.managed_fields
        times = (moment(each.time) for each in entries if each.fields_v1.metadata.annotations.selected_node is not None)
        return max(filter(None, times), default=None)


def claim_name(pod: core.Pod, volume: core.Volume) -> str | None:
    """Return the name of the claim behind the volume, None for a volume without a claim.

    Source: component-helpers storage/ephemeral/ephemeral.go VolumeClaimName (v1.36).
    """
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


class CSIPersistentVolumeSource(Struct, frozen=True):
    """A volume of a CSI driver, which the driver identifies by the handle."""

    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(Struct, frozen=True):
    """The nodes on which a volume can be used."""

    required: core.NodeSelector | None = None


class PersistentVolumeSpec(core.InTreeVolumeSources, frozen=True):
    """A volume, and the claim that it is reserved for."""

    capacity: dict[str, core.Quantity] = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: core.ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str = core.FILESYSTEM
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str = ""
    csi: CSIPersistentVolumeSource | None = None


class PersistentVolume(KubernetesObject, frozen=True):
    """A piece of storage in the cluster."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: core.Phase = core.Phase()

    @property
    def class_name(self) -> str:
        """Its StorageClass; empty for none."""
        return self.metadata.annotations.get(ANN_STORAGE_CLASS, self.spec.storage_class_name)


class TopologySelectorLabelRequirement(Struct, frozen=True):
    """A node label and its allowed values."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Struct, frozen=True):
    """Requirements that must all hold; a term without requirements matches no node."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubernetesObject, frozen=True):
    """How, when and where volumes of a class are provisioned; the API server defaults absent modes and policies."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()

    @property
    def waits_for_consumer(self) -> bool:
        """Whether a claim is bound only when a Pod that mounts it is scheduled."""
        return self.volume_binding_mode == "WaitForFirstConsumer"

    @property
    def is_default(self) -> bool:
        """Whether claims without a class name get this class."""
        return any(self.metadata.annotations.get(annotation) == "true" for annotation in ANN_DEFAULT_CLASS)


class VolumeNodeResources(Struct, frozen=True):
    """How many volumes of a driver can be attached to a node; None for no limit."""

    count: int | None = None


class CSINodeDriver(Struct, frozen=True):
    """A CSI driver on a node, and the node labels that its topology consists of."""

    name: str = ""
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources = VolumeNodeResources()


class CSINodeSpec(Struct, frozen=True):
    """The CSI drivers on a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubernetesObject, frozen=True):
    """What CSI drivers report about the node of the same name."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: CSINodeSpec = CSINodeSpec()

    @property
    def migrated_plugins(self) -> frozenset[str]:
        """The in-tree plugins that are migrated to CSI drivers on this node, such as ``kubernetes.io/aws-ebs``."""
        return frozenset(self.metadata.annotations.get(ANN_MIGRATED_PLUGINS, "").split(","))


class CSIDriverSpec(Struct, frozen=True):
    """What a CSI driver asks of the scheduler."""

    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False


class CSIDriver(KubernetesObject, frozen=True):
    """A CSI driver in the cluster."""

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubernetesObject, frozen=True):
    """The free storage of a class for new volumes on the nodes of a topology; None where it is not known."""

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: core.Quantity | None = None
    maximum_volume_size: core.Quantity | None = None


class VolumeAttachmentSource(Struct, frozen=True):
    """The volume that is attached."""

    persistent_volume_name: str = ""


class VolumeAttachmentSpec(Struct, frozen=True):
    """A volume, a node, and the driver that attaches the volume to the node."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachment(KubernetesObject, frozen=True):
    """A volume that is attached to a node, or about to be."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
