"""NodeResourcesFit: the node must have what the Pod requests, and room for one more Pod; the emptier the better.

Source: kube-scheduler noderesources/{fit,least_allocated,most_allocated,requested_to_capacity_ratio}.go (v1.36). Not
modelled: how devices that stand behind extended resources (dynamic resource allocation) are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from kubectl_spread.objects.configuration import NodeResourcesFitArgs, ScoringStrategy, UtilizationShapePoint
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.dynamicresources import backed_by_devices
from kubectl_spread.scheduler.framework import (
    MAX_NODE_SCORE,
    SUCCESS,
    Code,
    Handle,
    PreFilterResult,
    Status,
    go_round,
    score_each,
)
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.resource_allocation import Usage, usages, weighed
from kubectl_spread.scheduler.shape import score_at, shape_of

NAME = "NodeResourcesFit"
TOO_MANY_PODS = "Too many pods"
FULL = 100


class State(msgspec.Struct, frozen=True):
    """What the filter needs of the Pod.

    Attributes:
        requests: what the Pod asks for (amounts), zeros and ignored resources left out.
        by_devices: those that devices provide where the node itself offers none.
        resized: the Pod, where it may be on its node already and ask for more; None elsewhere.
        tells_unresolvable: whether a request beyond the node's size is told from one that Pods are in the way of.
    """

    requests: Mapping[str, int]
    by_devices: frozenset[str]
    resized: Pod | None
    tells_unresolvable: bool


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter; every Pod needs room for itself."""
    state = state_of(pod, handle)
    short = (handle.room.lacking(name, wanted) for name, wanted in state.requests.items())
    suspects = handle.room.lacking(resource.PODS, 1).union(*short)
    # A Pod that is there already, or devices, may make up for what is short.
    certain = state.resized is None and not state.by_devices
    return PreFilterResult(partial(filter_node, state), suspects=suspects, certain=certain)


def state_of(pod: Pod, handle: Handle) -> State:
    """Return what the filter needs of the Pod."""
    # upstream: as if it were on no node, though from 1.37 a Pod may be scheduled again to grow in place.
    requests = resource.pod_requests(pod, handle.profile, assigned=False)
    arguments = handle.profile.fit
    judged = {name: value for name, value in requests.items() if value > 0 and _is_judged(name, arguments)}
    return State(
        requests=judged,
        by_devices=backed_by_devices(judged, handle.snapshot, handle.profile),
        resized=pod if handle.profile.does(Behaviour.RESIZE_PREEMPTION) and pod.spec.node_name else None,
        tells_unresolvable=handle.profile.does(Behaviour.FIT_UNRESOLVABLE),
    )


