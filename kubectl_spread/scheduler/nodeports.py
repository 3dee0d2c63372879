"""NodePorts: a port of a node can be taken once.

Source: kube-scheduler nodeports/node_ports.go (v1.36).
"""

from __future__ import annotations

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unschedulable
from kubectl_spread.scheduler.hostport import HostPort, host_ports
from kubectl_spread.scheduler.nodeinfo import NodeInfo

NAME = "NodePorts"
REASON = "node(s) didn't have free ports for the requested pod ports"


def pre_filter(pod: Pod, _handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that takes no port of its node."""
    wanted = host_ports(pod)
    return PreFilterResult(partial(filter_node, wanted)) if wanted else SKIP


def filter_node(wanted: frozenset[HostPort], node_info: NodeInfo) -> Status:
    """Reject a node where a Pod has taken one of the ports."""
    # Same protocol and port, and the same address or either on all addresses.
    for taken in node_info.used_ports:
        if any(port.conflicts(taken) for port in wanted):
            return unschedulable(REASON)
    return SUCCESS
