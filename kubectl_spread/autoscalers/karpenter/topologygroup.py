"""Topology groups: how many Pods are in each domain, and in which one more may go.

Source: karpenter scheduling/topologygroup.go, topologynodefilter.go (v1.14.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from itertools import product

import msgspec

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.requirements import Requirement, Requirements
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import NodeSelectorTerm, Pod, Taint, Toleration
from kubectl_spread.objects.well_known_labels import HOSTNAME


class TopologyType(Enum):
    """What a group is for."""

    SPREAD = auto()
    AFFINITY = auto()
    ANTI_AFFINITY = auto()


class TopologyNodeFilter(msgspec.Struct, frozen=True):
    """Which nodes a spread constraint counts."""

    # the Pod's node selector with each term of its required node affinity; one must fit
    terms: tuple[Requirements, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    honors_taints: bool = False
    honors_affinity: bool = False

    def counts(self, taints: Iterable[Taint], labels: Mapping[str, str]) -> bool:
        """Whether a node with these taints and labels counts."""
        if self.honors_affinity and not any(scheduling.has_labels(labels, term) for term in self.terms):
            return False
        return not self.honors_taints or scheduling.untolerated(taints, self.tolerations) is None


ALL_NODES = TopologyNodeFilter()


class TopologyGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A constraint or affinity of Pods, and the Pods in each domain."""

    kind: TopologyType
    key: str
    selects: bool
    index: int | None = None  # the constraint's place in the Pod; None for an affinity
    max_skew: int = 0
    min_domains: int | None = None
    counts: Mapping[str, int]  # domain → matching Pods (count), of all domains that are known
    existing: frozenset[str] = frozenset()  # the domains in which a counted node is

    def minimum(self, pod_domains: Requirement) -> int | None:
        """Return the fewest matching Pods in any domain that the Pod allows; None where it allows none.

        Source: topologygroup.go domainMinCount: a host can always be added, so the minimum of hosts is 0.
        """
        if self.key == HOSTNAME:
            return 0
        if self.lacking_domains(pod_domains):
            return 0
        return min((count for domain, count in self.counts.items() if pod_domains.allows(domain)), default=None)

    def lacking_domains(self, pod_domains: Requirement) -> int:
        """Return how many domains (count) are missing for minDomains; then the minimum is 0."""
        known = sum(map(pod_domains.allows, self.counts))
        return 0 if self.min_domains is None or self.key == HOSTNAME else max(self.min_domains - known, 0)

    def next_domains(self, pod_domains: Requirement, node_domains: Requirement) -> tuple[Requirement, ...]:
        """Return what the group may ask of the node's label: one of these, by chance; empty where nothing is left."""
        host = next(iter(node_domains.values)) if self.key == HOSTNAME and len(node_domains.values) == 1 else None
        match self.kind:
            case TopologyType.SPREAD:
                found = self._next_spread(pod_domains, node_domains, host)
            case TopologyType.AFFINITY:
                found = self._next_affinity(pod_domains, node_domains, host)
            case _:
                found = self._next_anti_affinity(pod_domains, node_domains, host)
        return tuple(scheduling.one_of(self.key, values) for values in found if values)

    def _next_spread(self, pod_domains: Requirement, node_domains: Requirement, host: str | None) -> list[set[str]]:
        own = int(self.selects)
        if host is not None:
            return [{host}] if self.counts.get(host, 0) + own <= self.max_skew else []
        minimum = self.minimum(pod_domains)
        valid = {
            domain: count
            for domain, count in self.counts.items()
            if node_domains.allows(domain) and (minimum is None or count + own - minimum <= self.max_skew)
        }
        fewest = min(valid.values(), default=0)
        return [{domain} for domain, count in valid.items() if count == fewest]

    def _next_affinity(self, pod_domains: Requirement, node_domains: Requirement, host: str | None) -> list[set[str]]:
        begins = self.selects and not any(count and pod_domains.allows(domain) for domain, count in self.counts.items())
        if host is not None:
            may = pod_domains.allows(host) and (self.counts.get(host, 0) > 0 or begins)
            return [{host}] if may else []
        allowed = [domain for domain in self.counts if pod_domains.allows(domain)]
        here = [domain for domain in allowed if node_domains.allows(domain)]
        with_pods = {domain for domain in here if self.counts[domain]}
        if with_pods or not begins:
            return [with_pods]
        return [set(pair) for pair in product(here, allowed)] if here else [{domain} for domain in allowed]

    def _next_anti_affinity(
        self, pod_domains: Requirement, node_domains: Requirement, host: str | None
    ) -> list[set[str]]:
        if host is not None:
            return [] if self.counts.get(host) else [{host}]
        empty = (domain for domain, count in self.counts.items() if not count)
        return [{domain for domain in empty if node_domains.allows(domain) and pod_domains.allows(domain)}]


def topology_node_filter(pod: Pod, taints_policy: str | None, affinity_policy: str | None) -> TopologyNodeFilter:
    """Return which nodes a constraint of the Pod counts."""
    asked = pod.spec.required_terms or (NodeSelectorTerm(),)
    return TopologyNodeFilter(
        terms=tuple(scheduling.node_requirements(pod.spec.node_selector, term) for term in asked),
        tolerations=pod.spec.tolerations,
        honors_taints=taints_policy == "Honor",
        honors_affinity=affinity_policy != "Ignore",
    )


def spread_hash(key: str, max_skew: int, node_filter: TopologyNodeFilter, selector: Selector) -> object:
    """Return the identity of a group of a spread constraint.

    upstream: minDomains is not among it, and of node affinity only which labels the terms name, an even number of
    equal ones cancelling out (TopologyGroup.Hash, hashstructure with SlicesAsSets).
    """

    def odd(parts: Iterable[object]) -> frozenset[object]:
        return frozenset(each for each, count in Counter(parts).items() if count % 2)

    asked = odd(map(frozenset, node_filter.terms)), odd(node_filter.tolerations)
    policies = node_filter.honors_taints, node_filter.honors_affinity
    return key, max_skew, *asked, *policies, frozenset(selector.requirements), selector.nothing
