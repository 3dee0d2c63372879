"""NodeAffinity: nodeSelector and required node affinity, of the Pod and of the scheduler's configuration.

Source: kube-scheduler nodeaffinity/node_affinity.go, component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go
(v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from kubectl_spread.apimachinery import as_json, quoted
from kubectl_spread.labels import Operator, Selector, SelectorRequirement, aggregate, from_set, new_requirement
from kubectl_spread.objects import core
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import framework
from kubectl_spread.scheduler.nodeinfo import NodeInfo

NAME = "NodeAffinity"
REASON = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"
NAME_FIELD = "metadata.name"

# Returns the requirement of an expression at a path; raises ValueError, in upstream's words, if it is invalid.
Parser: TypeAlias = Callable[[core.NodeSelectorRequirement, str], SelectorRequirement]


class Term(msgspec.Struct, frozen=True):
    """One alternative of a node selector: requirements on labels and fields, which must all hold."""

    expressions: Selector
    fields: Selector

    def matches(self, node: core.Node) -> bool:
        """Whether the node matches; metadata.name is the only field."""
        return self.expressions.matches(node.metadata.labels) and self.fields.matches({NAME_FIELD: node.metadata.name})


class RequiredNodeAffinity(msgspec.Struct, frozen=True):
    """The nodes that a Pod requires."""

    node_selector: Selector
    terms: tuple[Term, ...] | None  # alternatives of the required node affinity; None without it, empty matches no node

    @classmethod
    def of(cls, pod: Pod) -> RequiredNodeAffinity:
        """Return what the Pod requires."""
        required = pod.spec.required_nodes
        return cls(from_set(pod.spec.node_selector), None if required is None else parse_terms(required))

    @property
    def empty(self) -> bool:
        """Whether it matches all nodes."""
        return self.terms is None and self.node_selector.empty

    def matches(self, node: core.Node) -> bool:
        """Whether nodeSelector and one of the terms match the node."""
        if not self.node_selector.matches(node.metadata.labels):
            return False
        return self.terms is None or any(term.matches(node) for term in self.terms)


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, limited to the nodes that the terms name; Skip if nothing is required."""
    required = pod.spec.required_nodes
    affinity = handle.profile.added_affinity
    enforced = affinity.required if affinity else None
    if required is None and enforced is None and not pod.spec.node_selector:
        return framework.SKIP
    # A DaemonSet's Pod names its node: then only that node needs to be filtered.
    names = _node_names(required.node_selector_terms) if required else None
    if names is not None and not names:
        return framework.unresolvable(REASON_CONFLICT)
    nodes, of_pod = handle.snapshot.nodes, RequiredNodeAffinity.of(pod)
    if names is None:
        allowed = handle.index.matching(of_pod)
    else:
        allowed = frozenset(name for name in names if name in nodes and of_pod.matches(nodes[name]))
    if enforced is None:
        judge, suspects = partial(filter_node, allowed), handle.index.names - allowed
        return framework.PreFilterResult(judge, node_names=names, suspects=suspects, certain=True)
    return framework.PreFilterResult(partial(filter_node, allowed, added=parse_terms(enforced)), node_names=names)


def filter_node(
    allowed: frozenset[str], node_info: NodeInfo, *, added: Sequence[Term] | None = None
) -> framework.Status:
    """Reject a node that does not match the configuration's terms (``added``) or is not among the Pod's nodes."""
    # If both fail, upstream gives the reason of the configuration.
    if added is not None and not any(term.matches(node_info.node) for term in added):
        return framework.unresolvable(REASON_ENFORCED)
    return framework.SUCCESS if node_info.name in allowed else framework.unresolvable(REASON)


def parse_terms(selector: core.NodeSelector) -> tuple[Term, ...]:
    """Return the alternatives that can match a node: not empty ones, and not those that cannot be parsed.

    Source: nodeaffinity.go NewLazyErrorNodeSelector (v1.36).
    """
    parsed = (parse_term(term) for term in selector.node_selector_terms)
    return tuple(term for term in parsed if term is not None)


