"""NodeName: a Pod that names its node goes nowhere else.

Source: kube-scheduler nodename/node_name.go (v1.36).
"""

from __future__ import annotations

from functools import partial

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeName"
REASON = "node(s) didn't match the requested node name"


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that names no node.

    Source: nodename/node_name.go PreFilter (v1.37), before which Filter alone rejected nodes.
    """
    wanted = pod.spec.node_name
    if not wanted:
        return SKIP
    # Until 1.37 every node was filtered, and its reason is counted in the message; since then they are left out.
    narrows = handle.profile.does(Behaviour.NODE_NAME_NARROWS)
    return PreFilterResult(partial(filter_node, wanted), node_names=frozenset((wanted,)) if narrows else None)


def filter_node(node_name: str, node_info: NodeInfo) -> Status:
    """Reject every node but the named one."""
    return SUCCESS if node_info.name == node_name else unresolvable(REASON)
