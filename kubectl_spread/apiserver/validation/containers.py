"""Containers and init containers: names, images, ports, resources, restart policies.

Source: pkg/apis/core/validation/validation.go validateContainers, validateInitContainers;
apimachinery pkg/util/validation/validation.go IsValidPortNum (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.apimachinery import dns_label_faults, quoted
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    name_errors,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.resources import container_resource_errors
from kubectl_spread.objects.core import Container, PodSpec
from kubectl_spread.release import CONTAINER_RESTART_RULES, RESTART_ALL_CONTAINERS, Release

_MAX_PORT = 65535
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ALWAYS = "Always"
_RESTART_POLICIES = (_ALWAYS, "Never", "OnFailure")


def container_errors(path: str, containers: Sequence[Container], release: Release) -> Errors:
    """Yield the errors of a Pod's containers; there must be one."""
    if not containers:
        yield required(path)
    names: set[str] = set()
    for place, container in items(path, containers):
        yield from _common_errors(place, container)
        if container.name in names:
            yield duplicate(f"{place}.name", container.name)
        names.add(container.name)
        if release.knows(CONTAINER_RESTART_RULES):
            yield from _restart_policy_errors(place, container, release)
        elif container.restart_policy is not None:
            yield forbidden(f"{place}.restartPolicy", "may not be set for non-init containers")
    # They run at the same time, so their host ports are compared with each other.
    yield from _host_port_errors(path, containers)


def init_container_errors(path: str, spec: PodSpec, release: Release) -> Errors:
    """Yield the errors of a Pod's init containers, sidecars included."""
    names = {container.name for container in spec.containers}
    for place, container in items(path, spec.init_containers):
        yield from _common_errors(place, container)
        yield from _init_restart_errors(place, container, release)
        if container.name in names:
            yield duplicate(f"{place}.name", container.name)
        # A second empty name is reported as missing only, not as a duplicate too.
        elif container.name:
            names.add(container.name)
        # upstream: they run one by one, so only the ports of each are compared; a conflict is reported at index 0.
        yield from _host_port_errors(path, (container,))


def image_blank_errors(path: str, container: Container) -> Errors:
    """Yield the error of blanks around an image; a template may have them, a Pod may not."""
    if container.image != container.image.strip():
        yield invalid(f"{path}.image", quoted(container.image), "must not have leading or trailing whitespace")


def host_network_errors(path: str, spec: PodSpec, *, in_template: bool) -> Errors:
    """Yield the errors of ports on the host network: host port and container port must be equal.

    A template may leave the host port open, because it is set when the Pod is created.
    """
    for index, container in enumerate(spec.containers if spec.host_network else ()):
        for place, port in items(f"{path}[{index}].ports", container.ports):
            left_open = in_template and not port.host_port
            if port.host_port != port.container_port and not left_open:
                detail = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f"{place}.hostPort", port.host_port, detail)


def _common_errors(path: str, container: Container) -> Errors:
    yield from name_errors(f"{path}.name", container.name, dns_label_faults)
    if not container.image:
        yield required(f"{path}.image")
    for place, port in items(f"{path}.ports", container.ports):
        if port.container_port:
            yield from _port_number_errors(f"{place}.containerPort", port.container_port)
        else:
            yield required(f"{place}.containerPort")
        if port.host_port:
            yield from _port_number_errors(f"{place}.hostPort", port.host_port)
        yield from choice_errors(f"{place}.protocol", port.protocol, _PROTOCOLS, optional=True)
    yield from container_resource_errors(f"{path}.resources", container.resources)


def _port_number_errors(path: str, number: int) -> Errors:
    if not 1 <= number <= _MAX_PORT:
        yield invalid(path, number, f"must be between 1 and {_MAX_PORT}, inclusive")


def _host_port_errors(path: str, containers: Sequence[Container]) -> Errors:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for place, port in items(f"{path}[{index}].ports", container.ports):
            wanted = f"{port.protocol or 'TCP'}/{port.host_ip}/{port.host_port}"
            # upstream: addresses are compared as text, so 0.0.0.0 conflicts with no other address.
            if port.host_port and wanted in taken:
                yield duplicate(f"{place}.hostPort", wanted)
            taken.add(wanted)


def _init_restart_errors(path: str, container: Container, release: Release) -> Errors:
    policy = container.restart_policy
    if not release.knows(CONTAINER_RESTART_RULES):
        if policy not in {None, _ALWAYS}:
            yield not_supported(f"{path}.restartPolicy", str(policy), (_ALWAYS,))
    elif policy == _ALWAYS and not release.enables(RESTART_ALL_CONTAINERS):
        if container.restart_policy_rules:
            detail = "restartPolicyRules are not allowed for init containers with restart policy Always"
            yield forbidden(f"{path}.restartPolicyRules", detail)
    else:
        yield from _restart_policy_errors(path, container, release)


def _restart_policy_errors(path: str, container: Container, release: Release) -> Errors:
    if container.restart_policy is not None:
        yield from choice_errors(f"{path}.restartPolicy", container.restart_policy, _RESTART_POLICIES)
    actions = ("Restart", "RestartAllContainers") if release.enables(RESTART_ALL_CONTAINERS) else ("Restart",)
    for place, rule in items(f"{path}.restartPolicyRules", container.restart_policy_rules):
        yield from choice_errors(f"{place}.action", rule.action, actions)