def parse_term(term: core.NodeSelectorTerm) -> Term | None:
    """Return the alternative, None if it matches no node: it is empty or cannot be parsed."""
    parsed, errors = _parse(term)
    return None if _is_empty(term) or errors else parsed


def _is_empty(term: core.NodeSelectorTerm) -> bool:
    return not (term.match_expressions or term.match_fields)


def _parse(term: core.NodeSelectorTerm, path: str = "") -> tuple[Term, list[str]]:
    errors: list[str] = []

    def parse_all(parse: Parser, expressions: Sequence[core.NodeSelectorRequirement], field: str) -> Selector:
        requirements = []
        for index, expression in enumerate(expressions):
            try:
                requirements.append(parse(expression, f"{path}.{field}[{index}]"))
            except ValueError as error:
                errors.append(str(error))
        return Selector(tuple(requirements))

    expressions = parse_all(_parse_expression, term.match_expressions, "matchExpressions")
    return Term(expressions, parse_all(_parse_field, term.match_fields, "matchFields")), errors


def _parse_expression(expression: core.NodeSelectorRequirement, path: str) -> SelectorRequirement:
    """Source: nodeaffinity.go nodeSelectorRequirementsAsSelector (v1.36)."""
    return new_requirement(expression.key, _parse_operator(expression, path, Operator), expression.values, path=path)


def _parse_field(expression: core.NodeSelectorRequirement, path: str) -> SelectorRequirement:
    """Source: nodeaffinity.go nodeSelectorRequirementsAsFieldSelector (v1.36)."""
    operator = _parse_operator(expression, path, (Operator.IN, Operator.NOT_IN))
    if len(expression.values) != 1:
        values = as_json(list(expression.values)) if expression.values else "null"
        raise ValueError(f"{path}.values: Invalid value: {values}: must have one element")
    return SelectorRequirement(expression.key, operator, frozenset(expression.values))


def _parse_operator(expression: core.NodeSelectorRequirement, path: str, supported: Iterable[Operator]) -> Operator:
    for operator in supported:
        if operator == expression.operator:
            return operator
    known = ", ".join(map(quoted, supported))
    raise ValueError(f"{path}.operator: Unsupported value: {as_json(expression.operator)}: supported values: {known}")


def _node_names(terms: Iterable[core.NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the names of the only nodes that the terms allow, None if a term names no node.

    Source: nodeaffinity/node_affinity.go PreFilter (v1.36).
    """
    # Terms are alternatives: their names add up. Requirements of one term must all hold: their names intersect.
    # upstream: other operators and requirements on labels are left to the filter.
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
    """Return feasible node's name → score (0..100), None if neither Pod nor configuration prefers anything.

    If a preference cannot be parsed, that is an error, and the Pod is not scheduled.
    """
    affinities = (pod.spec.affinity.node_affinity if pod.spec.affinity else None, handle.profile.added_affinity)
    preferred = [affinity.preferred for affinity in affinities if affinity is not None]
    if not any(preferred):
        return None
    try:
        terms = [term for of_one in preferred for term in _parse_preferred(of_one)]
    except ValueError as error:
        return framework.error(str(error))
    # The sum of the weights of all preferences that match the node.
    weights = [(weight, handle.index.matching(term)) for weight, term in terms]
    return framework.normalize({info.name: sum([w for w, names in weights if info.name in names]) for info in nodes})


def _parse_preferred(preferred: Iterable[core.PreferredSchedulingTerm]) -> list[tuple[int, Term]]:
    """Source: component-helpers nodeaffinity.go NewPreferredSchedulingTerms (v1.36)."""
    terms: list[tuple[int, Term]] = []
    errors: list[str] = []
    for index, preference in enumerate(preferred):
        # upstream: a preference with weight 0 is not parsed at all.
        if preference.weight and not _is_empty(preference.preference):
            term, faults = _parse(preference.preference, f"[{index}]")
            terms.append((preference.weight, term))
            errors += faults
    if errors:
        raise ValueError(aggregate(errors))
    return terms
