"""How far an answer reaches if only some Pods were read: which verdicts unread Pods could not change.

A filter that depends on unread Pods has evaluated some nodes without them. A node that it rejects stays rejected. For a
node that it accepts, nothing is known. See ``scheduler.unread_nodes``.
"""

from collections.abc import Iterable, Iterator

import msgspec

from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.gaps import UnreadNodes
from kubectl_spread.objects.policy import PriorityClass
from kubectl_spread.scheduler import (
    interpodaffinity,
    nodeports,
    noderesources,
    nodevolumelimits,
    podtopologyspread,
    unread_nodes,
    volumerestrictions,
)
from kubectl_spread.scheduler.cycle import Evaluation, NodeVerdict
from kubectl_spread.scheduler.framework import Code, Handle
from kubectl_spread.scheduler.preemption import NEVER
from kubectl_spread.scheduler.prefilter_extensions import priority_of

# Filters that depend on the Pods on the node, of any namespace.
OF_THE_NODE = frozenset((nodeports.NAME, noderesources.NAME, volumerestrictions.NAME, nodevolumelimits.NAME))
OF_ALL_NODES = frozenset((interpodaffinity.NAME,))  # Filters that also depend on Pods on other nodes, of any namespace


class Reach(msgspec.Struct, frozen=True):
    """What is known of a decision about a Pod if not all Pods were read."""

    evaluation: Evaluation
    handle: Handle

    @property
    def _unread(self) -> frozenset[str]:
        return self.handle.snapshot.inventory.not_read

    def is_first(self, verdict: NodeVerdict) -> bool:
        """Whether kube-scheduler stops at the first known rejection, whatever other Pods exist."""
        first = verdict.first
        if first is None or self.evaluation.pre_filter is not None:
            return True
        order = (*self.handle.profile.filters, unread_nodes.NAME)
        before = order[: order.index(first.plugin)] if first.plugin in order else ()
        return self._filters_in_doubt(on_node=verdict.name in self._unread).isdisjoint(before)

    @property
    def message(self) -> str | None:
        """What the scheduler reports; None if on some node it stops at something unknown, or has more to report."""
        # One rejection names all resources that are short, and Pods that were not read may use more of them.
        known = self.evaluation.feasible or all(
            self.is_first(each)
            and not (each.first is not None and each.first.plugin == noderesources.NAME and each.name in self._unread)
            for each in self.evaluation.nodes.values()
        )
        return self.evaluation.message if known else None

    def core_of(self, constraints: Iterable[int]) -> Iterator[Requirement]:
        """Yield the requirements that were evaluated on every node: the hard constraints, by index, and filters."""
        yield from map(ConstraintRequirement, constraints)
        unsure = {*self._filters_in_doubt(on_node=True), podtopologyspread.NAME, unread_nodes.NAME}
        yield from (FilterRequirement(name) for name, _ in self.evaluation.filters if name not in unsure)

    def _filters_in_doubt(self, *, on_node: bool) -> frozenset[str]:
        """Return the filters that could reject more than they do, on a node that was read or on one that was not."""
        # A filter that skips the Pod accepts every node, whatever Pods are on it.
        asked = {name for name, _ in self.evaluation.filters}
        return OF_ALL_NODES | (OF_THE_NODE & asked if on_node else frozenset())

    @property
    def hides_victims(self) -> bool:
        """Whether unread Pods may be victims for this one."""
        pod, profile = self.evaluation.pod, self.handle.profile
        if not profile.serves(pod) or not profile.preempts or pod.spec.preemption_policy == NEVER:
            return False
        # the lowest priority of a PriorityClass, or the default
        lowest = min((0, *(each.value for each in self.handle.snapshot.all(PriorityClass))))
        if self.evaluation.pre_filter is not None or lowest >= priority_of(pod):
            return False
        return bool(self.may_open)

    @property
    def may_open(self) -> frozenset[str]:
        """The unread nodes (by name) that evictions may open: Pods may be what rejects them first."""
        unread = (verdict for name, verdict in self.evaluation.nodes.items() if name in self._unread)
        return frozenset(
            each.name
            for each in unread
            if each.first is None
            or each.first.status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            or not self.is_first(each)
        )

    @property
    def incomplete(self) -> tuple[UnreadNodes, ...]:
        """What is unknown about a Pod that finds a node."""
        if not (self.evaluation.feasible or self.evaluation.undecided):
            return ()
        return (UnreadNodes(nodes=len(self._unread), namespace=self.evaluation.pod.metadata.namespace),)