def _is_judged(name: str, arguments: NodeResourcesFitArgs) -> bool:
    """Whether the resource is compared; room for one more Pod is compared in any case."""
    # The count of Pods is no request: it is compared first, for every Pod.
    if name == resource.PODS:
        return False
    # Only extended resources can be ignored, alone or by the group before the slash.
    if not resource.is_extended(name):
        return True
    group = name.partition("/")[0]
    return name not in arguments.ignored_resources and group not in arguments.ignored_resource_groups


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that lacks any requested resource, naming each."""
    reasons = [TOO_MANY_PODS] if is_full(node_info) else []
    short = insufficient(state, node_info)
    if not (reasons or short):
        return SUCCESS
    # More than the empty node has: evictions are of no use.
    unresolvable = state.tells_unresolvable and any(each.wanted > each.capacity for each in short)
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE
    return Status(code, (*reasons, *(f"Insufficient {each.name}" for each in short)))


def is_full(node_info: NodeInfo) -> bool:
    """Whether the node takes no further Pod, whatever that asks for."""
    # upstream: Pods on the node >= allocatable.pods; this one needs a place too.
    return node_info.free(resource.PODS) < 1


class Insufficient(msgspec.Struct, frozen=True, gc=False):
    """A resource that a node has too little of.

    Attributes:
        wanted: what the Pod asks for (amount).
        free: what the node has left for it (amount), below zero where more is requested than offered.
        capacity: what the node offers at all (amount).
    """

    name: str
    wanted: int
    free: int
    capacity: int


def insufficient(state: State, node_info: NodeInfo) -> list[Insufficient]:
    """Return every resource that is short on the node, in the order of the Pod's requests.

    Source: noderesources/fit.go fitsRequest (v1.36).
    """
    allocatable, requested = node_info.allocatable, node_info.requested
    accounted = _accounted_for(state.resized, node_info)
    found = []
    # A node can hold more than it offers, for its allocatable may shrink. A Pod that asks for nothing still fits there.
    for name, wanted in state.requests.items():
        capacity, own = allocatable.get(name, 0), accounted.get(name, 0)
        if capacity <= 0 and name in state.by_devices:
            continue
        left = capacity - requested.get(name, 0)
        # request > allocatable - requested, for each resource; every one that is short is named.
        if max(0, wanted - own) > left:
            found.append(Insufficient(name, wanted, left + own, capacity))
    return found


def _accounted_for(resized: Pod | None, node_info: NodeInfo) -> Mapping[str, int]:
    """Return what the node's sums hold of the Pod already (amounts).

    Source: noderesources/fit.go adjustDeltasToAccomodateCacheDiscrepancy (v1.37).
    """
    if resized is None or resized.spec.node_name != node_info.name:
        return {}
    there = next((pod for pod in node_info.pods if pod.key == resized.key), None)
    return {} if there is None else resource.pod_requests(there, node_info.profile, assigned=True)


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int]:
    """Return feasible node's name → score (0..100), by the configured strategy; every Pod has it."""
    strategy = handle.profile.fit.scoring_strategy
    # upstream: requests of the Pod as a whole and resizes do not reach this score, nobody hands it their gates.
    resources = weighed(strategy.resources, resource.non_zero_container_requests(pod))
    score = _scorer(strategy)

    def of_node(info: NodeInfo) -> int:
        return score(usages(resources, info.allocatable, info.non_zero_requested))

    return score_each(nodes, (NAME, resources), of_node)


Scorer: TypeAlias = Callable[[Sequence[Usage]], int]


def _scorer(strategy: ScoringStrategy) -> Scorer:
    """Return the function that scores a node (0..100) by how full it would be."""
    match strategy.type:
        case "MostAllocated":
            return most_allocated
        case "RequestedToCapacityRatio":
            return partial(requested_to_capacity_ratio, strategy.requested_to_capacity_ratio.shape)
        case _:
            return least_allocated


def least_allocated(found: Sequence[Usage]) -> int:
    """Return the weighted mean of what is left (per cent).

    Source: noderesources/least_allocated.go (v1.36).
    """
    # sum of weight x (100 x (capacity - requested) / capacity), over the sum of weights; divisions are cut.
    score = weights = 0
    for weight, capacity, _, requested in found:
        weights += weight
        if requested < capacity:
            score += weight * ((capacity - requested) * MAX_NODE_SCORE // capacity)
    return score // weights if weights else 0


def most_allocated(found: Sequence[Usage]) -> int:
    """Return the weighted mean of what is requested (per cent).

    Source: noderesources/most_allocated.go (v1.36).
    """
    # sum of weight x (100 x requested / capacity), over the sum of weights; beyond the capacity counts as full.
    score = weights = 0
    for weight, capacity, _, requested in found:
        weights += weight
        score += weight * (min(requested, capacity) * MAX_NODE_SCORE // capacity)
    return score // weights if weights else 0


def requested_to_capacity_ratio(points: Sequence[UtilizationShapePoint], found: Sequence[Usage]) -> int:
    """Return the weighted mean of the scores that the points give each utilization; scores of 0 do not count.

    Source: noderesources/requested_to_capacity_ratio.go (v1.36).
    """
    shape = shape_of(points)
    score = weights = 0
    for weight, capacity, _, requested in found:
        points_given = score_at(shape, min(FULL, requested * FULL // capacity))
        # upstream: a resource with a score of 0 does not weigh in the mean either.
        if points_given > 0:
            weights += weight
            score += weight * points_given
    return go_round(score / weights) if weights else 0
