"""The filters of one Pod on one node while other Pods are added to the node or removed from it.

Source: kube-scheduler framework/runtime/framework.go RunFilterPluginsWithNominatedPods, RunPreFilterExtensionAddPod
(v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SUCCESS, Handle, PreFilterResult, Status
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour, Profile

# (Plugin, result of its PreFilter), in the profile's order; plugins that skipped the Pod are absent.
Filters: TypeAlias = tuple[tuple[str, PreFilterResult], ...]


class NodeCycleState(msgspec.Struct, frozen=True):
    """A node and the state of the Pod's filters, which upstream clones together (NodeInfo and CycleState)."""

    node_info: NodeInfo
    filters: Filters

    def changed(self, pods: Iterable[Pod], by: int) -> NodeCycleState:
        """Return the state after these Pods were added to the node (1) or removed from it (-1)."""
        node_info, filters = self.node_info, self.filters
        for pod in pods:
            # upstream: a plugin that skipped the Pod is not asked again, even if the change would matter to it.
            filters = tuple((plugin, _update(result, pod, node_info, by)) for plugin, result in filters)
            node_info = node_info.with_pod(pod) if by > 0 else node_info.without_pod(pod)
        return NodeCycleState(node_info, filters)

    def rejections(self) -> Iterator[tuple[str, Status]]:
        """Yield each filter that rejects the node and its Status, in the profile's order."""
        for plugin, result in self.filters:
            status = result.filter_node(self.node_info)
            if status is not SUCCESS and status.rejected:
                yield plugin, status

    def verdict(self, nominated: Sequence[Pod]) -> Status:
        """Return the first rejection of the node, with the nominated Pods or without them; Success for none.

        Source: framework/runtime/framework.go RunFilterPluginsWithNominatedPods (v1.36).
        """
        # Nominated Pods may end up elsewhere, so the Pod must fit both ways: with them it may lack ports or room,
        # without them the Pods that its affinity requires.
        for state in (self.changed(nominated, 1), self) if nominated else (self,):
            for _, status in state.rejections():
                return status
        return SUCCESS


def _update(result: PreFilterResult, pod: Pod, node_info: NodeInfo, by: int) -> PreFilterResult:
    if result.updated is None:
        return result
    return replace(result.updated(pod, node_info, by), node_names=result.node_names)


def nominated_before(pod: Pod, handle: Handle) -> dict[str, tuple[Pod, ...]]:
    """Return node's name → the Pods nominated to it whose priority is not lower than that of this Pod.

    Source: framework/runtime/framework.go addGENominatedPods (v1.36).
    """
    nominated = {
        name: tuple(other for other in pods if other.key != pod.key and _goes_before(other, pod, handle.profile))
        for name, pods in handle.snapshot.nominated.items()
    }
    return {name: pods for name, pods in nominated.items() if pods}


def _goes_before(nominated: Pod, pod: Pod, profile: Profile) -> bool:
    """Source: backend/queue/scheduling_queue.go moveToActiveQ (v1.36), addPod (v1.37)."""
    # Until 1.37 the queue does not know gated Pods, so they reserve no room.
    if nominated.spec.scheduling_gates and not profile.does(Behaviour.GATED_NOMINATED):
        return False
    # differs: Pods of other profiles of the same scheduler reserve room too; we read one profile.
    return nominated.spec.scheduler_name == profile.scheduler_name and priority_of(nominated) >= priority_of(pod)


def priority_of(pod: Pod) -> int:
    """Return the Pod's priority, 0 where it has none."""
    return pod.spec.priority or 0


def outranks_any(pod: Pod, handle: Handle) -> bool:
    """Whether any Pod on a node has a lower priority: only then can preemption help."""
    return any(info.pods and info.lowest_priority < priority_of(pod) for info in handle.node_infos.values())
