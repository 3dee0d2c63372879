"""What an API server refuses to change in an object that exists.

The new object is the one that apply.py merges from the manifest and the existing object.

Source: pkg/apis/{core,apps,batch,scheduling,storage}/validation Validate*Update (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import msgspec
from msgspec.structs import replace

from kubectl_spread.apimachinery import as_json, quoted
from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.apiserver.quantities import as_stored
from kubectl_spread.apiserver.validation.field_errors import Errors, forbidden, invalid
from kubectl_spread.apiserver.validation.labelselectors import selector_as_json
from kubectl_spread.objects import core, policy, storage, workloads
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector
from kubectl_spread.objects.template_rest import field_of, same_rest
from kubectl_spread.release import Release

_IMMUTABLE = "field is immutable"
_STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy',"
    " 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
POD_IMMUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_INDEXED = "Indexed"
_STOPPED_JOBS_SINCE = 36
# Kind → its fields that no update changes, among those that decide how many Pods there are and where they go.
_FIXED: Mapping[type[KubernetesObject], tuple[str, ...]] = {
    workloads.Job: ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy"),
    policy.PriorityClass: ("value", "preemptionPolicy"),
    storage.StorageClass: ("provisioner", "volumeBindingMode"),
}


def update_errors(new: KubernetesObject, live: KubernetesObject, release: Release) -> Errors:
    """Yield the errors of the changes between the live object and the new one."""
    if live.metadata.uid and new.metadata.uid not in {"", live.metadata.uid}:
        yield invalid("metadata.uid", quoted(new.metadata.uid), _IMMUTABLE)
    match new, live:
        case (
            workloads.Deployment() | workloads.ReplicaSet() | workloads.DaemonSet(),
            workloads.Deployment() | workloads.ReplicaSet() | workloads.DaemonSet(),
        ):
            yield from _selector_errors(new.spec.selector, live.spec.selector)
        case workloads.StatefulSet(), workloads.StatefulSet():
            yield from _stateful_set_errors(new.spec, live.spec)
        case workloads.Job(), workloads.Job():
            yield from _job_errors(new.spec, live, release)
            yield from _fixed_errors(new, live)
        case core.Pod(), core.Pod():
            yield from _pod_errors(*(defaulted(pod, release).spec for pod in (new, live)))
        case _:
            yield from _fixed_errors(new, live)


def _fixed_errors(new: KubernetesObject, live: KubernetesObject) -> Errors:
    wanted, had = (as_stored(obj, as_json=True) for obj in (new, live))
    for name in _FIXED.get(type(live), ()):
        within = () if name in live.__struct_encode_fields__ else ("spec",)
        value, was = (reduce(field_of, (*within, name), each) for each in (wanted, had))
        if value != was:
            # differs: the API server has other words for some of them, and prints objects in Go's notation.
            shown = "{...}" if isinstance(value, dict) else as_json(value)
            yield invalid(".".join((*within, name)), shown, _IMMUTABLE)


def _selector_errors(new: LabelSelector | None, live: LabelSelector | None) -> Errors:
    if new is not None and new != live:
        yield invalid("spec.selector", selector_as_json(new), _IMMUTABLE)


def _stateful_set_errors(new: workloads.StatefulSetSpec, live: workloads.StatefulSetSpec) -> Errors:
    def claim_templates(spec: workloads.StatefulSetSpec) -> list[object]:
        return [
            (each.metadata.name, sorted(each.metadata.labels.items()), as_stored(each.spec))
            for each in spec.volume_claim_templates
        ]

    if (
        (new.selector is not None and new.selector != live.selector)
        or (new.volume_claim_templates and claim_templates(new) != claim_templates(live))
        or new.pod_management_policy != live.pod_management_policy
        or new.service_name not in {"", live.service_name}
    ):
        yield forbidden("spec", _STATEFUL_SET)


def _job_errors(new: workloads.JobSpec, job: workloads.Job, release: Release) -> Errors:
    live = job.spec
    if new.completions is not None and new.completions != live.completions:
        parallelism = new.parallelism if new.parallelism is not None else live.parallelism
        if new.completion_mode != _INDEXED:
            yield invalid("spec.completions", new.completions, _IMMUTABLE)
        elif new.completions != parallelism:
            yield invalid("spec.completions", new.completions, "can only be modified in tandem with spec.parallelism")
    yield from _selector_errors(new.selector, live.selector)
    # differs: the message has no template, which Go prints in its own notation.
    if _template_changes(new.template, live.template, open_=_is_open(job, release), release=release):
        yield invalid("spec.template", "{...}", _IMMUTABLE)


def _is_open(job: workloads.Job, release: Release) -> bool:
    """Whether the scheduling directives of the template may change: by now, its controller has stopped it.

    Source: pkg/registry/batch/job/strategy.go validationOptionsForJob (v1.36).
    """
    return job.spec.suspend and (release.minor >= _STOPPED_JOBS_SINCE or not job.status.start_time)


def _template_changes(new: core.PodTemplateSpec, live: core.PodTemplateSpec, *, open_: bool, release: Release) -> bool:
    """Whether the template of a Job changes. While it is open, its scheduling directives may change."""
    specs = [new.spec, live.spec]
    containers = (*live.spec.containers, *live.spec.init_containers)
    if not all(mount.mount_path for container in containers for mount in container.volume_mounts):
        specs = [spec.with_containers(_without_paths) for spec in specs]
    if open_:
        new_spec, live_spec = (_without_directives(spec, release) for spec in specs)
        unread = same_rest(new.rest, live.rest, metadata=False) is False
        return unread or as_stored(new_spec) != as_stored(live_spec)
    adds_labels = not new.metadata.labels.items() <= live.metadata.labels.items()
    return adds_labels or same_rest(new.rest, live.rest) is False or as_stored(specs[0]) != as_stored(specs[1])


def _without_directives(spec: core.PodSpec, release: Release) -> core.PodSpec:
    affinity = replace(spec.affinity, node_affinity=None) if spec.affinity is not None else None
    if release.minor >= _STOPPED_JOBS_SINCE:
        spec = spec.with_containers(lambda container: replace(container, resources=core.ResourceRequirements()))
    affinity = affinity if affinity != core.Affinity() else None
    return replace(spec, affinity=affinity, node_selector={}, tolerations=(), scheduling_gates=())


def _pod_errors(new: core.PodSpec, live: core.PodSpec) -> Errors:
    if len(new.containers) != len(live.containers) or len(new.init_containers) != len(live.init_containers):
        yield forbidden("spec.containers", "pod updates may not add or remove containers")
        return
    # Admission adds tolerations of node conditions, which the manifest does not have.
    given = (toleration for toleration in live.tolerations if not toleration.key.startswith("node.kubernetes.io/"))
    if any(toleration not in new.tolerations for toleration in given):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", detail)
    # A gated Pod may be restricted to fewer nodes.
    if live.scheduling_gates:
        if any(new.node_selector.get(key) != value for key, value in live.node_selector.items()):
            detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield invalid("spec.nodeSelector", msgspec.json.encode(new.node_selector).decode(), detail)
        new = replace(new, node_selector=live.node_selector, affinity=live.affinity, scheduling_gates=())
        live = replace(live, scheduling_gates=())
    if as_stored(_without_mutable(new, live)) != as_stored(_without_mutable(live, live)):
        yield forbidden("spec", POD_IMMUTABLE)


def _without_mutable(spec: core.PodSpec, live: core.PodSpec) -> core.PodSpec:
    return replace(
        spec.with_containers(lambda container: replace(_without_paths(container), image="")),
        ephemeral_containers=(),
        active_deadline_seconds=None,
        tolerations=(),
        priority=spec.priority if spec.priority is not None else live.priority,
    )


def _without_paths(container: core.Container) -> core.Container:
    # Names and paths of mounts are not read of Pods, nor held by older snapshots. Digests of the whole are compared.
    own = (mount.bind_mount_options for mount in container.volume_mounts)
    mounts = tuple(core.VolumeMount(bind_mount_options=options) for options in own if options)
    return replace(container, volume_mounts=mounts)
