"""A node with its Pods and the ports that they use, and all nodes by their free resources.

Source: kube-scheduler framework/types.go NodeInfo, HostPortInfo, util/utils.go GetHostPorts (v1.36).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.scheduler.resource import is_sidecar

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address of the node


class HostPort(msgspec.Struct, frozen=True):
    """A port of a node; ``address`` is 0.0.0.0 for all its addresses; ``protocol``: TCP, UDP or SCTP."""

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


MOST_CHANGED = 100  # Nodes (count) that may change before all nodes are sorted again


class NodeInfo(msgspec.Struct, frozen=True, dict=True):
    """A node with the Pods that are assigned to it and have not finished."""

    node: Node
    pods: tuple[Pod, ...]
    profile: Profile

    @cached_property
    def name(self) -> str:
        """The node's name."""
        return self.node.metadata.name

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.node.metadata.labels

    @cached_property
    def allocatable(self) -> Mapping[str, int]:
        """What the node offers to Pods (amounts); its capacity where it has no allocatable.

        Source: pkg/apis/core/v1/defaults.go SetDefaults_NodeStatus (v1.36).
        """
        return resource.amounts(self.node.status.allocatable or self.node.status.capacity)

    @cached_property
    def _sums(self) -> resource.Requested:
        """What its Pods request together: both sums at once, as iterating over the Pods costs most."""
        return resource.requested_by(self.pods, self.profile)

    @cached_property
    def requested(self) -> Mapping[str, int]:
        """What its Pods request together (amounts)."""
        return self._sums.named

    @cached_property
    def non_zero_requested(self) -> Mapping[str, int]:
        """The same, with default CPU and memory for containers that request none (amounts)."""
        return self._sums.non_zero

    def free(self, name: str) -> int:
        """Return the free amount of the resource; for ``pods``, how many more Pods may run here."""
        used = len(self.pods) if name == resource.PODS else self.requested.get(name, 0)
        return self.allocatable.get(name, 0) - used

    @cached_property
    def largest_requested(self) -> Mapping[str, int]:
        """The largest request of any of its Pods for each resource (amounts)."""
        return resource.largest(self._sums.of_each)

    @cached_property
    def scores(self) -> dict[Hashable, int]:
        """What a score depends on besides the node → the score; most stay valid for replicas."""
        return {}

    @cached_property
    def pods_with_volumes(self) -> tuple[Pod, ...]:
        """Its Pods whose volumes may restrict nodes."""
        with_volumes = [pod for pod in self.pods if pod.spec.volumes]
        return tuple(pod for pod in with_volumes if any(volume.restricts_nodes for volume in pod.spec.volumes))

    @cached_property
    def lowest_priority(self) -> int:
        """The lowest priority among its Pods, 0 where there are none."""
        return min((pod.spec.priority or 0 for pod in self.pods), default=0)

    @cached_property
    def used_ports(self) -> frozenset[HostPort]:
        """The node's ports that its Pods use."""
        return frozenset[HostPort]().union(*map(host_ports, self.pods))

    def with_pod(self, pod: Pod) -> NodeInfo:
        """Return the node with one more Pod, which is added to the known sums."""
        changed, known = replace(self, pods=(*self.pods, pod)), vars(self)
        if "requested" in known:
            own = resource.requested_by((pod,), self.profile)
            vars(changed)["requested"] = resource.total((self.requested, own.named))
            if "non_zero_requested" in known:  # dry runs do not need it
                vars(changed)["non_zero_requested"] = resource.total((self.non_zero_requested, own.non_zero))
        if "used_ports" in known:
            vars(changed)["used_ports"] = self.used_ports | host_ports(pod)
        return changed

    def without_pod(self, pod: Pod) -> NodeInfo:
        """Return the node without one of its Pods."""
        gone = self.requests(pod)
        # Subtract instead of adding up all other Pods again: preemption removes one Pod after another.
        requested = {name: value - gone.get(name, 0) for name, value in self.requested.items()}
        changed = replace(self, pods=tuple(other for other in self.pods if other.key != pod.key))
        # upstream: of two Pods bound with the same port, the first to go frees it.
        vars(changed).update(requested=requested, used_ports=self.used_ports - host_ports(pod))
        return changed

    def requests(self, pod: Pod) -> Mapping[str, int]:
        """Return what a Pod on the node requests (amounts)."""
        return resource.pod_requests(pod, self.profile, assigned=True)


class NodeRoom:
    """The nodes sorted by free resources, to find those that lack room for a request without asking each.

    The nodes are sorted once for each resource, when it is first needed.
    """

    def __init__(self, nodes: Mapping[str, NodeInfo]) -> None:
        self._nodes = nodes
        self._in_order: dict[str, tuple[Sequence[int], Sequence[str]]] = {}
        self._lacking: dict[tuple[str, int], frozenset[str]] = {}
        self._requests: dict[tuple[str, str], tuple[Pod, Mapping[str, int]]] = {}
        self._changed: Mapping[str, NodeInfo] = {}

    def and_changed(self, nodes: Mapping[str, NodeInfo]) -> NodeRoom:
        """Return the room with these nodes as given; the sorted nodes are shared."""
        changed = {**self._changed, **nodes}
        # Changed nodes are asked one by one; if there are many, all nodes are sorted again.
        if len(changed) > MOST_CHANGED:
            room = NodeRoom({**self._nodes, **changed})
        else:
            room = NodeRoom(self._nodes)
            room._in_order, room._lacking, room._changed = self._in_order, self._lacking, changed
        room._requests = self._requests
        return room

    def lacking(self, resource: str, wanted: int) -> frozenset[str]:
        """Return the names of the nodes with less than the wanted amount of the resource free."""
        key = (resource, wanted)
        if key not in self._lacking:
            if resource not in self._in_order:
                free = {name: info.free(resource) for name, info in self._nodes.items()}
                names = sorted(free, key=free.__getitem__)
                self._in_order[resource] = [free[name] for name in names], names
            amounts, in_order = self._in_order[resource]
            self._lacking[key] = frozenset(in_order[: bisect_left(amounts, wanted)])
        if not self._changed:
            return self._lacking[key]
        short = (name for name, info in self._changed.items() if info.free(resource) < wanted)
        return self._lacking[key].difference(self._changed).union(short)

    def requests(self, pod: Pod, on: NodeInfo) -> Mapping[str, int]:
        """Return what a Pod on the node requests (amounts), computed once."""
        known = self._requests.get(pod.key)
        if known is None or known[0] is not pod:
            known = self._requests[pod.key] = pod, on.requests(pod)
        return known[1]
