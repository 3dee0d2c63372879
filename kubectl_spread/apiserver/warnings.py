"""What the API server accepts with a warning, as far as it affects where Pods may go.

Source: pkg/api/pod/warnings.go, pkg/api/node/util.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from kubectl_spread.apimachinery import label_value_faults, quoted
from kubectl_spread.apiserver.creation import pod_as_created
from kubectl_spread.apiserver.quantities import read_amounts
from kubectl_spread.apiserver.validation.field_errors import items
from kubectl_spread.objects import core
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector
from kubectl_spread.objects.well_known_labels import BETA_REGION, BETA_ZONE, SUCCESSORS
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.release import Release

_SINCE = {
    "beta.kubernetes.io/arch": "v1.14",
    "beta.kubernetes.io/os": "v1.14",
    BETA_REGION: "v1.17",
    BETA_ZONE: "v1.17",
    "beta.kubernetes.io/instance-type": "v1.17",
}
_DEPRECATED = {
    **{label: f'deprecated since {since}; use "{SUCCESSORS[label]}" instead' for label, since in _SINCE.items()},
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""Deprecated node label → the message about it."""


class ValidationWarning(msgspec.Struct, frozen=True):
    """A warning of the API server about a manifest that it accepts."""

    field: str
    message: str

    def __str__(self) -> str:
        """Return the warning as kubectl prints it after "Warning: "."""
        return f"{self.field}: {self.message}"


Warnings: TypeAlias = Iterator[ValidationWarning]


def warnings_of(obj: KubernetesObject, release: Release) -> tuple[ValidationWarning, ...]:
    """Return the API server's warnings when the object is created; none for other kinds.

    The object is one that the API server accepts: with errors it sends no warnings.
    """
    match obj:
        case core.Pod():
            return tuple(dict.fromkeys(_spec_warnings("spec", pod_as_created(obj, release).spec)))
        case Deployment() | ReplicaSet() | StatefulSet() | DaemonSet() | Job() | core.ReplicationController():
            return template_warnings(obj.spec.template, path="spec.template")
        case CronJob():
            return template_warnings(obj.spec.job_template.spec.template, path="spec.jobTemplate.spec.template")
        case _:
            return ()


def template_warnings(template: core.PodTemplateSpec, *, path: str) -> tuple[ValidationWarning, ...]:
    """Return the API server's warnings for the Pod template at this path."""
    return tuple(dict.fromkeys(_spec_warnings(f"{path}.spec", template.spec)))


def _spec_warnings(path: str, spec: core.PodSpec) -> Warnings:
    for key in sorted(spec.node_selector):
        if key in _DEPRECATED:
            yield ValidationWarning(f"{path}.nodeSelector[{key}]", _DEPRECATED[key])
    affinity = spec.affinity or core.Affinity()
    yield from _node_affinity_warnings(f"{path}.affinity.nodeAffinity", affinity.node_affinity or core.NodeAffinity())
    for place, constraint in items(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints):
        key = constraint.topology_key
        if key in _DEPRECATED:
            yield ValidationWarning(f"{place}.topologyKey", f"{key} is {_DEPRECATED[key]}")
        yield from _selector_warnings(place, constraint.label_selector)
    for place, volume in items(f"{path}.volumes", spec.volumes):
        if volume.rbd is not None:
            yield ValidationWarning(f"{place}.rbd", "deprecated in v1.28, non-functional in v1.31+")
    yield from _fraction_warnings(f"{path}.overhead", spec.overhead)
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for place, container in items(f"{path}.{field}", containers):
            yield from _fraction_warnings(f"{place}.resources.limits", container.resources.limits)
            yield from _fraction_warnings(f"{place}.resources.requests", container.resources.requests)
    yield from _pod_affinity_warnings(f"{path}.affinity.podAffinity", affinity.pod_affinity or core.PodAffinity())
    anti_affinity = affinity.pod_anti_affinity or core.PodAffinity()
    yield from _pod_affinity_warnings(f"{path}.affinity.podAntiAffinity", anti_affinity)


def _node_affinity_warnings(path: str, affinity: core.NodeAffinity) -> Warnings:
    required = affinity.required or core.NodeSelector()
    for place, term in items(f"{path}.{core.REQUIRED}.nodeSelectorTerms", required.node_selector_terms):
        yield from _node_term_warnings(place, term, preferred=False)
    for place, weighted in items(f"{path}.{core.PREFERRED}", affinity.preferred):
        yield from _node_term_warnings(f"{place}.preference", weighted.preference, preferred=True)


def _node_term_warnings(path: str, term: core.NodeSelectorTerm, *, preferred: bool) -> Warnings:
    for place, expression in items(f"{path}.matchExpressions", term.match_expressions):
        if expression.key in _DEPRECATED:
            yield ValidationWarning(f"{place}.key", f"{expression.key} is {_DEPRECATED[expression.key]}")
        for field, value in items(f"{place}.values", expression.values if preferred else ()):
            for fault in label_value_faults(value):
                yield ValidationWarning(field, f"{value} is invalid, {fault}")


def _pod_affinity_warnings(path: str, affinity: core.PodAffinity) -> Warnings:
    for place, term in items(f"{path}.{core.REQUIRED}", affinity.required):
        yield from _selector_warnings(place, term.label_selector)
    for place, weighted in items(f"{path}.{core.PREFERRED}", affinity.preferred):
        yield from _selector_warnings(f"{place}.podAffinityTerm", weighted.pod_affinity_term.label_selector)


def _selector_warnings(path: str, selector: LabelSelector | None) -> Warnings:
    if selector is None:
        yield ValidationWarning(f"{path}.labelSelector", "a null labelSelector results in matching no pod")


def _fraction_warnings(path: str, resources: Mapping[str, core.Quantity]) -> Warnings:
    amounts = read_amounts(resources)
    for name in ("memory", "ephemeral-storage"):
        if name in amounts and amounts[name].value.denominator != 1:
            message = f"fractional byte value {quoted(str(amounts[name]))} is invalid, must be an integer"
            yield ValidationWarning(f"{path}[{name}]", message)
