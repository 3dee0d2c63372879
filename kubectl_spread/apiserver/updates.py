"""What an API server refuses of a change to an object that exists.

The new object is what apply.py makes of the manifest and the one that lives.

Source: pkg/apis/{core,apps,batch}/validation ValidatePodUpdate, ValidatePersistentVolumeClaimUpdate,
ValidateDeploymentUpdate, ValidateStatefulSetUpdate, ValidateDaemonSetUpdate, ValidateReplicaSetUpdate,
ValidateJobSpecUpdate (v1.33 to v1.37).
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.apiserver.quantities import canonical, read_amount, unreadable, with_defaults
from kubectl_spread.apiserver.validation.field_errors import Errors, forbidden, invalid
from kubectl_spread.apiserver.validation.labelselectors import selector_as_json
from kubectl_spread.objects.core import Affinity, Pod, PodSpec, PodTemplateSpec, ResourceRequirements
from kubectl_spread.objects.decoding import Plain
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector, Struct
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.release import Release

StructT = TypeVar("StructT", bound=Struct)

_IMMUTABLE = "field is immutable"
_STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy',"
    " 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_POD = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_CLAIM = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_INDEXED = "Indexed"
_SUSPENDED_RESOURCES_SINCE = 36


def update_errors(new: KubernetesObject, live: KubernetesObject, release: Release) -> Errors:
    """Yield what may not change so, of the kinds whose Pods are placed and of claims."""
    match new, live:
        case (Deployment() | ReplicaSet() | DaemonSet(), Deployment() | ReplicaSet() | DaemonSet()):
            yield from _selector_errors(new.spec.selector, live.spec.selector)
        case StatefulSet(), StatefulSet():
            yield from _stateful_set_errors(new, live)
        case Job(), Job():
            yield from _job_errors(new, live, release)
        case Pod(), Pod():
            yield from _pod_errors(defaulted(new, release).spec, live.spec)
        case PersistentVolumeClaim(), PersistentVolumeClaim():
            yield from _claim_errors(new, live)


def _selector_errors(new: LabelSelector | None, live: LabelSelector | None) -> Errors:
    if new is not None and new != live:
        yield invalid("spec.selector", selector_as_json(new), _IMMUTABLE)


def _stateful_set_errors(new: StatefulSet, live: StatefulSet) -> Errors:
    spec, old = new.spec, live.spec
    claims = tuple(_claim_template(claim) for claim in spec.volume_claim_templates)
    if (
        (spec.selector is not None and spec.selector != old.selector)
        or (claims and claims != tuple(_claim_template(claim) for claim in old.volume_claim_templates))
        or spec.pod_management_policy != old.pod_management_policy
        or spec.service_name not in {"", old.service_name}
    ):
        yield forbidden("spec", _STATEFUL_SET)


def _claim_template(claim: PersistentVolumeClaim) -> tuple[object, ...]:
    metadata = claim.metadata
    return metadata.name, tuple(sorted(metadata.labels.items())), _as_plain(claim.spec)


def _job_errors(new: Job, live: Job, release: Release) -> Errors:
    # differs: the template is left out of the message, where it stands as Go would print it.
    spec, old = new.spec, live.spec
    indexed = spec.completion_mode == _INDEXED
    if spec.completions is not None and spec.completions != old.completions:
        parallelism = spec.parallelism if spec.parallelism is not None else old.parallelism
        if not indexed:
            yield invalid("spec.completions", spec.completions, _IMMUTABLE)
        elif spec.completions != parallelism:
            yield invalid("spec.completions", spec.completions, "can only be modified in tandem with spec.parallelism")
    yield from _selector_errors(spec.selector, old.selector)
    if _template_changes(spec.template, old.template, suspended=old.suspend, release=release):
        yield invalid("spec.template", "{...}", _IMMUTABLE)
    if spec.completion_mode != old.completion_mode:
        yield invalid("spec.completionMode", quoted(spec.completion_mode), _IMMUTABLE)


def _template_changes(new: PodTemplateSpec, live: PodTemplateSpec, *, suspended: bool, release: Release) -> bool:
    """Whether the template of a Job changes, but for what decides about nodes while the Job is suspended."""
    labels = {**live.metadata.labels, **new.metadata.labels}
    # Requests follow from limits in Pods alone: SetDefaults_Pod is not for templates.
    spec = new.spec
    if not suspended:
        return labels != live.metadata.labels or _as_plain(spec) != _as_plain(live.spec)
    return _as_plain(_without_directives(spec, release)) != _as_plain(_without_directives(live.spec, release))


def _without_directives(spec: PodSpec, release: Release) -> PodSpec:
    affinity = replace(spec.affinity, node_affinity=None) if spec.affinity is not None else None
    if release.minor >= _SUSPENDED_RESOURCES_SINCE:
        none = ResourceRequirements()
        containers = tuple(replace(container, resources=none) for container in spec.containers)
        inits = tuple(replace(container, resources=none) for container in spec.init_containers)
        spec = replace(spec, containers=containers, init_containers=inits)
    return replace(
        spec,
        affinity=affinity if affinity != Affinity() else None,
        node_selector={},
        tolerations=(),
        scheduling_gates=(),
    )


def _pod_errors(new: PodSpec, live: PodSpec) -> Errors:
    """Yield what may not change of a Pod; one that is gated may be bound to fewer nodes."""
    merged = new
    if len(merged.containers) != len(live.containers) or len(merged.init_containers) != len(live.init_containers):
        yield forbidden("spec.containers", "pod updates may not add or remove containers")
        return
    # Every Pod gets tolerations of the nodes' own taints, which its manifest does not have.
    given = (toleration for toleration in live.tolerations if not toleration.key.startswith("node.kubernetes.io/"))
    if any(toleration not in merged.tolerations for toleration in given):
        told = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", told)
    if live.scheduling_gates:
        if any(merged.node_selector.get(key) != value for key, value in live.node_selector.items()):
            told = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield invalid("spec.nodeSelector", msgspec.json.encode(merged.node_selector).decode(), told)
        merged = replace(merged, node_selector=live.node_selector, affinity=live.affinity, scheduling_gates=())
        live = replace(live, scheduling_gates=())
    if _as_plain(_without_mutable(merged, live)) != _as_plain(_without_mutable(live, live)):
        yield forbidden("spec", _POD)


def _without_mutable(spec: PodSpec, live: PodSpec) -> PodSpec:
    return replace(
        spec,
        containers=tuple(replace(container, image="") for container in spec.containers),
        init_containers=tuple(replace(container, image="") for container in spec.init_containers),
        ephemeral_containers=(),
        active_deadline_seconds=None,
        tolerations=(),
        priority=spec.priority if spec.priority is not None else live.priority,
    )


def _claim_errors(new: PersistentVolumeClaim, live: PersistentVolumeClaim) -> Errors:
    merged = new.spec
    asked, had = merged.resources.requests.get("storage"), live.spec.resources.requests.get("storage")
    compared = merged
    if live.status.phase == "Bound":
        resources = live.spec.resources
        compared = replace(
            merged, resources=resources, volume_attributes_class_name=live.spec.volume_attributes_class_name
        )
    if not live.spec.volume_name:
        compared = replace(compared, volume_name="")
    if _as_plain(compared) != _as_plain(live.spec):
        yield forbidden("spec", _CLAIM)
    if asked is None or had is None or unreadable(asked) or unreadable(had):
        return
    if read_amount(asked) < read_amount(had):
        yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")


def _as_plain(value: Struct) -> Plain:
    return canonical(with_defaults(value))
