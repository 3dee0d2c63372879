"""Topology groups: the domains that Karpenter knows, how many Pods are in each, and where one more may go.

Source: karpenter scheduling/topology.go, topologygroup.go, topologynodefilter.go, topologydomaingroup.go (v1.14.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from itertools import product

import msgspec

from kubectl_spread.autoscalers.karpenter.requirements import (
    Requirement,
    Requirements,
    added,
    has_labels,
    of_labels,
    one_of,
    requirement,
)
from kubectl_spread.labels import EVERYTHING, Selector, equals
from kubectl_spread.objects.core import Namespace, Node, NodeSelectorTerm, Pod, Taint, Toleration
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler.affinityterm import AffinityTerm, readable_terms
from kubectl_spread.scheduler.tainttoleration import tolerated
from kubectl_spread.snapshot import Snapshot


class GroupKind(Enum):
    """What a group is for."""

    SPREAD = auto()
    AFFINITY = auto()
    ANTI_AFFINITY = auto()


class NodeFilter(msgspec.Struct, frozen=True):
    """Which nodes a spread constraint counts.

    Attributes:
        terms: the Pod's node selector with each term of its required node affinity; one must fit.
    """

    terms: tuple[Requirements, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    honors_taints: bool = False
    honors_affinity: bool = False

    def counts(self, taints: Iterable[Taint], labels: Mapping[str, str]) -> bool:
        """Whether a node with these taints and labels counts."""
        if self.honors_affinity and not any(has_labels(labels, term) for term in self.terms):
            return False
        return not self.honors_taints or untolerated(taints, self.tolerations) is None


ALL_NODES = NodeFilter()
NO_TERM = NodeSelectorTerm()


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A constraint or affinity of Pods, and what there is in each domain.

    Attributes:
        index: the constraint's place in the Pod; None for an affinity.
        counts: domain → matching Pods (count), of all domains that are known.
        existing: the domains in which a counted node is.
    """

    kind: GroupKind
    key: str
    selects: bool
    index: int | None = None
    max_skew: int = 0
    min_domains: int | None = None
    counts: Mapping[str, int]
    existing: frozenset[str] = frozenset()

    @property
    def _empty(self) -> bool:
        return not any(self.counts.values())

    def minimum(self, pod_domains: Requirement) -> int | None:
        """Return the fewest matching Pods in any domain that the Pod allows; None where it allows none.

        Source: topologygroup.go domainMinCount: a host can always be added, so the minimum of hosts is 0.
        """
        if self.key == HOSTNAME:
            return 0
        supported = [count for domain, count in self.counts.items() if pod_domains.allows(domain)]
        if self.min_domains is not None and len(supported) < self.min_domains:
            return 0
        return min(supported, default=None)

    def next_domains(self, pod_domains: Requirement, node_domains: Requirement) -> tuple[Requirement, ...]:
        """Return what the group may ask of the node's label: one of these, by chance; empty where nothing is left."""
        host = next(iter(node_domains.values)) if self.key == HOSTNAME and len(node_domains.values) == 1 else None
        match self.kind:
            case GroupKind.SPREAD:
                found = self._next_spread(pod_domains, node_domains, host)
            case GroupKind.AFFINITY:
                found = self._next_near(pod_domains, node_domains, host)
            case _:
                found = self._next_apart(pod_domains, node_domains, host)
        return tuple(one_of(self.key, values) for values in found if values)

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

    def _next_near(self, pod_domains: Requirement, node_domains: Requirement, host: str | None) -> list[set[str]]:
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

    def _next_apart(self, pod_domains: Requirement, node_domains: Requirement, host: str | None) -> list[set[str]]:
        if host is not None:
            return [] if self.counts.get(host) else [{host}]
        empty = (domain for domain, count in self.counts.items() if not count)
        return [{domain for domain in empty if node_domains.allows(domain) and pod_domains.allows(domain)}]


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """Return the first taint that is not tolerated, of whatever effect, None for none."""
    return next((taint for taint in taints if not tolerated(taint, tolerations, numeric=True)), None)


