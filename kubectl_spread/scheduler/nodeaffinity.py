"""NodeAffinity: nodeSelector and required node affinity, and what the scheduler's configuration adds.

Source: kube-scheduler nodeaffinity/node_affinity.go, component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go
(v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from kubectl_spread.apimachinery import as_json, quoted
from kubectl_spread.labels import Operator, Selector, SelectorRequirement, aggregate, from_set, new_requirement
from kubectl_spread.objects.core import (
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PreferredSchedulingTerm,
)
from kubectl_spread.scheduler import framework
from kubectl_spread.scheduler.nodeinfo import NodeInfo

NAME = "NodeAffinity"
REASON = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"
NAME_FIELD = "metadata.name"
_FIELD_OPERATORS = (Operator.IN, Operator.NOT_IN)


class Term(msgspec.Struct, frozen=True):
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


class RequiredNodeAffinity(msgspec.Struct, frozen=True):
    """The nodes a Pod may run on.

    Attributes:
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
        # nodeSelector and one of the terms: both must hold.
        if not self.node_selector.matches(node.metadata.labels):
            return False
        return self.terms is None or any(term.matches(node) for term in self.terms)


class State(msgspec.Struct, frozen=True):
    """What the filter needs.

    Attributes:
        allowed: the nodes that meet what the Pod requires, by name.
        added: the terms the configuration adds, None when it adds none.
    """

    allowed: frozenset[str]
    added: tuple[Term, ...] | None


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, narrowed to the nodes that every term names; Skip when nothing is required.

    Source: nodeaffinity/node_affinity.go PreFilter (v1.36).
    """
    required = required_terms(pod)
    affinity = handle.profile.added_affinity
    enforced = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None and enforced is None and not pod.spec.node_selector:
        return framework.SKIP
    # A DaemonSet's Pod names its node: looking at the one instead of thousands is what PreFilter narrows for.
    names = _node_names(required.node_selector_terms) if required else None
    if names is not None and not names:
        return framework.unresolvable(REASON_CONFLICT)
    state = State(
        allowed=handle.index.matching(RequiredNodeAffinity.of(pod)),
        added=None if enforced is None else parse_terms(enforced),
    )
    suspects = handle.index.names - state.allowed if enforced is None else None
    return framework.PreFilterResult(
        partial(filter_node, state), node_names=names, suspects=suspects, certain=enforced is None
    )


def filter_node(state: State, node_info: NodeInfo) -> framework.Status:
    """Reject a node that the configuration or the Pod rules out."""
    # The configuration's terms come first: it is their reason that is given where both fail.
    if state.added is not None and not any(term.matches(node_info.node) for term in state.added):
        return framework.unresolvable(REASON_ENFORCED)
    return framework.SUCCESS if node_info.name in state.allowed else framework.unresolvable(REASON)


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
    parsed, errors = _read(term)
    return None if _is_empty(term) or errors else parsed


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not (term.match_expressions or term.match_fields)


def _read(term: NodeSelectorTerm, path: str = "") -> tuple[Term, list[str]]:
    errors: list[str] = []
    expressions = _parsed(_label_requirement, term.match_expressions, f"{path}.matchExpressions", errors=errors)
    fields = _parsed(_field_requirement, term.match_fields, f"{path}.matchFields", errors=errors)
    return Term(Selector(expressions), Selector(fields)), errors


def _parsed(
    parse: Callable[[NodeSelectorRequirement, str], SelectorRequirement],
    expressions: Iterable[NodeSelectorRequirement],
    path: str,
    *,
    errors: list[str],
) -> tuple[SelectorRequirement, ...]:
    found = []
    for index, expression in enumerate(expressions):
        try:
            found.append(parse(expression, f"{path}[{index}]"))
        except ValueError as error:
            errors.append(str(error))
    return tuple(found)


def _label_requirement(expression: NodeSelectorRequirement, path: str) -> SelectorRequirement:
    """Return the condition on a label.

    Raises:
        ValueError: the operator is unknown, or the key or the values are such as no label has.

    Source: nodeaffinity.go nodeSelectorRequirementsAsSelector (v1.36).
    """
    return new_requirement(expression.key, _operator(expression, path, Operator), expression.values, path=path)


def _field_requirement(expression: NodeSelectorRequirement, path: str) -> SelectorRequirement:
    """Return the condition on a field: In and NotIn with exactly one value.

    Raises:
        ValueError: it is none of these.

    Source: nodeaffinity.go nodeSelectorRequirementsAsFieldSelector (v1.36).
    """
    operator = _operator(expression, path, _FIELD_OPERATORS)
    if len(expression.values) != 1:
        values = as_json(list(expression.values)) if expression.values else "null"
        raise ValueError(f"{path}.values: Invalid value: {values}: must have one element")
    return SelectorRequirement(expression.key, operator, frozenset(expression.values))


def _operator(expression: NodeSelectorRequirement, path: str, supported: Iterable[Operator]) -> Operator:
    for operator in supported:
        if operator == expression.operator:
            return operator
    known = ", ".join(map(quoted, supported))
    raise ValueError(f"{path}.operator: Unsupported value: {as_json(expression.operator)}: supported values: {known}")


def _node_names(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the names of the only nodes that any term allows, None when some term names no node.

    Source: nodeaffinity/node_affinity.go PreFilter (v1.36).
    """
    # Terms are alternatives, so their names add up; within a term they must all hold, so they intersect.
    # upstream: operators other than In, and conditions on labels, are left for the filter.
    names: frozenset[str] | None = None
    for term in terms:
        named = [frozenset(f.values) for f in term.match_fields if (f.key, f.operator) == (NAME_FIELD, Operator.IN)]
        if not named:
            return None
        names = (names or frozenset()) | frozenset.intersection(*named)
    return names


def pre_score(
    pod: Pod, handle: framework.Handle, nodes: Sequence[NodeInfo]
) -> framework.Scores | framework.Status | None:
    """Return feasible node's name → score (0..100), None where neither Pod nor configuration prefers anything.

    Where a preference cannot be read, that is an error, and the Pod goes nowhere.

    Source: nodeaffinity/node_affinity.go PreScore, Score (v1.36).
    """
    affinities = (pod.spec.affinity.node_affinity if pod.spec.affinity else None, handle.profile.added_affinity)
    preferred = [
        affinity.preferred_during_scheduling_ignored_during_execution for affinity in affinities if affinity is not None
    ]
    if not any(preferred):
        return None
    try:
        terms = [term for of_one in preferred for term in _weighted(of_one)]
    except ValueError as error:
        return framework.Status(framework.Code.ERROR, (str(error),))
    # The weights of all preferences that the node meets, together.
    weights = [(weight, handle.index.matching(term)) for weight, term in terms]
    return framework.normalize({info.name: sum([w for w, names in weights if info.name in names]) for info in nodes})


def _weighted(preferred: Iterable[PreferredSchedulingTerm]) -> list[tuple[int, Term]]:
    """Return weight and term of the preferences; empty terms and those without weight say nothing.

    Raises:
        ValueError: some cannot be read.

    Source: component-helpers nodeaffinity.go NewPreferredSchedulingTerms (v1.36).
    """
    found: list[tuple[int, Term]] = []
    errors: list[str] = []
    for index, preference in enumerate(preferred):
        # upstream: without weight a preference is not even parsed; an empty one would match no node anyway.
        if preference.weight and not _is_empty(preference.preference):
            term, faults = _read(preference.preference, f"[{index}]")
            found.append((preference.weight, term))
            errors += faults
    if errors:
        raise ValueError(aggregate(errors))
    return found
