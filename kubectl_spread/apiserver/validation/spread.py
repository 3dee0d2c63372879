"""Topology spread constraints.

Source: pkg/apis/core/validation/validation.go validateTopologySpreadConstraints (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.labelselectors import (
    IN_SELECTOR_TOO,
    NO_SELECTOR,
    label_selector_errors,
    merged_key_errors,
)
from kubectl_spread.apiserver.validation.names import label_key_errors
from kubectl_spread.objects.core import TopologySpreadConstraint
from kubectl_spread.release import MATCH_LABEL_KEYS_MERGE, Release

_DO_NOT_SCHEDULE = "DoNotSchedule"
_ACTIONS = (_DO_NOT_SCHEDULE, "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_NOT_POSITIVE = "must be greater than zero"


def constraint_errors(path: str, constraints: Sequence[TopologySpreadConstraint], release: Release) -> Errors:
    """Yield the errors of all constraints of a Pod or template; a repeated pair is reported on the earlier entry."""
    for index, constraint in enumerate(constraints):
        place = f"{path}[{index}]"
        yield from _field_errors(place, constraint)
        # Key and action together make one kind of constraint: the same key may be hard once and soft once.
        pair = constraint.topology_key, constraint.when_unsatisfiable
        if any(pair == (later.topology_key, later.when_unsatisfiable) for later in constraints[index + 1 :]):
            yield duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}")
        yield from _min_domains_errors(f"{place}.minDomains", constraint)
        yield from _policy_errors(f"{place}.nodeAffinityPolicy", constraint.node_affinity_policy)
        yield from _policy_errors(f"{place}.nodeTaintsPolicy", constraint.node_taints_policy)
        yield from _match_label_keys_errors(place, constraint, release)
        yield from label_selector_errors(f"{place}.labelSelector", constraint.label_selector)


def _field_errors(path: str, constraint: TopologySpreadConstraint) -> Errors:
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, _NOT_POSITIVE)
    if not constraint.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    if constraint.when_unsatisfiable not in _ACTIONS:
        yield not_supported(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, _ACTIONS)


def _min_domains_errors(path: str, constraint: TopologySpreadConstraint) -> Errors:
    if constraint.min_domains is None:
        return
    if constraint.min_domains <= 0:
        yield invalid(path, constraint.min_domains, _NOT_POSITIVE)
    action = constraint.when_unsatisfiable
    # upstream: an unknown action is named here a second time; nobody returns after the first error.
    if action != _DO_NOT_SCHEDULE:
        detail = f"can only use minDomains if whenUnsatisfiable={_DO_NOT_SCHEDULE}, not {action}"
        yield invalid(path, constraint.min_domains, detail)


def _policy_errors(path: str, policy: str | None) -> Errors:
    if policy is not None and policy not in _POLICIES:
        yield not_supported(path, policy, _POLICIES)


def _match_label_keys_errors(path: str, constraint: TopologySpreadConstraint, release: Release) -> Errors:
    """Yield the errors of matchLabelKeys.

    Until v1.34 the selector is left alone and must not have the keys; since then they are merged into it first.
    """
    keys, selector = constraint.match_label_keys, constraint.label_selector
    # What is validated is a new object, so upstream's care for Pods stored under another gate is of no concern.
    if release.enables(MATCH_LABEL_KEYS_MERGE):
        yield from merged_key_errors(path, selector, match_keys=keys)
        return
    if keys and selector is None:
        yield forbidden(f"{path}.matchLabelKeys", NO_SELECTOR)
    # The keys become In with one value, beside which a condition on the same key could say nothing more.
    selected = {*selector.match_labels, *(e.key for e in selector.match_expressions)} if selector else ()
    for index, key in enumerate(keys):
        yield from label_key_errors(f"{path}.matchLabelKeys[{index}]", key)
        if key in selected:
            yield invalid(f"{path}.matchLabelKeys[{index}]", quoted(key), IN_SELECTOR_TOO)
