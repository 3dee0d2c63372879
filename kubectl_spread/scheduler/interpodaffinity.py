"""InterPodAffinity: Pods that must or would rather be near other Pods, or far from them.

Near means in the same domain: on nodes that share the value of the term's topology key. Anti-affinity binds both ways:
the Pods already there keep out a Pod they must not be near.

Source: kube-scheduler interpodaffinity/{plugin,filtering,scoring}.go (v1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Namespace, Pod
from kubectl_spread.scheduler.affinityterm import AffinityTerm, OnNodes, PodTerms, readable_terms
from kubectl_spread.scheduler.framework import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    Code,
    Handle,
    PreFilterResult,
    Scores,
    Status,
    unresolvable,
    unschedulable,
)
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "InterPodAffinity"
REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"

Domains: TypeAlias = Mapping[str, Mapping[str, int]]
"""Topology key → topology value → Pods in that domain (count), or their weights together."""
KeyOnNodes: TypeAlias = tuple[str, Mapping[str, int]]
"""A term's topology key; node's name → Pods on it (count), or their weights together."""


class State(msgspec.Struct, frozen=True):
    """What the filter needs.

    Attributes:
        affinity: the domains of Pods that match all required affinity terms at once.
        anti_affinity: the domains of Pods that match a required anti-affinity term.
        existing_anti_affinity: the domains of Pods that must not be near this one.
    """

    terms: PodTerms
    affinity: Domains
    anti_affinity: Domains
    existing_anti_affinity: Domains
    pod: Pod
    namespace_labels: Mapping[str, str]

    @property
    def first_of_its_group(self) -> bool:
        """Whether no Pod matches the affinity terms as yet, save the Pod itself."""
        # Else the first Pod of a group that wants to be together could never start.
        return not self.affinity and all(term.matches(self.pod, {}) for term in self.terms.affinity)


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip where neither the Pod nor any other requires anything of the two."""
    try:
        terms = with_namespaces(PodTerms.of(pod), handle)
    except ValueError as error:
        # upstream: a preferred term that cannot be read rejects the Pod too, though this filter has no use for it.
        return unresolvable(f"parsing pod: {error}")
    # First what others say of this Pod: where none of them minds and it has no terms itself, the plugin steps aside.
    existing = _domains(_meant(handle.existing_terms.anti_affinity, pod, handle), handle)
    if not (terms.affinity or terms.anti_affinity or existing):
        return SKIP
    # One and the same Pod must match all affinity terms; of anti-affinity terms any one suffices.
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
    # Without affinity it is the nodes near the Pods that it or that mind it, and no others, that are rejected.
    minded = (*state.anti_affinity.items(), *state.existing_anti_affinity.items())
    found = ((handle.index.domains(key), values) for key, values in minded)
    suspects = frozenset[str]().union(*(names[value] for names, values in found for value in values))
    return replace(_result(state), suspects=suspects, certain=True)


def _result(state: State) -> PreFilterResult:
    return PreFilterResult(partial(filter_node, state), updated=partial(_updated, state))


def _updated(state: State, changed: Pod, node_info: NodeInfo, by: int) -> PreFilterResult:
    """Return the filter once that Pod is one more or one less on the node.

    Source: interpodaffinity/filtering.go updateWithPod (v1.36).
    """
    # "Theirs" keep this Pod off; "ours" keep it from them; "near" is what its affinity wants.
    theirs = (term for term in readable_terms(changed).anti_affinity if term.matches(state.pod, state.namespace_labels))
    ours = (term for term in state.terms.anti_affinity if term.matches(changed, {}))
    # All terms or none, as in PreFilter.
    near = state.terms.affinity if all(term.matches(changed, {}) for term in state.terms.affinity) else ()
    return _result(
        replace(
            state,
            affinity=_moved(state.affinity, near, node_info, by=by),
            anti_affinity=_moved(state.anti_affinity, ours, node_info, by=by),
            existing_anti_affinity=_moved(state.existing_anti_affinity, theirs, node_info, by=by),
        )
    )


