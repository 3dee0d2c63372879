"""Node, Pod, Namespace, Service, ServiceAccount, LimitRange, ResourceQuota, ReplicationController and Event.

Source: api core/v1/types.go (v1.36).
"""

from __future__ import annotations

import msgspec

from kubectl_spread.objects.meta import AnnotatedMeta, LabelSelector, ObjectMeta, ScaledMeta, Struct

Quantity = str | int | float
"""A quantity as it stands in the object; ``kubectl_spread.quantity`` reads it."""


class Taint(Struct, frozen=True):
    """What a Pod must tolerate to be on a node."""

    key: str = ""
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        """Return the taint as kubectl writes it: ``key=value:effect``."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class PodPreemptionPolicy(Struct, frozen=True):
    """Which preemptions a node refuses (from 1.37, alpha)."""

    disable_resize_preemption: tuple[str, ...] = ()


class NodeSpec(Struct, frozen=True):
    """What is asked of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    pod_preemption_policy: PodPreemptionPolicy = PodPreemptionPolicy()
    provider_id: str = msgspec.field(name="providerID", default="")


class NodeSystemInfo(Struct, frozen=True):
    """What the kubelet says of its machine."""

    kubelet_version: str = ""


class ContainerImage(Struct, frozen=True):
    """An image a node has, under all its names."""

    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeCondition(Struct, frozen=True):
    """One observation about a node."""

    type: str = ""
    status: str = ""


class NodeStatus(Struct, frozen=True):
    """What a node offers, and whether its kubelet answers."""

    capacity: dict[str, Quantity] = {}
    allocatable: dict[str, Quantity] = {}
    node_info: NodeSystemInfo = NodeSystemInfo()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()
    conditions: tuple[NodeCondition, ...] = ()


NOT_ANSWERING = frozenset(("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"))


class Node(Struct, frozen=True):
    """A machine Pods run on."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def answers(self) -> bool:
        """Whether its kubelet answers, for all that is known: only then does a Pod that is deleted end."""
        ready = next((each.status for each in self.status.conditions if each.type == "Ready"), "True")
        return ready == "True" and not any(taint.key in NOT_ANSWERING for taint in self.spec.taints)


class NodeSelectorRequirement(Struct, frozen=True):
    """One expression on a node's labels or fields."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Struct, frozen=True):
    """Expressions that must all hold; a term without any matches no node."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Struct, frozen=True):
    """Terms of which one must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Struct, frozen=True):
    """A term that adds its weight to the score of the nodes that meet it."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Struct, frozen=True):
    """Which nodes a Pod may and would rather run on."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(Struct, frozen=True):
    """Pods, and the topology in which to be near them or not."""

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
    """Terms on other Pods, for affinity and for anti-affinity alike."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Struct, frozen=True):
    """All affinities of a Pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Struct, frozen=True):
    """Taints a Pod puts up with."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Struct, frozen=True):
    """How evenly matching Pods must lie over the domains of a topology key."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ResourceRequirements(Struct, frozen=True):
    """What a container or Pod asks for and may use at most."""

    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}


class ContainerPort(Struct, frozen=True):
    """A port of a container; host_port 0 takes none of the node's."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"


class ContainerRestartRule(Struct, frozen=True):
    """What is done when a container ends in a certain way."""

    action: str = ""


FILESYSTEM = "Filesystem"
"""The mode of a volume that does not say another."""


class PersistentVolumeClaimSpec(Struct, frozen=True):
    """The volume that is asked for; ``volume_name`` is the one that was found.

    Without a storage_class_name the cluster's default class is meant, with an empty one none.
    """

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: ResourceRequirements = ResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str = FILESYSTEM
    volume_attributes_class_name: str = ""


class PersistentVolumeClaimTemplate(Struct, frozen=True):
    """The claim that is made for a Pod's ephemeral volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Struct, frozen=True):
    """A volume that lives as long as its Pod."""

    volume_claim_template: PersistentVolumeClaimTemplate = PersistentVolumeClaimTemplate()


class VolumeMount(Struct, frozen=True):
    """Where a container sees a volume."""

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
    """A claim a Pod mounts."""

    claim_name: str = ""


