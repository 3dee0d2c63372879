"""Node, Pod, Namespace, Service, ServiceAccount, LimitRange, ResourceQuota, ReplicationController and Event.

Source: api core/v1/types.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import force_setattr, replace

from kubectl_spread.objects.meta import (
    AnnotatedMeta,
    KubernetesObject,
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
    ScaledMeta,
    Struct,
)

Quantity = str | int | float  # A quantity as the object has it; ``kubectl_spread.quantity`` parses it


class Condition(Struct, frozen=True):
    """One observation about an object."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class Phase(Struct, frozen=True):
    """The status of an object of which only the phase is read."""

    phase: str = ""


class Taint(Struct, frozen=True):
    """What a Pod must tolerate to run on a node."""

    key: str = ""
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        """Return the taint as kubectl prints it: ``key=value:effect``."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class PodPreemptionPolicy(Struct, frozen=True):
    """The preemptions that a node does not allow (from 1.37, alpha)."""

    disable_resize_preemption: tuple[str, ...] = ()


class NodeSpec(Struct, frozen=True):
    """The desired state of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    pod_preemption_policy: PodPreemptionPolicy = PodPreemptionPolicy()
    provider_id: str = msgspec.field(name="providerID", default="")


class NodeSystemInfo(Struct, frozen=True):
    """What the kubelet reports about the machine."""

    kubelet_version: str = ""


class ContainerImage(Struct, frozen=True):
    """An image on a node, with all its names."""

    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeCondition(Struct, frozen=True):
    """One observation about a node."""

    type: str = ""
    status: str = ""


class NodeStatus(Struct, frozen=True):
    """What a node offers, and its conditions."""

    capacity: dict[str, Quantity] = {}
    allocatable: dict[str, Quantity] = {}
    node_info: NodeSystemInfo = NodeSystemInfo()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()
    conditions: tuple[NodeCondition, ...] = ()


# The keys of the taints of a node whose kubelet does not answer, or reports that the node is not ready.
NOT_ANSWERING = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class Node(KubernetesObject, frozen=True):
    """A machine that Pods run on."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def answers(self) -> bool:
        """Whether its kubelet answers, as far as is known; if not, a deleted Pod does not end."""
        ready = next((each.status for each in self.status.conditions if each.type == "Ready"), "True")
        return ready == "True" and not any(taint.key in NOT_ANSWERING for taint in self.spec.taints)


class NodeSelectorRequirement(LabelSelectorRequirement, frozen=True):
    """One expression on a node's labels or fields."""


class NodeSelectorTerm(Struct, frozen=True):
    """Expressions that must all hold; a term without expressions matches no node."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Struct, frozen=True):
    """Terms, one of which must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Struct, frozen=True):
    """A term that adds its weight to the score of the nodes that match it."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"  # The fields of every affinity


class NodeAffinity(Struct, frozen=True):
    """The nodes that a Pod requires and prefers."""

    required: NodeSelector | None = msgspec.field(name=REQUIRED, default=None)
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(name=PREFERRED, default=())


class PodAffinityTerm(Struct, frozen=True):
    """Other Pods, and the topology key that says what is near them."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Struct, frozen=True):
    """A term that adds its weight to the score."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Struct, frozen=True):
    """Terms about other Pods, for affinity and for anti-affinity."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(name=REQUIRED, default=())
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(name=PREFERRED, default=())


class Affinity(Struct, frozen=True):
    """All affinities of a Pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Struct, frozen=True):
    """The taints that a Pod tolerates."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Struct, frozen=True):
    """How evenly matching Pods must be spread over the domains of a topology key."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ResourceRequirements(Struct, frozen=True):
    """What a container or Pod requests, and its limits."""

    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}


class ContainerPort(Struct, frozen=True):
    """A port of a container; host_port 0 uses no port of the node."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"


class ContainerRestartRule(Struct, frozen=True):
    """The action when a container exits in a certain way."""

    action: str = ""


FILESYSTEM = "Filesystem"  # The default mode of a volume


