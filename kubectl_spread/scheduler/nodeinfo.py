"""A node with the Pods on it, and all nodes by what is free on them.

Source: kube-scheduler framework/types.go NodeInfo (v1.36).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.hostport import HostPort, host_ports
from kubectl_spread.scheduler.profile import Profile

MOST_CHANGED = 100
"""Nodes (count) that may have changed since all were put in order."""


class NodeInfo(msgspec.Struct, frozen=True, dict=True):
    """A node with the Pods on it.

    Attributes:
        pods: the Pods assigned to it that have not finished.
    """

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
        """What the node offers to Pods (amounts); all it has, where it does not tell the two apart.

        Source: pkg/apis/core/v1/defaults.go SetDefaults_NodeStatus (v1.36).
        """
        return resource.amounts(self.node.status.allocatable or self.node.status.capacity)

    @cached_property
    def _sums(self) -> resource.Requested:
        """What the Pods on it request together: both sums, for going through the Pods costs more than adding up."""
        return resource.requested_by(self.pods, self.profile)

    @cached_property
    def requested(self) -> Mapping[str, int]:
        """What the Pods on it request together (amounts)."""
        return self._sums.named

    def free(self, name: str) -> int:
        """Return what is left of the resource (amount); of ``pods``, how many more there may be."""
        taken = len(self.pods) if name == resource.PODS else self.requested.get(name, 0)
        return self.allocatable.get(name, 0) - taken

    @cached_property
    def non_zero_requested(self) -> Mapping[str, int]:
        """The same, where containers that request no CPU or memory are taken to need a little (amounts)."""
        return self._sums.non_zero

    @cached_property
    def largest_requested(self) -> Mapping[str, int]:
        """The most of each resource that one of the Pods on it requests (amounts)."""
        return resource.largest(map(self.requests, self.pods))

    @cached_property
    def scores(self) -> dict[Hashable, int]:
        """What plugins have given it, by what they looked at besides the node: most stay as they are for replicas."""
        return {}

    @cached_property
    def pods_with_volumes(self) -> tuple[Pod, ...]:
        """The Pods on it whose volumes may restrict nodes."""
        with_volumes = [pod for pod in self.pods if pod.spec.volumes]
        return tuple(pod for pod in with_volumes if any(volume.restricts_nodes for volume in pod.spec.volumes))

    @cached_property
    def lowest_priority(self) -> int:
        """The lowest priority among the Pods on it, 0 where there are none."""
        return min((pod.spec.priority or 0 for pod in self.pods), default=0)

    @cached_property
    def used_ports(self) -> frozenset[HostPort]:
        """The node's ports that Pods on it take."""
        return frozenset[HostPort]().union(*map(host_ports, self.pods))

    def with_pod(self, pod: Pod) -> NodeInfo:
        """Return the node with one more Pod, whose part is added to what is known of the others."""
        changed, known = replace(self, pods=(*self.pods, pod)), vars(self)
        if "requested" in known:
            own = resource.requested_by((pod,), self.profile)
            vars(changed)["requested"] = resource.total((self.requested, own.named))
            if "non_zero_requested" in known:  # which dry runs have no use for
                vars(changed)["non_zero_requested"] = resource.total((self.non_zero_requested, own.non_zero))
        if "used_ports" in known:
            vars(changed)["used_ports"] = self.used_ports | host_ports(pod)
        return changed

    def without_pod(self, pod: Pod) -> NodeInfo:
        """Return the node without a Pod that is there."""
        left = tuple(other for other in self.pods if other.key != pod.key)
        gone = self.requests(pod)
        # What the Pod took is taken off rather than all others added up again: preemption does this Pod by Pod.
        requested = {name: value - gone.get(name, 0) for name, value in self.requested.items()}
        changed = replace(self, pods=left)
        # upstream: of two Pods bound with the same port, the first to go frees it.
        vars(changed).update(requested=requested, used_ports=self.used_ports - host_ports(pod))
        return changed

    def requests(self, pod: Pod) -> Mapping[str, int]:
        """Return what a Pod on the node requests (amounts)."""
        return resource.pod_requests(pod, self.profile, assigned=True)


class NodeRoom:
    """The nodes in order of what is free on them, so that a request finds those that lack room without asking each.

    Each resource is put in order once, when it is first asked about.
    """

    def __init__(self, nodes: Mapping[str, NodeInfo]) -> None:
        self._nodes = nodes
        self._in_order: dict[str, tuple[Sequence[int], Sequence[str]]] = {}
        self._lacking: dict[tuple[str, int], frozenset[str]] = {}
        self._requests: dict[tuple[str, str], tuple[Pod, Mapping[str, int]]] = {}
        self._changed: Mapping[str, NodeInfo] = {}

    def and_changed(self, nodes: Mapping[str, NodeInfo]) -> NodeRoom:
        """Return the room where these nodes are as given; what is known of the others stays so."""
        changed = {**self._changed, **nodes}
        # Each that has changed is asked one by one: once they are many, all are put in order anew.
        if len(changed) > MOST_CHANGED:
            room = NodeRoom({**self._nodes, **changed})
        else:
            room = NodeRoom(self._nodes)
            room._in_order, room._lacking, room._changed = self._in_order, self._lacking, changed
        room._requests = self._requests
        return room

    def lacking(self, resource: str, wanted: int) -> frozenset[str]:
        """Return the names of the nodes that have less than so much of the resource (amount) free."""
        key = (resource, wanted)
        if key not in self._lacking:
            free, names = self._order(resource)
            self._lacking[key] = frozenset(names[: bisect_left(free, wanted)])
        if not self._changed:
            return self._lacking[key]
        short = (name for name, info in self._changed.items() if info.free(resource) < wanted)
        return self._lacking[key].difference(self._changed).union(short)

    def requests(self, pod: Pod, on: NodeInfo) -> Mapping[str, int]:
        """Return what a Pod on the node requests (amounts), added up once."""
        known = self._requests.get(pod.key)
        if known is None or known[0] is not pod:
            known = self._requests[pod.key] = pod, on.requests(pod)
        return known[1]

    def _order(self, resource: str) -> tuple[Sequence[int], Sequence[str]]:
        if resource not in self._in_order:
            free = {name: info.free(resource) for name, info in self._nodes.items()}
            names = sorted(free, key=free.__getitem__)
            self._in_order[resource] = [free[name] for name in names], names
        return self._in_order[resource]
