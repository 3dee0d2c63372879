"""DeviceClass, ResourceClaim, ResourceClaimTemplate and ResourceSlice: dynamic resource allocation.

Source: api resource/v1, v1beta2 and v1beta1 types.go (v1.36).
"""

from kubectl_spread.objects.core import NodeSelector
from kubectl_spread.objects.meta import AnnotatedMeta, KubernetesObject, ObjectMeta, Struct

ALL_DEVICES = "All"  # The allocation mode of a request for all devices of a class


class DeviceClassSpec(Struct, frozen=True):
    """The extended resource that the devices of a class provide."""

    extended_resource_name: str = ""


class DeviceClass(KubernetesObject, frozen=True):
    """A class of devices that can be requested."""

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceSubRequest(Struct, frozen=True):
    """Devices of a class; only an alternative has a name. Administrators' access leaves the devices to others."""

    name: str = ""
    device_class_name: str = ""
    allocation_mode: str = ""
    count: int = 1
    admin_access: bool = False


class DeviceRequest(DeviceSubRequest, frozen=True):
    """Devices that are requested; in v1beta1 the request itself has the fields of ``exactly``."""

    exactly: DeviceSubRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()

    @property
    def exact(self) -> DeviceSubRequest:
        """The devices of a request without alternatives."""
        return self.exactly or self


class DeviceClaim(Struct, frozen=True):
    """The requests of a claim."""

    requests: tuple[DeviceRequest, ...] = ()


class ResourceClaimSpec(Struct, frozen=True):
    """The devices that a claim requests."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Struct, frozen=True):
    """An allocated device; a shared one has the ID of the share."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    share_id: str | None = None
    binding_conditions: tuple[str, ...] = ()


class DeviceAllocationResult(Struct, frozen=True):
    """The allocated devices."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(Struct, frozen=True):
    """The allocated devices, and the nodes that can use them; None for all nodes."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None


class ResourceClaimStatus(Struct, frozen=True):
    """The allocation of a claim; None before it is allocated."""

    allocation: AllocationResult | None = None


class ResourceClaim(KubernetesObject, frozen=True):
    """A claim for devices, which are allocated when a Pod that needs them is scheduled."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Struct, frozen=True):
    """The claims that are created from a template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubernetesObject, frozen=True):
    """A template from which each Pod that names it gets its own claim."""

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class NodeReach(Struct, frozen=True):
    """The nodes that can use a device or a slice: one, all, or those of a selector."""

    node_name: str = ""
    all_nodes: bool = False
    node_selector: NodeSelector | None = None


class Device(NodeReach, frozen=True):
    """A device; in v1beta1 ``basic`` has its nodes."""

    name: str = ""
    allow_multiple_allocations: bool = False
    basic: NodeReach | None = None


class ResourcePool(Struct, frozen=True):
    """The pool that a slice is part of."""

    name: str = ""


class ResourceSliceSpec(NodeReach, frozen=True):
    """Devices of a driver, and the nodes that can use them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()


class ResourceSlice(KubernetesObject, frozen=True):
    """Devices that a driver offers."""

    spec: ResourceSliceSpec = ResourceSliceSpec()
