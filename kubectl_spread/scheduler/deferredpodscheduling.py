"""DeferredPodScheduling: a running Pod whose resize is deferred is scheduled again, on its own node.

Source: kube-scheduler deferredpodscheduling/deferred_pod_scheduling.go (v1.37, gate
InPlacePodVerticalScalingSchedulerPreemption).
"""

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.resource import is_resize_deferred

NAME = "DeferredPodScheduling"
REASON_OTHER_NODE = "pod assigned to different node"
REASON_PREEMPTION_DISABLED = "node had resize preemption disabled"


def pre_filter(pod: Pod, _handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod whose resize is not deferred."""
    return PreFilterResult(partial(filter_node, pod.spec.node_name)) if is_resize_deferred(pod) else SKIP


def filter_node(node_name: str, node_info: NodeInfo) -> Status:
    """Reject all nodes but the Pod's own, and that too if it disables preemption for a resize."""
    if node_name not in ("", node_info.name):
        return unresolvable(REASON_OTHER_NODE)
    if node_info.node.spec.pod_preemption_policy.disable_resize_preemption:
        return unresolvable(REASON_PREEMPTION_DISABLED)
    return SUCCESS
