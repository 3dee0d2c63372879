"""What autoscalers read and write: Karpenter's objects, cluster-autoscaler's status, Cluster API's groups.

Source: karpenter pkg/apis/v1 nodepool.go and nodeclaim.go (v1.14); karpenter-provider-aws pkg/apis/v1 ec2nodeclass.go.
"""

from __future__ import annotations

import msgspec

from kubectl_spread.objects.core import Quantity, ResourceRequirements, Taint
from kubectl_spread.objects.meta import AnnotatedMeta, ObjectMeta, Struct


class Condition(Struct, frozen=True):
    """One observation about an object."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class NodeSelectorRequirementWithMinValues(Struct, frozen=True):
    """One expression on the labels of nodes to come; ``min_values``: how many different values must stay possible."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    min_values: int | None = None


class NodeClassReference(Struct, frozen=True):
    """The cloud's settings of a NodePool."""

    group: str = ""
    kind: str = ""
    name: str = ""


class NodeClaimSpec(Struct, frozen=True):
    """What a node that comes is like."""

    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    requirements: tuple[NodeSelectorRequirementWithMinValues, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    node_class_ref: NodeClassReference = NodeClassReference()


class NodeClaimTemplate(Struct, frozen=True):
    """What the NodeClaims of a NodePool are made of."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimSpec = NodeClaimSpec()


class NodePoolSpec(Struct, frozen=True):
    """Which nodes a pool may bring; ``limits`` bound all of its nodes together, ``replicas`` make it static."""

    template: NodeClaimTemplate = NodeClaimTemplate()
    limits: dict[str, Quantity] = {}
    weight: int | None = None
    replicas: int | None = None


class ConditionedStatus(Struct, frozen=True):
    """Whether an object is Ready, and what else was observed."""

    conditions: tuple[Condition, ...] = ()

    def condition(self, name: str) -> Condition | None:
        """Return the observation of that type, None where there is none."""
        return next((each for each in self.conditions if each.type == name), None)


class NodePool(Struct, frozen=True):
    """What Karpenter may bring nodes from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodePoolSpec = NodePoolSpec()
    status: ConditionedStatus = ConditionedStatus()


class NodeClaimStatus(ConditionedStatus, frozen=True):
    """Which machine and Node a claim has become."""

    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    capacity: dict[str, Quantity] = {}
    allocatable: dict[str, Quantity] = {}


class NodeClaim(Struct, frozen=True):
    """A node that Karpenter has asked the cloud for."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()


class Subnet(Struct, frozen=True):
    """A network that nodes may come in."""

    zone: str = ""


class EC2NodeClassStatus(ConditionedStatus, frozen=True):
    """The subnets that were found, each in a zone."""

    subnets: tuple[Subnet, ...] = ()


class EC2NodeClass(Struct, frozen=True):
    """The settings of NodePools on AWS."""

    metadata: ObjectMeta = ObjectMeta()
    status: EC2NodeClassStatus = EC2NodeClassStatus()


class ConfigMapData(Struct, frozen=True):
    """The one entry that is read: what cluster-autoscaler writes about its node groups."""

    status: str = ""


class ConfigMap(Struct, frozen=True):
    """Settings, of which only cluster-autoscaler's status is read."""

    metadata: ObjectMeta = ObjectMeta()
    data: ConfigMapData = ConfigMapData()


NODE_GROUP_MAXIMUM = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
"""The annotation of a group of machines that lets cluster-autoscaler scale it, and how far."""
NODE_GROUP_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
"""What annotations begin with that say what the nodes of a group are like while it has none."""
NODE_GROUP_ANNOTATIONS = (
    NODE_GROUP_MAXIMUM,
    *(f"{NODE_GROUP_CAPACITY}{name}" for name in ("cpu", "memory", "maxPods", "labels", "taints")),
)


class MachineGroupSpec(Struct, frozen=True):
    """How many machines a group of Cluster API wants."""

    replicas: int | None = None


class MachineDeployment(Struct, frozen=True):
    """A group of machines (Cluster API); its annotations say how far cluster-autoscaler may scale it."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: MachineGroupSpec = MachineGroupSpec()


class MachineSet(MachineDeployment, frozen=True):
    """A group of machines (Cluster API) as one revision of a MachineDeployment has it, or on its own."""


class OfferingSpec(msgspec.Struct, frozen=True):
    """Where and how an instance type is sold."""

    requirements: tuple[NodeSelectorRequirementWithMinValues, ...] = msgspec.field(name="Requirements", default=())


class InstanceTypeSpec(msgspec.Struct, frozen=True, rename="camel"):
    """One instance type of a file such as kwok's ``instance_types.json``.

    Source: karpenter kwok/cloudprovider/helpers.go InstanceTypeOptions (v1.14).
    """

    name: str
    architecture: str = "amd64"
    operating_systems: tuple[str, ...] = ("linux",)
    resources: dict[str, Quantity] = {}
    offerings: tuple[OfferingSpec, ...] = ()


class BackoffInfo(Struct, frozen=True):
    """Why cluster-autoscaler waits before it tries a node group again."""

    error_code: str = ""
    error_message: str = ""


class NodeGroupScaleUp(Struct, frozen=True):
    """Whether a node group may grow now; ``Backoff`` where it may not."""

    status: str = ""
    backoff_info: BackoffInfo = BackoffInfo()


class NodeGroupHealth(Struct, frozen=True):
    """How many nodes a group wants, and within which bounds."""

    status: str = ""
    cloud_provider_target: int = 0
    min_size: int = 0
    max_size: int = 0


class NodeGroupStatus(Struct, frozen=True):
    """A node group, as cluster-autoscaler describes it."""

    name: str = ""
    health: NodeGroupHealth = NodeGroupHealth()
    scale_up: NodeGroupScaleUp = NodeGroupScaleUp()


class AutoscalerStatus(Struct, frozen=True):
    """What cluster-autoscaler writes into its ConfigMap.

    Source: cluster-autoscaler clusterstate/api/types.go (1.30 on); before that the status is no YAML.
    """

    autoscaler_status: str = ""
    node_groups: tuple[NodeGroupStatus, ...] = ()
