"""NodeName: a Pod that names its node goes nowhere else.

Source: kube-scheduler nodename/node_name.go (v1.36).
"""

from __future__ import annotations

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, NodeInfo, PreFilterResult, Status, unresolvable

NAME = "NodeName"
REASON = "node(s) didn't match the requested node name"


def pre_filter(pod: Pod, _handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that names no node."""
    if not pod.spec.node_name:
        return SKIP
    return PreFilterResult(partial(filter_node, pod.spec.node_name))


def filter_node(node_name: str, node_info: NodeInfo) -> Status:
    """Reject every node but the named one."""
    return SUCCESS if node_info.name == node_name else unresolvable(REASON)
