"""NodeResourcesFit: the node must have what the Pod requests, and room for one more Pod.

Source: kube-scheduler noderesources/fit.go (v1.36). Extended resources backed by devices (dynamic resource allocation)
are not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.framework import (
    SUCCESS,
    Code,
    Handle,
    NodeInfo,
    PreFilterResult,
    Status,
)
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeResourcesFit"
TOO_MANY_PODS = "Too many pods"


@dataclass(frozen=True, slots=True)
class State:
    """What the filter needs of the Pod.

    Attributes:
        requests: what the Pod asks for (amounts), zeros left out.
        tells_unresolvable: whether a request beyond the node's size is told from one that Pods are in the way of.
    """

    requests: Mapping[str, int]
    tells_unresolvable: bool


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter; every Pod needs room for itself."""
    requests = resource.pod_requests(pod, handle.profile, assigned=False)
    state = State(
        requests={name: value for name, value in requests.items() if value > 0 and name != resource.PODS},
        tells_unresolvable=handle.profile.does(Behaviour.FIT_UNRESOLVABLE),
    )
    return PreFilterResult(partial(filter_node, state))


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that lacks any requested resource, naming each.

    Source: noderesources/fit.go fitsRequest (v1.36).
    """
    allocatable, requested = node_info.allocatable, node_info.requested
    reasons = [TOO_MANY_PODS] if len(node_info.pods) >= allocatable.get(resource.PODS, 0) else []
    code = Code.UNSCHEDULABLE
    for name, wanted in state.requests.items():
        capacity = allocatable.get(name, 0)
        if wanted > capacity - requested.get(name, 0):
            reasons.append(f"Insufficient {name}")
            if wanted > capacity and state.tells_unresolvable:
                code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return Status(code, tuple(reasons)) if reasons else SUCCESS
