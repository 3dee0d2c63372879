"""Probes and lifecycle hooks of containers, and the names of ports.

Source: pkg/apis/core/validation/validation.go validateProbe, validateHandler, ValidatePortNumOrName (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    count_errors,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.objects.manifest_only_fields import ContainerDetails, Handler, HTTPGetAction, Probe

_SCHEMES = ("HTTP", "HTTPS")
_MAX_PORT = 65535
_MAX_PORT_NAME = 15
_SIDECARS_ALONE = "may not be set for init containers without restartPolicy=Always"


def handler_errors(path: str, container: ContainerDetails) -> Errors:
    """Yield the errors of what a container, or a sidecar, is asked and told."""
    lifecycle = container.lifecycle
    if lifecycle is not None:
        for name, hook in (("postStart", lifecycle.post_start), ("preStop", lifecycle.pre_stop)):
            if hook is not None:
                yield from _handler_errors(f"{path}.lifecycle.{name}", hook)
    for name, probe in _probes(container).items():
        if probe is not None:
            yield from _probe_errors(f"{path}.{name}", probe)


def init_handler_errors(path: str, container: ContainerDetails) -> Errors:
    """Yield the errors of an init container that is asked or told anything: it ends before there is a reason to."""
    for name, given in {"lifecycle": container.lifecycle, **_probes(container)}.items():
        if given is not None:
            yield forbidden(f"{path}.{name}", _SIDECARS_ALONE)


def port_name_faults(name: str) -> Iterator[str]:
    """Yield what is wrong with the name of a port.

    Source: apimachinery pkg/util/validation/validation.go IsValidPortName (v1.36).
    """
    if len(name) > _MAX_PORT_NAME:
        yield f"must be no more than {_MAX_PORT_NAME} characters"
    if not re.fullmatch("[-a-z0-9]+", name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"


def _probes(container: ContainerDetails) -> Mapping[str, Probe | None]:
    return {
        "livenessProbe": container.liveness_probe,
        "readinessProbe": container.readiness_probe,
        "startupProbe": container.startup_probe,
    }


def _probe_errors(path: str, probe: Probe) -> Errors:
    yield from _handler_errors(path, probe)
    for name, number in (
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ):
        yield from count_errors(f"{path}.{name}", number)
    grace, of_readiness = probe.termination_grace_period_seconds, path.endswith(".readinessProbe")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if grace is not None and of_readiness:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
    if probe.success_threshold not in {0, 1} and not of_readiness:
        yield invalid(f"{path}.successThreshold", probe.success_threshold, "must be 1")


def _handler_errors(path: str, handler: Handler) -> Errors:
    """Yield the errors of what is to be done: the first way is looked at, any other is forbidden."""
    ways = [*_ways(path, handler)]
    if not ways:
        yield required(path, "must specify a handler type")
        return
    yield from ways[0][1]
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name, _ in ways[1:])


def _ways(path: str, handler: Handler) -> Iterator[tuple[str, Errors]]:
    if handler.exec is not None:
        yield "exec", iter(() if handler.exec.command else (required(f"{path}.exec.command"),))
    if handler.http_get is not None:
        yield "httpGet", _http_errors(f"{path}.httpGet", handler.http_get)
    if handler.tcp_socket is not None:
        yield "tcpSocket", _port_errors(f"{path}.tcpSocket.port", handler.tcp_socket.port)
    if handler.grpc is not None:
        yield "grpc", _port_errors(f"{path}.grpc.port", handler.grpc.port)
    if handler.sleep is not None:
        yield "sleep", iter(())


def _http_errors(path: str, action: HTTPGetAction) -> Errors:
    yield from _port_errors(f"{path}.port", action.port)
    if action.scheme not in {"", *_SCHEMES}:
        yield not_supported(f"{path}.scheme", action.scheme, _SCHEMES)


def _port_errors(path: str, port: int | str) -> Errors:
    if isinstance(port, str):
        yield from (invalid(path, quoted(port), fault) for fault in port_name_faults(port))
    elif not 1 <= port <= _MAX_PORT:
        yield invalid(path, port, f"must be between 1 and {_MAX_PORT}, inclusive")
