"""The kinds that this program reads: their place in the API, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects import autoscaling, core, devices, policy, storage, workloads
from kubectl_spread.objects.meta import KubernetesObject

# The kinds with replicas.
Scaled: TypeAlias = workloads.Deployment | workloads.ReplicaSet | workloads.StatefulSet | core.ReplicationController
Workload: TypeAlias = Scaled | workloads.DaemonSet | workloads.Job | workloads.CronJob


class Kind(msgspec.Struct, frozen=True):
    """A kind of object."""

    struct: type[KubernetesObject]  # the type that it is decoded to; both have the same name
    api_version: str  # group and version, such as ``apps/v1``; ``v1`` for the core group
    plural: str  # the resource's name in paths, such as ``replicasets``
    short_names: tuple[str, ...] = ()  # kubectl's short names, such as ``rs``
    namespaced: bool = True
    makes_pods: bool = False  # whether it has a Pod template
    older_versions: tuple[str, ...] = ()  # the versions of its group in older releases, newest first

    @property
    def name(self) -> str:
        """The kind, such as ``ReplicaSet``."""
        return self.struct.__name__

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def singular(self) -> str:
        """The name in lower case, as in ``TYPE/NAME``."""
        return self.name.lower()

    @property
    def older(self) -> Kind:
        """The kind in the previous version, which must exist."""
        version, *left = self.older_versions
        return replace(self, api_version=version, older_versions=tuple(left))

    def within(self, namespace: str) -> str:
        """Return in words where its objects are, with a blank before; empty for all namespaces."""
        return f' in namespace "{namespace}"' if namespace and self.namespaced else ""

    def path(self, namespace: str = "") -> str:
        """Return the path of the list on the API server, in one namespace or (empty) in all."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        within = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.plural}"


NODE = Kind(core.Node, "v1", "nodes", ("no",), namespaced=False)
POD = Kind(core.Pod, "v1", "pods", ("po",))
NAMESPACE = Kind(core.Namespace, "v1", "namespaces", ("ns",), namespaced=False)
SERVICE = Kind(core.Service, "v1", "services", ("svc",))
EVENT = Kind(core.Event, "v1", "events", ("ev",))
REPLICATION_CONTROLLER = Kind(core.ReplicationController, "v1", "replicationcontrollers", ("rc",), makes_pods=True)
PERSISTENT_VOLUME_CLAIM = Kind(storage.PersistentVolumeClaim, "v1", "persistentvolumeclaims", ("pvc",))
PERSISTENT_VOLUME = Kind(storage.PersistentVolume, "v1", "persistentvolumes", ("pv",), namespaced=False)
STORAGE_CLASS = Kind(storage.StorageClass, "storage.k8s.io/v1", "storageclasses", ("sc",), namespaced=False)
CSI_NODE = Kind(storage.CSINode, "storage.k8s.io/v1", "csinodes", namespaced=False)
CSI_DRIVER = Kind(storage.CSIDriver, "storage.k8s.io/v1", "csidrivers", namespaced=False)
CSI_STORAGE_CAPACITY = Kind(storage.CSIStorageCapacity, "storage.k8s.io/v1", "csistoragecapacities")
VOLUME_ATTACHMENT = Kind(storage.VolumeAttachment, "storage.k8s.io/v1", "volumeattachments", namespaced=False)
LIMIT_RANGE = Kind(core.LimitRange, "v1", "limitranges", ("limits",))
RESOURCE_QUOTA = Kind(core.ResourceQuota, "v1", "resourcequotas", ("quota",))
SERVICE_ACCOUNT = Kind(core.ServiceAccount, "v1", "serviceaccounts", ("sa",))
PRIORITY_CLASS = Kind(policy.PriorityClass, "scheduling.k8s.io/v1", "priorityclasses", ("pc",), namespaced=False)
RUNTIME_CLASS = Kind(policy.RuntimeClass, "node.k8s.io/v1", "runtimeclasses", namespaced=False)
_OLDER_DEVICES = ("resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")
DEVICE_CLASS = Kind(
    devices.DeviceClass, "resource.k8s.io/v1", "deviceclasses", namespaced=False, older_versions=_OLDER_DEVICES
)
RESOURCE_CLAIM = Kind(devices.ResourceClaim, "resource.k8s.io/v1", "resourceclaims", older_versions=_OLDER_DEVICES)
RESOURCE_CLAIM_TEMPLATE = Kind(
    devices.ResourceClaimTemplate, "resource.k8s.io/v1", "resourceclaimtemplates", older_versions=_OLDER_DEVICES
)
RESOURCE_SLICE = Kind(
    devices.ResourceSlice, "resource.k8s.io/v1", "resourceslices", namespaced=False, older_versions=_OLDER_DEVICES
)
POD_DISRUPTION_BUDGET = Kind(policy.PodDisruptionBudget, "policy/v1", "poddisruptionbudgets", ("pdb",))
NETWORK_POLICY = Kind(policy.NetworkPolicy, "networking.k8s.io/v1", "networkpolicies", ("netpol",))
DEPLOYMENT = Kind(workloads.Deployment, "apps/v1", "deployments", ("deploy",), makes_pods=True)
REPLICA_SET = Kind(workloads.ReplicaSet, "apps/v1", "replicasets", ("rs",), makes_pods=True)
STATEFUL_SET = Kind(workloads.StatefulSet, "apps/v1", "statefulsets", ("sts",), makes_pods=True)
DAEMON_SET = Kind(workloads.DaemonSet, "apps/v1", "daemonsets", ("ds",), makes_pods=True)
CONTROLLER_REVISION = Kind(workloads.ControllerRevision, "apps/v1", "controllerrevisions")
JOB = Kind(workloads.Job, "batch/v1", "jobs", makes_pods=True)
CRON_JOB = Kind(workloads.CronJob, "batch/v1", "cronjobs", ("cj",), makes_pods=True)
HORIZONTAL_POD_AUTOSCALER = Kind(
    autoscaling.HorizontalPodAutoscaler,
    "autoscaling/v2",
    "horizontalpodautoscalers",
    ("hpa",),
    older_versions=("autoscaling/v1",),
)
NODE_POOL = Kind(autoscaling.NodePool, "karpenter.sh/v1", "nodepools", namespaced=False)
NODE_CLAIM = Kind(autoscaling.NodeClaim, "karpenter.sh/v1", "nodeclaims", namespaced=False)
EC2_NODE_CLASS = Kind(autoscaling.EC2NodeClass, "karpenter.k8s.aws/v1", "ec2nodeclasses", namespaced=False)
CONFIG_MAP = Kind(autoscaling.ConfigMap, "v1", "configmaps", ("cm",))
_OLDER_MACHINES = ("cluster.x-k8s.io/v1beta1",)
MACHINE_DEPLOYMENT = Kind(
    autoscaling.MachineDeployment, "cluster.x-k8s.io/v1beta2", "machinedeployments", older_versions=_OLDER_MACHINES
)
MACHINE_SET = Kind(autoscaling.MachineSet, "cluster.x-k8s.io/v1beta2", "machinesets", older_versions=_OLDER_MACHINES)

