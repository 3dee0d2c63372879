"""How full a node would be with the Pod on it, resource by resource: what the scores of the resources weigh.

Source: kube-scheduler noderesources/resource_allocation.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kubectl_spread.objects.configuration import ResourceSpec
from kubectl_spread.scheduler import resource

_WEIGHED = frozenset((resource.CPU, resource.MEMORY, resource.EPHEMERAL_STORAGE))


class Usage(NamedTuple):
    """One resource of a node (amounts).

    Attributes:
        weight: of the resource in the score.
        capacity: what the node offers; never 0.
        allocated: what the Pods on it request.
        requested: the same with the Pod in question.
    """

    weight: int
    capacity: int
    allocated: int
    requested: int


def weighed(resources: Sequence[ResourceSpec], pod_requests: Mapping[str, int]) -> tuple[ResourceSpec, ...]:
    """Return the resources that count for the Pod: extended ones only where it requests them."""
    return tuple(
        spec
        for spec in resources
        if spec.name in _WEIGHED or (resource.is_scalar(spec.name) and pod_requests.get(spec.name, 0) != 0)
    )


def usages(
    resources: Sequence[ResourceSpec],
    *,
    pod_requests: Mapping[str, int],
    allocatable: Mapping[str, int],
    allocated: Mapping[str, int],
) -> list[Usage]:
    """Return how full the node is; resources it has none of are left out.

    Args:
        resources: that count for the Pod.
        pod_requests: what the Pod requests.
        allocatable: what the node offers.
        allocated: what the Pods on it request.
    """
    found = []
    for spec in resources:
        capacity = allocatable.get(spec.name, 0)
        if capacity:
            there = allocated.get(spec.name, 0)
            found.append(Usage(spec.weight or 1, capacity, there, there + pod_requests.get(spec.name, 0)))
    return found