class Topology:
    """The groups of one Pod in one cluster; a group is counted once, whichever preferences the Pod has dropped.

    Args:
        snapshot: the cluster.
        offered: topology key → domain → the taints of each pool that offers it.
        nodes: the nodes that Karpenter may use, whose domains count though no Pod is there; each with its labels, which
            are its NodeClaim's until it has registered.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        offered: Mapping[str, Mapping[str, list[tuple[Taint, ...]]]],
        nodes: Iterable[tuple[Node, Mapping[str, str]]],
    ) -> None:
        self._snapshot = snapshot
        self._offered = offered
        self._nodes = tuple(nodes)
        self._known: dict[object, Group] = {}
        self._inverse: dict[AffinityTerm, Group] | None = None

    def groups(self, pod: Pod, given: Pod) -> tuple[Group, ...]:
        """Return the groups that decide about the Pod, which may have dropped some of what was ``given``.

        Groups that upstream takes for one are one here, too: it tells them apart by no more than `_spread_identity`.
        """
        found = dict(self._owned(pod, given))
        return (*found.values(), *self._others(pod))

    def _owned(self, pod: Pod, given: Pod) -> Iterator[tuple[object, Group]]:
        for constraint in pod.spec.topology_spread_constraints:
            node_filter = _node_filter(pod, constraint.node_taints_policy, constraint.node_affinity_policy)
            merged = tuple(
                equals(key, pod.metadata.labels[key])
                for key in constraint.match_label_keys
                if key in pod.metadata.labels
            )
            selector = parse_label_selector(constraint.label_selector).and_also(merged)
            identity = _spread_identity(constraint.topology_key, constraint.max_skew, node_filter, selector)
            if identity not in self._known:
                # upstream: without a selector no Pod is selected, and all Pods of the namespace are counted.
                counted = EVERYTHING if selector.nothing else selector
                offered = self._domains(
                    constraint.topology_key, pod.spec.tolerations if node_filter.honors_taints else None
                )
                namespace = frozenset((pod.metadata.namespace,))
                counts, existing = self._count(constraint.topology_key, namespace, counted, node_filter, offered)
                self._known[identity] = Group(
                    kind=GroupKind.SPREAD,
                    key=constraint.topology_key,
                    selects=selector.matches(pod.metadata.labels),
                    index=given.spec.topology_spread_constraints.index(constraint),
                    max_skew=constraint.max_skew,
                    min_domains=constraint.min_domains,
                    counts=counts,
                    existing=existing,
                )
            yield identity, self._known[identity]
        for kind, term in _affinity_terms(pod):
            identity = kind, term
            if identity not in self._known:
                namespaces = frozenset(self._namespaces(term))
                # upstream: affinity to Pods knows only the pools whose taints are tolerated, before preferences go.
                offered = self._domains(term.topology_key, pod.spec.tolerations)
                counts, existing = self._count(term.topology_key, namespaces, term.selector, ALL_NODES, offered)
                selects = pod.metadata.namespace in namespaces and term.selector.matches(pod.metadata.labels)
                self._known[identity] = Group(
                    kind=kind, key=term.topology_key, selects=selects, counts=counts, existing=existing
                )
            yield identity, self._known[identity]

    def _count(
        self, key: str, namespaces: Iterable[str], selector: Selector, node_filter: NodeFilter, offered: Iterable[str]
    ) -> tuple[dict[str, int], frozenset[str]]:
        """Return domain → matching Pods (count), of those offered too, and those in which a counted node is."""
        counts = Counter(dict.fromkeys(offered, 0))
        existing = {
            labels[key]
            for node, labels in self._nodes
            if key in labels and node_filter.counts(node.spec.taints, node.metadata.labels)
        }
        counts.update(dict.fromkeys(existing, 0))
        for namespace in namespaces:
            for pod in self._snapshot.matching_pods(namespace, selector):
                node = None if pod.terminating else self._snapshot.nodes.get(pod.spec.node_name)
                if node is None or not node_filter.counts(node.spec.taints, node.metadata.labels):
                    continue
                domain = node.metadata.labels.get(key, node.metadata.name if key == HOSTNAME else None)
                if domain is not None:
                    counts[domain] += 1
        return dict(counts), frozenset(existing)

    def _domains(self, key: str, tolerations: tuple[Toleration, ...] | None) -> Iterator[str]:
        """Yield the domains that pools offer; those alone whose taints are tolerated, unless that is None."""
        for domain, taints in self._offered.get(key, {}).items():
            if tolerations is None or any(untolerated(each, tolerations) is None for each in taints):
                yield domain

    def _namespaces(self, term: AffinityTerm) -> Iterator[str]:
        yield from term.namespaces
        if not term.namespace_selector.nothing:
            known = (namespace.metadata.name for namespace in self._snapshot.all(Namespace))
            for namespace in {*self._snapshot.by_labels, *known} - term.namespaces:
                if term.namespace_selector.matches(self._snapshot.namespace_labels(namespace)):
                    yield namespace

    def _others(self, pod: Pod) -> Iterator[Group]:
        """Yield the groups of the Pods, this one too, that want no such Pod near them."""
        if self._inverse is None:
            self._inverse = self._keeping_apart(pod)
        namespace, labels = pod.metadata.namespace, pod.metadata.labels
        for term, group in self._inverse.items():
            if namespace in self._namespaces(term) and term.selector.matches(labels):
                yield group

    def _keeping_apart(self, pod: Pod) -> dict[AffinityTerm, Group]:
        found: dict[AffinityTerm, Counter[str]] = {}
        tolerations: dict[AffinityTerm, tuple[Toleration, ...]] = {}
        for node_name, pods in self._snapshot.assigned.items():
            node = self._snapshot.nodes.get(node_name)
            for other in pods if node else ():
                affinity = other.spec.affinity
                for term in readable_terms(other).anti_affinity if affinity and affinity.pod_anti_affinity else ():
                    domains = found.setdefault(term, Counter())
                    tolerations.setdefault(term, other.spec.tolerations)
                    if node is not None and term.topology_key in node.metadata.labels:
                        domains[node.metadata.labels[term.topology_key]] += 1
        for term in readable_terms(pod).anti_affinity:
            found.setdefault(term, Counter())
            tolerations.setdefault(term, pod.spec.tolerations)
        return {
            term: Group(
                kind=GroupKind.ANTI_AFFINITY,
                key=term.topology_key,
                selects=True,
                counts={**dict.fromkeys(self._domains(term.topology_key, tolerations[term]), 0), **counts},
            )
            for term, counts in found.items()
        }


def _node_filter(pod: Pod, taints_policy: str | None, affinity_policy: str | None) -> NodeFilter:
    return NodeFilter(
        terms=tuple(node_requirements(pod.spec.node_selector, term) for term in required_terms(pod) or (NO_TERM,)),
        tolerations=pod.spec.tolerations,
        honors_taints=taints_policy == "Honor",
        honors_affinity=affinity_policy != "Ignore",
    )


def required_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...]:
    """Return the terms of the Pod's required node affinity, of which one must fit; empty for none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required.node_selector_terms if required else ()


