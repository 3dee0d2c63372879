"""What Pods request and nodes offer, as integers.

Amounts are ``resource name → int``: millicores for cpu, bytes or a count for everything else.

Source: component-helpers resource/helpers.go PodRequests, kube-scheduler framework/types.go Resource (v1.36). Not
modelled: CPU and memory that a Pod gets from a ResourceClaim (gate DRANodeAllocatableResources).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, Protocol, Self, TypeAlias, TypeVar

from kubectl_spread import quantity
from kubectl_spread.objects.core import Container, ContainerStatus, Pod, PodSpec, Quantity, ResourceRequirements
from kubectl_spread.scheduler.profile import Behaviour, Profile

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
HUGE_PAGES_PREFIX = "hugepages-"
ATTACHABLE_VOLUMES_PREFIX = "attachable-volumes-"

# The default requests of a container when nodes are scored (amounts). Source: util/pod_resources.go (v1.36).
NON_ZERO_REQUESTS = MappingProxyType({CPU: 100, MEMORY: 200 * 1024 * 1024})


class Summand(Protocol):
    """What can be added and compared: an integer of thousandths, or a quantity of the API server."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sum."""

    def __lt__(self, other: Self, /) -> bool:
        """Whether it is less."""


AmountT = TypeVar("AmountT", bound=Summand)

_Items: TypeAlias = tuple[tuple[str, Quantity], ...]
NAMED = frozenset((CPU, MEMORY, EPHEMERAL_STORAGE))


