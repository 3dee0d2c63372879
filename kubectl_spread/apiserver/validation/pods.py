"""Pods and Pod templates as a whole, and the metadata of any object.

Source: pkg/apis/core/validation/validation.go ValidatePodCreate, ValidatePodSpec, ValidatePodTemplateSpec,
ValidateTolerations, validateTopologySpreadConstraints, apimachinery pkg/api/validation/objectmeta.go, pkg/api/validate/
content/decimal_int.go (v1.33 to v1.37).
"""

import re
from collections.abc import Callable, Iterator, Sequence

from kubectl_spread import apimachinery
from kubectl_spread.apiserver.creation import name_as_created, pod_as_created, template_as_created
from kubectl_spread.apiserver.validation import labelselectors
from kubectl_spread.apiserver.validation.affinity import affinity_errors
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    name_errors,
    not_supported,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.resources import (
    container_resource_errors,
    overhead_errors,
    pod_resource_errors,
)
from kubectl_spread.labels import is_int64
from kubectl_spread.objects import core
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.release import MATCH_LABEL_KEYS_MERGE, NUMERIC_TOLERATIONS, Release

_RESTART_POLICIES = ("Always", "OnFailure", "Never")


def pod_errors(pod: core.Pod, release: Release) -> Errors:
    """Yield the errors of a Pod that is created."""
    spec = pod_as_created(pod, release).spec
    yield from metadata_errors(pod.metadata, apimachinery.dns_subdomain_faults)
    yield from _spec_errors("spec", spec, release)
    if spec.node_name and spec.scheduling_gates:
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def template_errors(path: str, template: core.PodTemplateSpec, release: Release) -> Errors:
    """Yield the errors of a Pod template."""
    # upstream: labels are reported at ``template.labels``, not ``template.metadata.labels``.
    yield from labelselectors.label_errors(f"{path}.labels", template.metadata.labels)
    yield from _spec_errors(f"{path}.spec", template_as_created(template.spec, release), release)


def metadata_errors(metadata: ObjectMeta, name_faults: Callable[[str], Iterator[str]]) -> Errors:
    """Yield the errors of an object's name, namespace and labels; ``name_faults`` has the rule for its kind's names."""
    name = name_as_created(metadata)
    yield from name_errors("metadata.name", name, name_faults, "name or generateName is required")
    if metadata.namespace:
        yield from text_errors("metadata.namespace", metadata.namespace, apimachinery.dns_label_faults)
    yield from labelselectors.label_errors("metadata.labels", metadata.labels)


