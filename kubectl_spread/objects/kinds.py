"""The kinds this program reads: where each lives in the API and what people call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects import core, devices, pod_classes, policy, storage, workloads

KubernetesObject: TypeAlias = (
    core.Node
    | core.Pod
    | core.Namespace
    | core.Service
    | core.ReplicationController
    | core.Event
    | core.LimitRange
    | core.ResourceQuota
    | core.ServiceAccount
    | storage.PersistentVolumeClaim
    | storage.PersistentVolume
    | storage.StorageClass
    | storage.CSINode
    | storage.CSIDriver
    | storage.CSIStorageCapacity
    | storage.VolumeAttachment
    | pod_classes.PriorityClass
    | pod_classes.RuntimeClass
    | devices.DeviceClass
    | devices.ResourceClaim
    | devices.ResourceClaimTemplate
    | devices.ResourceSlice
    | policy.PodDisruptionBudget
    | policy.NetworkPolicy
    | workloads.Deployment
    | workloads.ReplicaSet
    | workloads.StatefulSet
    | workloads.DaemonSet
    | workloads.Job
    | workloads.CronJob
)
Workload: TypeAlias = (
    workloads.Deployment
    | workloads.ReplicaSet
    | workloads.StatefulSet
    | workloads.DaemonSet
    | workloads.Job
    | workloads.CronJob
    | core.ReplicationController
)


class Kind(msgspec.Struct, frozen=True):
    """A kind of object.

    Attributes:
        name: the kind, such as ``ReplicaSet``.
        api_version: group and version, such as ``apps/v1``; ``v1`` for the core group.
        plural: the resource's name in paths, such as ``replicasets``.
        short_names: what kubectl accepts besides, such as ``rs``.
        struct: the type it decodes to.
        namespaced: whether it lives in a namespace.
        makes_pods: whether it has a Pod template.
        older_versions: versions of its group, newest first, in which releases without that one have it.
    """

    name: str
    api_version: str
    plural: str
    short_names: tuple[str, ...]
    struct: type[KubernetesObject]
    namespaced: bool = True
    makes_pods: bool = False
    older_versions: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def singular(self) -> str:
        """The name in lower case, as it stands in ``TYPE/NAME``."""
        return self.name.lower()

    @property
    def older(self) -> Kind:
        """The kind in the version before this one, of which there must be one."""
        version, *left = self.older_versions
        return replace(self, api_version=version, older_versions=tuple(left))

    def path(self, namespace: str = "") -> str:
        """Return the list's path on the API server, of one namespace or (empty) of all."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        within = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.plural}"


