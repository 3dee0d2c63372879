"""Topology spread constraints.

Source: pkg/apis/core/validation/validation.go validateTopologySpreadConstraints (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.apimachinery import label_key_faults, quoted
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.labelselectors import (
    IN_SELECTOR_TOO,
    NO_SELECTOR,
    label_selector_errors,
    merged_key_errors,
)
from kubectl_spread.objects.core import TopologySpreadConstraint
from kubectl_spread.release import MATCH_LABEL_KEYS_MERGE, Release

_DO_NOT_SCHEDULE = "DoNotSchedule"
_ACTIONS = (_DO_NOT_SCHEDULE, "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")


def constraint_errors(path: str, constraints: Sequence[TopologySpreadConstraint], release: Release) -> Errors:
    """Yield the errors of all constraints of a Pod or template.

    Two constraints may have one topologyKey if their actions differ. A repeated pair is reported on the earlier one.
    """
    for index, (place, constraint) in enumerate(items(path, constraints)):
        action = constraint.when_unsatisfiable
        if constraint.max_skew <= 0:
            yield invalid(f"{place}.maxSkew", constraint.max_skew, "must be greater than zero")
        if not constraint.topology_key:
            yield required(f"{place}.topologyKey", "can not be empty")
        yield from choice_errors(f"{place}.whenUnsatisfiable", action, _ACTIONS)
        pairs = [(later.topology_key, later.when_unsatisfiable) for later in constraints[index + 1 :]]
        if (constraint.topology_key, action) in pairs:
            yield duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{constraint.topology_key}, {action}}}")
        if constraint.min_domains is not None and constraint.min_domains <= 0:
            yield invalid(f"{place}.minDomains", constraint.min_domains, "must be greater than zero")
        # upstream: with minDomains an unknown action is reported a second time here.
        if constraint.min_domains is not None and action != _DO_NOT_SCHEDULE:
            detail = f"can only use minDomains if whenUnsatisfiable={_DO_NOT_SCHEDULE}, not {action}"
            yield invalid(f"{place}.minDomains", constraint.min_domains, detail)
        for field, policy in (
            ("nodeAffinityPolicy", constraint.node_affinity_policy),
            ("nodeTaintsPolicy", constraint.node_taints_policy),
        ):
            if policy is not None:
                yield from choice_errors(f"{place}.{field}", policy, _POLICIES)
        yield from _match_label_keys_errors(place, constraint, release)
        yield from label_selector_errors(f"{place}.labelSelector", constraint.label_selector)


def _match_label_keys_errors(path: str, constraint: TopologySpreadConstraint, release: Release) -> Errors:
    """Yield the errors of matchLabelKeys.

    Before v1.34 the selector must not have the keys; since then they are merged into it before validation.
    """
    keys, selector = constraint.match_label_keys, constraint.label_selector
    if release.enables(MATCH_LABEL_KEYS_MERGE):
        yield from merged_key_errors(path, selector, match_keys=keys)
        return
    if keys and selector is None:
        yield forbidden(f"{path}.matchLabelKeys", NO_SELECTOR)
    selected = {*selector.match_labels, *(e.key for e in selector.match_expressions)} if selector else ()
    for place, key in items(f"{path}.matchLabelKeys", keys):
        yield from text_errors(place, key, label_key_faults)
        if key in selected:
            yield invalid(place, quoted(key), IN_SELECTOR_TOO)
