"""Pod affinity terms, parsed once, and the terms of all Pods on nodes, indexed.

Source: kube-scheduler staging framework/types.go AffinityTerm (v1.36).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from kubectl_spread.labels import NOTHING, Selector, aggregate
from kubectl_spread.objects.core import Pod, PodAffinity, PodAffinityTerm
from kubectl_spread.objects.meta import parse_label_selector


class AffinityTerm(msgspec.Struct, frozen=True):
    """Pods, and the topology in which to be near them or not.

    Attributes:
        selector: which Pods, by their labels; (mis)matchLabelKeys are in it, the API server has seen to that.
        topology_key: the node label whose value nodes must share to be near.
        namespaces: the namespaces whose Pods are meant, by name.
        namespace_selector: further ones, by their labels.
    """

    selector: Selector
    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: Selector = NOTHING

    def covers(self, namespace: str, namespace_labels: Mapping[str, str]) -> bool:
        """Whether Pods of the namespace are meant."""
        # By name or by selector: either is enough.
        return namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)

    def matches(self, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the Pod, whose namespace carries these labels, is meant."""
        return self.covers(pod.metadata.namespace, namespace_labels) and self.selector.matches(pod.metadata.labels)


Weighted: TypeAlias = tuple[int, AffinityTerm]
"""A weight, negative for anti-affinity, and its term."""


class PodTerms(msgspec.Struct, frozen=True):
    """All terms of one Pod.

    Attributes:
        preferred: where it would rather be near (positive weight) or not (negative weight).
    """

    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred: tuple[Weighted, ...] = ()

    @classmethod
    def of(cls, pod: Pod) -> PodTerms:
        """Return the terms of the Pod.

        Raises:
            ValueError: a selector cannot be read; every list that holds such a one is named.

        Source: framework/types.go PodInfo.Update (v1.36).
        """
        terms, errors = _read(pod)
        if errors:
            raise ValueError(aggregate(errors))
        return terms


def readable_terms(pod: Pod) -> PodTerms:
    """Return the terms of a Pod that is on a node already; a list in which one term cannot be read is as good as empty.

    Source: framework/types.go NodeInfo.AddPod, PodInfo.Update (v1.36).
    """
    terms, _ = _read(pod)
    return terms


def _read(pod: Pod) -> tuple[PodTerms, list[str]]:
    errors: list[str] = []
    if pod.spec.affinity is None:
        return PodTerms(), errors
    near = pod.spec.affinity.pod_affinity or PodAffinity()
    apart = pod.spec.affinity.pod_anti_affinity or PodAffinity()

    def read(name: str, terms: Iterable[PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
        try:
            return tuple(parse_term(term, pod) for term in terms)
        except ValueError as error:
            errors.append(f"{name}: {error}")
            return ()

    def weighted(name: str, affinity: PodAffinity, sign: int) -> Iterator[Weighted]:
        terms = affinity.preferred_during_scheduling_ignored_during_execution
        parsed = read(name, (term.pod_affinity_term for term in terms))
        return zip((sign * term.weight for term in terms), parsed, strict=False)

    terms = PodTerms(
        affinity=read("requiredAffinityTerms", near.required_during_scheduling_ignored_during_execution),
        anti_affinity=read("requiredAntiAffinityTerms", apart.required_during_scheduling_ignored_during_execution),
        preferred=(*weighted("preferredAffinityTerms", near, 1), *weighted("preferredAntiAffinityTerms", apart, -1)),
    )
    return terms, errors


def parse_term(term: PodAffinityTerm, pod: Pod) -> AffinityTerm:
    """Return the term of that Pod; without any word on namespaces it means the Pod's own.

    Raises:
        ValueError: a selector cannot be read.
    """
    # An empty namespaceSelector is a word: all namespaces. Only its absence, and no names, means the own one.
    own = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        selector=parse_label_selector(term.label_selector),
        topology_key=term.topology_key,
        namespaces=frozenset((pod.metadata.namespace,) if own else term.namespaces),
        namespace_selector=parse_label_selector(term.namespace_selector),
    )


_AS_BYTES = msgspec.msgpack.Encoder().encode
OnNodes: TypeAlias = Mapping[AffinityTerm, Mapping[str, int]]
"""Term → node's name → Pods there that have the term (count), or their weights together."""


class ExistingTerms(msgspec.Struct, frozen=True):
    """The terms of the Pods on all nodes; equal terms once, as replicas have them.

    Attributes:
        affinity: required affinity terms → where (Pods, count).
        anti_affinity: required anti-affinity terms → where (Pods, count).
        preferred: preferred terms → where (weights together).
    """

    affinity: OnNodes = msgspec.field(default_factory=lambda: MappingProxyType({}))
    anti_affinity: OnNodes = msgspec.field(default_factory=lambda: MappingProxyType({}))
    preferred: OnNodes = msgspec.field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, pods: Iterable[tuple[str, Pod]]) -> ExistingTerms:
        """Return the terms of these Pods, each given with its node's name."""
        affinity, anti_affinity, preferred = _counters(), _counters(), _counters()
        known: dict[tuple[str, bytes], PodTerms] = {}
        for node, pod in pods:
            if pod.spec.affinity is None:
                continue
            # Replicas have the same terms, and to read these takes longer than to see that.
            asked = pod.metadata.namespace, _AS_BYTES(pod.spec.affinity)
            terms = known.get(asked)
            if terms is None:
                terms = known[asked] = readable_terms(pod)
            _add(affinity, node, ((1, term) for term in terms.affinity))
            _add(anti_affinity, node, ((1, term) for term in terms.anti_affinity))
            _add(preferred, node, terms.preferred)
        return cls(affinity, anti_affinity, preferred)

    def and_also(self, node: str, pod: Pod) -> ExistingTerms:
        """Return the terms with those of one more Pod."""
        return self._changed(node, pod, 1)

    def without(self, node: str, pod: Pod) -> ExistingTerms:
        """Return the terms without those of a Pod that is on the node."""
        return self._changed(node, pod, -1)

    def _changed(self, node: str, pod: Pod, by: int) -> ExistingTerms:
        if pod.spec.affinity is None:
            return self
        of_pod = ExistingTerms.of([(node, pod)])
        return ExistingTerms(
            _merged(self.affinity, of_pod.affinity, by),
            _merged(self.anti_affinity, of_pod.anti_affinity, by),
            _merged(self.preferred, of_pod.preferred, by),
        )


Counters: TypeAlias = defaultdict[AffinityTerm, dict[str, int]]


def _counters() -> Counters:
    return defaultdict(dict)


def _add(counters: Counters, node: str, terms: Iterable[Weighted]) -> None:
    for weight, term in terms:
        on_nodes = counters[term]
        on_nodes[node] = on_nodes.get(node, 0) + weight


def _merged(first: OnNodes, second: OnNodes, by: int) -> OnNodes:
    """Return the first count with the second added (1) or taken off (-1); what comes to nothing is left out."""
    merged = dict(first)
    for term, on_nodes in second.items():
        known = first.get(term, {})
        summed = {**known, **{node: known.get(node, 0) + by * value for node, value in on_nodes.items()}}
        merged[term] = {node: value for node, value in summed.items() if value}
    return {term: on_nodes for term, on_nodes in merged.items() if on_nodes}
