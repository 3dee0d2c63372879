"""NodePorts: only one Pod can use a port of the node.

Source: kube-scheduler nodeports/node_ports.go (v1.36).
"""

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unschedulable
from kubectl_spread.scheduler.nodeinfo import HostPort, NodeInfo, host_ports

NAME = "NodePorts"
REASON = "node(s) didn't have free ports for the requested pod ports"


def pre_filter(pod: Pod, _handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod without host ports."""
    wanted = host_ports(pod)
    return PreFilterResult(partial(filter_node, wanted)) if wanted else SKIP


def filter_node(wanted: frozenset[HostPort], node_info: NodeInfo) -> Status:
    """Reject a node where a Pod uses one of the ports."""
    for used in node_info.used_ports:
        if any(port.conflicts(used) for port in wanted):
            return unschedulable(REASON)
    return SUCCESS
