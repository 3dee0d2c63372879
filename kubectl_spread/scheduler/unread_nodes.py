"""NotRead: our own filter, which runs last: a node with Pods that were not read is not known to be feasible.

In a large cluster not all Pods are read. An unread Pod can only make a node infeasible: by its ports, resources,
volumes or anti-affinity. The Pods that constraints count and that affinity requires are always read. So what rejects a
node without the unread Pods also rejects it with them; only for the other nodes the answer is open.
"""

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
    """Reject a node that may have Pods that were not read."""
    return NOT_READ if node_info.name in names else SUCCESS
