"""Node selectors, node affinity and inter-pod affinity.

Source: pkg/apis/core/validation/validation.go validateAffinity (v1.36).
"""

from kubectl_spread import apimachinery
from kubectl_spread.apiserver.validation import labelselectors
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid, items, required, text_errors
from kubectl_spread.objects import core

_MAX_WEIGHT = 100


def affinity_errors(path: str, affinity: core.Affinity | None) -> Errors:
    """Yield the errors of all affinities of a Pod."""
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_affinity_errors(f"{path}.nodeAffinity", affinity.node_affinity)
    for field, given in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        terms = given or core.PodAffinity()
        at = f"{path}.{field}"
        for place, term in items(f"{at}.{core.REQUIRED}", terms.required):
            yield from _pod_term_errors(place, term)
        for place, weighted in items(f"{at}.{core.PREFERRED}", terms.preferred):
            yield from _weight_errors(f"{place}.weight", weighted.weight)
            yield from _pod_term_errors(f"{place}.podAffinityTerm", weighted.pod_affinity_term)


def _node_affinity_errors(path: str, affinity: core.NodeAffinity) -> Errors:
    selector = affinity.required
    if selector is not None:
        field = f"{path}.{core.REQUIRED}.nodeSelectorTerms"
        if not selector.node_selector_terms:
            yield required(field, "must have at least one node selector term")
        for place, term in items(field, selector.node_selector_terms):
            yield from _node_term_errors(place, term, preferred=False)
    for place, weighted in items(f"{path}.{core.PREFERRED}", affinity.preferred):
        yield from _weight_errors(f"{place}.weight", weighted.weight)
        yield from _node_term_errors(f"{place}.preference", weighted.preference, preferred=True)


def _node_term_errors(path: str, term: core.NodeSelectorTerm, *, preferred: bool) -> Errors:
    for place, expression in items(f"{path}.matchExpressions", term.match_expressions):
        yield from _label_expression_errors(place, expression, preferred=preferred)
    for place, expression in items(f"{path}.matchFields", term.match_fields):
        yield from _field_expression_errors(place, expression)


def _label_expression_errors(path: str, expression: core.NodeSelectorRequirement, *, preferred: bool) -> Errors:
    if expression.operator not in {"Gt", "Lt"}:
        yield from labelselectors.operator_errors(path, expression.operator, expression.values)
    elif len(expression.values) != 1:
        yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    yield from text_errors(f"{path}.key", expression.key, apimachinery.label_key_faults)
    # upstream: the scheduler fails on such a value only when it scores, so a preferred term may have it.
    for place, value in items(f"{path}.values", () if preferred else expression.values):
        yield from text_errors(place, value, apimachinery.label_value_faults)


def _field_expression_errors(path: str, expression: core.NodeSelectorRequirement) -> Errors:
    if expression.operator not in {"In", "NotIn"}:
        yield invalid(f"{path}.operator", apimachinery.as_json(expression.operator), labelselectors.UNKNOWN_OPERATOR)
    elif len(expression.values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)
    if expression.key != "metadata.name":
        yield invalid(f"{path}.key", apimachinery.quoted(expression.key), "not a valid field selector key")
        return
    for place, value in items(f"{path}.values", expression.values):
        yield from text_errors(place, value, apimachinery.dns_subdomain_faults)


def _pod_term_errors(path: str, term: core.PodAffinityTerm) -> Errors:
    yield from labelselectors.label_selector_errors(f"{path}.labelSelector", term.label_selector)
    yield from labelselectors.label_selector_errors(f"{path}.namespaceSelector", term.namespace_selector)
    # upstream: namespaces are reported at ``namespace``, without an index.
    for namespace in term.namespaces:
        yield from text_errors(f"{path}.namespace", namespace, apimachinery.dns_label_faults)
    yield from labelselectors.merged_key_errors(
        path, term.label_selector, match_keys=term.match_label_keys, mismatch_keys=term.mismatch_label_keys
    )
    # upstream: an empty key is reported twice, as missing and as no label key.
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from text_errors(f"{path}.topologyKey", term.topology_key, apimachinery.label_key_faults)


def _weight_errors(path: str, weight: int) -> Errors:
    if not 1 <= weight <= _MAX_WEIGHT:
        yield invalid(path, weight, "must be in the range 1-100")
