"""What the API server writes into a Pod before the scheduler sees it, as far as that changes an answer.

Source: pkg/apis/core/v1/defaults.go SetDefaults_Pod (v1.36). Idempotent: Pods read from an API server are unchanged.
"""

from __future__ import annotations

import msgspec

from kubectl_spread.objects.core import Container, ContainerPort, Pod, PodSpec, Quantity, ResourceRequirements
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.profile import Behaviour, Profile


def defaulted(pod: Pod, profile: Profile) -> Pod:
    """Return the Pod as the API server of that release would store it."""
    spec = pod.spec
    spec = msgspec.structs.replace(
        spec,
        containers=tuple(_container(c, host_network=spec.host_network) for c in spec.containers),
        init_containers=tuple(_container(c, host_network=spec.host_network) for c in spec.init_containers),
    )
    if spec.resources is not None and profile.does(Behaviour.POD_LEVEL_RESOURCES):
        spec = msgspec.structs.replace(spec, resources=_pod_level(spec, spec.resources))
    return msgspec.structs.replace(pod, spec=spec)


def _container(container: Container, *, host_network: bool) -> Container:
    """Return the container with requests from its limits, and host ports on the host network."""
    resources = container.resources
    return msgspec.structs.replace(
        container,
        resources=msgspec.structs.replace(resources, requests={**resources.limits, **resources.requests}),
        ports=tuple(map(_host_port, container.ports)) if host_network else container.ports,
    )


def _host_port(port: ContainerPort) -> ContainerPort:
    """Return the port with its number taken on the node too."""
    return msgspec.structs.replace(port, host_port=port.host_port or port.container_port)


def _pod_level(spec: PodSpec, resources: ResourceRequirements) -> ResourceRequirements:
    """Return Pod-level resources with requests from the containers together, or else from the Pod-level limits.

    Source: pkg/apis/core/v1/defaults.go defaultHugePagePodLimits, defaultPodRequests (v1.36).
    """
    limits = _huge_page_limits(spec, resources) | resources.limits
    if not limits:
        return resources
    together = resource.container_requests(spec)
    requests: dict[str, Quantity] = {name: q for name, q in limits.items() if resource.is_pod_level(name)}
    requests |= {name: q for name, q in together.items() if name in {resource.CPU, resource.MEMORY}}
    return ResourceRequirements(requests=requests | resources.requests, limits=limits)


def _huge_page_limits(spec: PodSpec, resources: ResourceRequirements) -> dict[str, Quantity]:
    """Return the containers' huge page limits together, where the Pod as a whole asks for something else."""
    if not (resources.limits or resources.requests):
        return {}
    return {
        name: q
        for name, q in resource.container_requests(spec, limits=True).items()
        if name.startswith(resource.HUGE_PAGES_PREFIX) and name not in resources.requests
    }
