"""Unreachable nodes: their taints, and whether Pods are evicted from them.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go processTaintBaseEviction,
handleDisruption, ComputeZoneState, ReducedQPSFunc, isNodeExcludedFromDisruptionChecks; pkg/controller/tainteviction
(v1.36).
"""

import itertools
from collections.abc import Collection, Container, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.taints import is_passing
from kubectl_spread.objects.core import NOT_ANSWERING, Node, NodeCondition, Pod, Taint
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.well_known_labels import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from kubectl_spread.scheduler.tainttoleration import NO_EXECUTE, tolerates

UNREACHABLE = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
NO_SCHEDULE = "NoSchedule"
_ZONE_LABELS = ((BETA_REGION, REGION), (BETA_ZONE, ZONE))
# The share of unhealthy nodes that makes a zone partially disrupted: --unhealthy-zone-threshold.
_UNHEALTHY_SHARE = 0.55
_UNHEALTHY_NODES = 3
# In a zone with more nodes (count), evictions slow down but do not stop: --large-cluster-size-threshold.
LARGE_ZONE = 50
EXCLUDED = "node.kubernetes.io/exclude-disruption"  # The label of nodes that do not count for the state of their zone
_READY = "Ready"


def lost(node: Node, effect: str) -> Node:
    """Return the node with the taint of an unreachable node, with this effect."""
    taint = Taint(key=UNREACHABLE, effect=effect)
    others = tuple(each for each in node.spec.taints if (each.key, each.effect) != (UNREACHABLE, effect))
    return replace(node, spec=replace(node.spec, taints=(*others, taint)))


def returned(node: Node) -> Node:
    """Return the node as it is once its kubelet answers again."""
    taints = tuple(taint for taint in node.spec.taints if taint.key not in NOT_ANSWERING)
    others = tuple(each for each in node.status.conditions if each.type != _READY)
    status = replace(node.status, conditions=(*others, NodeCondition(type=_READY, status="True")))
    return replace(node, spec=replace(node.spec, taints=taints), status=status)


def sibling(node: Node, name: str) -> Node:
    """Return a new node like this one: not cordoned, and without the taints that controllers set."""
    labels = {key: name if key == HOSTNAME else value for key, value in node.metadata.labels.items()}
    metadata = replace(node.metadata, name=name, labels=labels, uid="", creation_timestamp=None)
    taints = tuple(taint for taint in node.spec.taints if not is_passing(taint))
    spec = replace(node.spec, unschedulable=False, taints=taints)
    return replace(node, metadata=metadata, spec=spec, status=replace(node.status, conditions=()))


def added_names(like: str, number: int, taken: Container[str]) -> tuple[str, ...]:
    """Return free names for so many nodes (count) that are added like the one of this name."""
    host, dot, domain = like.partition(".")
    free = (name for count in itertools.count(1) if (name := f"{host}-new{count}{dot}{domain}") not in taken)
    return tuple(itertools.islice(free, number))


def is_silent(node: Node) -> bool:
    """Whether the node's kubelet does not answer, so that no Pod on it changes."""
    unknown = any(each.status == "Unknown" for each in node.status.conditions if each.type == _READY)
    return unknown or any(taint.key == UNREACHABLE for taint in node.spec.taints)


def is_shut_down(node: Node) -> bool:
    """Whether a node that is not ready is marked as shut down: Pods being deleted there are gone at once.

    Source: pkg/controller/podgc/gc_controller.go gcTerminating (v1.36).
    """
    return not node.answers and any(taint.key == OUT_OF_SERVICE for taint in node.spec.taints)


class EvictionsStopped(msgspec.Struct, frozen=True):
    """Too many nodes of a zone are unreachable, so no Pod is evicted there; of the cluster, if no node answers."""

    silent: int  # the unreachable nodes of the zone or the cluster (count)
    nodes: int  # all nodes of the zone or the cluster (count)


def keeps_pods(nodes: Mapping[str, Node], names: Collection[str]) -> Mapping[str, EvictionsStopped]:
    """Return node's name → why no Pods are evicted from it; nodes with evictions are absent.

    ``nodes`` are all nodes of the cluster, ``names`` those to decide about. Unreachable nodes are tainted.
    """
    zones = grouped((node for node in nodes.values() if EXCLUDED not in node.metadata.labels), zone_of)
    if not any(node.answers for members in zones.values() for node in members):
        every = sum(map(len, zones.values()))
        return {name: EvictionsStopped(every, every) for name in names if zone_of(nodes[name]) in zones}
    stopped = {}
    for zone, members in zones.items():
        silent, number = sum(not node.answers for node in members), len(members)
        disrupted = _UNHEALTHY_NODES <= silent < number and silent / number >= _UNHEALTHY_SHARE
        if disrupted and number <= LARGE_ZONE:
            stopped[zone] = EvictionsStopped(silent, number)
    return {name: stopped[zone] for name in names if (zone := zone_of(nodes[name])) in stopped}


def zone_of(node: Node) -> tuple[str, ...]:
    """Return (region, zone) of a node; the deprecated labels come first.

    Source: component-helpers node/topology/helpers.go GetZoneKey (v1.36).
    """
    labels = node.metadata.labels
    return tuple(labels.get(old, labels.get(new, "")) for old, new in _ZONE_LABELS)


def evicted_after(pod: Pod, node: Node) -> int | None:
    """Return after how many seconds the node's taints evict the Pod; None for never.

    If several tolerations match a taint, the first one counts.

    Source: tainteviction/taint_eviction.go processPodOnNode, getMinTolerationTime; pkg/apis/core/v1/helper/helpers.go
    GetMatchingTolerations.
    """
    seconds: list[int] = []
    for taint in node.spec.taints:
        if taint.effect == NO_EXECUTE:
            found = next((each for each in pod.spec.tolerations if tolerates(each, taint, numeric=False)), None)
            if found is None:
                return 0
            seconds += [] if found.toleration_seconds is None else [max(found.toleration_seconds, 0)]
    return min(seconds, default=None)