def amounts(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return the amounts of all resources that the scheduler counts; others are absent.

    Raises:
        ValueError: a quantity cannot be parsed.
    """
    return dict(_amounts(tuple(quantities.items())))


# Most of thousands of nodes offer the same, and most replicas request the same few quantities.
@lru_cache(4096)
def _amounts(quantities: _Items) -> Mapping[str, int]:
    return _round_up(_millis(dict(quantities)))


_milli_value = lru_cache(4096)(quantity.milli_value)


def _millis(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return thousandths of all resources that the scheduler counts: the API stores nothing finer.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (v1.36).
    """
    return {name: _milli_value(value) for name, value in quantities.items() if is_counted(name)}


def _round_up(millis: Mapping[str, int]) -> dict[str, int]:
    """Return amounts of thousandths, rounded only after sums, as upstream adds exact quantities."""
    return {name: value if name == CPU else -(-value // 1000) for name, value in millis.items()}


@lru_cache(4096)
def is_counted(name: str) -> bool:
    """Whether the scheduler counts the resource.

    Source: kube-scheduler framework/types.go Resource.Add, util/utils.go IsScalarResourceName (v1.36).
    """
    # upstream: other names are ignored silently; a Pod that requests one fits everywhere.
    return name in NAMED or name == PODS or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Whether it is an extended resource, huge pages or attachable volumes."""
    return "/" in name or name.startswith((HUGE_PAGES_PREFIX, ATTACHABLE_VOLUMES_PREFIX))


def is_extended(name: str) -> bool:
    """Whether it is a resource that is not Kubernetes' own, such as ``nvidia.com/gpu``.

    Source: pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName (v1.36).
    """
    # Only ResourceQuotas have names with "requests.".
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


class Requested(NamedTuple):
    """What one Pod or all Pods of a node request."""

    named: Mapping[str, int]  # the requests (amounts)
    non_zero: Mapping[str, int]  # the same, with default CPU and memory for containers that request none (amounts)
    of_each: Sequence[Mapping[str, int]] = ()  # the requests of each Pod (amounts)


def requested_by(pods: Iterable[Pod], profile: Profile) -> Requested:
    """Return what Pods on a node request together; ValueError if a quantity cannot be parsed."""
    resizing = profile.does(Behaviour.IN_PLACE_RESIZE)
    named, non_zero = [], []
    for pod in pods:
        if (containers := _simple_requests(pod, resizing=resizing)) is not None:
            requested = _sum_containers(containers)
            named.append(requested.named)
            non_zero.append(requested.non_zero)
        else:
            named.append(_sum_all(pod, profile, resizing=resizing))
            non_zero.append(_non_zero(pod, profile, resizing=resizing))
    return Requested(total(named), total(non_zero), named)


def pod_requests(pod: Pod, profile: Profile, *, assigned: bool) -> Mapping[str, int]:
    """Return what the Pod requests: the maximum over its containers' phases, or Pod-level requests, plus overhead.

    If it is on a node (``assigned``), the largest amount of a resize in progress counts.

    Raises:
        ValueError: a quantity cannot be parsed.
    """
    resizing = assigned and profile.does(Behaviour.IN_PLACE_RESIZE)
    if (containers := _simple_requests(pod, resizing=resizing)) is not None:
        return _sum_containers(containers).named
    return _sum_all(pod, profile, resizing=resizing)


def _sum_all(
    pod: Pod, profile: Profile, *, resizing: bool, missing: Mapping[str, int] = MappingProxyType({})
) -> Mapping[str, int]:
    default = _in_thousandths(missing)
    if not resizing:
        requests = aggregate(pod.spec, _requests_of, default)
    elif profile.does(Behaviour.RESIZE_BY_POD):
        requests = _largest_of_pod(pod, profile, default)
    else:
        requests = _largest_of_containers(pod, default)
    if has_pod_level(pod, profile):
        # Pod-level requests replace the sum of the same resource.
        requests |= _pod_level(pod, profile, resizing=resizing and profile.does(Behaviour.POD_LEVEL_RESIZE))
    # The overhead of the runtime is added in any case (KEP-688).
    return _round_up(total((requests, _millis(pod.spec.overhead))))


def _simple_requests(pod: Pod, *, resizing: bool) -> tuple[_Items, ...] | None:
    """Return what each container requests; None for a Pod that needs more than adding these up.

    Most Pods have only containers, and status reports just the resources that they request.
    """
    spec, status = pod.spec, pod.status
    if spec.init_containers or spec.overhead or spec.resources is not None:
        return None
    containers, statuses = spec.containers, status.container_statuses
    if not resizing:
        return tuple([tuple(container.resources.requests.items()) for container in containers])
    if status.resources is not None or len(containers) != len(statuses):
        return None
    simple = []
    for container, reported in zip(containers, statuses, strict=True):
        requests, has = container.resources.requests, reported.resources
        if has is None or reported.name != container.name:
            return None
        if not requests == has.requests == reported.allocated_resources:
            return None
        simple.append(tuple(requests.items()))
    return tuple(simple)


@lru_cache(2**14)
def _sum_containers(containers: tuple[_Items, ...]) -> Requested:
    millis = [_millis(dict(requests)) for requests in containers]
    default = _in_thousandths(NON_ZERO_REQUESTS)
    return Requested(_round_up(total(millis)), _round_up(total([{**default, **requests} for requests in millis])))


def has_pod_level(pod: Pod, profile: Profile) -> bool:
    """Whether the Pod has Pod-level requests, and the release supports them."""
    if pod.spec.resources is None or not profile.does(Behaviour.POD_LEVEL_RESOURCES):
        return False
    return any(map(is_pod_level, pod.spec.resources.requests))


def _non_zero(pod: Pod, profile: Profile, *, resizing: bool) -> Mapping[str, int]:
    """Return what a Pod on a node requests, with default CPU and memory for containers that request none.

    A Pod with Pod-level requests gets no default for a resource that it, or any container, requests.

    Source: kube-scheduler framework/types.go CalculateResource, getNonMissingContainerRequests (v1.36).
    """
    missing: Mapping[str, int] = NON_ZERO_REQUESTS
    if has_pod_level(pod, profile):
        named = _sum_all(pod, profile, resizing=resizing)
        missing = {name: value for name, value in missing.items() if name not in named}
    return _sum_all(pod, profile, resizing=resizing, missing=missing)


def non_zero_container_requests(pod: Pod) -> dict[str, int]:
    """Return what the containers of a Pod request together, with default CPU and memory.

    Source: kube-scheduler noderesources/resource_allocation.go calculatePodResourceRequest (v1.36).
    """
    containers = aggregate(pod.spec, _requests_of, _in_thousandths(NON_ZERO_REQUESTS))
    return _round_up(total((containers, _millis(pod.spec.overhead))))


def _in_thousandths(whole: Mapping[str, int]) -> dict[str, int]:
    return {name: value if name == CPU else value * 1000 for name, value in whole.items()}


def _requests_of(container: Container) -> dict[str, int]:
    return _millis(container.resources.requests)


def aggregate(
    spec: PodSpec, of_container: Callable[[Container], Mapping[str, AmountT]], missing: Mapping[str, AmountT]
) -> dict[str, AmountT]:
    """Return for each resource the larger of all containers together and the maximum during initialisation.

    ``missing``: the default of each container for resources that ``of_container`` does not name.

    Source: component-helpers resource/helpers.go AggregateContainerRequests, AggregateContainerLimits (v1.36).
    """
    # Containers and sidecars run at the same time. Before that one init container at a time runs, together with the
    # sidecars that were started before it (KEP-753).
    running = [{**missing, **of_container(container)} for container in spec.containers]
    sidecars: dict[str, AmountT] = {}
    initialising: dict[str, AmountT] = {}
    for container in spec.init_containers:
        amounts = {**missing, **of_container(container)}
        if is_sidecar(container):
            running.append(amounts)
            sidecars = widest = total((sidecars, amounts))
        else:
            # In this order: a sum of quantities has the format of the first.
            widest = total((amounts, sidecars))
        initialising = largest((initialising, widest))
    return largest((total(running), initialising))


def is_sidecar(container: Container) -> bool:
    """Whether an init container keeps running (KEP-753)."""
    return container.restart_policy == "Always"


def _largest_of_containers(pod: Pod, missing: Mapping[str, int]) -> dict[str, int]:
    """Return the requests in thousandths, with the largest amount of each container's resize (up to 1.36)."""
    statuses = _statuses(pod)
    # Other init containers than sidecars cannot be resized: their spec counts.
    finite = {container.name for container in pod.spec.init_containers if not is_sidecar(container)}

    def of_container(container: Container) -> dict[str, int]:
        status = statuses.get(container.name)
        if status is None or status.resources is None or container.name in finite:
            return _requests_of(container)
        return _effective(pod, container.resources, actuated=status.resources, allocated=status.allocated_resources)

    return aggregate(pod.spec, of_container, missing)


def _largest_of_pod(pod: Pod, profile: Profile, missing: Mapping[str, int]) -> dict[str, int]:
    """Source: component-helpers resource/helpers.go AggregateContainerRequests (v1.37)."""
    desired = {} if _resize_infeasible(pod) else aggregate(pod.spec, _requests_of, missing)
    has = pod.status.resources.requests if pod.status.resources is not None else {}
    if has and pod.status.allocated_resources and profile.does(Behaviour.POD_LEVEL_RESIZE):
        return largest((desired, _millis(pod.status.allocated_resources), _millis(has)))
    statuses = _statuses(pod)

    def allocated(container: Container) -> dict[str, int]:
        status = statuses.get(container.name)
        if status is not None and status.allocated_resources:
            return _millis(status.allocated_resources)
        return {} if _resize_infeasible(pod) else _requests_of(container)

    def actuated(container: Container) -> dict[str, int]:
        status = statuses.get(container.name)
        if status is not None and status.resources is not None and status.resources.requests:
            return _millis(status.resources.requests)
        return allocated(container)

    return largest((desired, *(aggregate(pod.spec, reading, missing) for reading in (allocated, actuated))))


def _pod_level(pod: Pod, profile: Profile, *, resizing: bool) -> dict[str, int]:
    """Return the Pod-level requests (thousandths), which replace those of the containers."""
    resources = pod.spec.resources or ResourceRequirements()
    requests = _millis(resources.requests)
    if resizing and (status := pod.status.resources) is not None:
        effective = _effective(pod, resources, actuated=status, allocated=pod.status.allocated_resources)
        # upstream: before 1.37 a resource of an infeasible resize that was never allocated counts as 0.
        by_pod = profile.does(Behaviour.RESIZE_BY_POD)
        requests = effective if by_pod else {name: effective.get(name, 0) for name in requests}
    return {name: value for name, value in requests.items() if is_pod_level(name)}


def is_pod_level(name: str) -> bool:
    """Whether the resource can be requested at Pod level (KEP-2837)."""
    return name in {CPU, MEMORY} or name.startswith(HUGE_PAGES_PREFIX)


def _effective(
    pod: Pod, spec: ResourceRequirements, *, actuated: ResourceRequirements, allocated: Mapping[str, Quantity]
) -> dict[str, int]:
    """Source: component-helpers resource/helpers.go determineEffectiveRequests (v1.36)."""
    # A Pod that grows needs room for the new size; one that shrinks uses the old size until the kubelet is done.
    desired = {} if _resize_infeasible(pod) else _millis(spec.requests)
    return largest((desired, _millis(actuated.requests), _millis(allocated)))


def _resize_infeasible(pod: Pod) -> bool:
    return _pending_resize(pod) == "Infeasible"


def is_resize_deferred(pod: Pod) -> bool:
    """Whether the kubelet reports that the resize waits for room on the node."""
    return _pending_resize(pod) == "Deferred"


def _pending_resize(pod: Pod) -> str:
    return next((c.reason for c in pod.status.conditions if c.type == "PodResizePending"), "")


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    return {status.name: status for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)}


def total(parts: Iterable[Mapping[str, AmountT]]) -> dict[str, AmountT]:
    """Return the sum of each resource."""
    sums: dict[str, AmountT] = {}
    for part in parts:
        for name, value in part.items():
            sums[name] = sums[name] + value if name in sums else value
    return sums


def largest(parts: Iterable[Mapping[str, AmountT]]) -> dict[str, AmountT]:
    """Return the maximum of each resource; of equal ones the first."""
    widest: dict[str, AmountT] = {}
    for part in parts:
        for name, value in part.items():
            if name not in widest or widest[name] < value:
                widest[name] = value
    return widest


def readable(name: str, value: int) -> str:
    """Return an amount in short form, rounded down to a tenth: ``1500m``, ``2``, ``9.4Gi``."""
    if name == CPU:
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
    if name not in NAMED and not name.startswith(HUGE_PAGES_PREFIX):
        return str(value)
    for suffix, unit in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if value >= unit:
            return f"{value * 10 // unit / 10:g}{suffix}"
    return str(value)


def quantity_of(name: str, value: int) -> str:
    """Return an amount as a quantity: exactly, or rounded down to Mi."""
    if name == CPU:
        return f"{value}m"
    if name in NAMED and value >= 2**20:
        return f"{value // 2**20}Mi"
    return str(value)
