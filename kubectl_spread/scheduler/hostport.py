"""The ports of nodes that Pods use.

Source: kube-scheduler util/utils.go GetHostPorts, kube-scheduler staging framework/types.go HostPortInfo (v1.36).
"""

from __future__ import annotations

import msgspec

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.resource import is_sidecar

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address of the node


class HostPort(msgspec.Struct, frozen=True):
    """A port of a node.

    Attributes:
        address: the node's address; 0.0.0.0 for all addresses.
        protocol: TCP, UDP or SCTP.
    """

    address: str
    protocol: str
    number: int

    def conflicts(self, other: HostPort) -> bool:
        """Whether two Pods cannot use both: same protocol and port, and same address or one on all addresses."""
        if (self.protocol, self.number) != (other.protocol, other.number):
            return False
        return self.address == other.address or ANY_ADDRESS in (self.address, other.address)


def host_ports(pod: Pod) -> frozenset[HostPort]:
    """Return the node's ports that the Pod uses while it runs: those of its containers and sidecars."""
    # Other init containers end before the Pod runs.
    running = (*pod.spec.containers, *filter(is_sidecar, pod.spec.init_containers))
    ports = [port for container in running for port in container.ports if port.host_port > 0]
    if not ports:  # as most Pods
        return frozenset()
    return frozenset(HostPort(port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port) for port in ports)
