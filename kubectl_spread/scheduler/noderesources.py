"""NodeResourcesFit: the node must have what the Pod requests, and room for one more Pod; emptier nodes score higher.

Source: kube-scheduler noderesources/{fit,resource_allocation,least_allocated,most_allocated,
requested_to_capacity_ratio}.go (v1.36). Not modelled: the scores of extended resources that devices provide (dynamic
resource allocation).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from kubectl_spread.objects.configuration import NodeResourcesFitArgs, ResourceSpec, UtilizationShapePoint
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import framework, resource
from kubectl_spread.scheduler.dynamicresources import backed_by_devices
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.shape import score_at, shape_of

NAME = "NodeResourcesFit"
TOO_MANY_PODS = "Too many pods"
FULL = 100


class State(msgspec.Struct, frozen=True):
    """The Pod's part of the filter."""

    requests: Mapping[str, int]  # what the Pod requests (amounts), without zeros and ignored resources
    by_devices: frozenset[str]  # the resources that devices provide where the node itself offers none
    resized: Pod | None  # the Pod, if it may already be on its node and be resized; else None
    tells_unresolvable: bool  # whether a request that exceeds the node's allocatable is unresolvable


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter; no Pod is skipped, as each needs room for itself."""
    state = state_of(pod, handle)
    short = (handle.room.lacking(name, wanted) for name, wanted in state.requests.items())
    suspects = handle.room.lacking(resource.PODS, 1).union(*short)
    # Not certain if the Pod is already on the node, or if devices provide a resource.
    certain = state.resized is None and not state.by_devices
    return framework.PreFilterResult(partial(filter_node, state), suspects=suspects, certain=certain)


def state_of(pod: Pod, handle: framework.Handle) -> State:
    """Return the Pod's part of the filter."""
    # upstream: the requests are those of a Pod without a node, also when it is scheduled again for a resize (1.37).
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
    """Whether the resource is compared; only extended ones can be ignored, by name or by the group before the slash."""
    # The number of Pods is no request: it is always compared.
    if name == resource.PODS:
        return False
    if not resource.is_extended(name):
        return True
    group = name.partition("/")[0]
    return name not in arguments.ignored_resources and group not in arguments.ignored_resource_groups


def filter_node(state: State, node_info: NodeInfo) -> framework.Status:
    """Reject a node that lacks any requested resource; the reasons name each."""
    reasons = [TOO_MANY_PODS] if is_full(node_info) else []
    short = insufficient(state, node_info)
    if not (reasons or short):
        return framework.SUCCESS
    # More than the empty node has: preemption cannot help.
    unresolvable = state.tells_unresolvable and any(each.wanted > each.capacity for each in short)
    code = framework.Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else framework.Code.UNSCHEDULABLE
    return framework.Status(code, (*reasons, *(f"Insufficient {each.name}" for each in short)))


def is_full(node_info: NodeInfo) -> bool:
    """Whether the node has no room for another Pod, whatever its requests."""
    return node_info.free(resource.PODS) < 1


class Insufficient(msgspec.Struct, frozen=True, gc=False):
    """A resource of which a node has too little."""

    name: str
    wanted: int  # the Pod's request (amount)
    free: int  # what is free for the Pod (amount); negative if the node is overcommitted
    capacity: int  # the node's allocatable (amount)


def insufficient(state: State, node_info: NodeInfo) -> list[Insufficient]:
    """Return every resource of which the node has too little, in the order of the Pod's requests.

    Source: noderesources/fit.go fitsRequest (v1.36), adjustDeltasToAccomodateCacheDiscrepancy (v1.37).
    """
    # What the node's sums already contain of a Pod that is resized.
    counted: Mapping[str, int] = {}
    if state.resized is not None and state.resized.spec.node_name == node_info.name:
        there = next((pod for pod in node_info.pods if pod.key == state.resized.key), None)
        counted = node_info.requests(there) if there else {}
    allocatable, requested, short = node_info.allocatable, node_info.requested, []
    for name, wanted in state.requests.items():
        capacity, own = allocatable.get(name, 0), counted.get(name, 0)
        if capacity <= 0 and name in state.by_devices:
            continue
        left = capacity - requested.get(name, 0)
        # request > allocatable - requested. Allocatable can shrink below what is requested: then a Pod fits if it
        # requests no more than before.
        if max(0, wanted - own) > left:
            short.append(Insufficient(name, wanted, left + own, capacity))
    return short


