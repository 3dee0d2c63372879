"""NodeResourcesFit: the node must have what the Pod requests, and room for one more Pod; the emptier the better.

Source: kube-scheduler noderesources/{fit,least_allocated,most_allocated,requested_to_capacity_ratio}.go (v1.36).
Extended resources backed by devices (dynamic resource allocation) are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kubectl_spread.objects.configuration import NodeResourcesFitArgs, ScoringStrategy
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.framework import (
    MAX_NODE_SCORE,
    SUCCESS,
    Code,
    Handle,
    NodeInfo,
    PreFilterResult,
    Status,
    go_round,
)
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.resource_allocation import Usage, usages, weighed
from kubectl_spread.scheduler.shape import score_at

NAME = "NodeResourcesFit"
TOO_MANY_PODS = "Too many pods"
MAX_SHAPE_SCORE = 10


@dataclass(frozen=True, slots=True)
class State:
    """What the filter needs of the Pod.

    Attributes:
        requests: what the Pod asks for (amounts), zeros and ignored resources left out.
        resized: the Pod, where it may be on its node already and ask for more; None elsewhere.
        tells_unresolvable: whether a request beyond the node's size is told from one that Pods are in the way of.
    """

    requests: Mapping[str, int]
    resized: Pod | None
    tells_unresolvable: bool


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter; every Pod needs room for itself."""
    requests = resource.pod_requests(pod, handle.profile, assigned=False)
    arguments = handle.profile.fit
    state = State(
        requests={name: value for name, value in requests.items() if value > 0 and _is_judged(name, arguments)},
        resized=pod if handle.profile.does(Behaviour.RESIZE_PREEMPTION) and pod.spec.node_name else None,
        tells_unresolvable=handle.profile.does(Behaviour.FIT_UNRESOLVABLE),
    )
    return PreFilterResult(partial(filter_node, state))


def _is_judged(name: str, arguments: NodeResourcesFitArgs) -> bool:
    """Whether the resource is compared; room for one more Pod is compared in any case."""
    if name == resource.PODS:
        return False
    if not resource.is_extended(name):
        return True
    group = name.partition("/")[0]
    return name not in arguments.ignored_resources and group not in arguments.ignored_resource_groups


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that lacks any requested resource, naming each.

    Source: noderesources/fit.go fitsRequest (v1.36).
    """
    allocatable, requested = node_info.allocatable, node_info.requested
    reasons = [TOO_MANY_PODS] if len(node_info.pods) >= allocatable.get(resource.PODS, 0) else []
    code = Code.UNSCHEDULABLE
    accounted = _accounted_for(state.resized, node_info)
    for name, wanted in state.requests.items():
        capacity = allocatable.get(name, 0)
        if max(0, wanted - accounted.get(name, 0)) > capacity - requested.get(name, 0):
            reasons.append(f"Insufficient {name}")
            if wanted > capacity and state.tells_unresolvable:
                code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return Status(code, tuple(reasons)) if reasons else SUCCESS


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
    requests = resource.non_zero_container_requests(pod)
    resources = weighed(strategy.resources, requests)
    score = _SCORERS[strategy.type]
    return {
        info.name: score(
            strategy,
            usages(resources, pod_requests=requests, allocatable=info.allocatable, allocated=info.non_zero_requested),
        )
        for info in nodes
    }


def _least_allocated(_strategy: ScoringStrategy, found: Sequence[Usage]) -> int:
    """Return the score (0..100): best where most is left.

    Source: noderesources/least_allocated.go (v1.36).
    """
    return _mean([(u.weight, max(0, u.capacity - u.requested) * MAX_NODE_SCORE // u.capacity) for u in found])


def _most_allocated(_strategy: ScoringStrategy, found: Sequence[Usage]) -> int:
    """Return the score (0..100): best where least is left.

    Source: noderesources/most_allocated.go (v1.36).
    """
    return _mean([(u.weight, min(u.requested, u.capacity) * MAX_NODE_SCORE // u.capacity) for u in found])


def _mean(scores: Sequence[tuple[int, int]]) -> int:
    """Return the weighted mean of (weight, score), rounded down; 0 of none."""
    weights = sum(weight for weight, _ in scores)
    return sum(weight * score for weight, score in scores) // weights if weights else 0


def _requested_to_capacity_ratio(strategy: ScoringStrategy, found: Sequence[Usage]) -> int:
    """Return the score (0..100) by the configured function of utilization; resources that score 0 do not count.

    Source: noderesources/requested_to_capacity_ratio.go (v1.36).
    """
    points = strategy.requested_to_capacity_ratio.shape
    shape = tuple((point.utilization, point.score * MAX_NODE_SCORE // MAX_SHAPE_SCORE) for point in points)
    scores = [(u.weight, score_at(shape, min(100, u.requested * 100 // u.capacity))) for u in found]
    weights = sum(weight for weight, score in scores if score > 0)
    return go_round(sum(weight * score for weight, score in scores) / weights) if weights else 0


_SCORERS: Mapping[str, Callable[[ScoringStrategy, Sequence[Usage]], int]] = {
    "LeastAllocated": _least_allocated,
    "MostAllocated": _most_allocated,
    "RequestedToCapacityRatio": _requested_to_capacity_ratio,
}
"""Type of the scoring strategy → its function."""
