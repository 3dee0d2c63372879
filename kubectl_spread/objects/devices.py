"""DeviceClass, ResourceClaim, ResourceClaimTemplate and ResourceSlice: dynamic resource allocation.

Source: api resource/v1, v1beta2 and v1beta1 types.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.objects.core import NodeSelector
from kubectl_spread.objects.meta import AnnotatedMeta, ObjectMeta, Struct

ALL_DEVICES = "All"
"""The allocation mode of a request that is satisfied by nothing less."""


class DeviceClassSpec(Struct, frozen=True):
    """What the devices of a class stand for, besides."""

    extended_resource_name: str = ""


class DeviceClass(Struct, frozen=True):
    """A name for devices that can be asked for."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceSubRequest(Struct, frozen=True):
    """Devices of a class: one of several alternatives."""

    name: str = ""
    device_class_name: str = ""
    allocation_mode: str = ""
    count: int = 1


class ExactDeviceRequest(Struct, frozen=True):
    """Devices of a class; access as an administrator leaves them to others."""

    device_class_name: str = ""
    allocation_mode: str = ""
    count: int = 1
    admin_access: bool = False


class DeviceRequest(DeviceSubRequest, frozen=True):
    """Devices that are asked for; the fields of v1beta1 stand in the request itself."""

    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    admin_access: bool = False

    @property
    def exact(self) -> ExactDeviceRequest:
        """The devices of a request without alternatives."""
        return self.exactly or ExactDeviceRequest(
            device_class_name=self.device_class_name,
            allocation_mode=self.allocation_mode,
            count=self.count,
            admin_access=self.admin_access,
        )


class DeviceClaim(Struct, frozen=True):
    """All that is asked for together."""

    requests: tuple[DeviceRequest, ...] = ()


class ResourceClaimSpec(Struct, frozen=True):
    """What is asked for."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Struct, frozen=True):
    """A device that was given; one that is shared has the share's id."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    share_id: str | None = None
    binding_conditions: tuple[str, ...] = ()


class DeviceAllocationResult(Struct, frozen=True):
    """The devices that were given."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(Struct, frozen=True):
    """What was given, and the nodes from which it can be reached; None for all of them."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None


class ResourceClaimStatus(Struct, frozen=True):
    """What has become of a claim."""

    allocation: AllocationResult | None = None


class ResourceClaim(Struct, frozen=True):
    """Devices that are asked for, and given once a Pod is scheduled that wants them."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Struct, frozen=True):
    """The claims that are made of a template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Struct, frozen=True):
    """What each Pod that names it gets a claim of."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class NodeReach(Struct, frozen=True):
    """The nodes from which something can be reached: one, all, or those of a selector."""

    node_name: str = ""
    all_nodes: bool = False
    node_selector: NodeSelector | None = None


class Device(NodeReach, frozen=True):
    """A device; in v1beta1 ``basic`` holds its nodes."""

    name: str = ""
    allow_multiple_allocations: bool = False
    basic: NodeReach | None = None


class ResourcePool(Struct, frozen=True):
    """The slices that belong together."""

    name: str = ""


class ResourceSliceSpec(NodeReach, frozen=True):
    """Devices of a driver, and the nodes from which they can be reached."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()


class ResourceSlice(Struct, frozen=True):
    """Devices that a driver offers."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()
