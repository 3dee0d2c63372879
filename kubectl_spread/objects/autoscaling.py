"""The objects of autoscalers: Karpenter's, cluster-autoscaler's status, Cluster API's groups of machines, and of Pods.

Source: karpenter pkg/apis/v1 nodepool.go and nodeclaim.go (v1.14); karpenter-provider-aws pkg/apis/v1 ec2nodeclass.go;
api autoscaling/v2/types.go (v1.36).
"""

import msgspec

from kubectl_spread.objects import core
from kubectl_spread.objects.meta import AnnotatedMeta, KubernetesObject, ObjectMeta, Struct


class CrossVersionObjectReference(Struct, frozen=True):
    """A reference to an object in its own namespace."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(Struct, frozen=True):
    """The workload whose replicas it decides, and their bounds (counts); no minimum means 1."""

    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()
    min_replicas: int | None = None
    max_replicas: int = 0

    @property
    def least_replicas(self) -> int:
        """The fewest replicas (count), with the default applied."""
        return 1 if self.min_replicas is None else self.min_replicas


class HorizontalPodAutoscaler(KubernetesObject, frozen=True):
    """An autoscaler that sets the replicas of a workload."""

    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()


class NodeSelectorRequirementWithMinValues(core.NodeSelectorRequirement, frozen=True):
    """One expression on the labels of new nodes; ``min_values``: how many different values must stay possible."""

    min_values: int | None = None


class NodeClassReference(Struct, frozen=True):
    """A reference to the cloud provider's settings of a NodePool."""

    group: str = ""
    kind: str = ""
    name: str = ""


class NodeClaimSpec(Struct, frozen=True):
    """The properties of a new node."""

    taints: tuple[core.Taint, ...] = ()
    startup_taints: tuple[core.Taint, ...] = ()
    requirements: tuple[NodeSelectorRequirementWithMinValues, ...] = ()
    node_class_ref: NodeClassReference = NodeClassReference()


class NodeClaimTemplate(Struct, frozen=True):
    """The NodeClaims of a NodePool."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimSpec = NodeClaimSpec()


class NodePoolSpec(Struct, frozen=True):
    """The nodes that a pool may create: ``limits`` hold for all of them together, ``replicas`` make it static."""

    template: NodeClaimTemplate = NodeClaimTemplate()
    limits: dict[str, core.Quantity] = {}
    weight: int | None = None
    replicas: int | None = None


class ConditionedStatus(Struct, frozen=True):
    """A status with conditions."""

    conditions: tuple[core.Condition, ...] = ()

    def condition(self, name: str) -> core.Condition | None:
        """Return the condition of that type, None where there is none."""
        return next((each for each in self.conditions if each.type == name), None)

    def holds(self, name: str) -> bool:
        """Whether the condition of that type is true."""
        return any(each.type == name and each.status == "True" for each in self.conditions)


class NodePool(KubernetesObject, frozen=True):
    """A pool in which Karpenter creates nodes."""

    spec: NodePoolSpec = NodePoolSpec()
    status: ConditionedStatus = ConditionedStatus()


class NodeClaimStatus(ConditionedStatus, frozen=True):
    """The machine and the Node of a claim."""

    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    capacity: dict[str, core.Quantity] = {}
    allocatable: dict[str, core.Quantity] = {}


class NodeClaim(KubernetesObject, frozen=True):
    """A node that Karpenter has requested from the cloud."""

    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()


class Subnet(Struct, frozen=True):
    """A network in which nodes can be created."""

    zone: str = ""


class EC2NodeClassStatus(ConditionedStatus, frozen=True):
    """The subnets of the class."""

    subnets: tuple[Subnet, ...] = ()


class EC2NodeClass(KubernetesObject, frozen=True):
    """The AWS settings of NodePools."""

    status: EC2NodeClassStatus = EC2NodeClassStatus()


class ConfigMapData(Struct, frozen=True):
    """The only entry that is read: the report of cluster-autoscaler about its node groups."""

    status: str = ""


class ConfigMap(KubernetesObject, frozen=True):
    """A ConfigMap; only that with cluster-autoscaler's status is read."""

    data: ConfigMapData = ConfigMapData()


