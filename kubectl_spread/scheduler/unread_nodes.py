"""NotRead: ours, and last of all: no node takes a Pod while it may hold Pods that nobody has read.

Of a large cluster not all Pods are read. Those that are not can only take nodes away, by the ports, the room and the
volumes they use and the Pods they keep away: what could give one back, the Pods that constraints count and affinity
asks for, is always read. So whatever rejects a node without them does so with them, and a node that nothing else
rejects is not known to be feasible. It is a verdict of its own, for a node is not empty because it was not read.
"""

from __future__ import annotations

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Code, Handle, PreFilterResult, Status
from kubectl_spread.scheduler.nodeinfo import NodeInfo

NAME = "NotRead"
NOT_READ = Status(Code.NOT_READ, ("node(s) may hold pods that were not read",))


def pre_filter(_pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip where all Pods were read."""
    names = handle.snapshot.inventory.not_read
    return PreFilterResult(partial(filter_node, names), suspects=names, certain=True) if names else SKIP


def filter_node(names: frozenset[str], node_info: NodeInfo) -> Status:
    """Reject a node whose Pods were not all read."""
    return NOT_READ if node_info.name in names else SUCCESS