class PersistentVolumeClaimSpec(Struct, frozen=True):
    """The volume that is requested; ``volume_name`` is the volume that is bound to the claim.

    A ``storage_class_name`` of None means the cluster's default class, an empty one no class.
    """

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: ResourceRequirements = ResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str = FILESYSTEM
    volume_attributes_class_name: str = ""


class PersistentVolumeClaimTemplate(Struct, frozen=True):
    """The claim that is created for a Pod's ephemeral volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Struct, frozen=True):
    """A volume with a claim that exists as long as the Pod."""

    volume_claim_template: PersistentVolumeClaimTemplate = PersistentVolumeClaimTemplate()


class VolumeMount(Struct, frozen=True):
    """How a container mounts a volume; its name and path are only those of templates."""

    name: str = ""
    mount_path: str = ""
    bind_mount_options: tuple[str, ...] = ()


class Container(Struct, frozen=True):
    """A container, init container or sidecar (an init container whose restart_policy is Always)."""

    name: str = ""
    image: str = ""
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()


class PersistentVolumeClaimVolumeSource(Struct, frozen=True):
    """A claim that a Pod mounts."""

    claim_name: str = ""


class EmptyDirVolumeSource(Struct, frozen=True):
    """A directory that is deleted with the Pod."""

    medium: str = ""


class ImageVolumeSource(Struct, frozen=True):
    """An image that is mounted as a volume."""

    reference: str = ""


class GCEPersistentDiskVolumeSource(Struct, frozen=True):
    """A Google Compute Engine disk."""

    pd_name: str = ""
    read_only: bool = False


class VolumeIDSource(Struct, frozen=True):
    """An Amazon EBS, OpenStack Cinder or Portworx volume."""

    volume_id: str = msgspec.field(name="volumeID", default="")


class AzureDiskVolumeSource(Struct, frozen=True):
    """An Azure disk; the API server sets the kind where it is absent."""

    disk_uri: str = msgspec.field(name="diskURI", default="")
    kind: str = "Shared"


class ISCSIVolumeSource(Struct, frozen=True):
    """An iSCSI disk."""

    iqn: str = ""
    read_only: bool = False


class RBDVolumeSource(Struct, frozen=True):
    """A Ceph block device."""

    monitors: tuple[str, ...] = ()
    pool: str = "rbd"
    image: str = ""
    read_only: bool = False


class InTreeVolumeSources(Struct, frozen=True):
    """In-tree sources of a Pod's volume or a PersistentVolume, which CSI drivers serve today."""

    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: VolumeIDSource | None = None
    cinder: VolumeIDSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    portworx_volume: VolumeIDSource | None = None

    @property
    def in_tree(self) -> bool:
        """Whether any of these sources is set."""
        others = (self.cinder, self.azure_disk, self.portworx_volume)
        return any((self.gce_persistent_disk, self.aws_elastic_block_store, *others))


class Volume(InTreeVolumeSources, frozen=True):
    """A volume of a Pod, with the sources that filters, scores or drains read."""

    name: str = ""
    empty_dir: EmptyDirVolumeSource | None = None
    image: ImageVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None

    @property
    def claims(self) -> bool:
        """Whether a PersistentVolumeClaim is behind it, also one that is created for the Pod."""
        return bool(self.persistent_volume_claim or self.ephemeral)

    @property
    def restricts_nodes(self) -> bool:
        """Whether a volume filter judges it."""
        return self.claims or self.in_tree or bool(self.iscsi or self.rbd)


class PodSchedulingGate(Struct, frozen=True):
    """A gate that keeps a Pod out of scheduling until it is removed."""

    name: str = ""


