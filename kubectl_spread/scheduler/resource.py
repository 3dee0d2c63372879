"""What Pods request and nodes offer, as whole numbers.

Amounts are ``resource name → int``: millicores for cpu, bytes or a count for everything else.

Source: component-helpers resource/helpers.go PodRequests, kube-scheduler framework/types.go Resource (v1.36). Not
modelled: CPU and memory that a Pod gets by a ResourceClaim (gate DRANodeAllocatableResources).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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

NON_ZERO_REQUESTS = MappingProxyType({CPU: 100, MEMORY: 200 * 1024 * 1024})
"""What a container without requests is taken to need when nodes are scored (amounts).

Else Pods that request nothing would all go to the node with the fewest requests, and count for nothing there.

Source: kube-scheduler util/pod_resources.go (v1.36).
"""


class Summand(Protocol):
    """What can be added and compared: a whole number of thousandths, or a quantity as the API server holds it."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sum."""

    def __lt__(self, other: Self, /) -> bool:
        """Whether it is less."""


AmountT = TypeVar("AmountT", bound=Summand)

_Items: TypeAlias = tuple[tuple[str, Quantity], ...]
_NAMED = frozenset((CPU, MEMORY, EPHEMERAL_STORAGE))


def amounts(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return the amounts of every resource the scheduler reads; names it does not know are left out.

    Raises:
        ValueError: a quantity cannot be read.
    """
    return dict(_amounts(tuple(quantities.items())))


@lru_cache(4096)
def _amounts(quantities: _Items) -> Mapping[str, int]:
    """Return the amounts of quantities; of nodes by the thousand few offer anything else than others."""
    return _whole(_millis(dict(quantities)))


def _millis(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return thousandths of every resource the scheduler reads: the API stores nothing finer.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (v1.36).
    """
    return {name: _milli_value(value) for name, value in quantities.items() if is_counted(name)}


# Replicas by the thousand ask for the same few quantities of the same few resources.
_milli_value = lru_cache(4096)(quantity.milli_value)


def _whole(millis: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts, rounded up only now: upstream adds exact quantities before it rounds."""
    return {name: value if name == CPU else -(-value // 1000) for name, value in millis.items()}


@lru_cache(4096)
def is_counted(name: str) -> bool:
    """Whether the scheduler keeps account of the resource.

    Source: kube-scheduler framework/types.go Resource.Add, util/utils.go IsScalarResourceName (v1.36).
    """
    # upstream: any other name is dropped in silence; a Pod that asks for it fits everywhere.
    return name in _NAMED or name == PODS or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Whether it is an extended resource, huge pages or volume attachments."""
    return "/" in name or name.startswith((HUGE_PAGES_PREFIX, ATTACHABLE_VOLUMES_PREFIX))


def is_extended(name: str) -> bool:
    """Whether it is a resource that Kubernetes itself does not know, such as ``nvidia.com/gpu``.

    Source: pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName (v1.36).
    """
    # "requests." is how a ResourceQuota speaks of a resource, never a node.
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


class Requested(NamedTuple):
    """What a Pod requests, or all Pods of a node together.

    Attributes:
        named: what is requested by name (amounts).
        non_zero: the same where containers that name no CPU or memory are taken to need a little (amounts).
    """

    named: Mapping[str, int]
    non_zero: Mapping[str, int]


def requested_by(pods: Iterable[Pod], profile: Profile) -> Requested:
    """Return what Pods on a node request together.

    Raises:
        ValueError: a quantity cannot be read.
    """
    resizing = profile.does(Behaviour.IN_PLACE_RESIZE)
    each = [_requested_on_node(pod, profile, resizing=resizing) for pod in pods]
    return Requested(total([requested.named for requested in each]), total([requested.non_zero for requested in each]))


def _requested_on_node(pod: Pod, profile: Profile, *, resizing: bool) -> Requested:
    if (containers := _settled(pod, resizing=resizing)) is not None:
        return _together(containers)
    return Requested(_gone_through(pod, profile, resizing=resizing), _non_zero(pod, profile, resizing=resizing))


def pod_requests(pod: Pod, profile: Profile, *, assigned: bool) -> Mapping[str, int]:
    """Return what the Pod requests: its containers at their widest moment, or Pod-level requests, plus overhead.

    On a node (``assigned``) a resize in progress counts at its largest.

    Raises:
        ValueError: a quantity cannot be read.
    """
    # A Pod on no node has nothing allocated as yet: its spec is all that counts.
    resizing = assigned and profile.does(Behaviour.IN_PLACE_RESIZE)
    if (containers := _settled(pod, resizing=resizing)) is not None:
        return _together(containers).named
    return _gone_through(pod, profile, resizing=resizing)


def _gone_through(
    pod: Pod, profile: Profile, *, resizing: bool, missing: Mapping[str, int] = MappingProxyType({})
) -> Mapping[str, int]:
    """Return what the Pod requests (amounts), all that may be considered.

    ``missing``: what each container is taken to request (amounts) of resources it does not name.
    """
    default = _in_thousandths(missing)
    if not resizing:
        requests = aggregate(pod.spec, _asked, default)
    elif profile.does(Behaviour.RESIZE_BY_POD):
        requests = _largest_of_pod(pod, profile, default)
    else:
        requests = _largest_of_containers(pod, default)
    if has_pod_level(pod, profile):
        # What the Pod asks for as a whole replaces the sum, and leaves resources it does not name as they were.
        requests |= _pod_level(pod, profile, resizing=resizing and profile.does(Behaviour.POD_LEVEL_RESIZE))
    # Overhead comes on top of either: it is the runtime's own need (KEP-688).
    return _whole(total((requests, _millis(pod.spec.overhead))))


def _settled(pod: Pod, *, resizing: bool) -> tuple[_Items, ...] | None:
    """Return what each container requests where that is all there is to add up, None where there is more.

    That is how most Pods are: all they have are containers, which have and were allocated what they request.
    """
    spec, status = pod.spec, pod.status
    if spec.init_containers or spec.overhead or spec.resources is not None:
        return None
    containers, statuses = spec.containers, status.container_statuses
    if not resizing:
        return tuple([tuple(container.resources.requests.items()) for container in containers])
    if status.resources is not None or len(containers) != len(statuses):
        return None
    asked = []
    for container, reported in zip(containers, statuses, strict=True):
        requests, has = container.resources.requests, reported.resources
        if has is None or reported.name != container.name:
            return None
        if not requests == has.requests == reported.allocated_resources:
            return None
        asked.append(tuple(requests.items()))
    return tuple(asked)


# Replicas request the same, and many workloads do; where each Pod has its own, adding up is still quick.
@lru_cache(2**14)
def _together(containers: tuple[_Items, ...]) -> Requested:
    millis = [_millis(dict(requests)) for requests in containers]
    default = _in_thousandths(NON_ZERO_REQUESTS)
    return Requested(_whole(total(millis)), _whole(total([{**default, **requests} for requests in millis])))


def has_pod_level(pod: Pod, profile: Profile) -> bool:
    """Whether the Pod has requests as a whole, and the release minds them."""
    if pod.spec.resources is None or not profile.does(Behaviour.POD_LEVEL_RESOURCES):
        return False
    return any(map(is_pod_level, pod.spec.resources.requests))


def _non_zero(pod: Pod, profile: Profile, *, resizing: bool) -> Mapping[str, int]:
    """Return what a Pod on a node requests where containers that name no CPU or memory are taken to need a little.

    Requests of the Pod as a whole, or of any of its containers besides them, spare the others that.

    Source: kube-scheduler framework/types.go CalculateResource, getNonMissingContainerRequests (v1.36).
    """
    missing: Mapping[str, int] = NON_ZERO_REQUESTS
    if has_pod_level(pod, profile):
        named = _gone_through(pod, profile, resizing=resizing)
        # The Pod has said what it needs: a guess for each of its containers would only add to that.
        missing = {name: value for name, value in missing.items() if name not in named}
    return _gone_through(pod, profile, resizing=resizing, missing=missing)


def non_zero_container_requests(pod: Pod) -> dict[str, int]:
    """Return what the containers of a Pod ask for together, where each needs a little CPU and memory at least.

    Source: kube-scheduler noderesources/resource_allocation.go calculatePodResourceRequest (v1.36).
    """
    return _whole(total((aggregate(pod.spec, _asked, _in_thousandths(NON_ZERO_REQUESTS)), _millis(pod.spec.overhead))))


def _in_thousandths(whole: Mapping[str, int]) -> dict[str, int]:
    return {name: value if name == CPU else value * 1000 for name, value in whole.items()}


def _asked(container: Container) -> dict[str, int]:
    return _millis(container.resources.requests)


def aggregate(
    spec: PodSpec, of_container: Callable[[Container], Mapping[str, AmountT]], missing: Mapping[str, AmountT]
) -> dict[str, AmountT]:
    """Return the larger of all containers together and the widest moment of initialisation, resource by resource.

    ``missing``: what each container counts for of resources that ``of_container`` does not name.

    Source: component-helpers resource/helpers.go AggregateContainerRequests, AggregateContainerLimits (v1.36).
    """
    # All that runs at once, sidecars included, against the widest moment before: an init container beside the sidecars
    # that were started ahead of it. Init containers run one at a time, so they are not added up (KEP-753).
    running = [{**missing, **of_container(container)} for container in spec.containers]
    sidecars: dict[str, AmountT] = {}
    initialising: dict[str, AmountT] = {}
    for container in spec.init_containers:
        amounts = {**missing, **of_container(container)}
        if is_sidecar(container):
            running.append(amounts)
            sidecars = widest = total((sidecars, amounts))
        else:
            # In this order: a sum of quantities has the notation of the first.
            widest = total((amounts, sidecars))
        initialising = largest((initialising, widest))
    return largest((total(running), initialising))


def is_sidecar(container: Container) -> bool:
    """Whether an init container keeps running (KEP-753)."""
    return container.restart_policy == "Always"


def _largest_of_containers(pod: Pod, missing: Mapping[str, int]) -> dict[str, int]:
    """Return what the Pod requests in thousandths, each container's resize in progress at its largest (up to 1.36)."""
    statuses = _statuses(pod)
    # Only what keeps running can be resized: of other init containers the spec counts, whatever their status says.
    finite = {container.name for container in pod.spec.init_containers if not is_sidecar(container)}

    def of_container(container: Container) -> dict[str, int]:
        status = statuses.get(container.name)
        if status is None or status.resources is None or container.name in finite:
            return _asked(container)
        return _effective(pod, container.resources, actuated=status.resources, allocated=status.allocated_resources)

    return aggregate(pod.spec, of_container, missing)


def _largest_of_pod(pod: Pod, profile: Profile, missing: Mapping[str, int]) -> dict[str, int]:
    """Return the largest of what the Pod as a whole asks for, was allocated and has, in thousandths (from 1.37).

    Source: component-helpers resource/helpers.go AggregateContainerRequests (v1.37).
    """
    asked = {} if _resize_infeasible(pod) else aggregate(pod.spec, _asked, missing)
    has = pod.status.resources.requests if pod.status.resources is not None else {}
    if has and pod.status.allocated_resources and profile.does(Behaviour.POD_LEVEL_RESIZE):
        return largest((asked, _millis(pod.status.allocated_resources), _millis(has)))
    statuses = _statuses(pod)

    def allocated(container: Container) -> dict[str, int]:
        status = statuses.get(container.name)
        if status is not None and status.allocated_resources:
            return _millis(status.allocated_resources)
        return {} if _resize_infeasible(pod) else _asked(container)

    def actuated(container: Container) -> dict[str, int]:
        status = statuses.get(container.name)
        if status is not None and status.resources is not None and status.resources.requests:
            return _millis(status.resources.requests)
        return allocated(container)

    return largest((asked, *(aggregate(pod.spec, reading, missing) for reading in (allocated, actuated))))


def _pod_level(pod: Pod, profile: Profile, *, resizing: bool) -> dict[str, int]:
    """Return the requests (thousandths) set for the Pod as a whole, which replace the containers'."""
    resources = pod.spec.resources or ResourceRequirements()
    requests = _only_pod_level(_millis(resources.requests))
    status = pod.status.resources
    if not resizing or status is None:
        return requests
    effective = _effective(pod, resources, actuated=status, allocated=pod.status.allocated_resources)
    if profile.does(Behaviour.RESIZE_BY_POD):
        return _only_pod_level(effective)
    # upstream: where the resize is infeasible, a resource that the Pod was never allocated counts for nothing.
    return {name: effective.get(name, 0) for name in requests}


def _only_pod_level(requests: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in requests.items() if is_pod_level(name)}


def is_pod_level(name: str) -> bool:
    """Whether the resource can be set for a Pod as a whole (KEP-2837)."""
    return name in {CPU, MEMORY} or name.startswith(HUGE_PAGES_PREFIX)


def _effective(
    pod: Pod, spec: ResourceRequirements, *, actuated: ResourceRequirements, allocated: Mapping[str, Quantity]
) -> dict[str, int]:
    """Return, in thousandths, the largest of what is asked, actuated and allocated; an infeasible resize asks in vain.

    Source: component-helpers resource/helpers.go determineEffectiveRequests (v1.36).
    """
    if spec.requests == actuated.requests == allocated:  # as almost always
        return _millis(spec.requests)
    # Growing, the Pod must find room for what it asks; shrinking, it holds what it has until the kubelet has taken that
    # away. What the kubelet will never grant holds no room.
    asked = {} if _resize_infeasible(pod) else _millis(spec.requests)
    return largest((asked, _millis(actuated.requests), _millis(allocated)))


def _resize_infeasible(pod: Pod) -> bool:
    return _pending_resize(pod) == "Infeasible"


def is_resize_deferred(pod: Pod) -> bool:
    """Whether the kubelet has said that the resize must wait for room on the node."""
    return _pending_resize(pod) == "Deferred"


def _pending_resize(pod: Pod) -> str:
    """Return why the kubelet has not begun the resize; empty where there is none to begin."""
    return next((c.reason for c in pod.status.conditions if c.type == "PodResizePending"), "")


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    return {status.name: status for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)}


def total(parts: Iterable[Mapping[str, AmountT]]) -> dict[str, AmountT]:
    """Return the sum, resource by resource."""
    together: dict[str, AmountT] = {}
    for part in parts:
        for name, value in part.items():
            together[name] = together[name] + value if name in together else value
    return together


def largest(parts: Iterable[Mapping[str, AmountT]]) -> dict[str, AmountT]:
    """Return the maximum, resource by resource; of equal ones the first."""
    widest: dict[str, AmountT] = {}
    for part in parts:
        for name, value in part.items():
            if name not in widest or widest[name] < value:
                widest[name] = value
    return widest


def readable(name: str, value: int) -> str:
    """Return an amount as a person would write it, rounded down to a tenth: ``1500m``, ``2``, ``9.4Gi``."""
    if name == CPU:
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
    if name not in _NAMED and not name.startswith(HUGE_PAGES_PREFIX):
        return str(value)
    for suffix, unit in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if value >= unit:
            return f"{value * 10 // unit / 10:g}{suffix}"
    return str(value)


def quantity_of(name: str, value: int) -> str:
    """Return an amount as a quantity that is exactly so much or, where that reads better, a little less."""
    if name == CPU:
        return f"{value}m"
    if name in _NAMED and value >= 2**20:
        return f"{value // 2**20}Mi"
    return str(value)
