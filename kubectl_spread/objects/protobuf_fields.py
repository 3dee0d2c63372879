"""Which number is which field: of the messages that Pods, Nodes and a Status are made of, the fields in use.

Written by ``python -m tests.protobuf`` from the releases' generated.proto; numbers never change. Of each field: its
number, its name, then its type as upstream has it. A field that no object has stands for fields of the object's own.
"""

from collections.abc import Mapping

_TABLE = """
AWSElasticBlockStoreVolumeSource: 1 volumeID string;
Affinity: 1 nodeAffinity NodeAffinity, 2 podAffinity PodAffinity, 3 podAntiAffinity PodAntiAffinity;
AzureDiskVolumeSource: 2 diskURI string, 6 kind string;
CinderVolumeSource: 1 volumeID string;
Container: 1 name string, 2 image string, 6 ports repeated ContainerPort, 8 resources ResourceRequirements, 9
  volumeMounts repeated VolumeMount, 24 restartPolicy string, 25 restartPolicyRules repeated ContainerRestartRule;
ContainerImage: 1 names repeated string, 2 sizeBytes int64;
ContainerPort: 2 hostPort int32, 3 containerPort int32, 4 protocol string, 5 hostIP string;
ContainerRestartRule: 1 action string;
ContainerState: 1 waiting ContainerStateWaiting;
ContainerStateWaiting: 1 reason string;
ContainerStatus: 1 name string, 2 state ContainerState, 10 allocatedResources map Quantity, 11 resources
  ResourceRequirements;
EmptyDirVolumeSource: 1 medium string;
EphemeralContainer: 1 ephemeralContainerCommon EphemeralContainerCommon;
EphemeralContainerCommon: 1 name string, 2 image string, 6 ports repeated ContainerPort, 8 resources
  ResourceRequirements, 9 volumeMounts repeated VolumeMount, 24 restartPolicy string, 25 restartPolicyRules repeated
  ContainerRestartRule;
EphemeralVolumeSource: 1 volumeClaimTemplate PersistentVolumeClaimTemplate;
GCEPersistentDiskVolumeSource: 1 pdName string, 4 readOnly bool;
ISCSIVolumeSource: 2 iqn string, 6 readOnly bool;
ImageVolumeSource: 1 reference string;
LabelSelector: 1 matchLabels map string, 2 matchExpressions repeated LabelSelectorRequirement;
LabelSelectorRequirement: 1 key string, 2 operator string, 3 values repeated string;
ListMeta: 2 resourceVersion string, 3 continue string, 4 remainingItemCount int64;
Node: 1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus;
NodeAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector, 2
  preferredDuringSchedulingIgnoredDuringExecution repeated PreferredSchedulingTerm;
NodeCondition: 1 type string, 2 status string;
NodePodPreemptionPolicy: 1 disableResizePreemption repeated string;
NodeSelector: 1 nodeSelectorTerms repeated NodeSelectorTerm;
NodeSelectorRequirement: 1 key string, 2 operator string, 3 values repeated string;
NodeSelectorTerm: 1 matchExpressions repeated NodeSelectorRequirement, 2 matchFields repeated NodeSelectorRequirement;
NodeSpec: 3 providerID string, 4 unschedulable bool, 5 taints repeated Taint, 8 podPreemptionPolicy
  NodePodPreemptionPolicy;
NodeStatus: 1 capacity map Quantity, 2 allocatable map Quantity, 4 conditions repeated NodeCondition, 7 nodeInfo
  NodeSystemInfo, 8 images repeated ContainerImage, 14 declaredFeatures repeated string;
NodeSystemInfo: 7 kubeletVersion string;
ObjectMeta: 1 name string, 2 generateName string, 3 namespace string, 5 uid string, 8 creationTimestamp Time, 9
  deletionTimestamp Time, 10 deletionGracePeriodSeconds int64, 11 labels map string, 12 annotations map string, 13
  ownerReferences repeated OwnerReference, 14 finalizers repeated string;
OwnerReference: 1 kind string, 3 name string, 4 uid string, 5 apiVersion string, 6 controller bool;
PersistentVolumeClaimSpec: 1 accessModes repeated string, 2 resources VolumeResourceRequirements, 3 volumeName string, 4
  selector LabelSelector, 5 storageClassName string, 6 volumeMode string, 9 volumeAttributesClassName string;
PersistentVolumeClaimTemplate: 1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec;
PersistentVolumeClaimVolumeSource: 1 claimName string;
Pod: 1 metadata ObjectMeta, 2 spec PodSpec, 3 status PodStatus;
PodAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution repeated PodAffinityTerm, 2
  preferredDuringSchedulingIgnoredDuringExecution repeated WeightedPodAffinityTerm;
PodAffinityTerm: 1 labelSelector LabelSelector, 2 namespaces repeated string, 3 topologyKey string, 4 namespaceSelector
  LabelSelector, 5 matchLabelKeys repeated string, 6 mismatchLabelKeys repeated string;
PodAntiAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution repeated PodAffinityTerm, 2
  preferredDuringSchedulingIgnoredDuringExecution repeated WeightedPodAffinityTerm;
PodCondition: 1 type string, 2 status string, 4 lastTransitionTime Time, 5 reason string, 6 message string;
PodResourceClaim: 1 name string, 3 resourceClaimName string, 4 resourceClaimTemplateName string;
PodResourceClaimStatus: 1 name string, 2 resourceClaimName string;
PodSchedulingGate: 1 name string;
PodSchedulingGroup: 1 podGroupName string;
PodSpec: 1 volumes repeated Volume, 2 containers repeated Container, 3 restartPolicy string, 5 activeDeadlineSeconds
  int64, 7 nodeSelector map string, 8 serviceAccountName string, 10 nodeName string, 11 hostNetwork bool, 18 affinity
  Affinity, 19 schedulerName string, 20 initContainers repeated Container, 22 tolerations repeated Toleration, 24
  priorityClassName string, 25 priority int32, 29 runtimeClassName string, 31 preemptionPolicy string, 32 overhead map
  Quantity, 33 topologySpreadConstraints repeated TopologySpreadConstraint, 34 ephemeralContainers repeated
  EphemeralContainer, 37 hostUsers bool, 38 schedulingGates repeated PodSchedulingGate, 39 resourceClaims repeated
  PodResourceClaim, 40 resources ResourceRequirements, 42 workloadRef WorkloadReference, 43 schedulingGroup
  PodSchedulingGroup;
PodStatus: 1 phase string, 2 conditions repeated PodCondition, 7 startTime Time, 8 containerStatuses repeated
  ContainerStatus, 10 initContainerStatuses repeated ContainerStatus, 11 nominatedNodeName string, 15
  resourceClaimStatuses repeated PodResourceClaimStatus, 19 allocatedResources map Quantity, 20 resources
  ResourceRequirements;
PortworxVolumeSource: 1 volumeID string;
PreferredSchedulingTerm: 1 weight int32, 2 preference NodeSelectorTerm;
RBDVolumeSource: 1 monitors repeated string, 2 image string, 4 pool string, 8 readOnly bool;
ResourceRequirements: 1 limits map Quantity, 2 requests map Quantity;
Status: 3 message string, 4 reason string, 5 details StatusDetails, 6 code int32;
StatusCause: 1 reason string, 2 message string, 3 field string;
StatusDetails: 1 name string, 3 kind string, 4 causes repeated StatusCause;
Taint: 1 key string, 2 value string, 3 effect string;
Toleration: 1 key string, 2 operator string, 3 value string, 4 effect string, 5 tolerationSeconds int64;
TopologySpreadConstraint: 1 maxSkew int32, 2 topologyKey string, 3 whenUnsatisfiable string, 4 labelSelector
  LabelSelector, 5 minDomains int32, 6 nodeAffinityPolicy string, 7 nodeTaintsPolicy string, 8 matchLabelKeys repeated
  string;
Volume: 1 name string, 2 volumeSource VolumeSource;
VolumeMount: 8 bindMountOptions repeated string;
VolumeResourceRequirements: 1 limits map Quantity, 2 requests map Quantity;
VolumeSource: 2 emptyDir EmptyDirVolumeSource, 3 gcePersistentDisk GCEPersistentDiskVolumeSource, 4 awsElasticBlockStore
  AWSElasticBlockStoreVolumeSource, 8 iscsi ISCSIVolumeSource, 10 persistentVolumeClaim
  PersistentVolumeClaimVolumeSource, 11 rbd RBDVolumeSource, 13 cinder CinderVolumeSource, 22 azureDisk
  AzureDiskVolumeSource, 24 portworxVolume PortworxVolumeSource, 29 ephemeral EphemeralVolumeSource, 30 image
  ImageVolumeSource;
WeightedPodAffinityTerm: 1 weight int32, 2 podAffinityTerm PodAffinityTerm;
WorkloadReference: 1 name string, 2 podGroup string;
"""

# Message → field → its number, and its type.
MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    name.strip(): {field: (int(number), " ".join(kind)) for number, field, *kind in map(str.split, fields.split(","))}
    for name, fields in (message.split(":") for message in _TABLE.split(";")[:-1])
}