class PodResourceClaim(Struct, frozen=True):
    """A ResourceClaim that exists, or a template from which one is created for the Pod."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSchedulingGroup(Struct, frozen=True):
    """The PodGroup with which a Pod is scheduled (from 1.36)."""

    pod_group_name: str = ""


class WorkloadReference(Struct, frozen=True):
    """The group of a Workload with which a Pod is scheduled (1.35)."""

    name: str = ""
    pod_group: str = ""


class PodSpec(Struct, frozen=True):
    """The desired state of a Pod, as far as it is read; ``service_account`` is empty once it is decoded."""

    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduler_name: str = "default-scheduler"
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[Container, ...] = ()
    overhead: dict[str, Quantity] = {}
    resources: ResourceRequirements | None = None
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    workload_ref: WorkloadReference | None = None
    host_network: bool = False
    host_users: bool | None = None
    restart_policy: str = "Always"
    service_account_name: str = ""
    service_account: str = ""
    active_deadline_seconds: int | None = None

    @property
    def required_nodes(self) -> NodeSelector | None:
        """The required node affinity; None for none."""
        affinity = self.affinity.node_affinity if self.affinity else None
        return affinity.required if affinity else None

    @property
    def required_terms(self) -> tuple[NodeSelectorTerm, ...]:
        """The terms of the required node affinity, one of which must match; empty for none."""
        return self.required_nodes.node_selector_terms if self.required_nodes else ()

    def with_containers(self, change: Callable[[Container], Container]) -> PodSpec:
        """Return the spec with its containers and init containers changed."""
        containers, init_containers = map(change, self.containers), map(change, self.init_containers)
        return replace(self, containers=tuple(containers), init_containers=tuple(init_containers))

    def __post_init__(self) -> None:
        """Take the former name of the field for the present one.

        Source: pkg/apis/core/v1/conversion.go Convert_v1_PodSpec_To_core_PodSpec (v1.36).
        """
        if self.service_account:
            force_setattr(self, "service_account_name", self.service_account_name or self.service_account)
            force_setattr(self, "service_account", "")

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of the scheduling gates that keep the Pod out of the scheduler's queue.

        Source: kube-scheduler schedulinggates/scheduling_gates.go PreEnqueue (v1.36), KEP-3521.
        """
        return tuple(gate.name for gate in self.scheduling_gates)


class PodCondition(Condition, frozen=True):
    """One observation about a Pod."""

    last_transition_time: str | None = None

    @property
    def refuses(self) -> bool:
        """Whether the scheduler reports here that it could not schedule the Pod."""
        return (self.type, self.status) == ("PodScheduled", "False") and self.reason != "SchedulingGated"


class ContainerStateWaiting(Struct, frozen=True):
    """Why a container does not run yet."""

    reason: str = ""


class ContainerState(Struct, frozen=True):
    """What a container waits for; None if it has started."""

    waiting: ContainerStateWaiting | None = None


class ContainerStatus(Struct, frozen=True):
    """What a container waits for, and the resources that the kubelet gave it."""

    name: str = ""
    state: ContainerState | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] = {}


class PodResourceClaimStatus(Struct, frozen=True):
    """The claim that was created for a Pod; None where none is needed."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(Struct, frozen=True):
    """The observed state of a Pod."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] = {}


# Our own fields in a template; the last-applied annotation may have the first too.
REST, UNKEPT = (f"spread.kubectl.dev/{name}" for name in ("rest", "unkept"))


class Pod(KubernetesObject, frozen=True):
    """A Pod, bound to a node or not."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def finished(self) -> bool:
        """Whether it Succeeded or Failed; the scheduler ignores such Pods."""
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def waits(self) -> bool:
        """Whether it waits for a node."""
        return not (self.spec.node_name or self.finished or self.terminating)

    @property
    def ready(self) -> bool:
        """Whether it is Ready; a Pod on a node without any status, as in a file written by hand, counts as Ready."""
        if not self.status.phase and not self.status.conditions:
            return bool(self.spec.node_name)
        return any(condition.type == "Ready" and condition.status == "True" for condition in self.status.conditions)

    @property
    def at_work(self) -> bool:
        """Whether it runs and has no condition that says that it is not Ready."""
        unready = any(each.type == "Ready" and each.status != "True" for each in self.status.conditions)
        return bool(self.spec.node_name) and self.status.phase in {"Running", ""} and not (self.terminating or unready)

    @property
    def has_empty_dir(self) -> bool:
        """Whether it has data that is lost with it."""
        return any(volume.empty_dir is not None for volume in self.spec.volumes)

    @property
    def terminating(self) -> bool:
        """Whether it is being deleted."""
        return self.metadata.deletion_timestamp is not None


class PodTemplateSpec(Struct, frozen=True):
    """The Pods that a workload creates."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    # a digest of all fields that are not kept, as template_rest.py writes it; empty where it is not known
    rest: str = msgspec.field(name=REST, default="")
    # those fields as JSON, of workloads that people apply; they may be secret, and no output may hold them
    unkept: str = msgspec.field(name=UNKEPT, default="")


