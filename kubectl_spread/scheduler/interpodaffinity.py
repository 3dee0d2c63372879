"""InterPodAffinity: Pods that require or prefer to be near other Pods, or apart from them.

Near means in the same domain: on nodes with the same value of the term's topology key. Anti-affinity works both ways:
existing Pods also reject a Pod that they must be apart from.

Source: kube-scheduler interpodaffinity/{plugin,filtering,scoring}.go (v1.36).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Namespace, Pod
from kubectl_spread.scheduler import framework
from kubectl_spread.scheduler.affinityterm import AffinityTerm, OnNodes, PodTerms, readable_terms
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "InterPodAffinity"
REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"

# Topology key → topology value → Pods in that domain (count), or the sum of weights.
Domains: TypeAlias = Mapping[str, Mapping[str, int]]
# A term's topology key; node's name → Pods on it (count), or the sum of weights.
KeyOnNodes: TypeAlias = tuple[str, Mapping[str, int]]


class State(msgspec.Struct, frozen=True):
    """The Pod's part of the filter."""

    terms: PodTerms
    affinity: Domains  # the domains of the Pods that match all required affinity terms
    anti_affinity: Domains  # the domains of the Pods that match a required anti-affinity term
    existing_anti_affinity: Domains  # the domains of the Pods whose required anti-affinity matches this one
    pod: Pod
    namespace_labels: Mapping[str, str]


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, or Skip if neither the Pod nor an existing Pod requires anything of the other."""
    try:
        terms = with_namespaces(PodTerms.of(pod), handle)
    except ValueError as wrong:
        # upstream: a preferred term that cannot be parsed rejects the Pod too, though this filter does not use it.
        return framework.unresolvable(f"parsing pod: {wrong}")
    existing = _domains(_terms_about(pod, handle.existing_terms.anti_affinity, handle), handle)
    if not (terms.affinity or terms.anti_affinity or existing):
        return framework.SKIP
    # A Pod must match all affinity terms, but only one of the anti-affinity terms.
    matching_all = _matching_nodes(terms.affinity, handle)
    state = State(
        terms=terms,
        affinity=_domains(((term.topology_key, matching_all) for term in terms.affinity), handle),
        anti_affinity=_domains(((t.topology_key, _matching_nodes([t], handle)) for t in terms.anti_affinity), handle),
        existing_anti_affinity=existing,
        pod=pod,
        namespace_labels=handle.snapshot.namespace_labels(pod.metadata.namespace),
    )
    if terms.affinity:
        return _result(state)
    # Without affinity terms exactly the nodes in the domains of both kinds of anti-affinity are rejected.
    apart = (*state.anti_affinity.items(), *state.existing_anti_affinity.items())
    found = ((handle.index.domains(key), values) for key, values in apart)
    suspects = frozenset[str]().union(*(names[value] for names, values in found for value in values))
    return replace(_result(state), suspects=suspects, certain=True)


def _result(state: State) -> framework.PreFilterResult:
    return framework.PreFilterResult(partial(filter_node, state), updated=partial(_updated, state))


def _updated(state: State, changed: Pod, node_info: NodeInfo, by: int) -> framework.PreFilterResult:
    """Source: interpodaffinity/filtering.go updateWithPod (v1.36)."""
    theirs = (term for term in readable_terms(changed).anti_affinity if term.matches(state.pod, state.namespace_labels))
    ours = (term for term in state.terms.anti_affinity if term.matches(changed, {}))
    # As in PreFilter, the Pod must match all affinity terms.
    near = state.terms.affinity if all(term.matches(changed, {}) for term in state.terms.affinity) else ()
    affinity = _add_pods(state.affinity, near, node_info, by=by)
    anti_affinity = _add_pods(state.anti_affinity, ours, node_info, by=by)
    existing = _add_pods(state.existing_anti_affinity, theirs, node_info, by=by)
    return _result(replace(state, affinity=affinity, anti_affinity=anti_affinity, existing_anti_affinity=existing))


def _add_pods(domains: Domains, terms: Iterable[AffinityTerm], node_info: NodeInfo, *, by: int) -> Domains:
    """Return the domains with more or fewer Pods in those of the node, without empty domains."""
    changed = {key: dict(values) for key, values in domains.items()}
    for key in (term.topology_key for term in terms if term.topology_key in node_info.labels):
        values, value = changed.setdefault(key, {}), node_info.labels[key]
        values[value] = values.get(value, 0) + by
    # The first Pod of a group asks whether there are any domains at all.
    kept = {key: {value: count for value, count in values.items() if count} for key, values in changed.items()}
    return {key: values for key, values in kept.items() if values}


def filter_node(state: State, node_info: NodeInfo) -> framework.Status:
    """Reject a node that breaks the Pod's affinity, its anti-affinity, or the anti-affinity of existing Pods.

    Source: interpodaffinity/filtering.go Filter (v1.36).
    """
    labels = node_info.labels
    if state.terms.affinity and not _satisfies_affinity(state, labels):
        return framework.unresolvable(REASON_AFFINITY)
    if _is_near(labels, state.anti_affinity):
        return framework.unschedulable(REASON_ANTI_AFFINITY)
    if _is_near(labels, state.existing_anti_affinity):
        return framework.unschedulable(REASON_EXISTING_ANTI_AFFINITY)
    return framework.SUCCESS


def _satisfies_affinity(state: State, node_labels: Mapping[str, str]) -> bool:
    keys = [term.topology_key for term in state.terms.affinity]
    if not all(key in node_labels for key in keys):
        return False
    if all(node_labels[key] in state.affinity.get(key, {}) for key in keys):
        return True
    # The first Pod of a group that matches its own terms may start anywhere; otherwise it could never start.
    return not state.affinity and all(term.matches(state.pod, {}) for term in state.terms.affinity)


def _is_near(node_labels: Mapping[str, str], domains: Domains) -> bool:
    for key, values in domains.items():  # noqa: SIM110 - any() takes twice as long
        if node_labels.get(key) in values:
            return True
    return False


def _terms_about(pod: Pod, existing: OnNodes, handle: framework.Handle) -> Iterator[KeyOnNodes]:
    namespace_labels = handle.snapshot.namespace_labels(pod.metadata.namespace)
    for term, on_nodes in existing.items():
        if term.matches(pod, namespace_labels):
            yield term.topology_key, on_nodes


def with_namespaces(terms: PodTerms, handle: framework.Handle) -> PodTerms:
    """Return the Pod's own terms with their namespace selectors resolved to names."""
    return PodTerms(
        affinity=tuple(_resolve_namespaces(term, handle) for term in terms.affinity),
        anti_affinity=tuple(_resolve_namespaces(term, handle) for term in terms.anti_affinity),
        preferred=tuple((weight, _resolve_namespaces(term, handle)) for weight, term in terms.preferred),
    )


