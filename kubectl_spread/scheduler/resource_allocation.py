"""How full a node would be with the Pod, for each resource: the input of the resource scores.

Source: kube-scheduler noderesources/resource_allocation.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kubectl_spread.objects.configuration import ResourceSpec
from kubectl_spread.scheduler import resource

_ALWAYS = frozenset((resource.CPU, resource.MEMORY, resource.EPHEMERAL_STORAGE))


class Weighed(NamedTuple):
    """A resource that counts in a score, with the Pod's request."""

    name: str
    weight: int
    request: int


Usage: TypeAlias = tuple[int, int, int, int]
"""One resource of a node: its weight, the capacity (never 0), what its Pods request, and the same with the new Pod."""


def weighed(resources: Sequence[ResourceSpec], pod_requests: Mapping[str, int]) -> tuple[Weighed, ...]:
    """Return the resources that count for the Pod: extended ones only if it requests them; weight 0 means 1."""
    requests = [(spec, pod_requests.get(spec.name, 0)) for spec in resources]
    return tuple(
        Weighed(spec.name, spec.weight or 1, request)
        for spec, request in requests
        if spec.name in _ALWAYS or (request and resource.is_scalar(spec.name))
    )


def usages(resources: Sequence[Weighed], allocatable: Mapping[str, int], allocated: Mapping[str, int]) -> list[Usage]:
    """Return how full the node would be; upstream leaves out resources that the node does not have."""
    found = []
    for name, weight, request in resources:
        if capacity := allocatable.get(name, 0):
            used = allocated.get(name, 0)
            found.append((weight, capacity, used, used + request))
    return found
