"""NodeUnschedulable: cordoned nodes take no Pods, save those that tolerate the cordon.

Source: kube-scheduler nodeunschedulable/node_unschedulable.go (v1.36).
"""

from __future__ import annotations

from functools import partial

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
    # A DaemonSet's Pods tolerate the taint that cordoning adds, which is how they get onto cordoned nodes.
    numeric = handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    if tolerated(CORDON, pod.spec.tolerations, numeric=numeric):
        return SKIP
    return PreFilterResult(partial(filter_node, None), suspects=handle.index.cordoned, certain=True)


def filter_node(_state: None, node_info: NodeInfo) -> Status:
    """Reject a cordoned node."""
    return unresolvable(REASON) if node_info.node.spec.unschedulable else SUCCESS