class EmptyDirVolumeSource(Struct, frozen=True):
    """A directory that goes with the Pod."""

    medium: str = ""


class ImageVolumeSource(Struct, frozen=True):
    """An image mounted as a volume."""

    reference: str = ""


class GCEPersistentDiskVolumeSource(Struct, frozen=True):
    """A Google Compute Engine disk."""

    pd_name: str = ""
    read_only: bool = False


class VolumeIDSource(Struct, frozen=True):
    """An Amazon EBS, OpenStack Cinder or Portworx volume."""

    volume_id: str = msgspec.field(name="volumeID", default="")


class AzureDiskVolumeSource(Struct, frozen=True):
    """An Azure disk; an API server sets the kind where it is left out."""

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
    """The sources, of a Pod's volume or a PersistentVolume, that Kubernetes leaves to CSI drivers nowadays."""

    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: VolumeIDSource | None = None
    cinder: VolumeIDSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    portworx_volume: VolumeIDSource | None = None

    @property
    def in_tree(self) -> bool:
        """Whether it is one of these."""
        others = (self.cinder, self.azure_disk, self.portworx_volume)
        return any((self.gce_persistent_disk, self.aws_elastic_block_store, *others))


class Volume(InTreeVolumeSources, frozen=True):
    """A volume of a Pod: only the sources that can keep it off a node or change its score, or hold back a drain."""

    name: str = ""
    empty_dir: EmptyDirVolumeSource | None = None
    image: ImageVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None

    @property
    def claims(self) -> bool:
        """Whether it is a PersistentVolumeClaim of the Pod's namespace, or one made for the Pod."""
        return bool(self.persistent_volume_claim or self.ephemeral)

    @property
    def restricts_nodes(self) -> bool:
        """Whether a volume filter has something to judge about it."""
        return self.claims or self.in_tree or bool(self.iscsi or self.rbd)


class PodSchedulingGate(Struct, frozen=True):
    """A name that holds a Pod back until somebody removes it."""

    name: str = ""


class PodResourceClaim(Struct, frozen=True):
    """A claim on devices (dynamic resource allocation), one that exists or one that is made for the Pod."""

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
    """What a Pod asks for, as far as scheduling reads it."""

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
    active_deadline_seconds: int | None = None


class PodCondition(Struct, frozen=True):
    """One observation about a Pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None

    @property
    def refuses(self) -> bool:
        """Whether the scheduler says here that it could not schedule the Pod."""
        return (self.type, self.status) == ("PodScheduled", "False") and self.reason != "SchedulingGated"


class ContainerStatus(Struct, frozen=True):
    """What the kubelet has given a container."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] = {}


class PodResourceClaimStatus(Struct, frozen=True):
    """The claim that was made for a Pod; None where its driver needs none."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(Struct, frozen=True):
    """What has become of a Pod."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] = {}


class Pod(Struct, frozen=True):
    """A Pod, bound to a node or not."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def key(self) -> tuple[str, str]:
        """Its identity: (namespace, name)."""
        return self.metadata.namespace, self.metadata.name

    @property
    def finished(self) -> bool:
        """Whether it has ended: the scheduler does not see such Pods."""
        return self.status.phase in FINISHED_PHASES

    @property
    def waits(self) -> bool:
        """Whether it waits for a node."""
        return not (self.spec.node_name or self.finished or self.terminating)

    @property
    def ready(self) -> bool:
        """Whether it says that it is ready; one on a node of which nothing is said, as in a file by hand, is."""
        if not self.status.phase and not self.status.conditions:
            return bool(self.spec.node_name)
        return any(condition.type == "Ready" and condition.status == "True" for condition in self.status.conditions)

    @property
    def at_work(self) -> bool:
        """Whether it runs, and does not say that it is not ready: a file by hand may say little."""
        unready = any(each.type == "Ready" and each.status != "True" for each in self.status.conditions)
        return bool(self.spec.node_name) and self.status.phase in {"Running", ""} and not (self.terminating or unready)

    @property
    def terminating(self) -> bool:
        """Whether it is being deleted."""
        return self.metadata.deletion_timestamp is not None


REST, UNKEPT = "spread.kubectl.dev/rest", "spread.kubectl.dev/unkept"
"""The fields of ours in a template; in what was applied last the first too."""
FINISHED_PHASES = frozenset(("Succeeded", "Failed"))


class PodTemplateSpec(Struct, frozen=True):
    """The Pods a workload makes.

    Attributes:
        rest: a digest of all that is not kept of it, as template_rest.py writes it; empty where that is not known.
        unkept: what that is, as JSON, of workloads that roll out; it may be secret, and no output may hold it.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    rest: str = msgspec.field(name=REST, default="")
    unkept: str = msgspec.field(name=UNKEPT, default="")


