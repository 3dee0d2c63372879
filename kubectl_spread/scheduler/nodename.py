"""NodeName: a Pod that names a node runs only there.

Source: kube-scheduler nodename/node_name.go (v1.36).
"""

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeName"
REASON = "node(s) didn't match the requested node name"


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that names no node.

    Source: nodename/node_name.go PreFilter (v1.37); older releases have only Filter.
    """
    wanted = pod.spec.node_name
    if not wanted:
        return SKIP
    # Before 1.37 each other node is rejected, and the message counts the reason; since then PreFilter excludes them.
    narrows = handle.profile.does(Behaviour.NODE_NAME_NARROWS)
    return PreFilterResult(partial(filter_node, wanted), node_names=frozenset((wanted,)) if narrows else None)


def filter_node(node_name: str, node_info: NodeInfo) -> Status:
    """Reject all nodes but the named one."""
    return SUCCESS if node_info.name == node_name else unresolvable(REASON)
