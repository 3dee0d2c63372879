"""Pod affinity terms, parsed once, and an index of the terms of all Pods on nodes.

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
    """Other Pods, and the topology key that says what is near them."""

    selector: Selector  # the labels of the Pods; the API server has merged (mis)matchLabelKeys into it
    topology_key: str  # nodes with the same value of this label are near each other
    namespaces: frozenset[str]  # the names of the Pods' namespaces
    namespace_selector: Selector = NOTHING  # further namespaces, by their labels

    def covers(self, namespace: str, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the term is about Pods of the namespace, by its name or by its labels."""
        return namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)

    def matches(self, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the term is about the Pod, whose namespace has these labels."""
        return self.covers(pod.metadata.namespace, namespace_labels) and self.selector.matches(pod.metadata.labels)


Weighted: TypeAlias = tuple[int, AffinityTerm]  # A weight, negative for anti-affinity, and its term


class PodTerms(msgspec.Struct, frozen=True):
    """The required and preferred terms of one Pod."""

    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred: tuple[Weighted, ...] = ()

    @classmethod
    def of(cls, pod: Pod) -> PodTerms:
        """Return the terms of the Pod.

        Raises:
            ValueError: a selector cannot be parsed; the text names each list with such a selector.

        Source: framework/types.go PodInfo.Update (v1.36).
        """
        terms, errors = _parse(pod)
        if errors:
            raise ValueError(aggregate(errors))
        return terms


def readable_terms(pod: Pod) -> PodTerms:
    """Return the terms of a Pod on a node; a list with a term that cannot be parsed counts as empty.

    Source: framework/types.go NodeInfo.AddPod, PodInfo.Update (v1.36).
    """
    return _parse(pod)[0]


def _parse(pod: Pod) -> tuple[PodTerms, list[str]]:
    errors: list[str] = []
    if pod.spec.affinity is None:
        return PodTerms(), errors
    near = pod.spec.affinity.pod_affinity or PodAffinity()
    apart = pod.spec.affinity.pod_anti_affinity or PodAffinity()

    def parse(name: str, terms: Iterable[PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
        try:
            return tuple(parse_term(term, pod) for term in terms)
        except ValueError as error:
            errors.append(f"{name}: {error}")
            return ()

    def parse_weighted(name: str, affinity: PodAffinity, sign: int) -> Iterator[Weighted]:
        parsed = parse(name, (term.pod_affinity_term for term in affinity.preferred))
        return zip((sign * term.weight for term in affinity.preferred), parsed, strict=False)

    terms = PodTerms(
        affinity=parse("requiredAffinityTerms", near.required),
        anti_affinity=parse("requiredAntiAffinityTerms", apart.required),
        preferred=(
            *parse_weighted("preferredAffinityTerms", near, 1),
            *parse_weighted("preferredAntiAffinityTerms", apart, -1),
        ),
    )
    return terms, errors


def parse_term(term: PodAffinityTerm, pod: Pod) -> AffinityTerm:
    """Return the term of that Pod; a term without namespaces is about the Pod's own namespace.

    Raises:
        ValueError: a selector cannot be parsed.
    """
    # An empty namespaceSelector means all namespaces, an absent one none.
    own = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        selector=parse_label_selector(term.label_selector),
        topology_key=term.topology_key,
        namespaces=frozenset((pod.metadata.namespace,) if own else term.namespaces),
        namespace_selector=parse_label_selector(term.namespace_selector),
    )


_AS_BYTES = msgspec.msgpack.Encoder().encode
# Term → node's name → Pods there that have the term (count), or the sum of their weights.
OnNodes: TypeAlias = Mapping[AffinityTerm, Mapping[str, int]]


class ExistingTerms(msgspec.Struct, frozen=True):
    """The terms of the Pods on all nodes; replicas have equal terms, which are here once."""

    # required affinity terms → Pods on each node (count)
    affinity: OnNodes = msgspec.field(default_factory=lambda: MappingProxyType({}))
    # required anti-affinity terms → Pods on each node (count)
    anti_affinity: OnNodes = msgspec.field(default_factory=lambda: MappingProxyType({}))
    # preferred terms → sum of the weights on each node
    preferred: OnNodes = msgspec.field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, pods: Iterable[tuple[str, Pod]]) -> ExistingTerms:
        """Return the terms of these Pods, each given with its node's name."""
        affinity, anti_affinity, preferred = (defaultdict[AffinityTerm, dict[str, int]](dict) for _ in range(3))
        # Parse the terms of replicas only once: comparing bytes is faster.
        known: dict[tuple[str, bytes], list[tuple[dict[str, int], int]]] = {}
        for node, pod in pods:
            if pod.spec.affinity is None:
                continue
            key = pod.metadata.namespace, _AS_BYTES(pod.spec.affinity)
            counters = known.get(key)
            if counters is None:
                terms = readable_terms(pod)
                counters = known[key] = [
                    *((affinity[term], 1) for term in terms.affinity),
                    *((anti_affinity[term], 1) for term in terms.anti_affinity),
                    *((preferred[term], weight) for weight, term in terms.preferred),
                ]
            for on_nodes, weight in counters:
                on_nodes[node] = on_nodes.get(node, 0) + weight
        return cls(affinity, anti_affinity, preferred)

    def changed(self, node: str, pod: Pod, by: int) -> ExistingTerms:
        """Return the terms after a Pod was added to the node (1) or removed from it (-1)."""
        if pod.spec.affinity is None:
            return self
        of_pod = ExistingTerms.of([(node, pod)])
        return ExistingTerms(
            _add_times(self.affinity, of_pod.affinity, by),
            _add_times(self.anti_affinity, of_pod.anti_affinity, by),
            _add_times(self.preferred, of_pod.preferred, by),
        )


def _add_times(first: OnNodes, second: OnNodes, by: int) -> OnNodes:
    """Return first + by x second; sums of 0 are absent."""
    merged = dict(first)
    for term, on_nodes in second.items():
        known = first.get(term, {})
        summed = {**known, **{node: known.get(node, 0) + by * value for node, value in on_nodes.items()}}
        merged[term] = {node: value for node, value in summed.items() if value}
    return {term: on_nodes for term, on_nodes in merged.items() if on_nodes}