def _moved(domains: Domains, terms: Iterable[AffinityTerm], node_info: NodeInfo, *, by: int) -> Domains:
    """Return the domains with more or fewer Pods in those of the node; domains without any are gone."""
    moved = {key: dict(values) for key, values in domains.items()}
    for key in (term.topology_key for term in terms if term.topology_key in node_info.labels):
        values, value = moved.setdefault(key, {}), node_info.labels[key]
        values[value] = values.get(value, 0) + by
    # Whether there is anybody at all is what the first of a group asks, so empty domains must go.
    kept = {key: {value: count for value, count in values.items() if count} for key, values in moved.items()}
    return {key: values for key, values in kept.items() if values}


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that is not near the Pods it must be near, or is near Pods it must not be near.

    Source: interpodaffinity/filtering.go Filter (v1.36).
    """
    labels = node_info.labels
    # Affinity first, for an eviction brings no Pod nearer; then what the Pod minds, then who minds the Pod.
    if state.terms.affinity and not _satisfies_affinity(state, labels):
        return unresolvable(REASON_AFFINITY)
    if _is_near(labels, state.anti_affinity):
        return unschedulable(REASON_ANTI_AFFINITY)
    if _is_near(labels, state.existing_anti_affinity):
        return unschedulable(REASON_EXISTING_ANTI_AFFINITY)
    return SUCCESS


def _satisfies_affinity(state: State, node_labels: Mapping[str, str]) -> bool:
    """Whether the node has every topology key, and is near matching Pods by each unless there are none at all."""
    # The first of its group too needs a node with every key: it founds the domain.
    keys = [term.topology_key for term in state.terms.affinity]
    if not all(key in node_labels for key in keys):
        return False
    return state.first_of_its_group or all(node_labels[key] in state.affinity.get(key, {}) for key in keys)


def _is_near(node_labels: Mapping[str, str], domains: Domains) -> bool:
    for key, values in domains.items():  # noqa: SIM110 - any() takes twice as long
        if node_labels.get(key) in values:
            return True
    return False


def _meant(existing: OnNodes, pod: Pod, handle: Handle) -> Iterator[KeyOnNodes]:
    namespace_labels = handle.snapshot.namespace_labels(pod.metadata.namespace)
    for term, on_nodes in existing.items():
        if term.matches(pod, namespace_labels):
            yield term.topology_key, on_nodes


def with_namespaces(terms: PodTerms, handle: Handle) -> PodTerms:
    """Return the Pod's own terms with their namespace selectors resolved to names."""
    return PodTerms(
        affinity=tuple(_with_names(term, handle) for term in terms.affinity),
        anti_affinity=tuple(_with_names(term, handle) for term in terms.anti_affinity),
        preferred=tuple((weight, _with_names(term, handle)) for weight, term in terms.preferred),
    )


def _with_names(term: AffinityTerm, handle: Handle) -> AffinityTerm:
    """Return the term with the namespaces its selector means, by name.

    Source: interpodaffinity/plugin.go mergeAffinityTermNamespacesIfNotEmpty (v1.36).
    """
    selector = term.namespace_selector
    # An empty selector means all namespaces, and matches any of them later without a list of names.
    if selector.empty:
        return term
    meant = (ns.metadata.name for ns in handle.snapshot.all(Namespace) if selector.matches(ns.metadata.labels))
    # upstream: from 1.34 to 1.36 the selector stays and is asked about no labels at all, which NotIn and DoesNotExist
    # match: then every namespace is meant.
    stays = handle.profile.does(Behaviour.NAMESPACE_SELECTOR_STAYS) and selector.matches({})
    return replace(
        term, namespaces=term.namespaces | frozenset(meant), namespace_selector=EVERYTHING if stays else NOTHING
    )