class Namespace(KubernetesObject, frozen=True):
    """A namespace; its labels are what namespace selectors read."""

    status: Phase = Phase()


class ServiceSpec(Struct, frozen=True):
    """The Pods that a Service selects; None selects none."""

    selector: dict[str, str] | None = None


class Service(KubernetesObject, frozen=True):
    """A Service; default constraints count the Pods that it selects."""

    spec: ServiceSpec = ServiceSpec()


class ReplicatedSpec(Struct, frozen=True):
    """The desired number of replicas; None means 1."""

    replicas: int | None = None

    @property
    def replicas_wanted(self) -> int:
        """The desired replicas (count), with the default applied."""
        return 1 if self.replicas is None else self.replicas


class ReplicationControllerSpec(ReplicatedSpec, frozen=True):
    """The Pods that a ReplicationController manages."""

    selector: dict[str, str] = {}
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicatedStatus(Struct, frozen=True):
    """The Pods that exist (count)."""

    replicas: int = 0


class ReplicaSetStatus(ReplicatedStatus, frozen=True):
    """The observed state of a ReplicaSet or ReplicationController."""

    conditions: tuple[Condition, ...] = ()


class ReplicationController(KubernetesObject, frozen=True):
    """The predecessor of the ReplicaSet."""

    metadata: ScaledMeta = ScaledMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class LimitRangeItem(Struct, frozen=True):
    """Bounds and defaults for objects of a type: Pod, Container or PersistentVolumeClaim."""

    type: str = ""
    max: dict[str, Quantity] = {}
    min: dict[str, Quantity] = {}
    default: dict[str, Quantity] = {}
    default_request: dict[str, Quantity] = {}
    max_limit_request_ratio: dict[str, Quantity] = {}


class LimitRangeSpec(Struct, frozen=True):
    """The bounds and defaults of each type."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubernetesObject, frozen=True):
    """The bounds and defaults of a namespace."""

    spec: LimitRangeSpec = LimitRangeSpec()


class ObjectReference(Struct, frozen=True):
    """A reference to an object, as Events and volumes have it."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


FAILED_SCHEDULING = "FailedScheduling"  # The reason of the Events in which a component says why a Pod gets no node
# The components that report such Events beside the scheduler.
AUTOSCALERS = frozenset(("karpenter", "cluster-autoscaler"))


class EventSource(Struct, frozen=True):
    """The component that reported an Event, as older clients write it."""

    component: str = ""


class EventSeries(Struct, frozen=True):
    """How often an Event was repeated."""

    count: int = 0
    last_observed_time: str | None = None


class Event(KubernetesObject, frozen=True):
    """A report of a component about an object."""

    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    count: int = 0
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: EventSeries | None = None
    reporting_component: str = ""
    source: EventSource = EventSource()

    @property
    def speaker(self) -> str:
        """The component that reported it; empty where it is not named."""
        return self.reporting_component or self.source.component

    @property
    def time(self) -> str:
        """When it was last reported; empty where that is not known."""
        series = self.series.last_observed_time if self.series else None
        return series or self.last_timestamp or self.event_time or self.first_timestamp or ""


class ScopedResourceSelectorRequirement(Struct, frozen=True):
    """One expression on a scope of a quota, such as PriorityClass."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Struct, frozen=True):
    """Expressions that must all hold."""

    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Struct, frozen=True):
    """The hard limit of each resource, for the objects in the scopes."""

    hard: dict[str, Quantity] = {}
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector = ScopeSelector()


class ResourceQuotaStatus(Struct, frozen=True):
    """The enforced limits, and how much of them is used."""

    hard: dict[str, Quantity] = {}
    used: dict[str, Quantity] = {}


class ResourceQuota(KubernetesObject, frozen=True):
    """The limits on what the objects of a namespace use together."""

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class ServiceAccount(KubernetesObject, frozen=True):
    """The identity of a Pod's processes."""