def node_requirements(selector: Mapping[str, str], *terms: NodeSelectorTerm) -> dict[str, Requirement]:
    """Return what a node selector and terms of node affinity ask of a node's labels, all together."""
    return added(of_labels(selector), (requirement(each) for term in terms for each in term.match_expressions))


def _affinity_terms(pod: Pod) -> Iterator[tuple[GroupKind, AffinityTerm]]:
    terms = readable_terms(pod)
    yield from ((GroupKind.AFFINITY, term) for term in terms.affinity)
    yield from ((GroupKind.ANTI_AFFINITY, term) for term in terms.anti_affinity)
    for weight, term in terms.preferred:
        yield (GroupKind.AFFINITY if weight > 0 else GroupKind.ANTI_AFFINITY), term


def _spread_identity(key: str, max_skew: int, node_filter: NodeFilter, selector: Selector) -> object:
    """Return what upstream tells groups apart by.

    upstream: minDomains is not among it, and of node affinity only which labels the terms name, an even number of
    equal ones cancelling out (TopologyGroup.Hash, hashstructure with SlicesAsSets).
    """
    names = Counter(frozenset(term) for term in node_filter.terms)
    odd = frozenset(each for each, count in names.items() if count % 2)
    tolerated_oddly = Counter(node_filter.tolerations)
    return (
        key,
        max_skew,
        odd,
        frozenset(each for each, count in tolerated_oddly.items() if count % 2),
        node_filter.honors_taints,
        node_filter.honors_affinity,
        frozenset(selector.requirements),
        selector.nothing,
    )
