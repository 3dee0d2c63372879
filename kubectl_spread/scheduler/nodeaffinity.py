"""NodeAffinity: nodeSelector and required node affinity, and what the scheduler's configuration adds.

Source: kube-scheduler nodeaffinity/node_affinity.go, component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go
(v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from kubectl_spread.labels import Operator, Requirement, Selector, from_set, is_int64
from kubectl_spread.objects.core import (
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PreferredSchedulingTerm,
)
from kubectl_spread.scheduler.framework import (
    SKIP,
    SUCCESS,
    Handle,
    NodeInfo,
    PreFilterResult,
    Status,
    normalize,
    unresolvable,
)

NAME = "NodeAffinity"
REASON = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"
NAME_FIELD = "metadata.name"


@dataclass(frozen=True, slots=True)
class Term:
    """One alternative of a node selector.

    Attributes:
        expressions: conditions on the node's labels, all of which must hold.
        fields: conditions on the node's fields, all of which must hold; metadata.name is the only field there is.
    """

    expressions: Selector
    fields: Selector

    def matches(self, node: Node) -> bool:
        """Whether the node meets every condition."""
        return self.expressions.matches(node.metadata.labels) and self.fields.matches({NAME_FIELD: node.metadata.name})


@dataclass(frozen=True, slots=True)
class RequiredNodeAffinity:
    """The nodes a Pod may run on.

    Attributes:
        node_selector: conditions of spec.nodeSelector.
        terms: alternatives of the required node affinity; None when there is none, empty matches no node.
    """

    node_selector: Selector
    terms: tuple[Term, ...] | None

    @classmethod
    def of(cls, pod: Pod) -> RequiredNodeAffinity:
        """Return what the Pod requires."""
        required = required_terms(pod)
        return cls(from_set(pod.spec.node_selector), None if required is None else parse_terms(required))

    @property
    def empty(self) -> bool:
        """Whether any node will do."""
        return self.terms is None and self.node_selector.empty

    def matches(self, node: Node) -> bool:
        """Whether the node will do."""
        if not self.node_selector.matches(node.metadata.labels):
            return False
        return self.terms is None or any(term.matches(node) for term in self.terms)


@dataclass(frozen=True, slots=True)
class State:
    """What the filter needs.

    Attributes:
        allowed: the nodes that meet what the Pod requires, by name.
        added: the terms the configuration adds, None when it adds none.
    """

    allowed: frozenset[str]
    added: tuple[Term, ...] | None


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, narrowed to the nodes that every term names; Skip when nothing is required.

    Source: nodeaffinity/node_affinity.go PreFilter (v1.36).
    """
    required = required_terms(pod)
    affinity = handle.profile.added_affinity
    enforced = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None and enforced is None and not pod.spec.node_selector:
        return SKIP
    names = _node_names(required.node_selector_terms) if required else None
    if names is not None and not names:
        return unresolvable(REASON_CONFLICT)
    state = State(
        allowed=handle.index.matching(RequiredNodeAffinity.of(pod)),
        added=None if enforced is None else parse_terms(enforced),
    )
    return PreFilterResult(partial(filter_node, state), node_names=names)


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that the configuration or the Pod rules out."""
    if state.added is not None and not any(term.matches(node_info.node) for term in state.added):
        return unresolvable(REASON_ENFORCED)
    return SUCCESS if node_info.name in state.allowed else unresolvable(REASON)


def required_terms(pod: Pod) -> NodeSelector | None:
    """Return the Pod's required node affinity, None when it has none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return affinity.required_during_scheduling_ignored_during_execution if affinity else None


def parse_terms(selector: NodeSelector) -> tuple[Term, ...]:
    """Return the alternatives that can match: empty terms and terms that cannot be read match no node.

    Source: nodeaffinity.go NewLazyErrorNodeSelector (v1.36).
    """
    parsed = (parse_term(term) for term in selector.node_selector_terms)
    return tuple(term for term in parsed if term is not None)


def parse_term(term: NodeSelectorTerm) -> Term | None:
    """Return the alternative, None where it can match no node: it is empty or cannot be read."""
    if not term.match_expressions and not term.match_fields:
        return None
    try:
        expressions = tuple(map(_label_requirement, term.match_expressions))
        fields = tuple(map(_field_requirement, term.match_fields))
    except ValueError:
        return None
    return Term(Selector(expressions), Selector(fields))


def _label_requirement(expression: NodeSelectorRequirement) -> Requirement:
    """Return the condition on a label.

    Raises:
        ValueError: the operator is unknown, or the values do not fit it.

    Source: apimachinery pkg/labels/selector.go NewRequirement (v1.36).
    """
    operator, values = Operator(expression.operator), expression.values
    match operator:
        case Operator.IN | Operator.NOT_IN:
            fits = bool(values)
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            fits = not values
        case Operator.GT | Operator.LT:
            fits = len(values) == 1 and is_int64(values[0])
        case _:
            assert_never(operator)
    if not fits:
        raise ValueError(f"the values do not fit operator {operator}")
    return Requirement(expression.key, operator, frozenset(values))


def _field_requirement(expression: NodeSelectorRequirement) -> Requirement:
    """Return the condition on a field: In and NotIn with exactly one value.

    Raises:
        ValueError: it is none of these.

    Source: nodeaffinity.go nodeSelectorRequirementsAsFieldSelector (v1.36).
    """
    operator = Operator(expression.operator)
    if operator not in (Operator.IN, Operator.NOT_IN) or len(expression.values) != 1:
        raise ValueError(f"a field takes In or NotIn with one value, not {operator} with {len(expression.values)}")
    return Requirement(expression.key, operator, frozenset(expression.values))


def _node_names(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the names of the only nodes that any term allows, None when some term names no node.

    Source: nodeaffinity/node_affinity.go PreFilter (v1.36).
    """
    names: frozenset[str] | None = None
    for term in terms:
        named = [frozenset(f.values) for f in term.match_fields if (f.key, f.operator) == (NAME_FIELD, Operator.IN)]
        if not named:
            return None
        names = (names or frozenset()) | frozenset.intersection(*named)
    return names


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int] | None:
    """Return feasible node's name → score (0..100), None where neither Pod nor configuration prefers anything.

    Source: nodeaffinity/node_affinity.go PreScore, Score (v1.36).
    """
    affinities = (pod.spec.affinity.node_affinity if pod.spec.affinity else None, handle.profile.added_affinity)
    preferred = [
        term
        for affinity in affinities
        if affinity is not None
        for term in affinity.preferred_during_scheduling_ignored_during_execution
    ]
    if not preferred:
        return None
    weights = [(weight, handle.index.matching(term)) for weight, term in _weighted(preferred)]
    return normalize({info.name: sum([w for w, names in weights if info.name in names]) for info in nodes})


def _weighted(preferred: Iterable[PreferredSchedulingTerm]) -> Iterator[tuple[int, Term]]:
    """Yield weight and term of the preferences that some node can meet."""
    for preference in preferred:
        term = parse_term(preference.preference)
        if term is not None:
            yield preference.weight, term