def _matching_nodes(terms: Sequence[AffinityTerm], handle: Handle) -> Counter[str]:
    """Return node's name → Pods on it (count) that match all the terms; terminating ones count."""
    if not terms:
        return Counter()
    # All terms at once are one selector, and the Pods are gone through once.
    selector = terms[0].selector
    for term in terms[1:]:
        selector = NOTHING if term.selector.nothing else selector.and_also(term.selector.requirements)
    covered = (name for name in handle.snapshot.by_labels if all(term.covers(name, {}) for term in terms))
    pods = chain.from_iterable(handle.snapshot.matching_pods(namespace, selector) for namespace in covered)
    return Counter([pod.spec.node_name for pod in pods])


def _domains(terms: Iterable[KeyOnNodes], handle: Handle) -> Domains:
    """Return the domains of what is on the nodes; nodes that do not exist or lack the key are in none."""
    domains: dict[str, dict[str, int]] = {}
    for topology_key, on_nodes in terms:
        values = handle.index.values(topology_key)
        # A Pod without a domain is near nobody: it neither attracts nor keeps off.
        found = [(values[node], value) for node, value in on_nodes.items() if node in values]
        if found:
            together = domains.setdefault(topology_key, {})
            for domain, value in found:
                together[domain] = together.get(domain, 0) + value
    return domains


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> Scores | Status | None:
    """Return feasible node's name → score (0..100), None where no Pod weighs on any domain.

    A term of the Pod that cannot be read is an error; PreFilter, where it runs, has rejected such a Pod before.

    Source: interpodaffinity/scoring.go PreScore, Score (v1.36).
    """
    arguments = handle.profile.inter_pod_affinity
    try:
        preferred = with_namespaces(PodTerms.of(pod), handle).preferred
    except ValueError as error:
        return Status(Code.ERROR, (f"failed to parse pod: {error}",))
    # upstream: this leaves out what others require as well, though the argument's name speaks of preferences.
    if arguments.ignore_preferred_terms_of_existing_pods and not preferred:
        return None
    # What the Pod prefers, what others require of their neighbours, and what others prefer.
    weights = chain(
        ((term.topology_key, _times(_matching_nodes([term], handle), weight)) for weight, term in preferred),
        _hard_weights(pod, handle, arguments.hard_pod_affinity_weight),
        _meant(handle.existing_terms.preferred, pod, handle),
    )
    domains = _domains(weights, handle)
    # Nobody weighs in: the score is skipped, and says nothing rather than 0.
    if not domains:
        return None
    # What weighs on the domains of a node together; negative where Pods would rather be apart.
    raw = dict.fromkeys((info.name for info in nodes), 0)
    for key, weighed in domains.items():
        names = handle.index.domains(key)
        for value, weight in weighed.items():
            for name in raw.keys() & names[value]:
                raw[name] += weight
    return normalize(raw)


def _hard_weights(pod: Pod, handle: Handle, weight: int) -> Iterator[KeyOnNodes]:
    """Yield where Pods must be near this one: that counts as if they preferred it, with this weight."""
    # Required affinity of others binds them, not this Pod; but where it goes they will want to follow.
    if weight > 0:
        for topology_key, on_nodes in _meant(handle.existing_terms.affinity, pod, handle):
            yield topology_key, _times(on_nodes, weight)


def _times(on_nodes: Mapping[str, int], weight: int) -> dict[str, int]:
    return {node: count * weight for node, count in on_nodes.items()}


def normalize(raw: Mapping[str, int]) -> dict[str, int]:
    """Return node's name → score (0..100), spread evenly between the worst and the best.

    Source: interpodaffinity/scoring.go NormalizeScore (v1.36).
    """
    # 100 x (score - lowest) / (highest - lowest): scores may be negative, so the lowest is the zero.
    lowest = min(raw.values())
    spread = max(raw.values()) - lowest
    # All alike: none is better, so none gets anything.
    if spread == 0:
        return dict.fromkeys(raw, 0)
    return {name: int(MAX_NODE_SCORE * ((score - lowest) / spread)) for name, score in raw.items()}
