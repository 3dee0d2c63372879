"""The defaults that the API server sets in a Pod when it decodes it, if they change where the Pod may go.

Source: pkg/apis/core/v1/defaults.go SetDefaults_Pod (v1.36).
"""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_spread.apiserver.quantities import Amounts, limits_together, requests_together
from kubectl_spread.objects.core import Container, Pod, PodSpec, Quantity, ResourceRequirements
from kubectl_spread.release import POD_LEVEL_RESOURCES, Release
from kubectl_spread.scheduler.resource import CPU, HUGE_PAGES_PREFIX, MEMORY, is_pod_level


def defaulted(pod: Pod, release: Release) -> Pod:
    """Return the Pod with its defaults; a stored Pod has them and stays the same. Invalid quantities are ignored."""
    host_network = pod.spec.host_network

    def completed(container: Container) -> Container:
        own, ports = container.resources, container.ports
        if host_network:
            ports = tuple(replace(port, host_port=port.host_port or port.container_port) for port in ports)
        # A request defaults to the limit.
        return replace(container, resources=replace(own, requests={**own.limits, **own.requests}), ports=ports)

    spec = pod.spec.with_containers(completed)
    if spec.resources is not None and release.enables(POD_LEVEL_RESOURCES):
        spec = replace(spec, resources=_with_pod_level_defaults(spec, spec.resources))
    return replace(pod, spec=spec)


def _with_pod_level_defaults(spec: PodSpec, resources: ResourceRequirements) -> ResourceRequirements:
    """Source: defaultHugePagePodLimits, defaultPodRequests."""
    if not (resources.limits or resources.requests):
        return resources
    pages = {
        name: amount
        for name, amount in limits_together(spec).items()
        # If the Pod itself requests the pages, it needs its own limit, and validation reports that it is missing.
        if name.startswith(HUGE_PAGES_PREFIX) and name not in resources.requests
    }
    limits = {**_as_text(pages), **resources.limits}
    if not limits:
        return resources
    shared = {name: amount for name, amount in requests_together(spec).items() if name in {CPU, MEMORY}}
    from_limits = {name: amount for name, amount in limits.items() if is_pod_level(name)}
    return ResourceRequirements(requests={**from_limits, **_as_text(shared), **resources.requests}, limits=limits)


def _as_text(amounts: Amounts) -> dict[str, Quantity]:
    return {name: str(amount) for name, amount in amounts.items()}
