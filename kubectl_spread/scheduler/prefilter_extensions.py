"""The filters of one Pod on one node while Pods come and go there.

Source: kube-scheduler framework/runtime/framework.go RunFilterPluginsWithNominatedPods, RunPreFilterExtensionAddPod
(v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SUCCESS, Handle, NodeFilter, PreFilterResult, Status
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour, Profile

Filters: TypeAlias = tuple[tuple[str, PreFilterResult | Status], ...]
"""(Plugin, what its PreFilter found), in the profile's order; plugins that skipped the Pod are left out."""


class NodeCycleState(msgspec.Struct, frozen=True):
    """One node and what the Pod's filters know, which upstream clones together: its NodeInfo and its CycleState.

    Attributes:
        node_info: the node with the Pods that are taken to be there.
    """

    node_info: NodeInfo
    filters: Filters

    def with_pods(self, pods: Iterable[Pod]) -> NodeCycleState:
        """Return the node with these Pods too."""
        return self._changed(pods, NodeInfo.with_pod, 1)

    def without_pods(self, pods: Iterable[Pod]) -> NodeCycleState:
        """Return the node without these Pods, which are there."""
        return self._changed(pods, NodeInfo.without_pod, -1)

    def _changed(self, pods: Iterable[Pod], change: Callable[[NodeInfo, Pod], NodeInfo], by: int) -> NodeCycleState:
        node_info, filters = self.node_info, self.filters
        for pod in pods:
            # upstream: a plugin that skipped the Pod before is not asked again, whatever the change would mean to it.
            filters = tuple((plugin, _updated(found, pod, node_info, by)) for plugin, found in filters)
            node_info = change(node_info, pod)
        return NodeCycleState(node_info, filters)

    def rejections(self) -> list[tuple[str, Status]]:
        """Return every filter that rejects the node with what it says, in the profile's order."""
        return rejecting(bound(self.filters), self.node_info)

    def verdict(self, nominated: Sequence[Pod]) -> Status:
        """Return what the first filter says that rejects the node, with the nominated Pods on it or without.

        Source: framework/runtime/framework.go RunFilterPluginsWithNominatedPods (v1.36).
        """
        with_them = self.with_pods(nominated)
        status = first_rejecting(bound(with_them.filters), with_them.node_info)
        # They may come or go elsewhere, so the Pod must fit either way: ports and room are missing with them, the Pods
        # that affinity asks for without them.
        return status if status.rejected or not nominated else first_rejecting(bound(self.filters), self.node_info)


def bound(filters: Filters) -> list[tuple[str, NodeFilter]]:
    """Return the filters; a plugin whose PreFilter has rejected the Pod says the same of every node."""
    return [
        (plugin, partial(_same, found) if isinstance(found, Status) else found.filter_node) for plugin, found in filters
    ]


def rejecting(filters: Iterable[tuple[str, NodeFilter]], node_info: NodeInfo) -> list[tuple[str, Status]]:
    """Return every filter that rejects the node with what it says, in their order."""
    found = []
    for plugin, filter_node in filters:
        status = filter_node(node_info)
        if status is not SUCCESS and status.rejected:
            found.append((plugin, status))
    return found


def first_rejecting(filters: Iterable[tuple[str, NodeFilter]], node_info: NodeInfo) -> Status:
    """Return what the first filter says that rejects the node, Success where none does; no other is asked then."""
    for _, filter_node in filters:
        status = filter_node(node_info)
        if status is not SUCCESS and status.rejected:
            return status
    return SUCCESS


def _updated(found: PreFilterResult | Status, pod: Pod, node_info: NodeInfo, by: int) -> PreFilterResult | Status:
    if isinstance(found, Status) or found.updated is None:
        return found
    return replace(found.updated(pod, node_info, by), node_names=found.node_names)


def _same(status: Status, _node_info: NodeInfo) -> Status:
    return status


def nominated_before(pod: Pod, handle: Handle) -> dict[str, tuple[Pod, ...]]:
    """Return node's name → the Pods nominated to it that go before this one: of its priority or a higher one.

    Source: framework/runtime/framework.go addGENominatedPods (v1.36).
    """
    found = {
        name: tuple(other for other in pods if other.key != pod.key and _goes_before(other, pod, handle.profile))
        for name, pods in handle.snapshot.nominated.items()
    }
    return {name: pods for name, pods in found.items() if pods}


def _goes_before(nominated: Pod, pod: Pod, profile: Profile) -> bool:
    """Whether the scheduler keeps the nomination, and the nominated Pod comes first.

    Source: backend/queue/scheduling_queue.go moveToActiveQ (v1.36), addPod (v1.37).
    """
    # A gated Pod holds no room until 1.37: it is not among those the queue knows.
    if nominated.spec.scheduling_gates and not profile.does(Behaviour.GATED_NOMINATED):
        return False
    # differs: Pods of another profile of the same scheduler hold room too; we read one profile.
    if nominated.spec.scheduler_name != profile.scheduler_name:
        return False
    return priority_of(nominated) >= priority_of(pod)


def priority_of(pod: Pod) -> int:
    """Return the Pod's priority, 0 where it has none."""
    return pod.spec.priority or 0


def outranks_any(pod: Pod, handle: Handle) -> bool:
    """Whether any Pod on a node has a lower priority: only then can preemption make room."""
    return any(info.pods and info.lowest_priority < priority_of(pod) for info in handle.node_infos.values())