# The annotation that lets cluster-autoscaler scale a group of machines up to a maximum.
NODE_GROUP_MAXIMUM = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
# The prefix of the annotations that describe the nodes of a group that has none.
NODE_GROUP_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
NODE_GROUP_ANNOTATIONS = (
    NODE_GROUP_MAXIMUM,
    *(f"{NODE_GROUP_CAPACITY}{name}" for name in ("cpu", "memory", "maxPods", "labels", "taints")),
    *(f"{NODE_GROUP_CAPACITY}{name}" for name in ("ephemeral-disk", "gpu-type", "gpu-count")),
)


class MachineDeployment(KubernetesObject, frozen=True):
    """A group of machines (Cluster API); its annotations say how far cluster-autoscaler may scale it."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: core.ReplicatedSpec = core.ReplicatedSpec()


class MachineSet(MachineDeployment, frozen=True):
    """A group of machines (Cluster API) of one revision of a MachineDeployment, or without a MachineDeployment."""


class OfferingSpec(msgspec.Struct, frozen=True):
    """The zone and capacity type in which an instance type is offered."""

    requirements: tuple[NodeSelectorRequirementWithMinValues, ...] = msgspec.field(name="Requirements", default=())


class InstanceTypeSpec(msgspec.Struct, frozen=True, rename="camel"):
    """One instance type in a file such as kwok's ``instance_types.json``.

    Source: karpenter kwok/cloudprovider/helpers.go InstanceTypeOptions (v1.14).
    """

    name: str
    architecture: str = "amd64"
    operating_systems: tuple[str, ...] = ("linux",)
    resources: dict[str, core.Quantity] = {}
    offerings: tuple[OfferingSpec, ...] = ()


class BackoffInfo(Struct, frozen=True):
    """Why cluster-autoscaler waits before it scales up a node group again."""

    error_message: str = ""


class NodeGroupScaleUp(Struct, frozen=True):
    """Whether a node group can scale up now; ``Backoff`` where it cannot."""

    status: str = ""
    backoff_info: BackoffInfo = BackoffInfo()


class UnreadyNodes(Struct, frozen=True):
    """Nodes that are no longer ready (count)."""

    total: int = 0


class RegisteredNodes(Struct, frozen=True):
    """Nodes in the cluster (counts); those that are neither start."""

    ready: int = 0
    unready: UnreadyNodes = UnreadyNodes()


class NodeCounts(Struct, frozen=True):
    """The nodes of a group (counts), with those that have not joined in time."""

    registered: RegisteredNodes = RegisteredNodes()
    long_unregistered: int = 0


class NodeGroupHealth(Struct, frozen=True):
    """The target size of a node group (nodes), and its maximum; ``node_counts``: None if not known."""

    status: str = ""
    cloud_provider_target: int = 0
    max_size: int = 0
    node_counts: NodeCounts | None = None

    @property
    def upcoming(self) -> int:
        """How many nodes (count) start, or have yet to join.

        Source: cluster-autoscaler clusterstate/clusterstate.go GetUpcomingNodes.
        """
        if self.node_counts is None:
            return 0
        there = self.node_counts.registered
        return self.cloud_provider_target - there.ready - there.unready.total - self.node_counts.long_unregistered

    @property
    def at_maximum(self) -> bool:
        """Whether the group wants as many nodes as it may have."""
        return self.cloud_provider_target >= self.max_size


class NodeGroupStatus(Struct, frozen=True):
    """The state of one node group, or of the whole cluster, where no node is added while it is not healthy."""

    name: str = ""
    health: NodeGroupHealth = NodeGroupHealth()
    scale_up: NodeGroupScaleUp = NodeGroupScaleUp()


class AutoscalerStatus(Struct, frozen=True):
    """The status that cluster-autoscaler writes into its ConfigMap.

    Source: cluster-autoscaler clusterstate/api/types.go (from 1.30; the status of older versions is not YAML).
    """

    cluster_wide: NodeGroupStatus = NodeGroupStatus()
    node_groups: tuple[NodeGroupStatus, ...] = ()
