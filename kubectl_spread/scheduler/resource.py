"""What Pods request and nodes offer, as whole numbers.

Amounts are ``resource name → int``: millicores for cpu, bytes or a count for everything else.

Source: component-helpers resource/helpers.go PodRequests, kube-scheduler framework/types.go Resource (v1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from kubectl_spread import quantity
from kubectl_spread.objects.core import Container, ContainerStatus, Pod, PodSpec, Quantity, ResourceRequirements
from kubectl_spread.scheduler.profile import Behaviour, Profile

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
HUGE_PAGES_PREFIX = "hugepages-"
ATTACHABLE_VOLUMES_PREFIX = "attachable-volumes-"

_NAMED = frozenset((CPU, MEMORY, EPHEMERAL_STORAGE))


def amounts(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return the amounts of every resource the scheduler reads; names it does not know are left out.

    Raises:
        ValueError: a quantity cannot be read.
    """
    return _whole(_millis(quantities))


def _millis(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return thousandths of every resource the scheduler reads: the API stores nothing finer.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (v1.36).
    """
    return {name: quantity.milli_value(value) for name, value in quantities.items() if is_counted(name)}


def _whole(millis: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts, rounded up only now: upstream adds exact quantities before it rounds."""
    return {name: value if name == CPU else -(-value // 1000) for name, value in millis.items()}


def is_counted(name: str) -> bool:
    """Whether the scheduler keeps account of the resource.

    Source: kube-scheduler framework/types.go Resource.Add, util/utils.go IsScalarResourceName (v1.36).
    """
    return name in _NAMED or name == PODS or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Whether it is an extended resource, huge pages or volume attachments."""
    return "/" in name or name.startswith((HUGE_PAGES_PREFIX, ATTACHABLE_VOLUMES_PREFIX))


def is_extended(name: str) -> bool:
    """Whether it is a resource that Kubernetes itself does not know, such as ``nvidia.com/gpu``.

    Source: pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName (v1.36).
    """
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def pod_requests(pod: Pod, profile: Profile, *, assigned: bool) -> dict[str, int]:
    """Return what the Pod requests: its containers at their widest moment, or Pod-level requests, plus overhead.

    Args:
        pod: the Pod.
        profile: whose release decides about Pod-level resources and resizes.
        assigned: whether it is on a node, where a resize in progress counts at its largest.

    Raises:
        ValueError: a quantity cannot be read.
    """
    statuses = _statuses(pod) if assigned and profile.does(Behaviour.IN_PLACE_RESIZE) else {}
    requests = _aggregate(pod.spec, lambda container: _effective_requests(pod, container, statuses))
    if pod.spec.resources is not None and profile.does(Behaviour.POD_LEVEL_RESOURCES):
        requests |= _pod_level(pod, pod.spec.resources, resizing=assigned and profile.does(Behaviour.POD_LEVEL_RESIZE))
    return _whole(_sum((requests, _millis(pod.spec.overhead))))


def container_requests(spec: PodSpec, *, limits: bool = False) -> dict[str, Quantity]:
    """Return what the containers request together at their widest moment, as quantities.

    Args:
        spec: of a Pod.
        limits: whether their limits are meant instead.
    """

    def of_container(container: Container) -> dict[str, int]:
        return _millis(container.resources.limits if limits else container.resources.requests)

    return {name: f"{value}m" for name, value in _aggregate(spec, of_container).items()}


def _aggregate(spec: PodSpec, of_container: Callable[[Container], dict[str, int]]) -> dict[str, int]:
    """Return, in thousandths, the larger of all containers together and the widest moment of initialisation.

    Source: component-helpers resource/helpers.go AggregateContainerRequests (v1.36).
    """
    running = [of_container(container) for container in spec.containers]
    sidecars: dict[str, int] = {}
    initialising: dict[str, int] = {}
    for container in spec.init_containers:
        requests = of_container(container)
        widest = _sum((sidecars, requests))
        if is_sidecar(container):
            running.append(requests)
            sidecars = widest
        initialising = _max((initialising, widest))
    return _max((_sum(running), initialising))


def is_sidecar(container: Container) -> bool:
    """Whether an init container keeps running (KEP-753)."""
    return container.restart_policy == "Always"


def _effective_requests(pod: Pod, container: Container, statuses: Mapping[str, ContainerStatus]) -> dict[str, int]:
    """Return what the container requests in thousandths, a resize in progress at its largest."""
    status = statuses.get(container.name)
    if status is None or status.resources is None:
        return _millis(container.resources.requests)
    return _effective(pod, container.resources, actuated=status.resources, allocated=status.allocated_resources)


def _pod_level(pod: Pod, resources: ResourceRequirements, *, resizing: bool) -> dict[str, int]:
    """Return the requests (thousandths) set for the Pod as a whole, which replace the containers'."""
    requests = _millis({n: q for n, q in resources.requests.items() if is_pod_level(n)})
    status = pod.status.resources
    if not (requests and resizing and status is not None):
        return requests
    effective = _effective(pod, resources, actuated=status, allocated=pod.status.allocated_resources)
    return {name: effective.get(name, 0) for name in requests}


def is_pod_level(name: str) -> bool:
    """Whether the resource can be set for a Pod as a whole."""
    return name in {CPU, MEMORY} or name.startswith(HUGE_PAGES_PREFIX)


def _effective(
    pod: Pod, spec: ResourceRequirements, *, actuated: ResourceRequirements, allocated: Mapping[str, Quantity]
) -> dict[str, int]:
    """Return, in thousandths, the largest of what is asked, actuated and allocated; an infeasible resize asks in vain.

    Source: component-helpers resource/helpers.go determineEffectiveRequests (v1.36).
    """
    asked = {} if _resize_infeasible(pod) else _millis(spec.requests)
    return _max((asked, _millis(actuated.requests), _millis(allocated)))


def _resize_infeasible(pod: Pod) -> bool:
    """Whether the kubelet has said that the resize cannot be done."""
    pending = next((c for c in pod.status.conditions if c.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """Return the status of each container that keeps running, by name."""
    sidecars = {container.name for container in pod.spec.init_containers if is_sidecar(container)}
    statuses = {status.name: status for status in pod.status.init_container_statuses if status.name in sidecars}
    return statuses | {status.name: status for status in pod.status.container_statuses}


def _sum(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum, resource by resource."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def _max(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the maximum, resource by resource."""
    widest: dict[str, int] = {}
    for part in parts:
        for name, value in part.items():
            widest[name] = max(widest.get(name, value), value)
    return widest


def readable(name: str, value: int) -> str:
    """Return an amount as a quantity a person would write: ``1500m``, ``2``, ``512Mi``."""
    if name == CPU:
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
    for suffix, unit in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if value and value % unit == 0 and "/" not in name:
            return f"{value // unit}{suffix}"
    return str(value)
