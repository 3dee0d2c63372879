"""How full a node would be with the Pod on it, resource by resource: what the scores of the resources weigh.

Source: kube-scheduler noderesources/resource_allocation.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kubectl_spread.objects.configuration import ResourceSpec
from kubectl_spread.scheduler import resource

_ALWAYS = frozenset((resource.CPU, resource.MEMORY, resource.EPHEMERAL_STORAGE))


class Weighed(NamedTuple):
    """A resource that counts in a score, for one Pod."""

    name: str
    weight: int
    request: int


Usage: TypeAlias = tuple[int, int, int, int]
"""One resource of a node: its weight; what the node offers, never 0; what Pods request there; the same with the Pod."""


def weighed(resources: Sequence[ResourceSpec], pod_requests: Mapping[str, int]) -> tuple[Weighed, ...]:
    """Return the resources that count for the Pod: extended ones only where it requests them; weight 0 means 1."""
    # A GPU that the Pod does not ask for says nothing about where the Pod should go.
    requests = [(spec, pod_requests.get(spec.name, 0)) for spec in resources]
    return tuple(
        Weighed(spec.name, spec.weight or 1, request)
        for spec, request in requests
        if spec.name in _ALWAYS or (request and resource.is_scalar(spec.name))
    )


def usages(resources: Sequence[Weighed], allocatable: Mapping[str, int], allocated: Mapping[str, int]) -> list[Usage]:
    """Return how full the node would be; resources it has none of are left out."""
    found = []
    for name, weight, request in resources:
        capacity = allocatable.get(name, 0)
        # What a node has none of cannot be divided by; upstream leaves it out of the mean.
        if capacity:
            there = allocated.get(name, 0)
            found.append((weight, capacity, there, there + request))
    return found
