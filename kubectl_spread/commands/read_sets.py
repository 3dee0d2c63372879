"""Which lists a question needs, and which further lists their answers call for; narrower questions read less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands.source import ReadLists
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL, template_of
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import FAILED_SCHEDULING, Pod, PodSpec
from kubectl_spread.objects.devices import DeviceClass
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler.dynamicresources import CLASS_PREFIX, may_be_devices
from kubectl_spread.snapshot import Inventory, Snapshot, Unread, together

WHOLE_CLUSTER_PODS = 5000
"""Pods (count) up to which ``show`` reads all of them without being asked to."""


CLUSTER_WIDE = frozenset((kinds.PERSISTENT_VOLUME_CLAIM, kinds.CSI_STORAGE_CAPACITY, kinds.RESOURCE_CLAIM))
"""Namespaced kinds that decide about nodes whoever uses them: what is attached or given there, what room there is."""
REQUIRED = (kinds.NODE, kinds.POD)
FOR_PENDING = (kinds.EVENT, kinds.POD_DISRUPTION_BUDGET, kinds.NETWORK_POLICY)
FOR_CREATION = (kinds.LIMIT_RANGE, kinds.PRIORITY_CLASS, kinds.RUNTIME_CLASS)
"""Kinds that decide what an API server writes into a Pod as it is created."""
FOR_ADMISSION = (kinds.RESOURCE_QUOTA, kinds.SERVICE_ACCOUNT)
"""Kinds that decide beside them whether it is created."""
FOR_SOME = {*FOR_PENDING, kinds.CONTROLLER_REVISION, *kinds.DEVICE_KINDS, *kinds.AUTOSCALER_KINDS}
FOR_ANY_POD = tuple(kind for kind in kinds.KINDS if kind not in {*REQUIRED, *FOR_SOME})


STATUS_NAMESPACE, STATUS_NAME = "kube-system", "cluster-autoscaler-status"
"""The ConfigMap in which cluster-autoscaler describes its node groups."""
AUTOSCALERS = (
    Read(kind=kinds.NODE_POOL, required=False),
    Read(kind=kinds.CONFIG_MAP, namespace=STATUS_NAMESPACE, name=STATUS_NAME, required=False),
)
"""The reads that say whether the cluster has an autoscaler: two small requests beside the others."""
OF_KARPENTER: tuple[Read, ...] = (
    Read(kind=kinds.NODE_CLAIM, required=False),
    Read(kind=kinds.EC2_NODE_CLASS, required=False),
    Read(kind=kinds.DEPLOYMENT, label_selector="app.kubernetes.io/name=karpenter", required=False),
)
"""What else is read where Karpenter is."""
KARPENTER_LABEL = "karpenter.sh/nodepool"
"""The label of nodes that Karpenter creates."""


def of_cluster_autoscaler(namespace: str) -> tuple[Read, ...]:
    """Return what else is read where cluster-autoscaler is: Cluster API's groups, and its words on these Pods."""
    reasons = (f"reason={reason}" for reason in ("NotTriggerScaleUp", "TriggeredScaleUp"))
    return (
        Read(kind=kinds.MACHINE_DEPLOYMENT, required=False),
        Read(kind=kinds.MACHINE_SET, required=False),
        *(Read(kind=kinds.EVENT, namespace=namespace, field_selector=each, required=False) for each in reasons),
    )


def everything(namespace: str, *, pending: bool = False) -> tuple[Read, ...]:
    """Return the reads for evaluating every filter for Pods of the namespace (empty: of all).

    Nodes, Pods and what storage they use are needed of the whole cluster; what else decides comes from the Pods' own
    namespace. Who may only list the Pods of that namespace gets an answer that rests on those.

    Args:
        namespace: of the Pods that are asked about.
        pending: whether the scheduler's messages and what guards Pods against changes are wanted too.
    """
    reads = [Read(kind=kinds.NODE), Read(kind=kinds.POD, fallback=namespace)]
    reads += [_optional(kind, namespace) for kind in FOR_ANY_POD]
    if pending:
        reads.append(failures(namespace))
        reads += _guards(namespace)
        reads += AUTOSCALERS
    return tuple(reads)


def failures(namespace: str) -> Read:
    """Return the read of what the scheduler says of Pods of the namespace (empty: of all) that it cannot schedule."""
    return Read(kind=kinds.EVENT, namespace=namespace, field_selector=f"reason={FAILED_SCHEDULING}", required=False)


def _guards(namespace: str) -> tuple[Read, ...]:
    # A Pod of any namespace may be the one to move.
    return _optional(kinds.POD_DISRUPTION_BUDGET, ""), _optional(kinds.NETWORK_POLICY, namespace)


def for_manifests(namespaces: Iterable[str]) -> tuple[Read, ...]:
    """Return the reads for evaluating every filter for Pods that are yet to be created in the namespaces.

    All Pods are needed: where replicas would lie is not told from some of them.
    """
    of_each = [(*everything(namespace), *_guards(namespace)) for namespace in namespaces]
    return tuple(dict.fromkeys(replace(read, fallback="") for reads in of_each for read in reads))


