"""Which number is which field: of the messages that Pods, Nodes and a Status are made of, the fields in use.

Written by ``python -m tests.protobuf`` from the releases' generated.proto; numbers never change. Of each field: its
number, then its type as upstream has it. A field that no object has stands for fields of the object's own.
"""

from __future__ import annotations

from collections.abc import Mapping

# fmt: off
MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "AWSElasticBlockStoreVolumeSource": {
        "volumeID": (1, "string"),
    },
    "Affinity": {
        "nodeAffinity": (1, "NodeAffinity"),
        "podAffinity": (2, "PodAffinity"),
        "podAntiAffinity": (3, "PodAntiAffinity"),
    },
    "AzureDiskVolumeSource": {
        "diskURI": (2, "string"),
        "kind": (6, "string"),
    },
    "CinderVolumeSource": {
        "volumeID": (1, "string"),
    },
    "Container": {
        "name": (1, "string"),
        "image": (2, "string"),
        "ports": (6, "repeated ContainerPort"),
        "resources": (8, "ResourceRequirements"),
        "volumeMounts": (9, "repeated VolumeMount"),
        "restartPolicy": (24, "string"),
        "restartPolicyRules": (25, "repeated ContainerRestartRule"),
    },
    "ContainerImage": {
        "names": (1, "repeated string"),
        "sizeBytes": (2, "int64"),
    },
    "ContainerPort": {
        "hostPort": (2, "int32"),
        "containerPort": (3, "int32"),
        "protocol": (4, "string"),
        "hostIP": (5, "string"),
    },
    "ContainerRestartRule": {
        "action": (1, "string"),
    },
    "ContainerStatus": {
        "name": (1, "string"),
        "allocatedResources": (10, "map Quantity"),
        "resources": (11, "ResourceRequirements"),
    },
    "EphemeralContainer": {
        "ephemeralContainerCommon": (1, "EphemeralContainerCommon"),
    },
    "EphemeralContainerCommon": {
        "name": (1, "string"),
        "image": (2, "string"),
        "ports": (6, "repeated ContainerPort"),
        "resources": (8, "ResourceRequirements"),
        "volumeMounts": (9, "repeated VolumeMount"),
        "restartPolicy": (24, "string"),
        "restartPolicyRules": (25, "repeated ContainerRestartRule"),
    },
    "EphemeralVolumeSource": {
        "volumeClaimTemplate": (1, "PersistentVolumeClaimTemplate"),
    },
    "GCEPersistentDiskVolumeSource": {
        "pdName": (1, "string"),
        "readOnly": (4, "bool"),
    },
    "ISCSIVolumeSource": {
        "iqn": (2, "string"),
        "readOnly": (6, "bool"),
    },
    "ImageVolumeSource": {
        "reference": (1, "string"),
    },
    "LabelSelector": {
        "matchLabels": (1, "map string"),
        "matchExpressions": (2, "repeated LabelSelectorRequirement"),
    },
    "LabelSelectorRequirement": {
        "key": (1, "string"),
        "operator": (2, "string"),
        "values": (3, "repeated string"),
    },
    "ListMeta": {
        "resourceVersion": (2, "string"),
        "continue": (3, "string"),
        "remainingItemCount": (4, "int64"),
    },
    "Node": {
        "metadata": (1, "ObjectMeta"),
        "spec": (2, "NodeSpec"),
        "status": (3, "NodeStatus"),
    },
    "NodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": (1, "NodeSelector"),
        "preferredDuringSchedulingIgnoredDuringExecution": (2, "repeated PreferredSchedulingTerm"),
    },
    "NodeCondition": {
        "type": (1, "string"),
        "status": (2, "string"),
    },
    "NodePodPreemptionPolicy": {
        "disableResizePreemption": (1, "repeated string"),
    },
    "NodeSelector": {
        "nodeSelectorTerms": (1, "repeated NodeSelectorTerm"),
    },
    "NodeSelectorRequirement": {
        "key": (1, "string"),
        "operator": (2, "string"),
        "values": (3, "repeated string"),
    },
    "NodeSelectorTerm": {
        "matchExpressions": (1, "repeated NodeSelectorRequirement"),
        "matchFields": (2, "repeated NodeSelectorRequirement"),
    },
    "NodeSpec": {
        "unschedulable": (4, "bool"),
        "taints": (5, "repeated Taint"),
        "podPreemptionPolicy": (8, "NodePodPreemptionPolicy"),
    },
    "NodeStatus": {
        "capacity": (1, "map Quantity"),
        "allocatable": (2, "map Quantity"),
        "conditions": (4, "repeated NodeCondition"),
        "nodeInfo": (7, "NodeSystemInfo"),
        "images": (8, "repeated ContainerImage"),
        "declaredFeatures": (14, "repeated string"),
    },
    "NodeSystemInfo": {
        "kubeletVersion": (7, "string"),
    },
    "ObjectMeta": {
        "name": (1, "string"),
        "generateName": (2, "string"),
        "namespace": (3, "string"),
        "uid": (5, "string"),
        "creationTimestamp": (8, "Time"),
        "deletionTimestamp": (9, "Time"),
        "deletionGracePeriodSeconds": (10, "int64"),
        "labels": (11, "map string"),
        "annotations": (12, "map string"),
        "ownerReferences": (13, "repeated OwnerReference"),
        "finalizers": (14, "repeated string"),
    },
    "OwnerReference": {
        "kind": (1, "string"),
        "name": (3, "string"),
        "uid": (4, "string"),
        "apiVersion": (5, "string"),
        "controller": (6, "bool"),
    },
    "PersistentVolumeClaimSpec": {
        "accessModes": (1, "repeated string"),
        "resources": (2, "VolumeResourceRequirements"),
        "volumeName": (3, "string"),
        "selector": (4, "LabelSelector"),
        "storageClassName": (5, "string"),
        "volumeMode": (6, "string"),
        "volumeAttributesClassName": (9, "string"),
    },
    "PersistentVolumeClaimTemplate": {
        "metadata": (1, "ObjectMeta"),
        "spec": (2, "PersistentVolumeClaimSpec"),
    },
    "PersistentVolumeClaimVolumeSource": {
        "claimName": (1, "string"),
    },
    "Pod": {
        "metadata": (1, "ObjectMeta"),
        "spec": (2, "PodSpec"),
        "status": (3, "PodStatus"),
    },
    "PodAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": (1, "repeated PodAffinityTerm"),
        "preferredDuringSchedulingIgnoredDuringExecution": (2, "repeated WeightedPodAffinityTerm"),
    },
    "PodAffinityTerm": {
        "labelSelector": (1, "LabelSelector"),
        "namespaces": (2, "repeated string"),
        "topologyKey": (3, "string"),
        "namespaceSelector": (4, "LabelSelector"),
        "matchLabelKeys": (5, "repeated string"),
        "mismatchLabelKeys": (6, "repeated string"),
    },
    "PodAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": (1, "repeated PodAffinityTerm"),
        "preferredDuringSchedulingIgnoredDuringExecution": (2, "repeated WeightedPodAffinityTerm"),
    },
    "PodCondition": {
        "type": (1, "string"),
        "status": (2, "string"),
        "lastTransitionTime": (4, "Time"),
        "reason": (5, "string"),
        "message": (6, "string"),
    },
    "PodResourceClaim": {
        "name": (1, "string"),
        "resourceClaimName": (3, "string"),
        "resourceClaimTemplateName": (4, "string"),
    },
    "PodResourceClaimStatus": {
        "name": (1, "string"),
        "resourceClaimName": (2, "string"),
    },
    "PodSchedulingGate": {
        "name": (1, "string"),
    },
    "PodSchedulingGroup": {
        "podGroupName": (1, "string"),
    },
    "PodSpec": {
        "volumes": (1, "repeated Volume"),
        "containers": (2, "repeated Container"),
        "restartPolicy": (3, "string"),
        "activeDeadlineSeconds": (5, "int64"),
        "nodeSelector": (7, "map string"),
        "serviceAccountName": (8, "string"),
        "nodeName": (10, "string"),
        "hostNetwork": (11, "bool"),
        "affinity": (18, "Affinity"),
        "schedulerName": (19, "string"),
        "initContainers": (20, "repeated Container"),
        "tolerations": (22, "repeated Toleration"),
        "priorityClassName": (24, "string"),
        "priority": (25, "int32"),
        "runtimeClassName": (29, "string"),
        "preemptionPolicy": (31, "string"),
        "overhead": (32, "map Quantity"),
        "topologySpreadConstraints": (33, "repeated TopologySpreadConstraint"),
        "ephemeralContainers": (34, "repeated EphemeralContainer"),
        "hostUsers": (37, "bool"),
        "schedulingGates": (38, "repeated PodSchedulingGate"),
        "resourceClaims": (39, "repeated PodResourceClaim"),
        "resources": (40, "ResourceRequirements"),
        "workloadRef": (42, "WorkloadReference"),
        "schedulingGroup": (43, "PodSchedulingGroup"),
    },
    "PodStatus": {
        "phase": (1, "string"),
        "conditions": (2, "repeated PodCondition"),
        "startTime": (7, "Time"),
        "containerStatuses": (8, "repeated ContainerStatus"),
        "initContainerStatuses": (10, "repeated ContainerStatus"),
        "nominatedNodeName": (11, "string"),
        "resourceClaimStatuses": (15, "repeated PodResourceClaimStatus"),
        "allocatedResources": (19, "map Quantity"),
        "resources": (20, "ResourceRequirements"),
    },
    "PortworxVolumeSource": {
        "volumeID": (1, "string"),
    },
    "PreferredSchedulingTerm": {
        "weight": (1, "int32"),
        "preference": (2, "NodeSelectorTerm"),
    },
    "RBDVolumeSource": {
        "monitors": (1, "repeated string"),
        "image": (2, "string"),
        "pool": (4, "string"),
        "readOnly": (8, "bool"),
    },
    "ResourceRequirements": {
        "limits": (1, "map Quantity"),
        "requests": (2, "map Quantity"),
    },
    "Status": {
        "message": (3, "string"),
        "reason": (4, "string"),
        "details": (5, "StatusDetails"),
    },
    "StatusCause": {
        "reason": (1, "string"),
        "message": (2, "string"),
        "field": (3, "string"),
    },
    "StatusDetails": {
        "name": (1, "string"),
        "kind": (3, "string"),
        "causes": (4, "repeated StatusCause"),
    },
    "Taint": {
        "key": (1, "string"),
        "value": (2, "string"),
        "effect": (3, "string"),
    },
    "Toleration": {
        "key": (1, "string"),
        "operator": (2, "string"),
        "value": (3, "string"),
        "effect": (4, "string"),
        "tolerationSeconds": (5, "int64"),
    },
    "TopologySpreadConstraint": {
        "maxSkew": (1, "int32"),
        "topologyKey": (2, "string"),
        "whenUnsatisfiable": (3, "string"),
        "labelSelector": (4, "LabelSelector"),
        "minDomains": (5, "int32"),
        "nodeAffinityPolicy": (6, "string"),
        "nodeTaintsPolicy": (7, "string"),
        "matchLabelKeys": (8, "repeated string"),
    },
    "Volume": {
        "name": (1, "string"),
        "volumeSource": (2, "VolumeSource"),
    },
    "VolumeMount": {
        "bindMountOptions": (8, "repeated string"),
    },
    "VolumeResourceRequirements": {
        "limits": (1, "map Quantity"),
        "requests": (2, "map Quantity"),
    },
    "VolumeSource": {
        "gcePersistentDisk": (3, "GCEPersistentDiskVolumeSource"),
        "awsElasticBlockStore": (4, "AWSElasticBlockStoreVolumeSource"),
        "iscsi": (8, "ISCSIVolumeSource"),
        "persistentVolumeClaim": (10, "PersistentVolumeClaimVolumeSource"),
        "rbd": (11, "RBDVolumeSource"),
        "cinder": (13, "CinderVolumeSource"),
        "azureDisk": (22, "AzureDiskVolumeSource"),
        "portworxVolume": (24, "PortworxVolumeSource"),
        "ephemeral": (29, "EphemeralVolumeSource"),
        "image": (30, "ImageVolumeSource"),
    },
    "WeightedPodAffinityTerm": {
        "weight": (1, "int32"),
        "podAffinityTerm": (2, "PodAffinityTerm"),
    },
    "WorkloadReference": {
        "name": (1, "string"),
        "podGroup": (2, "string"),
    },
}