# All kinds above, in their order.
KINDS: tuple[Kind, ...] = tuple(each for each in [*globals().values()] if isinstance(each, Kind))
# The kinds of node autoscalers: optional, and without effect on the scheduler.
AUTOSCALER_KINDS = (NODE_POOL, NODE_CLAIM, EC2_NODE_CLASS, CONFIG_MAP, MACHINE_DEPLOYMENT, MACHINE_SET)
VOLUME_KINDS = (PERSISTENT_VOLUME_CLAIM, PERSISTENT_VOLUME, STORAGE_CLASS, CSI_NODE, CSI_DRIVER, CSI_STORAGE_CAPACITY)
DEVICE_KINDS = (DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE)
WORKLOAD_KINDS = tuple(kind for kind in KINDS if kind.makes_pods)
# The kinds that own Pods, by name as in a controller reference.
WORKLOADS: Mapping[str, type[Workload]] = {
    kind.name: kind.struct  # type: ignore[misc] # what makes Pods is a Workload, which a Kind's type does not say
    for kind in WORKLOAD_KINDS
}

BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}
# (apiVersion, kind) of an object → its Kind.
BY_API: Mapping[tuple[str, str], Kind] = {
    (version, kind.name): kind for kind in KINDS for version in (kind.api_version, *kind.older_versions)
}


def named(word: str) -> Kind | None:
    """Return the kind of a word such as ``pods``, ``po``, ``deployments.apps`` or ``deployments.v1.apps``."""
    name, _, group = word.lower().partition(".")
    for kind in KINDS:
        version = kind.api_version.rpartition("/")[2]
        groups = ("", kind.group, f"{version}.{kind.group}")
        if name in (kind.singular, kind.plural, *kind.short_names) and group in groups:
            return kind
    return None