def for_moving() -> tuple[Read, ...]:
    """Return the reads for moving Pods: all of the cluster, for whatever is moved competes with all others."""
    return for_manifests([""])


def spread_only(namespace: str) -> tuple[Read, ...]:
    """Return the reads for counting: Nodes, and the namespace's Pods, Services, owners and what completes Pods."""
    return (
        Read(kind=kinds.NODE),
        Read(kind=kinds.POD, namespace=namespace),
        *(_optional(kind, namespace) for kind in (kinds.SERVICE, *FOR_CREATION, *FOR_ADMISSION, *kinds.WORKLOAD_KINDS)),
    )


def _optional(kind: Kind, namespace: str) -> Read:
    """Return a read whose failure leaves the answer incomplete instead of ending the command."""
    wide = kind in CLUSTER_WIDE or not kind.namespaced
    return Read(kind=kind, namespace="" if wide else namespace, required=False)


DEVICE_CLASSES = (_optional(kinds.DEVICE_CLASS, ""),)
"""The reads that say which extended resources stand for devices."""
DEVICES = tuple(_optional(kind, "") for kind in kinds.DEVICE_KINDS)
"""The reads for evaluating DynamicResources."""


def read_with_devices(
    read: ReadLists, reads: Sequence[Read], *, specs: Sequence[PodSpec] = (), at_once: bool = False
) -> Inventory:
    """Return what was asked for, and the devices where a Pod that is to be scheduled may need them.

    Args:
        read: reads lists of the cluster.
        reads: what is asked for.
        specs: of Pods that manifests make, beside those that the cluster has, and would create.
        at_once: whether no second read is possible; the devices are unread then.

    Raises:
        ClusterError: a list that is needed cannot be had.
    """
    inventory = with_autoscaler(read, read(reads), reads)
    if specs:
        inventory = with_revisions(read, inventory, reads)
    if any(kind.name in inventory.objects for kind in kinds.DEVICE_KINDS):
        return inventory
    unscheduled = (*specs, *_unscheduled_specs(Snapshot.build(inventory)))
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
        classes = tuple(Snapshot.build(inventory).all(DeviceClass))
        known = {each.spec.extended_resource_name for each in classes}
        known |= {CLASS_PREFIX + each.metadata.name for each in classes}
        claimed = not known.isdisjoint(resources)
    return together(inventory, read(DEVICES)) if claimed else inventory


def with_autoscaler(read: ReadLists, inventory: Inventory, reads: Sequence[Read]) -> Inventory:
    """Return the inventory with the objects that decide what the cluster's autoscaler does.

    It is unchanged where ``reads`` did not ask for an autoscaler, or the cluster has none.

    Raises:
        ClusterError: the server does not answer.
    """
    if AUTOSCALERS[0] not in reads:
        return inventory
    nodes = inventory.objects.get(kinds.NODE.name, ())
    if inventory.objects.get(kinds.NODE_POOL.name) or any(KARPENTER_LABEL in node.metadata.labels for node in nodes):
        more = OF_KARPENTER
    elif inventory.objects.get(kinds.CONFIG_MAP.name):
        more = of_cluster_autoscaler(next((each.namespace for each in reads if each.kind == kinds.EVENT), ""))
    else:
        return inventory
    found = read(more)
    # Deployments and Events are read in part here, so a refusal leaves neither kind unread.
    unread = tuple(each for each in found.unread if each.kind in kinds.AUTOSCALER_KINDS)
    return together(inventory, replace(found, unread=unread, resource_versions={}, apart=False))


def with_revisions(read: ReadLists, inventory: Inventory, reads: Sequence[Read]) -> Inventory:
    """Return the inventory with the older templates to which a StatefulSet or DaemonSet may go back.

    They are read where a workload has Pods of several revisions, or Pods have a revision and no controller.

    Raises:
        ClusterError: the server does not answer.
    """
    revisions: dict[tuple[str, str, str], str] = {}
    for pod in Snapshot.build(inventory).all(Pod):
        owner, revision = pod.metadata.controller, pod.metadata.labels.get(REVISION_HASH_LABEL, "")
        key = (pod.metadata.namespace, owner.kind, owner.name) if owner else None
        if revision and (key is None or revisions.setdefault(key, revision) != revision):
            more = [replace(each, kind=kinds.CONTROLLER_REVISION) for each in reads if each.kind == kinds.STATEFUL_SET]
            return together(inventory, read(more))
    return inventory


def _unscheduled_specs(snapshot: Snapshot) -> Iterator[PodSpec]:
    for pod in snapshot.all(Pod):
        controller = pod.metadata.controller
        # The newest Pod is the template of a workload that cannot be read.
        if not pod.spec.node_name or (controller is not None and controller.kind not in kinds.WORKLOADS):
            yield pod.spec
    for struct in kinds.WORKLOADS.values():
        for workload in snapshot.all(struct):
            yield template_of(workload).spec
