"""Which lists a question needs, and which further lists their answers call for; narrower questions read less."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands.source import ReadLists
from kubectl_spread.controllers.revisions import is_of_newest_revision
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL, template_of
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import FAILED_SCHEDULING, Pod, PodSpec
from kubectl_spread.objects.devices import DeviceClass
from kubectl_spread.objects.kinds import Kind, Workload
from kubectl_spread.objects.workloads import DaemonSet, StatefulSet
from kubectl_spread.scheduler.dynamicresources import CLASS_PREFIX, may_be_devices
from kubectl_spread.snapshot import Inventory, Snapshot, Unread, together

WHOLE_CLUSTER_PODS = 5000  # The most Pods (count) that are read whole by default

# Namespaced kinds of which objects in all namespaces decide about nodes: attached volumes, allocated devices, room.
CLUSTER_WIDE = frozenset((kinds.PERSISTENT_VOLUME_CLAIM, kinds.CSI_STORAGE_CAPACITY, kinds.RESOURCE_CLAIM))
REQUIRED = (kinds.NODE, kinds.POD)
FOR_PENDING = (kinds.EVENT, kinds.POD_DISRUPTION_BUDGET, kinds.NETWORK_POLICY)
# Kinds from which admission sets fields of new Pods.
FOR_CREATION = (kinds.LIMIT_RANGE, kinds.PRIORITY_CLASS, kinds.RUNTIME_CLASS)
FOR_ADMISSION = (kinds.RESOURCE_QUOTA, kinds.SERVICE_ACCOUNT)  # Further kinds that decide whether a Pod is created
FOR_SOME = {
    *FOR_PENDING,
    kinds.CONTROLLER_REVISION,
    kinds.HORIZONTAL_POD_AUTOSCALER,
    *kinds.DEVICE_KINDS,
    *kinds.AUTOSCALER_KINDS,
}
FOR_ANY_POD = tuple(kind for kind in kinds.KINDS if kind not in {*REQUIRED, *FOR_SOME})

# The ConfigMap in which cluster-autoscaler describes its node groups.
STATUS_NAMESPACE, STATUS_NAME = "kube-system", "cluster-autoscaler-status"
# Two small reads that show whether the cluster has an autoscaler.
AUTOSCALERS = (
    Read(kind=kinds.NODE_POOL, required=False),
    Read(kind=kinds.CONFIG_MAP, namespace=STATUS_NAMESPACE, name=STATUS_NAME, required=False),
)
# Further reads where the cluster has Karpenter; Pods of DaemonSets of any namespace take room on new nodes.
OF_KARPENTER: tuple[Read, ...] = (
    Read(kind=kinds.NODE_CLAIM, required=False),
    Read(kind=kinds.EC2_NODE_CLASS, required=False),
    Read(kind=kinds.DEPLOYMENT, label_selector="app.kubernetes.io/name=karpenter", required=False),
    Read(kind=kinds.DAEMON_SET, required=False),
)
KARPENTER_LABEL = "karpenter.sh/nodepool"  # The label of nodes that Karpenter creates


def of_cluster_autoscaler(namespace: str) -> tuple[Read, ...]:
    """Return the further reads for cluster-autoscaler: Cluster API's groups, and its events in the namespace."""
    reasons = (f"reason={reason}" for reason in ("NotTriggerScaleUp", "TriggeredScaleUp"))
    return (
        Read(kind=kinds.MACHINE_DEPLOYMENT, required=False),
        Read(kind=kinds.MACHINE_SET, required=False),
        *(Read(kind=kinds.EVENT, namespace=namespace, field_selector=each, required=False) for each in reasons),
    )


def everything(namespace: str, *, pending: bool = False) -> tuple[Read, ...]:
    """Return the reads for evaluating every filter for Pods of the namespace (empty: of all).

    Nodes, Pods and their storage are read in the whole cluster, other kinds in the namespace. Where listing all Pods is
    forbidden, those of the namespace are listed. ``pending`` adds the scheduler's messages, autoscalers, and the kinds
    that fixes must respect.
    """
    reads = [Read(kind=kinds.NODE), Read(kind=kinds.POD, fallback=namespace)]
    reads += [_optional(kind, namespace) for kind in FOR_ANY_POD]
    if pending:
        reads.append(failures(namespace))
        reads += _read_for_fixes(namespace)
        reads += AUTOSCALERS
    return tuple(reads)


def failures(namespace: str) -> Read:
    """Return the read of FailedScheduling events of the namespace (empty: of all)."""
    return Read(kind=kinds.EVENT, namespace=namespace, field_selector=f"reason={FAILED_SCHEDULING}", required=False)


def _read_for_fixes(namespace: str) -> tuple[Read, ...]:
    # A fix may move Pods of any namespace.
    return _optional(kinds.POD_DISRUPTION_BUDGET, ""), _optional(kinds.NETWORK_POLICY, namespace)


def for_manifests(namespaces: Iterable[str]) -> tuple[Read, ...]:
    """Return the reads for evaluating every filter for new Pods in the namespaces, with all Pods of the cluster."""
    of_each = [(*everything(namespace), *_read_for_fixes(namespace)) for namespace in namespaces]
    return tuple(dict.fromkeys(replace(read, fallback="") for reads in of_each for read in reads))


def for_moving() -> tuple[Read, ...]:
    """Return the reads for moving Pods: all of the cluster, because a moved Pod competes with all others."""
    return for_manifests([""])


