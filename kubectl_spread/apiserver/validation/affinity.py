"""Node selectors, node affinity and inter-pod affinity.

Source: pkg/apis/core/validation/validation.go validateAffinity (v1.36).
"""

from __future__ import annotations

from kubectl_spread.apimachinery import as_json, quoted
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid, required
from kubectl_spread.apiserver.validation.labelselectors import (
    UNKNOWN_OPERATOR,
    label_selector_errors,
    merged_key_errors,
    operator_errors,
)
from kubectl_spread.apiserver.validation.names import (
    dns_label_errors,
    dns_subdomain_errors,
    label_key_errors,
    label_value_errors,
)
from kubectl_spread.objects import core

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NAME_FIELD = "metadata.name"
_MAX_WEIGHT = 100


def affinity_errors(path: str, affinity: core.Affinity | None) -> Errors:
    """Yield the errors of all affinities of a Pod."""
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_affinity_errors(f"{path}.nodeAffinity", affinity.node_affinity)
    if affinity.pod_affinity is not None:
        yield from _pod_affinity_errors(f"{path}.podAffinity", affinity.pod_affinity)
    if affinity.pod_anti_affinity is not None:
        yield from _pod_affinity_errors(f"{path}.podAntiAffinity", affinity.pod_anti_affinity)


def _node_affinity_errors(path: str, affinity: core.NodeAffinity) -> Errors:
    selector = affinity.required_during_scheduling_ignored_during_execution
    if selector is not None:
        place = f"{path}.{REQUIRED}.nodeSelectorTerms"
        if not selector.node_selector_terms:
            yield required(place, "must have at least one node selector term")
        for index, term in enumerate(selector.node_selector_terms):
            yield from _term_errors(f"{place}[{index}]", term, preferred=False)
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        place = f"{path}.{PREFERRED}[{index}]"
        yield from _weight_errors(f"{place}.weight", preferred.weight)
        yield from _term_errors(f"{place}.preference", preferred.preference, preferred=True)


def _term_errors(path: str, term: core.NodeSelectorTerm, *, preferred: bool) -> Errors:
    for index, expression in enumerate(term.match_expressions):
        yield from _expression_errors(f"{path}.matchExpressions[{index}]", expression, preferred=preferred)
    for index, expression in enumerate(term.match_fields):
        yield from _field_errors(f"{path}.matchFields[{index}]", expression)


def _expression_errors(path: str, expression: core.NodeSelectorRequirement, *, preferred: bool) -> Errors:
    if expression.operator in {"Gt", "Lt"}:
        if len(expression.values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield from operator_errors(path, expression.operator, expression.values)
    yield from label_key_errors(f"{path}.key", expression.key)
    # upstream: such a value breaks the score, but where one node alone is feasible it needs none, so it is let in.
    if not preferred:
        for index, value in enumerate(expression.values):
            yield from label_value_errors(f"{path}.values[{index}]", value)


def _field_errors(path: str, expression: core.NodeSelectorRequirement) -> Errors:
    """Yield the errors of an expression on a node's fields: metadata.name is the only one, with one value."""
    if expression.operator not in {"In", "NotIn"}:
        yield invalid(f"{path}.operator", as_json(expression.operator), UNKNOWN_OPERATOR)
    elif len(expression.values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)
    # A value is a node's name only where the key is: of any other field nothing more can be said.
    if expression.key != _NAME_FIELD:
        yield invalid(f"{path}.key", quoted(expression.key), "not a valid field selector key")
        return
    for index, value in enumerate(expression.values):
        yield from dns_subdomain_errors(f"{path}.values[{index}]", value)


def _pod_affinity_errors(path: str, affinity: core.PodAffinity) -> Errors:
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _pod_term_errors(f"{path}.{REQUIRED}[{index}]", term)
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        place = f"{path}.{PREFERRED}[{index}]"
        yield from _weight_errors(f"{place}.weight", weighted.weight)
        yield from _pod_term_errors(f"{place}.podAffinityTerm", weighted.pod_affinity_term)


def _pod_term_errors(path: str, term: core.PodAffinityTerm) -> Errors:
    # upstream: namespaces are reported at ``namespace``, without an index.
    yield from label_selector_errors(f"{path}.labelSelector", term.label_selector)
    yield from label_selector_errors(f"{path}.namespaceSelector", term.namespace_selector)
    for namespace in term.namespaces:
        yield from dns_label_errors(f"{path}.namespace", namespace)
    yield from merged_key_errors(
        path, term.label_selector, match_keys=term.match_label_keys, mismatch_keys=term.mismatch_label_keys
    )
    # upstream: an empty key is told of twice, as missing and as no label key.
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from label_key_errors(f"{path}.topologyKey", term.topology_key)


def _weight_errors(path: str, weight: int) -> Errors:
    if not 1 <= weight <= _MAX_WEIGHT:
        yield invalid(path, weight, "must be in the range 1-100")
