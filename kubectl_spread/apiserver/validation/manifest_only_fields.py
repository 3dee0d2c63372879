"""What no object of the cluster is decoded with, and manifests often have wrong: mounts, probes, seconds, schedules.

Source: pkg/apis/core/validation/validation.go validateContainerCommon, ValidateVolumeMounts; pkg/apis/apps/validation,
pkg/apis/batch/validation (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.creation import name_as_created, template_as_created
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    FieldError,
    count_errors,
    duplicate,
    invalid,
    not_found,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.labelselectors import label_selector_errors
from kubectl_spread.apiserver.validation.names import dns_subdomain_errors
from kubectl_spread.apiserver.validation.probes import handler_errors, init_handler_errors, port_name_faults
from kubectl_spread.apiserver.validation.schedules import schedule_errors, time_zone_errors
from kubectl_spread.apiserver.validation.volumes import mountable, volume_errors
from kubectl_spread.apiserver.validation.workloads import STATEFUL_SET_TEMPLATE_SINCE
from kubectl_spread.objects.core import Pod, PodSpec
from kubectl_spread.objects.decoding import DecodeError, Plain, convert
from kubectl_spread.objects.kinds import WORKLOADS, KubernetesObject
from kubectl_spread.objects.manifest_only_fields import (
    ContainerDetails,
    EnvironmentVariable,
    MountDetails,
    PodDetails,
    PodSpecDetails,
    VolumeDetails,
    WorkloadDetails,
    WorkloadSpecDetails,
)
from kubectl_spread.objects.workloads import Deployment, ReplicaSet, StatefulSet
from kubectl_spread.release import Release

_COUNTS: Mapping[str, Mapping[str, str]] = {
    "Deployment": {"minReadySeconds": "min_ready_seconds", "revisionHistoryLimit": "revision_history_limit"},
    "ReplicaSet": {"minReadySeconds": "min_ready_seconds"},
    "StatefulSet": {"minReadySeconds": "min_ready_seconds"},
    "DaemonSet": {"minReadySeconds": "min_ready_seconds", "revisionHistoryLimit": "revision_history_limit"},
    "ReplicationController": {"minReadySeconds": "min_ready_seconds"},
    "CronJob": {
        "startingDeadlineSeconds": "starting_deadline_seconds",
        "successfulJobsHistoryLimit": "successful_jobs_history_limit",
        "failedJobsHistoryLimit": "failed_jobs_history_limit",
    },
}
"""Kind → field of its spec → attribute of what must not be below zero."""

_JOB_COUNTS = {
    "activeDeadlineSeconds": "active_deadline_seconds",
    "ttlSecondsAfterFinished": "ttl_seconds_after_finished",
}
_JOB_SPECS = {"Job": "spec", "CronJob": "spec.jobTemplate.spec"}
_PROGRESS_SECONDS = 600
_CONCURRENCY_POLICIES = ("Allow", "Forbid", "Replace")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_ALWAYS = "Always"


def validate_details(
    obj: KubernetesObject, values: Plain, release: Release, *, lives: bool = False
) -> tuple[FieldError, ...]:
    """Return for what else the API server would refuse the object; nothing for other kinds.

    Args:
        obj: a Pod or a workload, as its manifest has it.
        values: the same as plain values; nothing is said of those in which a field has the wrong type.
        release: of the API server.
        lives: whether there is an object of its kind and name already.
    """
    kind = type(obj).__name__
    try:
        if isinstance(obj, Pod):
            of_pod, name = convert(values, PodDetails).spec, name_as_created(obj.metadata)
            return tuple(_pod_spec_errors("spec", of_pod, pod_name=name, release=release))
        if kind in WORKLOADS:
            spec = convert(values, WorkloadDetails).spec
            of_template = _template_errors(kind, spec, release) if _reads_template(obj, release) else ()
            return (*_workload_errors(kind, spec, lives=lives), *of_template)
    except DecodeError:
        return ()
    return ()


def _reads_template(obj: KubernetesObject, release: Release) -> bool:
    if isinstance(obj, StatefulSet) and release.minor < STATEFUL_SET_TEMPLATE_SINCE:
        return False
    # upstream: it does not while the selector of these cannot be read.
    if isinstance(obj, Deployment | ReplicaSet | StatefulSet):
        return not any(label_selector_errors("", obj.spec.selector))
    return True


def _template_errors(kind: str, spec: WorkloadSpecDetails, release: Release) -> Errors:
    job = spec.job_template.spec if kind == "CronJob" else spec
    path = f"{_JOB_SPECS.get(kind, 'spec')}.template.spec"
    yield from _pod_spec_errors(path, _with_claims(job.template.spec, spec), pod_name=None, release=release)


def _pod_spec_errors(path: str, spec: PodSpecDetails, *, pod_name: str | None, release: Release) -> Errors:
    volumes = template_as_created(PodSpec(volumes=spec.volumes), release).volumes
    # With what a manifest alone has; what is said of the rest is said once.
    yield from volume_errors(f"{path}.volumes", volumes, pod_name=pod_name, release=release)
    names = mountable(volumes, pod_name=pod_name, release=release)
    # A volume whose feature is off takes its mounts with it.
    names |= {volume.name for volume in spec.volumes if volume not in volumes}
    for index, container in enumerate(spec.containers):
        place = f"{path}.containers[{index}]"
        yield from _container_errors(place, container, names)
        yield from handler_errors(place, container)
    for index, container in enumerate(spec.init_containers):
        place = f"{path}.initContainers[{index}]"
        yield from _container_errors(place, container, names)
        errors = handler_errors if container.restart_policy == _ALWAYS else init_handler_errors
        yield from errors(place, container)


def _workload_errors(kind: str, spec: WorkloadSpecDetails, *, lives: bool) -> Errors:
    for field, attribute in _COUNTS.get(kind, {}).items():
        yield from count_errors(f"spec.{field}", getattr(spec, attribute))
    if kind in _JOB_SPECS:
        job = spec.job_template.spec if kind == "CronJob" else spec
        for field, attribute in _JOB_COUNTS.items():
            yield from count_errors(f"{_JOB_SPECS[kind]}.{field}", getattr(job, attribute))
    if kind == "Deployment":
        yield from _progress_errors(spec)
    if kind == "CronJob":
        yield from schedule_errors("spec.schedule", spec.schedule, lives=lives)
        if spec.time_zone is not None:
            yield from time_zone_errors("spec.timeZone", spec.time_zone)
        if spec.concurrency_policy not in {"", *_CONCURRENCY_POLICIES}:
            yield not_supported("spec.concurrencyPolicy", spec.concurrency_policy, _CONCURRENCY_POLICIES)


def _progress_errors(spec: WorkloadSpecDetails) -> Errors:
    path, seconds = "spec.progressDeadlineSeconds", spec.progress_deadline_seconds
    yield from count_errors(path, seconds)
    seconds = _PROGRESS_SECONDS if seconds is None else seconds
    if seconds <= spec.min_ready_seconds:
        yield invalid(path, seconds, "must be greater than minReadySeconds")


def _with_claims(spec: PodSpecDetails, owner: WorkloadSpecDetails) -> PodSpecDetails:
    """Return a template with the volumes that a StatefulSet adds, which take the place of those of their names."""
    added = {claim.metadata.name: VolumeDetails(name=claim.metadata.name) for claim in owner.volume_claim_templates}
    own = (volume for volume in spec.volumes if volume.name not in added)
    return PodSpecDetails(
        containers=spec.containers, init_containers=spec.init_containers, volumes=(*added.values(), *own)
    )


def _container_errors(path: str, container: ContainerDetails, volumes: Collection[str]) -> Errors:
    if container.termination_message_policy not in {"", *_MESSAGE_POLICIES}:
        field = f"{path}.terminationMessagePolicy"
        yield not_supported(field, container.termination_message_policy, _MESSAGE_POLICIES)
    yield from _port_name_errors(f"{path}.ports", [port.name for port in container.ports])
    for index, variable in enumerate(container.env):
        yield from _variable_errors(f"{path}.env[{index}]", variable)
    yield from _mount_errors(f"{path}.volumeMounts", container.volume_mounts, volumes)
    if container.image_pull_policy not in {"", *_PULL_POLICIES}:
        yield not_supported(f"{path}.imagePullPolicy", container.image_pull_policy, _PULL_POLICIES)


def _port_name_errors(path: str, names: Sequence[str]) -> Errors:
    seen: set[str] = set()
    for index, name in enumerate(names):
        field = f"{path}[{index}].name"
        faults = [*port_name_faults(name)] if name else []
        yield from (invalid(field, quoted(name), fault) for fault in faults)
        if name and not faults and name in seen:
            yield duplicate(field, name)
        seen.add(name)


def _variable_errors(path: str, variable: EnvironmentVariable) -> Errors:
    if not variable.name:
        yield required(f"{path}.name")
    source, place = variable.value_from, f"{path}.valueFrom"
    if source is None:
        return
    keys = {"configMapKeyRef": source.config_map_key_ref, "secretKeyRef": source.secret_key_ref}
    for name, selector in keys.items():
        if selector is not None:
            yield from dns_subdomain_errors(f"{place}.{name}.name", selector.name)
            yield from () if selector.key else (required(f"{place}.{name}.key"),)
    sources = (*keys.values(), source.field_ref, source.resource_field_ref, source.file_key_ref)
    number = sum(each is not None for each in sources)
    if number and variable.value:
        yield invalid(place, quoted(""), "may not be specified when `value` is not empty")
    elif number > 1:
        yield invalid(place, quoted(""), "may not have more than one field specified at a time")


def _mount_errors(path: str, mounts: Sequence[MountDetails], volumes: Collection[str]) -> Errors:
    places: set[str] = set()
    for index, mount in enumerate(mounts):
        place = f"{path}[{index}]"
        if not mount.name:
            yield required(f"{place}.name")
        if mount.name not in volumes:
            yield not_found(f"{place}.name", mount.name)
        if not mount.mount_path:
            yield required(f"{place}.mountPath")
        if mount.mount_path in places:
            yield invalid(f"{place}.mountPath", quoted(mount.mount_path), "must be unique")
        places.add(mount.mount_path)
        # upstream: without the number of the mount.
        if mount.sub_path.startswith("/"):
            yield invalid(f"{path}.subPath", quoted(mount.sub_path), "must be a relative path")
        if ".." in mount.sub_path.split("/"):
            yield invalid(f"{path}.subPath", quoted(mount.sub_path), "must not contain '..'")