def scalers(namespaces: Iterable[str]) -> tuple[Read, ...]:
    """Return the reads of what decides the replicas of workloads in the namespaces (empty: in all)."""
    return tuple(_optional(kinds.HORIZONTAL_POD_AUTOSCALER, namespace) for namespace in namespaces)


def spread_only(namespace: str) -> tuple[Read, ...]:
    """Return the reads for counting Pods: Nodes, and the namespace's Pods, Services, owners and admission kinds."""
    return (
        Read(kind=kinds.NODE),
        Read(kind=kinds.POD, namespace=namespace),
        *(_optional(kind, namespace) for kind in (kinds.SERVICE, *FOR_CREATION, *FOR_ADMISSION, *kinds.WORKLOAD_KINDS)),
    )


def _optional(kind: Kind, namespace: str) -> Read:
    wide = kind in CLUSTER_WIDE or not kind.namespaced
    return Read(kind=kind, namespace="" if wide else namespace, required=False)


DEVICE_CLASSES = (_optional(kinds.DEVICE_CLASS, ""),)  # The reads that show which extended resources are devices
DEVICES = tuple(_optional(kind, "") for kind in kinds.DEVICE_KINDS)  # The reads for evaluating DynamicResources


def read_with_devices(
    read: ReadLists, reads: Sequence[Read], *, specs: Sequence[PodSpec] = (), at_once: bool = False
) -> Inventory:
    """Return what was asked for, with the devices where an unscheduled Pod may need them.

    ``specs`` are of Pods that manifests create. ``at_once``: no second read is possible; the devices are unread then.
    ClusterError if a list that is needed cannot be had.
    """
    inventory = with_autoscaler(read, read(reads), reads)
    # Events are read for Pending Pods: a change may restore the template of an older revision.
    if specs or any(each.kind == kinds.EVENT for each in reads):
        inventory = with_revisions(read, inventory, reads)
    if any(kind.name in inventory.objects for kind in kinds.DEVICE_KINDS):
        return inventory
    unscheduled = (*specs, *_unscheduled_specs(inventory))
    claimed = any(spec.resource_claims for spec in unscheduled)
    resources = {
        name
        for spec in unscheduled
        for container in (*spec.containers, *spec.init_containers)
        for name in (*container.resources.limits, *container.resources.requests)
        if may_be_devices(name)
    }
    if at_once and (claimed or resources):
        unread = (Unread(kind, "not watched") for kind in kinds.DEVICE_KINDS)
        return replace(inventory, unread=(*inventory.unread, *unread))
    if resources and not claimed:
        inventory = together(inventory, read(DEVICE_CLASSES))
        classes = cast("Sequence[DeviceClass]", inventory.objects.get(kinds.DEVICE_CLASS.name, ()))
        known = {each.spec.extended_resource_name for each in classes}
        known |= {CLASS_PREFIX + each.metadata.name for each in classes}
        claimed = not known.isdisjoint(resources)
    return together(inventory, read(DEVICES)) if claimed else inventory


def with_autoscaler(read: ReadLists, inventory: Inventory, reads: Sequence[Read]) -> Inventory:
    """Return the inventory with what an autoscaler found there decides by; ClusterError without an answer."""
    if AUTOSCALERS[0] not in reads:
        return inventory
    nodes = inventory.objects.get(kinds.NODE.name, ())
    pools = inventory.objects.get(kinds.NODE_POOL.name)
    more = OF_KARPENTER if pools or any(KARPENTER_LABEL in node.metadata.labels for node in nodes) else ()
    if inventory.objects.get(kinds.CONFIG_MAP.name) and not pools:
        more += of_cluster_autoscaler(next((each.namespace for each in reads if each.kind == kinds.EVENT), ""))
    if not more:
        return inventory
    found = read(more)
    # Deployments and Events are read in part here, so a refusal leaves neither kind unread.
    unread = tuple(each for each in found.unread if each.kind in kinds.AUTOSCALER_KINDS)
    return together(inventory, replace(found, unread=unread, resource_versions={}, apart=False))


def with_revisions(read: ReadLists, inventory: Inventory, reads: Sequence[Read]) -> Inventory:
    """Return the inventory with the older templates to which a StatefulSet or DaemonSet may go back.

    They are read where Pods are not of the newest revision of their workload, or have no controller. ClusterError
    without an answer.
    """
    revised = [pod for pod in _pods(inventory) if REVISION_HASH_LABEL in pod.metadata.labels]
    snapshot = Snapshot.build(inventory) if revised else None
    if snapshot and any(_is_of_older_revision(pod, snapshot) for pod in revised):
        more = [replace(each, kind=kinds.CONTROLLER_REVISION) for each in reads if each.kind == kinds.STATEFUL_SET]
        return together(inventory, read(more))
    return inventory


def _is_of_older_revision(pod: Pod, snapshot: Snapshot) -> bool:
    owner = controller_of(pod, snapshot)
    if isinstance(owner, StatefulSet | DaemonSet):
        return not is_of_newest_revision(pod, owner)
    return pod.metadata.controller is None


def _pods(inventory: Inventory) -> Sequence[Pod]:
    return cast("Sequence[Pod]", inventory.objects.get(kinds.POD.name, ()))


def _unscheduled_specs(inventory: Inventory) -> Iterator[PodSpec]:
    for pod in _pods(inventory):
        controller = pod.metadata.controller
        # The newest Pod is the template of a workload that cannot be read.
        if not pod.spec.node_name or (controller is not None and controller.kind not in kinds.WORKLOADS):
            yield pod.spec
    for name in kinds.WORKLOADS:
        for workload in cast("Sequence[Workload]", inventory.objects.get(name, ())):
            yield template_of(workload).spec