class Weighed(NamedTuple):
    """A resource that counts in a score, with the Pod's request."""

    name: str
    weight: int
    request: int


# One resource of a node: its weight, the capacity (never 0), what its Pods request, and the same with the new Pod.
Usage: TypeAlias = tuple[int, int, int, int]


def weighed(resources: Sequence[ResourceSpec], pod_requests: Mapping[str, int]) -> tuple[Weighed, ...]:
    """Return the resources that count for the Pod: extended ones only if it requests them; weight 0 means 1."""
    weighed = (Weighed(spec.name, spec.weight or 1, pod_requests.get(spec.name, 0)) for spec in resources)
    return tuple(w for w in weighed if w.name in resource.NAMED or (w.request and resource.is_scalar(w.name)))


def usages(resources: Sequence[Weighed], allocatable: Mapping[str, int], allocated: Mapping[str, int]) -> list[Usage]:
    """Return how full the node would be; upstream leaves out resources that the node does not have."""
    found = []
    for name, weight, request in resources:
        if capacity := allocatable.get(name, 0):
            used = allocated.get(name, 0)
            found.append((weight, capacity, used, used + request))
    return found


def pre_score(pod: Pod, handle: framework.Handle, nodes: Sequence[NodeInfo]) -> framework.Scores:
    """Return feasible node's name → score (0..100), by the configured strategy; no Pod is skipped."""
    strategy = handle.profile.fit.scoring_strategy
    # upstream: Pod-level requests and resizes have no effect on this score, which does not get their feature gates.
    resources = weighed(strategy.resources, resource.non_zero_container_requests(pod))
    scorers: Mapping[str, Callable[[Sequence[Usage]], int]] = {
        "MostAllocated": most_allocated,
        "RequestedToCapacityRatio": partial(requested_to_capacity_ratio, strategy.requested_to_capacity_ratio.shape),
    }
    score = scorers.get(strategy.type, least_allocated)
    return framework.score_each(
        nodes, (NAME, resources), lambda info: score(usages(resources, info.allocatable, info.non_zero_requested))
    )


def least_allocated(found: Sequence[Usage]) -> int:
    """Return the weighted mean of the free share (percent). Source: noderesources/least_allocated.go (v1.36)."""
    # sum of weight x (100 x (capacity - requested) / capacity), over the sum of weights; divisions are cut.
    return _weighted_mean(
        [(w, max(0, capacity - used) * framework.MAX_NODE_SCORE // capacity) for w, capacity, _, used in found]
    )


def most_allocated(found: Sequence[Usage]) -> int:
    """Return the weighted mean of the requested share (percent). Source: noderesources/most_allocated.go (v1.36)."""
    # sum of weight x (100 x requested / capacity), over the sum of weights; more than the capacity counts as full.
    return _weighted_mean(
        [(w, min(used, capacity) * framework.MAX_NODE_SCORE // capacity) for w, capacity, _, used in found]
    )


def _weighted_mean(scores: Sequence[tuple[int, int]]) -> int:
    weights = sum([weight for weight, _ in scores])
    return sum([weight * score for weight, score in scores]) // weights if weights else 0


def requested_to_capacity_ratio(points: Sequence[UtilizationShapePoint], found: Sequence[Usage]) -> int:
    """Return the weighted mean of the scores that the points give each utilization.

    Source: noderesources/requested_to_capacity_ratio.go (v1.36).
    """
    shape = shape_of(points)
    score = weights = 0
    for weight, capacity, _, requested in found:
        # upstream: a resource with a score of 0 does not count in the mean.
        if (of_resource := score_at(shape, min(FULL, requested * FULL // capacity))) > 0:
            weights += weight
            score += weight * of_resource
    return framework.go_round(score / weights) if weights else 0
