"""How far an answer reaches that rests on some of the Pods: which verdicts other Pods could not change.

Where not all Pods were read, a filter that minds them has judged only some of the nodes by all that is there. What it
rejects is rejected; of what it lets pass nothing is known. See ``scheduler.unread_nodes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.gaps import UnreadNodes
from kubectl_spread.objects.pod_classes import PriorityClass
from kubectl_spread.scheduler import (
    interpodaffinity,
    nodeports,
    noderesources,
    nodevolumelimits,
    podtopologyspread,
    unread_nodes,
    volumerestrictions,
)
from kubectl_spread.scheduler.cycle import Evaluation, NodeVerdict, Rejection
from kubectl_spread.scheduler.framework import Code, Handle
from kubectl_spread.scheduler.preemption import NEVER
from kubectl_spread.scheduler.prefilter_extensions import priority_of

OF_THE_NODE = frozenset((nodeports.NAME, noderesources.NAME, volumerestrictions.NAME, nodevolumelimits.NAME))
"""Filters that mind the Pods on the node, of any namespace."""
OF_ALL_NODES = frozenset((interpodaffinity.NAME,))
"""Filters that mind Pods on other nodes too, of any namespace."""


class Reach(msgspec.Struct, frozen=True):
    """What is known of a decision about a Pod where not all Pods were read."""

    evaluation: Evaluation
    handle: Handle

    @property
    def _unread(self) -> frozenset[str]:
        return self.handle.snapshot.inventory.not_read

    def told(self, verdict: NodeVerdict) -> Iterator[Rejection]:
        """Yield what rejects the node, without what only says that it was not read."""
        return (rejection for rejection in verdict.rejections if rejection.plugin != unread_nodes.NAME)

    def is_first(self, verdict: NodeVerdict) -> bool:
        """Whether the first rejection known is the one at which kube-scheduler stops, whoever else is there."""
        first = verdict.first
        if first is None or self.evaluation.pre_filter is not None:
            return True
        order = (*self.handle.profile.filters, unread_nodes.NAME)
        before = order[: order.index(first.plugin)] if first.plugin in order else ()
        return self._unsure(on_node=verdict.name in self._unread).isdisjoint(before)

    @property
    def message(self) -> str | None:
        """What the scheduler says; None where on some node it stops at what was not asked, or has more to say."""
        known = self.evaluation.feasible or all(map(self._says_all, self.evaluation.nodes.values()))
        return self.evaluation.message if known else None

    def _says_all(self, verdict: NodeVerdict) -> bool:
        """Whether the first rejection known is the one at which kube-scheduler stops, in all of its words."""
        # What is short it names all at once, and Pods that were not read may take of other resources too.
        of_resources = verdict.first is not None and verdict.first.plugin == noderesources.NAME
        return self.is_first(verdict) and not (of_resources and verdict.name in self._unread)

    def core_of(self, constraints: Iterable[int]) -> Iterator[Requirement]:
        """Yield the requirements that were judged on every node: the hard constraints, by index, and filters."""
        yield from map(ConstraintRequirement, constraints)
        unsure = {*self._unsure(on_node=True), podtopologyspread.NAME, unread_nodes.NAME}
        yield from (FilterRequirement(name) for name, _ in self.evaluation.filters if name not in unsure)

    def _unsure(self, *, on_node: bool) -> frozenset[str]:
        """Return the filters that could reject more than they do, on a node that was read or on one that was not."""
        # Who has nothing to judge about the Pod on any node lets it pass, whoever else is there.
        asked = {name for name, _ in self.evaluation.filters}
        return OF_ALL_NODES | (OF_THE_NODE & asked if on_node else frozenset())

    @property
    def hides_victims(self) -> bool:
        """Whether there may be Pods to evict for this one among those that were not read."""
        pod, profile = self.evaluation.pod, self.handle.profile
        if not profile.serves(pod) or not profile.preempts or pod.spec.preemption_policy == NEVER:
            return False
        # the lowest priority that a Pod may have, as far as PriorityClasses tell
        lowest = min((0, *(each.value for each in self.handle.snapshot.all(PriorityClass))))
        if self.evaluation.pre_filter is not None or lowest >= priority_of(pod):
            return False
        return bool(self.may_open)

    @property
    def may_open(self) -> frozenset[str]:
        """The nodes (by name) that were not read and that evictions may open."""
        unread = ((name, verdict) for name, verdict in self.evaluation.nodes.items() if name in self._unread)
        return frozenset(name for name, verdict in unread if self._may_open(verdict))

    def _may_open(self, verdict: NodeVerdict) -> bool:
        """Whether what rejects the node first is Pods, or is not known."""
        first = verdict.first
        hopeless = first is not None and first.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        return not (hopeless and self.is_first(verdict))

    @property
    def incomplete(self) -> tuple[UnreadNodes, ...]:
        """What is not known of a Pod that finds a node."""
        if not (self.evaluation.feasible or self.evaluation.undecided):
            return ()
        return (UnreadNodes(nodes=len(self._unread), namespace=self.evaluation.pod.metadata.namespace),)
