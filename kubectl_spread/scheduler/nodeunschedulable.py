"""NodeUnschedulable: only Pods that tolerate the cordon run on cordoned nodes.

Source: kube-scheduler nodeunschedulable/node_unschedulable.go (v1.36).
"""

from kubectl_spread.objects.core import Pod, Taint
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.tainttoleration import tolerated

NAME = "NodeUnschedulable"
REASON = "node(s) were unschedulable"
CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that tolerates the cordon."""
    # DaemonSet Pods tolerate the taint of cordoned nodes, and so run on them.
    if tolerated(CORDON, pod.spec.tolerations, numeric=handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)):
        return SKIP
    return PreFilterResult(filter_node, suspects=handle.index.cordoned, certain=True)


def filter_node(node_info: NodeInfo) -> Status:
    """Reject a cordoned node."""
    return unresolvable(REASON) if node_info.node.spec.unschedulable else SUCCESS