def _resolve_namespaces(term: AffinityTerm, handle: framework.Handle) -> AffinityTerm:
    """Source: interpodaffinity/plugin.go mergeAffinityTermNamespacesIfNotEmpty (v1.36)."""
    selector = term.namespace_selector
    # An empty selector matches all namespaces, without a list of names.
    if selector.empty:
        return term
    names = (ns.metadata.name for ns in handle.snapshot.all(Namespace) if selector.matches(ns.metadata.labels))
    # upstream: from 1.34 to 1.36 the selector stays and is applied to no labels at all. NotIn and DoesNotExist match
    # these, so the term is about all namespaces.
    stays = handle.profile.does(Behaviour.NAMESPACE_SELECTOR_STAYS) and selector.matches({})
    return replace(
        term, namespaces=term.namespaces | frozenset(names), namespace_selector=EVERYTHING if stays else NOTHING
    )


def _matching_nodes(terms: Sequence[AffinityTerm], handle: framework.Handle) -> Counter[str]:
    """Return node's name → Pods on it (count) that match all the terms, also terminating ones."""
    if not terms:
        return Counter()
    # One selector for all terms needs only one pass over the Pods.
    selector = terms[0].selector
    for term in terms[1:]:
        selector = NOTHING if term.selector.nothing else selector.and_also(term.selector.requirements)
    covered = (name for name in handle.snapshot.by_labels if all(term.covers(name, {}) for term in terms))
    pods = chain.from_iterable(handle.snapshot.matching_pods(namespace, selector) for namespace in covered)
    return Counter([pod.spec.node_name for pod in pods])


def _domains(terms: Iterable[KeyOnNodes], handle: framework.Handle) -> Domains:
    """Return the domains of the nodes; nodes that do not exist or lack the key are in none."""
    domains: dict[str, dict[str, int]] = {}
    for topology_key, on_nodes in terms:
        values = handle.index.values(topology_key)
        found = [(values[node], value) for node, value in on_nodes.items() if node in values]
        sums = domains.setdefault(topology_key, {}) if found else {}
        for domain, value in found:
            sums[domain] = sums.get(domain, 0) + value
    return domains


def pre_score(
    pod: Pod, handle: framework.Handle, nodes: Sequence[NodeInfo]
) -> framework.Scores | framework.Status | None:
    """Return feasible node's name → score (0..100), None if no Pod gives weight to any domain.

    A term of the Pod that cannot be parsed is an error; where PreFilter runs, it has rejected such a Pod.

    Source: interpodaffinity/scoring.go PreScore, Score (v1.36).
    """
    arguments = handle.profile.inter_pod_affinity
    try:
        preferred = with_namespaces(PodTerms.of(pod), handle).preferred
    except ValueError as wrong:
        return framework.error(f"failed to parse pod: {wrong}")
    # upstream: this also ignores what existing Pods require, although the argument is about preferences.
    if arguments.ignore_preferred_terms_of_existing_pods and not preferred:
        return None
    # Existing Pods that require to be near this one count as if they preferred it, with this weight.
    weight = arguments.hard_pod_affinity_weight
    required = _terms_about(pod, handle.existing_terms.affinity, handle) if weight > 0 else ()
    weights = chain(
        ((term.topology_key, _times(_matching_nodes([term], handle), weight)) for weight, term in preferred),
        ((key, _times(on_nodes, weight)) for key, on_nodes in required),
        _terms_about(pod, handle.existing_terms.preferred, handle),
    )
    domains = _domains(weights, handle)
    if not domains:
        return None
    # The sum of the weights of the node's domains; negative where Pods prefer to be apart.
    raw = dict.fromkeys((info.name for info in nodes), 0)
    for key, weighed in domains.items():
        names = handle.index.domains(key)
        for value, weight in weighed.items():
            for name in raw.keys() & names[value]:
                raw[name] += weight
    return normalize(raw)


def _times(on_nodes: Mapping[str, int], weight: int) -> dict[str, int]:
    return {node: count * weight for node, count in on_nodes.items()}


def normalize(raw: Mapping[str, int]) -> framework.Scores:
    """Return node's name → score (0..100), linear between the lowest and the highest; 0 for all if they are equal.

    Source: interpodaffinity/scoring.go NormalizeScore (v1.36).
    """
    # 100 x (score - lowest) / (highest - lowest); scores may be negative.
    lowest = min(raw.values())
    spread = max(raw.values()) - lowest
    if spread == 0:
        return dict.fromkeys(raw, 0)
    return {name: int(framework.MAX_NODE_SCORE * ((score - lowest) / spread)) for name, score in raw.items()}
