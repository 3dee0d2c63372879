"""Containers, init containers and ephemeral containers: names, images, ports, resources, restart policies.

Source: pkg/apis/core/validation/validation.go validateContainers, validateInitContainers, validateEphemeralContainers
(v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from kubectl_spread.apiserver.validation.names import dns_label_errors, port_number_errors
from kubectl_spread.apiserver.validation.resources import container_resource_errors
from kubectl_spread.objects.core import Container, ContainerPort, PodSpec
from kubectl_spread.release import CONTAINER_RESTART_RULES, RESTART_ALL_CONTAINERS, Release

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ALWAYS = "Always"
_RESTART_POLICIES = (_ALWAYS, "Never", "OnFailure")
_MAX_RESTART_RULES = 20
_RULES_COUNTED_SINCE = 36
_POLICY_REQUIRED = "must specify restartPolicy when restart rules are used"
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"


def container_errors(path: str, containers: Sequence[Container], release: Release) -> Errors:
    """Yield the errors of a Pod's containers; there must be one."""
    if not containers:
        yield required(path)
    names: set[str] = set()
    for index, container in enumerate(containers):
        place = f"{path}[{index}]"
        yield from _common_errors(place, container)
        if container.name in names:
            yield duplicate(f"{place}.name", container.name)
        names.add(container.name)
        if release.knows(CONTAINER_RESTART_RULES):
            yield from _restart_policy_errors(place, container, release)
        elif container.restart_policy is not None:
            yield forbidden(f"{place}.restartPolicy", "may not be set for non-init containers")
    # Across the containers, for they run at once.
    yield from _host_port_conflicts(path, containers)


def init_container_errors(path: str, spec: PodSpec, release: Release) -> Errors:
    """Yield the errors of a Pod's init containers, sidecars among them."""
    # upstream: they run one by one, so only the ports of each are compared; a conflict is reported at index 0.
    names = {container.name for container in spec.containers}
    for index, container in enumerate(spec.init_containers):
        place = f"{path}[{index}]"
        yield from _common_errors(place, container)
        yield from _init_restart_errors(place, container, release)
        if container.name in names:
            yield duplicate(f"{place}.name", container.name)
        # An empty name is told of once, as missing, and not as a duplicate of another empty one.
        elif container.name:
            names.add(container.name)
        yield from _host_port_conflicts(path, (container,))


def ephemeral_container_errors(path: str, spec: PodSpec) -> Errors:
    """Yield the errors of a Pod's ephemeral containers, which have neither ports nor resources."""
    names = {container.name for container in (*spec.containers, *spec.init_containers)}
    for index, container in enumerate(spec.ephemeral_containers):
        place = f"{path}[{index}]"
        yield from _common_errors(place, container)
        yield from image_blank_errors(place, container)
        if container.name in names:
            yield duplicate(f"{place}.name", container.name)
        names.add(container.name)
        yield from _not_ephemeral_errors(place, container)


def image_blank_errors(path: str, container: Container) -> Errors:
    """Yield the error of blanks around an image, which a template may have and a Pod may not."""
    if container.image != container.image.strip():
        yield invalid(f"{path}.image", quoted(container.image), "must not have leading or trailing whitespace")


def host_network_errors(path: str, spec: PodSpec, *, in_template: bool) -> Errors:
    """Yield the errors of ports on the host network: those of node and container are the same.

    A template may leave the node's open, for it is set when the Pod is created.
    """
    if not spec.host_network:
        return
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            left_open = in_template and not port.host_port
            if port.host_port != port.container_port and not left_open:
                place = f"{path}[{index}].ports[{number}].hostPort"
                yield invalid(place, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _common_errors(path: str, container: Container) -> Errors:
    if container.name:
        yield from dns_label_errors(f"{path}.name", container.name)
    else:
        yield required(f"{path}.name")
    if not container.image:
        yield required(f"{path}.image")
    for index, port in enumerate(container.ports):
        yield from _port_errors(f"{path}.ports[{index}]", port)
    yield from container_resource_errors(f"{path}.resources", container.resources)


def _port_errors(path: str, port: ContainerPort) -> Errors:
    # 0 is no port of a container, but on the node it means none.
    if port.container_port:
        yield from port_number_errors(f"{path}.containerPort", port.container_port)
    else:
        yield required(f"{path}.containerPort")
    if port.host_port:
        yield from port_number_errors(f"{path}.hostPort", port.host_port)
    if port.protocol not in {"", *_PROTOCOLS}:
        yield not_supported(f"{path}.protocol", port.protocol, _PROTOCOLS)


def _host_port_conflicts(path: str, containers: Sequence[Container]) -> Errors:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.ports):
            wanted = f"{port.protocol or 'TCP'}/{port.host_ip}/{port.host_port}"
            # upstream: addresses are compared as text, so 0.0.0.0 is in nobody's way here.
            if port.host_port and wanted in taken:
                yield duplicate(f"{path}[{index}].ports[{number}].hostPort", wanted)
            taken.add(wanted)


def _init_restart_errors(path: str, container: Container, release: Release) -> Errors:
    """Yield the errors of an init container's restart policy: Always makes it a sidecar."""
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
    policy, rules = container.restart_policy, container.restart_policy_rules
    if policy is None:
        if rules:
            yield required(f"{path}.restartPolicy", _POLICY_REQUIRED)
    elif policy not in _RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    if len(rules) > _MAX_RESTART_RULES:
        place, counted = f"{path}.restartPolicyRules", release.minor >= _RULES_COUNTED_SINCE
        yield too_many(place, len(rules), _MAX_RESTART_RULES) if counted else too_long(place, _MAX_RESTART_RULES)
    actions = ("Restart", "RestartAllContainers") if release.enables(RESTART_ALL_CONTAINERS) else ("Restart",)
    for index, rule in enumerate(rules):
        if rule.action not in actions:
            yield not_supported(f"{path}.restartPolicyRules[{index}].action", rule.action, actions)


def _not_ephemeral_errors(path: str, container: Container) -> Errors:
    for name, value in (
        ("ports", container.ports),
        ("resources", container.resources.requests or container.resources.limits),
        ("restartPolicy", container.restart_policy),
        ("restartPolicyRules", container.restart_policy_rules),
    ):
        if value:
            yield forbidden(f"{path}.{name}", _NOT_EPHEMERAL)