class NamespaceStatus(Struct, frozen=True):
    """Whether a namespace lasts."""

    phase: str = ""


class Namespace(Struct, frozen=True):
    """A namespace; its labels are what namespace selectors read."""

    metadata: ObjectMeta = ObjectMeta()
    status: NamespaceStatus = NamespaceStatus()


class ServiceSpec(Struct, frozen=True):
    """Which Pods a Service reaches; None selects none."""

    selector: dict[str, str] | None = None


class Service(Struct, frozen=True):
    """A Service: the default constraints select by it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class ReplicatedSpec(Struct, frozen=True):
    """What says how many Pods there are to be; ``replicas`` None means 1."""

    replicas: int | None = None

    @property
    def replicas_wanted(self) -> int:
        """How many Pods there are to be (count)."""
        return 1 if self.replicas is None else self.replicas


class ReplicationControllerSpec(ReplicatedSpec, frozen=True):
    """Which Pods a ReplicationController keeps."""

    selector: dict[str, str] = {}
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicaSetCondition(Struct, frozen=True):
    """One observation about a ReplicaSet or ReplicationController."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class ReplicatedStatus(Struct, frozen=True):
    """How many Pods there are (count)."""

    replicas: int = 0


class ReplicaSetStatus(ReplicatedStatus, frozen=True):
    """How a ReplicaSet or ReplicationController fares."""

    conditions: tuple[ReplicaSetCondition, ...] = ()


class ReplicationController(Struct, frozen=True):
    """The elder sibling of the ReplicaSet."""

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
    """What holds for each type."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Struct, frozen=True):
    """What containers of a namespace request where they say nothing."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()


class ObjectReference(Struct, frozen=True):
    """What an Event speaks of."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


FAILED_SCHEDULING = "FailedScheduling"
"""The reason of the Events in which the scheduler says why a Pod finds no node."""


AUTOSCALERS = frozenset(("karpenter", "cluster-autoscaler"))
"""The components beside the scheduler that say of Pods why they find no node."""


class EventSource(Struct, frozen=True):
    """Who said something, as older clients write it."""

    component: str = ""


class EventSeries(Struct, frozen=True):
    """How often an Event was repeated."""

    count: int = 0
    last_observed_time: str | None = None


class Event(Struct, frozen=True):
    """What a component said of an object."""

    metadata: ObjectMeta = ObjectMeta()
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
        """The component that said it; empty where it does not say."""
        return self.reporting_component or self.source.component

    @property
    def time(self) -> str:
        """When it was last said; empty where that is not known."""
        series = self.series.last_observed_time if self.series else None
        return series or self.last_timestamp or self.event_time or self.first_timestamp or ""


class ScopedResourceSelectorRequirement(Struct, frozen=True):
    """One expression on a scope, such as the PriorityClass, of the Pods that a quota counts."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Struct, frozen=True):
    """Expressions that must all hold."""

    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Struct, frozen=True):
    """How much there may be of what, among the objects of the scopes."""

    hard: dict[str, Quantity] = {}
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector = ScopeSelector()


class ResourceQuotaStatus(Struct, frozen=True):
    """What is enforced, and what is used of it."""

    hard: dict[str, Quantity] = {}
    used: dict[str, Quantity] = {}


class ResourceQuota(Struct, frozen=True):
    """How much the objects of a namespace may be or take together."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class ServiceAccount(Struct, frozen=True):
    """Whom the processes of a Pod act as."""

    metadata: ObjectMeta = ObjectMeta()
