"""What the API server accepts with a warning, as far as it bears on where Pods may go.

Source: pkg/api/pod/warnings.go, pkg/api/node/util.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from kubectl_spread.apimachinery import label_value_faults, quoted
from kubectl_spread.apiserver.creation import pod_as_created
from kubectl_spread.apiserver.quantities import read_amounts
from kubectl_spread.apiserver.validation.affinity import PREFERRED, REQUIRED
from kubectl_spread.objects import core
from kubectl_spread.objects.meta import KubernetesObject
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
"""Label of nodes → what is said of it."""
_NULL_SELECTOR = "a null labelSelector results in matching no pod"
_NO_DRIVER = "deprecated in v1.28, non-functional in v1.31+"
_BYTES = ("memory", "ephemeral-storage")


class FieldWarning(msgspec.Struct, frozen=True):
    """Something that the API server accepts, but not without a word.

    Attributes:
        field: where it stands in the object, such as ``spec.nodeSelector[kubernetes.io/arch]``.
        message: in the API server's words.
    """

    field: str
    message: str

    def __str__(self) -> str:
        """Return the warning as kubectl prints it behind "Warning: "."""
        return f"{self.field}: {self.message}"


Warnings: TypeAlias = Iterator[FieldWarning]


def warnings_of(obj: KubernetesObject, release: Release) -> tuple[FieldWarning, ...]:
    """Return what the API server warns of when the object is created; nothing for other kinds.

    An object that it refuses gets no warnings: the errors come first.
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


def template_warnings(template: core.PodTemplateSpec, *, path: str) -> tuple[FieldWarning, ...]:
    """Return what the API server warns of in a template that stands at the path."""
    return tuple(dict.fromkeys(_spec_warnings(f"{path}.spec", template.spec)))


def _spec_warnings(path: str, spec: core.PodSpec) -> Warnings:
    for key in sorted(spec.node_selector):
        if key in _DEPRECATED:
            yield FieldWarning(f"{path}.nodeSelector[{key}]", _DEPRECATED[key])
    if spec.affinity is not None and spec.affinity.node_affinity is not None:
        yield from _node_affinity_warnings(f"{path}.affinity.nodeAffinity", spec.affinity.node_affinity)
    yield from _constraint_warnings(f"{path}.topologySpreadConstraints", spec)
    for index, volume in enumerate(spec.volumes):
        if volume.rbd is not None:
            yield FieldWarning(f"{path}.volumes[{index}].rbd", _NO_DRIVER)
    yield from _fraction_warnings(f"{path}.overhead", spec.overhead)
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            place = f"{path}.{field}[{index}].resources"
            yield from _fraction_warnings(f"{place}.limits", container.resources.limits)
            yield from _fraction_warnings(f"{place}.requests", container.resources.requests)
    if spec.affinity is not None:
        yield from _pod_affinity_warnings(f"{path}.affinity.podAffinity", spec.affinity.pod_affinity)
        yield from _pod_affinity_warnings(f"{path}.affinity.podAntiAffinity", spec.affinity.pod_anti_affinity)


def _node_affinity_warnings(path: str, affinity: core.NodeAffinity) -> Warnings:
    required = affinity.required_during_scheduling_ignored_during_execution
    for index, term in enumerate(required.node_selector_terms if required else ()):
        yield from _term_warnings(f"{path}.{REQUIRED}.nodeSelectorTerms[{index}]", term, preferred=False)
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        yield from _term_warnings(f"{path}.{PREFERRED}[{index}].preference", preferred.preference, preferred=True)


def _term_warnings(path: str, term: core.NodeSelectorTerm, *, preferred: bool) -> Warnings:
    """Yield the warnings of a term: deprecated labels, and in a preferred one values that no label can have."""
    for index, expression in enumerate(term.match_expressions):
        place = f"{path}.matchExpressions[{index}]"
        if expression.key in _DEPRECATED:
            yield FieldWarning(f"{place}.key", f"{expression.key} is {_DEPRECATED[expression.key]}")
        for number, value in enumerate(expression.values if preferred else ()):
            for fault in label_value_faults(value):
                yield FieldWarning(f"{place}.values[{number}]", f"{value} is invalid, {fault}")


def _constraint_warnings(path: str, spec: core.PodSpec) -> Warnings:
    for index, constraint in enumerate(spec.topology_spread_constraints):
        key = constraint.topology_key
        if key in _DEPRECATED:
            yield FieldWarning(f"{path}[{index}].topologyKey", f"{key} is {_DEPRECATED[key]}")
        if constraint.label_selector is None:
            yield FieldWarning(f"{path}[{index}].labelSelector", _NULL_SELECTOR)


def _fraction_warnings(path: str, resources: Mapping[str, core.Quantity]) -> Warnings:
    amounts = read_amounts(resources)
    for name in _BYTES:
        if name in amounts and amounts[name].value.denominator != 1:
            yield FieldWarning(
                f"{path}[{name}]", f"fractional byte value {quoted(str(amounts[name]))} is invalid, must be an integer"
            )


def _pod_affinity_warnings(path: str, affinity: core.PodAffinity | None) -> Warnings:
    if affinity is None:
        return
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        if term.label_selector is None:
            yield FieldWarning(f"{path}.{REQUIRED}[{index}].labelSelector", _NULL_SELECTOR)
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        if weighted.pod_affinity_term.label_selector is None:
            yield FieldWarning(f"{path}.{PREFERRED}[{index}].podAffinityTerm.labelSelector", _NULL_SELECTOR)