NODE = Kind("Node", "v1", "nodes", ("no",), core.Node, namespaced=False)
POD = Kind("Pod", "v1", "pods", ("po",), core.Pod)
NAMESPACE = Kind("Namespace", "v1", "namespaces", ("ns",), core.Namespace, namespaced=False)
SERVICE = Kind("Service", "v1", "services", ("svc",), core.Service)
EVENT = Kind("Event", "v1", "events", ("ev",), core.Event)
REPLICATION_CONTROLLER = Kind(
    "ReplicationController", "v1", "replicationcontrollers", ("rc",), core.ReplicationController, makes_pods=True
)
PERSISTENT_VOLUME_CLAIM = Kind(
    "PersistentVolumeClaim", "v1", "persistentvolumeclaims", ("pvc",), storage.PersistentVolumeClaim
)
PERSISTENT_VOLUME = Kind(
    "PersistentVolume", "v1", "persistentvolumes", ("pv",), storage.PersistentVolume, namespaced=False
)
STORAGE_CLASS = Kind(
    "StorageClass", "storage.k8s.io/v1", "storageclasses", ("sc",), storage.StorageClass, namespaced=False
)
CSI_NODE = Kind("CSINode", "storage.k8s.io/v1", "csinodes", (), storage.CSINode, namespaced=False)
CSI_DRIVER = Kind("CSIDriver", "storage.k8s.io/v1", "csidrivers", (), storage.CSIDriver, namespaced=False)
CSI_STORAGE_CAPACITY = Kind(
    "CSIStorageCapacity", "storage.k8s.io/v1", "csistoragecapacities", (), storage.CSIStorageCapacity
)
VOLUME_ATTACHMENT = Kind(
    "VolumeAttachment", "storage.k8s.io/v1", "volumeattachments", (), storage.VolumeAttachment, namespaced=False
)
LIMIT_RANGE = Kind("LimitRange", "v1", "limitranges", ("limits",), core.LimitRange)
RESOURCE_QUOTA = Kind("ResourceQuota", "v1", "resourcequotas", ("quota",), core.ResourceQuota)
SERVICE_ACCOUNT = Kind("ServiceAccount", "v1", "serviceaccounts", ("sa",), core.ServiceAccount)
PRIORITY_CLASS = Kind(
    "PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", ("pc",), pod_classes.PriorityClass, namespaced=False
)
RUNTIME_CLASS = Kind("RuntimeClass", "node.k8s.io/v1", "runtimeclasses", (), pod_classes.RuntimeClass, namespaced=False)
_OLDER_DEVICES = ("resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")
DEVICE_CLASS = Kind(
    "DeviceClass",
    "resource.k8s.io/v1",
    "deviceclasses",
    (),
    devices.DeviceClass,
    namespaced=False,
    older_versions=_OLDER_DEVICES,
)
RESOURCE_CLAIM = Kind(
    "ResourceClaim",
    "resource.k8s.io/v1",
    "resourceclaims",
    (),
    devices.ResourceClaim,
    older_versions=_OLDER_DEVICES,
)
RESOURCE_CLAIM_TEMPLATE = Kind(
    "ResourceClaimTemplate",
    "resource.k8s.io/v1",
    "resourceclaimtemplates",
    (),
    devices.ResourceClaimTemplate,
    older_versions=_OLDER_DEVICES,
)
RESOURCE_SLICE = Kind(
    "ResourceSlice",
    "resource.k8s.io/v1",
    "resourceslices",
    (),
    devices.ResourceSlice,
    namespaced=False,
    older_versions=_OLDER_DEVICES,
)
POD_DISRUPTION_BUDGET = Kind(
    "PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", ("pdb",), policy.PodDisruptionBudget
)
NETWORK_POLICY = Kind("NetworkPolicy", "networking.k8s.io/v1", "networkpolicies", ("netpol",), policy.NetworkPolicy)
DEPLOYMENT = Kind("Deployment", "apps/v1", "deployments", ("deploy",), workloads.Deployment, makes_pods=True)
REPLICA_SET = Kind("ReplicaSet", "apps/v1", "replicasets", ("rs",), workloads.ReplicaSet, makes_pods=True)
STATEFUL_SET = Kind("StatefulSet", "apps/v1", "statefulsets", ("sts",), workloads.StatefulSet, makes_pods=True)
DAEMON_SET = Kind("DaemonSet", "apps/v1", "daemonsets", ("ds",), workloads.DaemonSet, makes_pods=True)
JOB = Kind("Job", "batch/v1", "jobs", (), workloads.Job, makes_pods=True)
CRON_JOB = Kind("CronJob", "batch/v1", "cronjobs", ("cj",), workloads.CronJob, makes_pods=True)

KINDS = (
    NODE,
    POD,
    NAMESPACE,
    SERVICE,
    EVENT,
    REPLICATION_CONTROLLER,
    PERSISTENT_VOLUME_CLAIM,
    PERSISTENT_VOLUME,
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    VOLUME_ATTACHMENT,
    LIMIT_RANGE,
    RESOURCE_QUOTA,
    SERVICE_ACCOUNT,
    PRIORITY_CLASS,
    RUNTIME_CLASS,
    DEVICE_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    POD_DISRUPTION_BUDGET,
    NETWORK_POLICY,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    DAEMON_SET,
    JOB,
    CRON_JOB,
)
DEVICE_KINDS = (DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE)
WORKLOAD_KINDS = tuple(kind for kind in KINDS if kind.makes_pods)
WORKLOADS: Mapping[str, type[Workload]] = {
    kind.name: kind.struct  # type: ignore[misc] # what makes Pods is a Workload, which a Kind's type does not say
    for kind in WORKLOAD_KINDS
}
"""What owns Pods, by the kind's name as a controller reference says it."""

BY_API: Mapping[tuple[str, str], Kind] = {
    (version, kind.name): kind for kind in KINDS for version in (kind.api_version, *kind.older_versions)
}
"""(apiVersion, kind) as an object says it → its Kind."""


def named(word: str) -> Kind | None:
    """Return the kind a user means by ``pods``, ``po`` or ``deployments.apps``, None when there is none."""
    name, _, group = word.lower().partition(".")
    for kind in KINDS:
        if name in (kind.singular, kind.plural, *kind.short_names) and group in ("", kind.group):
            return kind
    return None
