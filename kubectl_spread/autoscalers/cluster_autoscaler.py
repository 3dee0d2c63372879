"""What cluster-autoscaler decides about one Pod: kube-scheduler's own filters on a new node of each group.

Source: cluster-autoscaler core/scaleup/orchestrator/orchestrator.go, simulator/node_info_utils.go,
cloudprovider/clusterapi/clusterapi_utils.go (1.30 to 1.34). Not modelled: expanders, node groups that are made on the
fly, several Pods in one batch.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers.decision import (
    AutoscalerDecision,
    Decision,
    MaximumReached,
    NotAsked,
    PoolDecision,
    Reason,
    RejectedByFilters,
    Unreadable,
    Verdict,
    left_alone,
)
from kubectl_spread.autoscalers.node_groups import NodeGroups, node_groups
from kubectl_spread.controllers.nodelifecycle import sibling
from kubectl_spread.objects import autoscaling
from kubectl_spread.objects.core import Node, NodeSpec, NodeStatus, Pod, Taint
from kubectl_spread.objects.kinds import MACHINE_DEPLOYMENT, MACHINE_SET
from kubectl_spread.objects.meta import AnnotatedMeta, grouped
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.scheduler.cycle import evaluate
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.resource import EPHEMERAL_STORAGE, PODS
from kubectl_spread.snapshot import Snapshot

TEMPLATE = "a-node-to-come"
UNHEALTHY = "Unhealthy"
# Pods with a lower priority are expendable: no node is added for them, unless a flag changes that.
PRIORITY_CUTOFF = -10
_MOST_PODS = "110"
# What Cluster API's groups have where their annotations do not say otherwise.
_GENERIC_LABELS = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}


class _Template(msgspec.Struct, frozen=True):
    """A node such as a group would bring, and the Pods that come with it."""

    node: Node
    pods: tuple[Pod, ...] = ()


def groups_of(
    snapshot: Snapshot, status: autoscaling.AutoscalerStatus | None
) -> tuple[autoscaling.NodeGroupStatus, ...]:
    """Return the node groups that the status names or else, of Cluster API, the annotations."""
    if status is not None and status.node_groups:
        groups = sorted(status.node_groups, key=lambda group: group.name)
        if status.cluster_wide.health.status == UNHEALTHY:
            # Then no group is asked. Source: core/static_autoscaler.go RunOnce.
            groups = [replace(group, health=replace(group.health, status=UNHEALTHY)) for group in groups]
        return tuple(groups)
    found = []
    for each in _machines(snapshot):
        maximum = each.metadata.annotations.get(autoscaling.NODE_GROUP_MAXIMUM, "")
        if maximum.isdecimal():
            health = autoscaling.NodeGroupHealth(cloud_provider_target=each.spec.replicas or 0, max_size=int(maximum))
            found.append(autoscaling.NodeGroupStatus(name=each.metadata.name, health=health))
    return tuple(found)


def decide(pod: Pod, handle: Handle, groups: Sequence[autoscaling.NodeGroupStatus]) -> AutoscalerDecision:
    """Return what cluster-autoscaler decides about a Pod that has no node."""
    priority = pod.spec.priority
    expendable = NotAsked("priority") if priority is not None and priority < PRIORITY_CUTOFF else None
    ignored = left_alone(pod) or expendable
    if ignored is not None:
        refused = (PoolDecision(name=each.name, verdict=Verdict.REFUSED, reasons=(ignored,)) for each in groups)
        return AutoscalerDecision(kind="cluster-autoscaler", decision=Decision.REFUSED, pools=tuple(refused))
    own = node_groups([group.name for group in groups], handle.snapshot)
    pools = tuple(_decision(group, own, pod, handle) for group in groups)
    coming = next((name for group in groups if (name := _coming(group, own, pod, handle)) is not None), None)
    if coming is not None:
        pools = tuple(map(partial(_not_asked, coming), pools))
    verdicts = {pool.verdict for pool in pools}
    if coming is not None:
        decision = Decision.EXISTING_NODE
    elif Verdict.POSSIBLE in verdicts:
        decision = Decision.NEW_NODE
    else:
        decision = Decision.UNKNOWN if Verdict.UNKNOWN in verdicts or not pools else Decision.REFUSED
    unknown = any(isinstance(reason, Unreadable) for pool in pools for reason in pool.reasons)
    lacking = (kind for kind in (MACHINE_DEPLOYMENT, MACHINE_SET) if handle.snapshot.inventory.lacks(kind))
    node, unread = coming or "", tuple(lacking) if unknown else ()
    return AutoscalerDecision(kind="cluster-autoscaler", decision=decision, node=node, pools=pools, unread=unread)


def _decision(group: autoscaling.NodeGroupStatus, own: NodeGroups, pod: Pod, handle: Handle) -> PoolDecision:
    templates = _templates(group.name, own, handle.snapshot)
    rejections = [_rejected(pod, each, handle) for each in templates]
    reasons = tuple(_refusals(group))
    verdict = Verdict.REFUSED if reasons else Verdict.POSSIBLE
    if not templates and not reasons:
        unread = Unreadable("group" if group.name in own.unclear else "node", group.name)
        verdict, reasons = Verdict.UNKNOWN, (unread,)
    elif all(rejections) and rejections:
        # This remains when the group may scale up again.
        rejected = RejectedByFilters(tuple(dict.fromkeys(chain.from_iterable(rejections))))
        verdict, reasons = Verdict.REFUSED, (rejected, *reasons)
    fitting = [each for each, found in zip(templates, rejections, strict=True) if not found] or templates
    zones = tuple(sorted(filter(None, (_zone(each.node) for each in fitting))))
    return PoolDecision(
        name=group.name,
        verdict=verdict,
        domains={ZONE: zones} if zones else {},
        elsewhere=len(fitting) < len(templates),
        reasons=reasons,
    )


def _coming(group: autoscaling.NodeGroupStatus, own: NodeGroups, pod: Pod, handle: Handle) -> str | None:
    """Return the group's node that starts, if such a node takes the Pod: empty if it is not known; None for none.

    Source: core/static_autoscaler.go addUpcomingNodesToClusterSnapshot, core/podlistprocessor
    filter_out_schedulable.go.
    """
    counts = group.health.node_counts
    if counts is None or group.health.upcoming <= 0:
        return None
    templates = _templates(group.name, own, handle.snapshot)
    rejected = {_zone(each.node) for each in templates if _rejected(pod, each, handle)}
    starting = [node for node in own.nodes.get(group.name, ()) if not node.answers]
    known = len(starting) >= group.health.upcoming + counts.registered.unready.total
    if len(rejected) == len(templates) or (known and rejected.issuperset(map(_zone, starting))):
        return None
    newest = max(starting, key=lambda node: node.metadata.creation_timestamp or "", default=None)
    fits = newest is not None and not _rejected(pod, _like(newest, handle.snapshot), handle)
    return newest.metadata.name if newest and fits else ""


def _not_asked(coming: str, pool: PoolDecision) -> PoolDecision:
    if any(isinstance(reason, RejectedByFilters) for reason in pool.reasons):
        return pool
    return replace(pool, verdict=Verdict.UNKNOWN, reasons=(NotAsked("room", coming),))


def _refusals(group: autoscaling.NodeGroupStatus) -> Iterable[Reason]:
    health, scale_up = group.health, group.scale_up
    if health.at_maximum:
        yield MaximumReached(health.max_size)
    if health.status == UNHEALTHY:
        yield NotAsked("unhealthy")
    if scale_up.status == "Backoff":
        yield NotAsked("backoff", scale_up.backoff_info.error_message)


def _rejected(pod: Pod, template: _Template, handle: Handle) -> tuple[str, ...]:
    handle = handle.with_nodes((template.node,))
    for each in template.pods:
        handle = handle.with_assigned(each, TEMPLATE)
    verdict = evaluate(pod, handle).nodes[TEMPLATE]
    return tuple(dict.fromkeys(text for rejection in verdict.rejections for text in rejection.status.reasons))


def _templates(group: str, own: NodeGroups, snapshot: Snapshot) -> list[_Template]:
    """Return a new node in each zone in which the group has nodes, of which the autoscaler takes any; empty if unknown.

    Source: processors/nodeinfosprovider/mixed_nodeinfos_processor.go, simulator/node_info_utils.go.
    """
    if group in own.unclear:
        return []
    nodes = own.nodes.get(group, ())
    good = [node for node in nodes if node.answers and not node.spec.unschedulable]
    machines = (each for each in _machines(snapshot) if each.metadata.name == group.rpartition("/")[2])
    described = None if good else next(filter(None, map(_of_annotations, machines)), None)
    if described is not None:
        return [_Template(described)]
    by_zone = grouped(good or nodes, _zone)
    return [_like(there[0], snapshot) for there in by_zone.values()]


def _zone(node: Node) -> str:
    return node.metadata.labels.get(ZONE, "")


def _like(node: Node, snapshot: Snapshot) -> _Template:
    # A new node has such a Pod too: static Pods and those of DaemonSets.
    there = (pod for pod in snapshot.assigned.get(node.metadata.name, ()) if not pod.terminating)
    pods = (pod for pod in there if pod.metadata.controller_kind in {"DaemonSet", "Node"})
    named = ((pod, replace(pod.metadata, name=f"{pod.metadata.name}-{TEMPLATE}", uid="")) for pod in pods)
    return _Template(sibling(node, TEMPLATE), tuple(replace(pod, metadata=metadata) for pod, metadata in named))


def _machines(snapshot: Snapshot) -> Iterator[autoscaling.MachineDeployment]:
    """Source: cloudprovider/clusterapi/clusterapi_utils.go machineSetHasMachineDeploymentOwnerRef."""
    yield from snapshot.all(autoscaling.MachineDeployment)
    for each in snapshot.all(autoscaling.MachineSet):
        if each.metadata.controller_kind != MACHINE_DEPLOYMENT.name:
            yield each


def domains_of_group(group: str, own: NodeGroups, topology_key: str, snapshot: Snapshot) -> frozenset[str]:
    """Return the domains in which the group adds nodes, as far as they are known."""
    return frozenset(each.node.metadata.labels.get(topology_key, "") for each in _templates(group, own, snapshot))


def _of_annotations(machines: autoscaling.MachineDeployment) -> Node | None:
    """Return the node that the annotations of a group of Cluster API describe, None where they describe none."""
    annotations = machines.metadata.annotations.items()
    found = {key.removeprefix(autoscaling.NODE_GROUP_CAPACITY): value for key, value in annotations}
    if "cpu" not in found or "memory" not in found:
        return None
    labels = dict(pair.split("=", 1) for pair in found.get("labels", "").split(",") if "=" in pair)
    taints = tuple(filter(None, map(_taint, found.get("taints", "").split(","))))
    gpu = found.get("gpu-type", "")
    offers: dict[str, str | int | float] = {
        "cpu": found["cpu"],
        "memory": found["memory"],
        PODS: found.get("maxPods", _MOST_PODS),
        EPHEMERAL_STORAGE: found.get("ephemeral-disk", "0"),
        **({gpu: found.get("gpu-count", "0")} if gpu else {}),
    }
    return Node(
        metadata=AnnotatedMeta(name=TEMPLATE, labels={HOSTNAME: TEMPLATE, **_GENERIC_LABELS, **labels}),
        spec=NodeSpec(taints=taints),
        status=NodeStatus(capacity=offers, allocatable=offers),
    )


def _taint(text: str) -> Taint | None:
    pair, colon, effect = text.strip().rpartition(":")
    key, _, value = pair.partition("=")
    return Taint(key=key, value=value, effect=effect) if colon and key else None
