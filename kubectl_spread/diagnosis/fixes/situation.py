"""A Pod that finds no node, in the cluster as it is or as it would be: what a change has to overcome."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from kubectl_spread.diagnosis.domains import count_all
from kubectl_spread.diagnosis.requirements import rejected_nodes
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import Requirement
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle, NodeInfo
from kubectl_spread.scheduler.podtopologyspread import DomainCounts, constraints_of


@dataclass(frozen=True)
class Situation:
    """A Pod and a cluster.

    Attributes:
        pod: the Pod.
        handle: the cluster.
    """

    pod: Pod
    handle: Handle

    @cached_property
    def evaluation(self) -> Evaluation:
        """Every filter's verdict on every node."""
        return cycle.evaluate(self.pod, self.handle)

    @cached_property
    def counts(self) -> tuple[DomainCounts, ...]:
        """The hard constraints with their domains."""
        constraints = constraints_of(self.pod, self.handle)
        return tuple(counts for counts in count_all(constraints, self.pod, self.handle) if counts.constraint.hard)

    @cached_property
    def against(self) -> Mapping[str, frozenset[Requirement]]:
        """Node's name → the requirements that reject it."""
        rejected = rejected_nodes(self.evaluation, self.counts, self.handle)
        return {
            name: frozenset(requirement for requirement, nodes in rejected.items() if name in nodes)
            for name in self.handle.node_infos
        }

    def nodes_only_against(self, requirements: Collection[Requirement], *, others: int = 0) -> list[NodeInfo]:
        """Return the nodes that these requirements and at most so many others reject.

        Args:
            requirements: what a change could overcome.
            others: how many more requirements another change could overcome.
        """
        wanted = frozenset(requirements)
        return [
            info
            for name, info in self.handle.node_infos.items()
            if self.against[name] & wanted and len(self.against[name] - wanted) <= others
        ]


def of_constraint(index: int) -> Requirement:
    """Return the requirement that a constraint is."""
    return Requirement(kind="constraint", index=index)


def of_filter(plugin: str) -> Requirement:
    """Return the requirement that a filter plugin is."""
    return Requirement(kind="filter", plugin=plugin)
