"""The topology groups that decide about one Pod, counted in the cluster.

Source: karpenter scheduling/topology.go, topologydomaingroup.go (v1.14.1).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

import msgspec

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.nodeclaimtemplate import NodeClaimTemplate
from kubectl_spread.autoscalers.karpenter.preferences import pod_requirements
from kubectl_spread.autoscalers.karpenter.requirements import Requirement, Requirements
from kubectl_spread.autoscalers.karpenter.resources import requests_for_pods
from kubectl_spread.autoscalers.karpenter.statenode import StateNode
from kubectl_spread.autoscalers.karpenter.topologygroup import (
    ALL_NODES,
    TopologyGroup,
    TopologyNodeFilter,
    TopologyType,
    spread_hash,
    topology_node_filter,
)
from kubectl_spread.labels import EVERYTHING, Selector, equals
from kubectl_spread.objects.core import Namespace, Pod, Toleration
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler.affinityterm import AffinityTerm, readable_terms
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot


class PodData(msgspec.Struct, frozen=True, kw_only=True):
    """The Pod with some of its preferences, as every node and NodePool is asked about it."""

    pod: Pod
    requirements: Requirements  # what it asks of a node's labels, with its heaviest preference
    strict_requirements: Requirements  # the same without preferences; these limit the domains that count
    requests: Mapping[str, int]  # what it requests (amounts)
    groups: tuple[TopologyGroup, ...]  # its topology groups, and those of other Pods that keep it away

    def add_requirements(self, node: Requirements) -> Iterator[Requirements] | TopologyGroup:
        """Return what the groups ask of a node with these requirements, any by chance; or the group that refuses."""
        by_key: dict[str, set[Requirement]] = {}
        for group in self.groups:
            own = scheduling.asked_of(node, group.key)
            domains = group.next_domains(scheduling.asked_of(self.strict_requirements, group.key), own)
            if not domains:
                return group
            before = by_key.get(group.key, {own})
            by_key[group.key] = {each.intersection(other) for each in before for other in domains}
        choices = (sorted(each, key=str) for each in by_key.values())
        return ({**node, **{each.key: each for each in picked}} for picked in product(*choices))


class Topology:
    """The groups of one Pod in one cluster; a group is counted once, whichever preferences the Pod has dropped.

    Args:
        snapshot: the cluster.
        domain_groups: topology key → domain → the NodePools that offer it.
        nodes: the nodes that Karpenter may use; their domains count where no Pod is, too.
        by_affinity: labels that nodes may have though nothing names them, where NodePools add domains only for Pods
            whose node selector and affinity they meet; None where they add them for all Pods.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        domain_groups: Mapping[str, Mapping[str, Iterable[NodeClaimTemplate]]],
        nodes: Iterable[StateNode],
        *,
        by_affinity: scheduling.KnownLabels | None,
    ) -> None:
        self._snapshot = snapshot
        self._by_affinity = by_affinity
        self._offered = domain_groups
        self._nodes = tuple((each.node, each.labels) for each in nodes if each.node is not None)
        self._known: dict[object, TopologyGroup] = {}
        self._inverse: dict[AffinityTerm, TopologyGroup] | None = None

    def pod_data(self, pod: Pod, given: Pod, profile: Profile) -> PodData:
        """Return the data of the Pod, which may have dropped some of what was ``given``."""
        return PodData(
            pod=pod,
            requirements=pod_requirements(pod),
            strict_requirements=scheduling.strict_pod_requirements(pod),
            requests=requests_for_pods((pod,), profile),
            groups=(*dict(self._owned_groups(pod, given)).values(), *self._inverse_groups(pod)),
        )

    def _owned_groups(self, pod: Pod, given: Pod) -> Iterator[tuple[object, TopologyGroup]]:
        labels = pod.metadata.labels
        for constraint in pod.spec.topology_spread_constraints:
            node_filter = topology_node_filter(pod, constraint.node_taints_policy, constraint.node_affinity_policy)
            merged = tuple(equals(key, labels[key]) for key in constraint.match_label_keys if key in labels)
            selector = parse_label_selector(constraint.label_selector).and_also(merged)
            identity = spread_hash(constraint.topology_key, constraint.max_skew, node_filter, selector)
            if identity not in self._known:
                # upstream: without a selector no Pod is selected, and all Pods of the namespace are counted.
                counted = EVERYTHING if selector.nothing else selector
                tolerations = pod.spec.tolerations if node_filter.honors_taints else None
                terms = node_filter.terms if node_filter.honors_affinity else ()
                offered = self._domains(constraint.topology_key, tolerations, terms)
                namespace = frozenset((pod.metadata.namespace,))
                counts, existing = self._count(constraint.topology_key, namespace, counted, node_filter, offered)
                self._known[identity] = TopologyGroup(
                    kind=TopologyType.SPREAD,
                    key=constraint.topology_key,
                    selects=selector.matches(labels),
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
                selects = pod.metadata.namespace in namespaces and term.selector.matches(labels)
                self._known[identity] = TopologyGroup(
                    kind=kind, key=term.topology_key, selects=selects, counts=counts, existing=existing
                )
            yield identity, self._known[identity]

    def _count(
        self,
        key: str,
        namespaces: Iterable[str],
        selector: Selector,
        node_filter: TopologyNodeFilter,
        offered: Iterable[str],
    ) -> tuple[dict[str, int], frozenset[str]]:
        """Return domain → matching Pods (count), of those offered too, and those in which a counted node is."""
        counts = Counter(dict.fromkeys(offered, 0))
        having = ((node, labels[key]) for node, labels in self._nodes if key in labels)
        existing = {domain for node, domain in having if node_filter.counts(node.spec.taints, node.metadata.labels)}
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

    def _domains(
        self, key: str, tolerations: tuple[Toleration, ...] | None, terms: tuple[Requirements, ...] = ()
    ) -> Iterator[str]:
        """Yield the domains that NodePools offer, or only those whose taints are tolerated."""
        for domain, templates in self._offered.get(key, {}).items():
            if any(self._counts(each, tolerations, terms) for each in templates):
                yield domain

    def _counts(
        self, template: NodeClaimTemplate, tolerations: tuple[Toleration, ...] | None, terms: tuple[Requirements, ...]
    ) -> bool:
        if tolerations is not None and scheduling.untolerated(template.taints, tolerations) is not None:
            return False
        if self._by_affinity is None or not terms:
            return True
        clashes = (
            scheduling.incompatible(template.requirements, term, allow_undefined=self._by_affinity) for term in terms
        )
        return any(clash is None for clash in clashes)

    def _namespaces(self, term: AffinityTerm) -> Iterator[str]:
        yield from term.namespaces
        if not term.namespace_selector.nothing:
            known = (namespace.metadata.name for namespace in self._snapshot.all(Namespace))
            for namespace in {*self._snapshot.by_labels, *known} - term.namespaces:
                if term.namespace_selector.matches(self._snapshot.namespace_labels(namespace)):
                    yield namespace

    def _inverse_groups(self, pod: Pod) -> Iterator[TopologyGroup]:
        """Yield the groups of Pods, this one too, whose anti-affinity keeps the Pod away."""
        if self._inverse is None:
            self._inverse = self._count_inverse_groups(pod)
        namespace, labels = pod.metadata.namespace, pod.metadata.labels
        for term, group in self._inverse.items():
            if namespace in self._namespaces(term) and term.selector.matches(labels):
                yield group

    def _count_inverse_groups(self, pod: Pod) -> dict[AffinityTerm, TopologyGroup]:
        counted: dict[AffinityTerm, Counter[str]] = {}
        tolerations: dict[AffinityTerm, tuple[Toleration, ...]] = {}
        for node_name, pods in self._snapshot.assigned.items():
            node = self._snapshot.nodes.get(node_name)
            for other in pods if node else ():
                affinity = other.spec.affinity
                for term in readable_terms(other).anti_affinity if affinity and affinity.pod_anti_affinity else ():
                    domains = counted.setdefault(term, Counter())
                    tolerations.setdefault(term, other.spec.tolerations)
                    if node is not None and term.topology_key in node.metadata.labels:
                        domains[node.metadata.labels[term.topology_key]] += 1
        for term in readable_terms(pod).anti_affinity:
            counted.setdefault(term, Counter())
            tolerations.setdefault(term, pod.spec.tolerations)
        groups: dict[AffinityTerm, TopologyGroup] = {}
        for term, matching in counted.items():
            key, kind = term.topology_key, TopologyType.ANTI_AFFINITY
            counts = {**dict.fromkeys(self._domains(key, tolerations[term]), 0), **matching}
            groups[term] = TopologyGroup(kind=kind, key=key, selects=True, counts=counts)
        return groups


def _affinity_terms(pod: Pod) -> Iterator[tuple[TopologyType, AffinityTerm]]:
    terms = readable_terms(pod)
    yield from ((TopologyType.AFFINITY, term) for term in terms.affinity)
    yield from ((TopologyType.ANTI_AFFINITY, term) for term in terms.anti_affinity)
    for weight, term in terms.preferred:
        yield (TopologyType.AFFINITY if weight > 0 else TopologyType.ANTI_AFFINITY), term
