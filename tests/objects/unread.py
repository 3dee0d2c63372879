"""The fields of Pods, Nodes and workloads that are not read, each with the reason why it can change no answer."""

from __future__ import annotations

from collections.abc import Mapping

_KUBELET = "the kubelet's affair, once the Pod is on its node"
_MOUNTING = "how a volume is mounted, once the Pod is on its node; the filters go by what identifies it"
_NO_FILTER = "a source that no volume filter looks at: it is there on every node, or made there"
_NETWORK = "how the Pod is reached and what it resolves; no filter looks at it"
_RIGHTS = "with which rights containers run; no filter looks at it, nor do declared features"
_TIME = "when something happens, not whether or where"
_HISTORY = "how much of what is over is kept"
_OF_THE_MACHINE = "what the kubelet tells of its machine; filters go by labels, taints and what is allocatable"
_ADDRESS = "the node's addresses and names elsewhere; filters go by labels"
_BOOKKEEPING = "how the API server keeps the object; of those whose annotations or owners matter they are read"
_DEVICES = "which container uses a claim of the Pod; the Pod waits for all of them"
_OF_A_TEMPLATE = "of a claim that is yet to be made of a template: the API server sets it"
_ENDS = "when a Job has failed or is done; its status says whether it has and is"

UNREAD: Mapping[str, str] = {
    # Pods
    "PodSpec.terminationGracePeriodSeconds": _TIME,
    "PodSpec.automountServiceAccountToken": _KUBELET,
    "PodSpec.imagePullSecrets": _KUBELET,
    "PodSpec.readinessGates": "when a Pod is ready, which is read from its conditions",
    "PodSpec.evictionResponders": "who is asked before an eviction; no eviction is carried out here",
    "PodSpec.os": "refused by the kubelet, not by the scheduler; the API server's validation of it is not mirrored",
    "PodSpec.securityContext": _RIGHTS,
    "PodSpec.shareProcessNamespace": _RIGHTS,
    "PodSpec.host[IP][PI][CD]": _RIGHTS,
    "PodSpec.dns*": _NETWORK,
    "PodSpec.enableServiceLinks": _NETWORK,
    "PodSpec.hostAliases": _NETWORK,
    "PodSpec.hostname": _NETWORK,
    "PodSpec.hostnameOverride": _NETWORK,
    "PodSpec.setHostnameAsFQDN": _NETWORK,
    "PodSpec.subdomain": _NETWORK,
    "WorkloadReference.podGroupReplicaKey": "which replica of the group it is of; the Pod is held either way",
    "ResourceRequirements.claims": _DEVICES,
    # Containers
    "*Container.args": _KUBELET,
    "*Container.command": _KUBELET,
    "*Container.env": _KUBELET,
    "*Container.envFrom": _KUBELET,
    "*Container.imagePullPolicy": _KUBELET,
    "*Container.lifecycle": _KUBELET,
    "*Container.*Probe": _KUBELET,
    "*Container.resizePolicy": "whether a resize restarts the container; filters go by what it has and asks for",
    "*Container.securityContext": _RIGHTS,
    "*Container.stdin*": _KUBELET,
    "*Container.targetContainerName": _KUBELET,
    "*Container.terminationMessage*": _KUBELET,
    "*Container.tty": _KUBELET,
    "*Container.volumeDevices": _MOUNTING,
    "*Container.workingDir": _KUBELET,
    "ContainerPort.name": _NETWORK,
    "ContainerRestartRule.exitCodes": _KUBELET,
    "VolumeMount.mountPropagation": _MOUNTING,
    "VolumeMount.readOnly": _MOUNTING,
    "VolumeMount.recursiveReadOnly": _MOUNTING,
    "VolumeMount.subPath*": _MOUNTING,
    # Volumes
    "EmptyDirVolumeSource.mode": _MOUNTING,
    "EmptyDirVolumeSource.sizeLimit": _NO_FILTER,
    **dict.fromkeys(
        (
            "Volume.configMap",
            "Volume.downwardAPI",
            "Volume.gitRepo",
            "Volume.hostPath",
            "Volume.projected",
            "Volume.secret",
        ),
        _NO_FILTER,
    ),
    **dict.fromkeys(
        (
            "Volume.cephfs",
            "Volume.csi",
            "Volume.fc",
            "Volume.flexVolume",
            "Volume.flocker",
            "Volume.glusterfs",
            "Volume.nfs",
            "Volume.photonPersistentDisk",
            "Volume.quobyte",
            "Volume.scaleIO",
            "Volume.storageos",
        ),
        "a source in the Pod itself that VolumeRestrictions does not compare and NodeVolumeLimits does not count",
    ),
    "Volume.azureFile": "left to a CSI driver, but NodeVolumeLimits counts it on no node (isCSIMigrationOn)",
    "Volume.vsphereVolume": "left to a CSI driver, but NodeVolumeLimits counts it on no node (isCSIMigrationOn)",
    "ImageVolumeSource.pullPolicy": _KUBELET,
    "AWSElasticBlockStoreVolumeSource.*": _MOUNTING,
    "AzureDiskVolumeSource.*": _MOUNTING,
    "CinderVolumeSource.*": _MOUNTING,
    "GCEPersistentDiskVolumeSource.*": _MOUNTING,
    "ISCSIVolumeSource.*": _MOUNTING,
    "PersistentVolumeClaimVolumeSource.readOnly": _MOUNTING,
    "PortworxVolumeSource.*": _MOUNTING,
    "RBDVolumeSource.*": _MOUNTING,
    "PersistentVolumeClaim.apiVersion": "what the object is, which its place says",
    "PersistentVolumeClaim.kind": "what the object is, which its place says",
    "PersistentVolumeClaimSpec.dataSource*": "what a new volume is filled with; what is there is matched without it",
    "PersistentVolumeClaimStatus.*": _OF_A_TEMPLATE,
    # Nodes
    "NodeSpec.configSource": "where the kubelet's configuration came from; removed in 1.24",
    "NodeSpec.externalID": _ADDRESS,
    "NodeSpec.podCIDR*": _ADDRESS,
    "NodeStatus.addresses": _ADDRESS,
    "NodeCondition.last*": _TIME,
    "NodeCondition.message": "why a condition holds; whether it does is read",
    "NodeCondition.reason": "why a condition holds; whether it does is read",
    "NodeStatus.config": _OF_THE_MACHINE,
    "NodeStatus.daemonEndpoints": _ADDRESS,
    "NodeStatus.features": _OF_THE_MACHINE,
    "NodeStatus.phase": "never set",
    "NodeStatus.runtimeHandlers": _OF_THE_MACHINE,
    "NodeStatus.volumes*": "what the kubelet uses; NodeVolumeLimits goes by Pods and VolumeAttachments",
    "NodeSystemInfo.*": _OF_THE_MACHINE,
    "Taint.timeAdded": _TIME,
    # Workloads
    "*Spec.minReadySeconds": _TIME,
    "DeploymentSpec.progressDeadlineSeconds": _TIME,
    "*Spec.revisionHistoryLimit": _HISTORY,
    "StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted": "what becomes of claims once their owner is gone",
    "JobSpec.activeDeadlineSeconds": _ENDS,
    "PodFailurePolicyRule.onExitCodes": "how a container ends that is disrupted, nobody knows beforehand",
    "JobSpec.successPolicy": _ENDS,
    "JobSpec.ttlSecondsAfterFinished": _HISTORY,
    "JobSchedulingConfiguration.*": "how its Pods are grouped; that they are is read, and they are held either way",
    "JobSpec.manualSelector": "whether the API server makes the selector; one that is there is read",
    "CronJobSpec.concurrencyPolicy": _TIME,
    "CronJobSpec.*JobsHistoryLimit": _HISTORY,
    "CronJobSpec.schedule": _TIME,
    "CronJobSpec.startingDeadlineSeconds": _TIME,
    "CronJobSpec.timeZone": _TIME,
    # Every object
    "ObjectMeta.*": _BOOKKEEPING,
    "ManagedFieldsEntry.*": _BOOKKEEPING,
    "OwnerReference.blockOwnerDeletion": _BOOKKEEPING,
}
"""``Type.field`` of the API, with * for any letters → why it is not read."""
