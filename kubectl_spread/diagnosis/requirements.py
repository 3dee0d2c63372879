"""What can keep a Pod off nodes, one thing at a time.

A requirement is one DoNotSchedule constraint, or one other filter plugin with every node that it rejects alone. The
conflict core is the smallest set of requirements that together leave no node.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import msgspec

from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import DomainCounts


class ConstraintRequirement(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="constraint"):
    """A DoNotSchedule constraint, by its index."""

    index: int


class FilterRequirement(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="filter"):
    """Any other filter plugin, by its name."""

    plugin: str


Requirement: TypeAlias = ConstraintRequirement | FilterRequirement
# Requirement → the names of the nodes it rejects alone; constraints first, then filters in the profile's order.
Rejected: TypeAlias = Mapping[Requirement, frozenset[str]]
Cores: TypeAlias = tuple[tuple[Requirement, ...], ...]


def rejected_nodes(evaluation: Evaluation, hard: Sequence[DomainCounts], handle: Handle) -> Rejected:
    """Return which nodes each requirement rejects; requirements that reject none are left out.

    The hard constraints are counted as the filter counts them; a profile without the filter ignores them.
    """
    rejected: dict[Requirement, frozenset[str]] = {
        ConstraintRequirement(counts.constraint.index): podtopologyspread.rejected_nodes(counts, handle)
        for counts in (hard if podtopologyspread.NAME in handle.profile.filters else ())
    }
    by_counts = frozenset[str]().union(*rejected.values())
    by_plugin: dict[str, list[str]] = defaultdict(list)
    for name, verdict in evaluation.nodes.items():
        for rejection in verdict.rejections:
            by_plugin[rejection.plugin].append(name)
    for plugin in handle.profile.filters:
        nodes = frozenset(by_plugin[plugin])
        # The constraints' own filter also rejects nodes to which matching Pods are nominated.
        rejected[FilterRequirement(plugin)] = nodes - by_counts if plugin == podtopologyspread.NAME else nodes
    return {requirement: nodes for requirement, nodes in rejected.items() if nodes}


def conflict_cores(rejected: Rejected, nodes: Iterable[str]) -> Cores:
    """Return every set of the fewest requirements that together reject all the nodes, in the order of ``rejected``.

    The search is exact. The result is empty if some node is left. Nodes that the same requirements reject count once: a
    core has one requirement of each such set.
    """
    kinds = frozenset(requirements_against(rejected, nodes).values())
    if not kinds or frozenset() in kinds:
        return ()
    # A set that contains another set adds no condition to it.
    asked = [one for one in kinds if not any(other < one for other in kinds)]
    candidates = tuple(requirement for requirement in rejected if any(requirement in one for one in asked))
    for size in range(1, len(candidates) + 1):
        found = tuple(core for core in combinations(candidates, size) if all(one.intersection(core) for one in asked))
        if found:
            return found
    return ()


def requirements_against(rejected: Rejected, nodes: Iterable[str]) -> Mapping[str, frozenset[Requirement]]:
    """Return node's name → the requirements that reject it; equal sets are one object."""
    found = dict.fromkeys(nodes, 0)
    for index, names in enumerate(rejected.values()):
        for name in names & found.keys():
            found[name] |= 1 << index
    kinds = {
        kind: frozenset(requirement for index, requirement in enumerate(rejected) if kind >> index & 1)
        for kind in set(found.values())
    }
    return {name: kinds[kind] for name, kind in found.items()}