def _spec_errors(path: str, spec: core.PodSpec, release: Release) -> Errors:
    if not spec.containers:
        yield required(f"{path}.containers")
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for place, container in items(f"{path}.{field}", containers):
            yield from container_resource_errors(f"{place}.resources", container.resources)
    yield from pod_resource_errors(f"{path}.resources", spec)
    yield from choice_errors(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from labelselectors.label_errors(f"{path}.nodeSelector", spec.node_selector)
    yield from affinity_errors(f"{path}.affinity", spec.affinity)
    yield from constraint_errors(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints, release)
    if spec.node_name:
        yield from text_errors(f"{path}.nodeName", spec.node_name, apimachinery.dns_subdomain_faults)
    yield from toleration_errors(f"{path}.tolerations", spec.tolerations, release)
    yield from overhead_errors(f"{path}.overhead", spec.overhead)


_NO_EXECUTE = "NoExecute"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", _NO_EXECUTE)
_OPERATORS = ("Equal", "Exists")
_NUMERIC_OPERATORS = ("Lt", "Gt")
_DECIMAL = re.compile("0|-?[1-9][0-9]*", re.ASCII)
_INTEGER = re.compile("[-+]?[0-9]+", re.ASCII)


def toleration_errors(path: str, tolerations: Sequence[core.Toleration], release: Release) -> Errors:
    """Yield the errors of all tolerations."""
    for place, toleration in items(path, tolerations):
        if toleration.key:
            yield from text_errors(f"{place}.key", toleration.key, apimachinery.label_key_faults)
        elif toleration.operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{place}.operator", apimachinery.as_json(toleration.operator), detail)
        if toleration.toleration_seconds is not None and toleration.effect != _NO_EXECUTE:
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{place}.effect", apimachinery.as_json(toleration.effect), detail)
        yield from _operator_errors(place, toleration, release)
        yield from choice_errors(f"{place}.effect", toleration.effect, _EFFECTS, optional=True)


def _operator_errors(path: str, toleration: core.Toleration, release: Release) -> Errors:
    # upstream: a value that does not suit Equal or Exists is reported at ``operator``.
    place, value = f"{path}.operator", toleration.value
    match toleration.operator:
        case "" | "Equal":
            if faults := ";".join(apimachinery.label_value_faults(value)):
                yield invalid(place, apimachinery.quoted(value), faults)
        case "Exists":
            if value:
                yield invalid(place, apimachinery.quoted(value), "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt" if release.enables(NUMERIC_TOLERATIONS):
            yield from _number_errors(f"{path}.value", value)
        case operator:
            # upstream: while the gate is off, Lt and Gt are refused and yet listed among the supported values.
            known = _OPERATORS + (_NUMERIC_OPERATORS if operator in _NUMERIC_OPERATORS else ())
            yield not_supported(place, operator, known if release.knows(NUMERIC_TOLERATIONS) else _OPERATORS)


def _number_errors(path: str, value: str) -> Errors:
    # Two rules read the number, so a wrong one is reported twice: for its form and for its range.
    if not value:
        yield invalid(path, apimachinery.quoted(value), "must be non-empty")
    elif not _DECIMAL.fullmatch(value):
        yield invalid(path, apimachinery.quoted(value), "must be a valid decimal integer in canonical form")
    if not is_int64(value):
        fault = "value out of range" if _INTEGER.fullmatch(value) else "invalid syntax"
        given = apimachinery.quoted(value)
        yield invalid(path, given, f"strconv.ParseInt: parsing {given}: {fault}")


_DO_NOT_SCHEDULE = "DoNotSchedule"
_ACTIONS = (_DO_NOT_SCHEDULE, "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")


def constraint_errors(path: str, constraints: Sequence[core.TopologySpreadConstraint], release: Release) -> Errors:
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
        affinity_policy, taints_policy = constraint.node_affinity_policy, constraint.node_taints_policy
        for field, policy in (("nodeAffinityPolicy", affinity_policy), ("nodeTaintsPolicy", taints_policy)):
            if policy is not None:
                yield from choice_errors(f"{place}.{field}", policy, _POLICIES)
        yield from _match_label_keys_errors(place, constraint, release)
        yield from labelselectors.label_selector_errors(f"{place}.labelSelector", constraint.label_selector)


def _match_label_keys_errors(path: str, constraint: core.TopologySpreadConstraint, release: Release) -> Errors:
    """Yield the errors of matchLabelKeys.

    Before v1.34 the selector must not have the keys; since then they are merged into it before validation.
    """
    keys, selector = constraint.match_label_keys, constraint.label_selector
    if release.enables(MATCH_LABEL_KEYS_MERGE):
        yield from labelselectors.merged_key_errors(path, selector, match_keys=keys)
        return
    if keys and selector is None:
        yield forbidden(f"{path}.matchLabelKeys", labelselectors.NO_SELECTOR)
    selected = {*selector.match_labels, *(e.key for e in selector.match_expressions)} if selector else ()
    for place, key in items(f"{path}.matchLabelKeys", keys):
        yield from text_errors(place, key, apimachinery.label_key_faults)
        if key in selected:
            yield invalid(place, apimachinery.quoted(key), labelselectors.IN_SELECTOR_TOO)
