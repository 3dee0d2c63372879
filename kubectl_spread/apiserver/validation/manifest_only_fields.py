"""Fields that are read from manifests only, and decide nothing about placement: mounts, probes, seconds, schedules.

Source: pkg/apis/core/validation/validation.go validateContainerCommon, ValidateVolumeMounts, validateProbe,
validateHandler; pkg/apis/apps/validation, pkg/apis/batch/validation (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, cast

from kubectl_spread.apimachinery import dns_subdomain_faults, quoted
from kubectl_spread.apiserver.creation import name_as_created, template_as_created
from kubectl_spread.apiserver.validation.containers import port_name_faults, port_number_errors
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    FieldError,
    choice_errors,
    count_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    not_found,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.labelselectors import label_selector_errors
from kubectl_spread.apiserver.validation.schedules import schedule_errors, time_zone_errors
from kubectl_spread.apiserver.validation.volumes import mountable, volume_errors
from kubectl_spread.apiserver.validation.workloads import STATEFUL_SET_TEMPLATE_SINCE
from kubectl_spread.objects import core
from kubectl_spread.objects import manifest_only_fields as fields
from kubectl_spread.objects.decoding import DecodeError, convert
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.objects.meta import KubernetesObject, Plain
from kubectl_spread.objects.workloads import CronJob, Deployment, ReplicaSet, StatefulSet
from kubectl_spread.release import ENV_FILES, Release

Rules: TypeAlias = Mapping[str, Callable[..., Errors]]
"""Path below an object → rule for the value there, if it is set; ``env[*]`` is every item of ``env``."""

_BIDIRECTIONAL = "Bidirectional"
_PROPAGATIONS = (_BIDIRECTIONAL, "HostToContainer", "None")


def validate_details(
    obj: KubernetesObject, values: Plain, release: Release, *, exists: bool = False
) -> tuple[FieldError, ...]:
    """Return the errors of these fields; none for other kinds, and none while a field has the wrong type.

    ``exists``: whether the cluster has the object already.
    """
    kind = type(obj).__name__
    try:
        if isinstance(obj, core.Pod):
            pod, name = convert(values, fields.PodObject), name_as_created(obj.metadata)
            found = _pod_spec_errors("spec", pod.get("spec", {}), obj.spec.volumes, pod_name=name, release=release)
            return tuple(found)
        if kind in WORKLOADS:
            spec = convert(values, fields.Workload).get("spec", {})
            of_template = _template_errors(cast("Workload", obj), spec, release)
            validated = of_template if _validates_template(obj, release) else ()
            return (*_workload_errors(kind, spec, exists=exists), *validated)
    except DecodeError:
        pass
    return ()


def _errors(rules: Rules, path: str, values: object) -> Errors:
    for field, rule in rules.items():
        for place, value in _fields(path, values, field.split(".")):
            yield from rule(place, value)


def _fields(path: str, values: object, steps: Sequence[str]) -> Iterator[tuple[str, object]]:
    if not steps:
        yield path, values
        return
    name = steps[0].removesuffix("[*]")
    value = values.get(name) if isinstance(values, dict) else None
    found = [(f"{path}.{name}", value)] if value is not None else []
    if name != steps[0]:
        found = [*items(f"{path}.{name}", value)] if isinstance(value, list) else []
    for place, each in found:
        yield from _fields(place, each, steps[1:])


def _one_of(*known: str) -> Callable[[str, str], Errors]:
    return partial(choice_errors, known=known, optional=True)


def _with(field: str) -> Callable[[str, Mapping[str, object]], Errors]:
    return lambda path, value: iter(() if value.get(field) else (required(f"{path}.{field}"),))


_READY_SECONDS: Rules = {"minReadySeconds": count_errors}
_JOB: Rules = {"activeDeadlineSeconds": count_errors, "ttlSecondsAfterFinished": count_errors}
_WORKLOADS: Mapping[str, Rules] = {
    "Deployment": {**_READY_SECONDS, "revisionHistoryLimit": count_errors},
    "ReplicaSet": _READY_SECONDS,
    "StatefulSet": _READY_SECONDS,
    "DaemonSet": {**_READY_SECONDS, "revisionHistoryLimit": count_errors},
    "ReplicationController": _READY_SECONDS,
    "Job": _JOB,
    "CronJob": {
        "startingDeadlineSeconds": count_errors,
        "successfulJobsHistoryLimit": count_errors,
        "failedJobsHistoryLimit": count_errors,
        **{f"jobTemplate.spec.{field}": rule for field, rule in _JOB.items()},
    },
}
"""Kind → the rules of its spec."""


def _workload_errors(kind: str, spec: fields.WorkloadSpec, *, exists: bool) -> Errors:
    yield from _errors(_WORKLOADS[kind], "spec", spec)
    if kind == "CronJob":
        yield from schedule_errors("spec.schedule", spec.get("schedule", ""), exists=exists)
        rules = {"timeZone": time_zone_errors, "concurrencyPolicy": _one_of("Allow", "Forbid", "Replace")}
        yield from _errors(rules, "spec", spec)


def _validates_template(obj: KubernetesObject, release: Release) -> bool:
    if isinstance(obj, StatefulSet) and release.minor < STATEFUL_SET_TEMPLATE_SINCE:
        return False
    # upstream: an invalid selector keeps the templates of these kinds from being validated.
    if isinstance(obj, Deployment | ReplicaSet | StatefulSet):
        return not any(label_selector_errors("", obj.spec.selector))
    return True


def _template_errors(obj: Workload, spec: fields.WorkloadSpec, release: Release) -> Errors:
    of_cron_job = isinstance(obj, CronJob)
    kept = obj.spec.job_template.spec if isinstance(obj, CronJob) else obj.spec
    job = spec.get("jobTemplate", {}).get("spec", {}) if of_cron_job else spec
    pod_spec = job.get("template", {}).get("spec", {})
    # A StatefulSet's volumes for its claims replace the template's volumes of the same names.
    claims = (claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", []))
    added = {name: fields.CommonVolume(name=name) for name in claims}
    own = (volume for volume in pod_spec.get("volumes", ()) if volume.name not in added)
    path = "spec.jobTemplate.spec.template.spec" if of_cron_job else "spec.template.spec"
    with_claims: fields.PodSpec = {**pod_spec, "volumes": (*added.values(), *own)}
    yield from _pod_spec_errors(path, with_claims, kept.template.spec.volumes, pod_name=None, release=release)


def _pod_spec_errors(
    path: str, spec: fields.PodSpec, kept: Sequence[core.Volume], *, pod_name: str | None, release: Release
) -> Errors:
    """Yield the errors of a Pod's spec; ``kept`` are the object's volumes, of which the values may lack some."""
    written = spec.get("volumes", ())
    volumes = template_as_created(core.PodSpec(volumes=written), release).volumes
    # This includes the sources that only manifests have. An error that volumes.py found too is reported once.
    yield from volume_errors(f"{path}.volumes", volumes, pod_name=pod_name, release=release)
    names = mountable(volumes, pod_name=pod_name, release=release)
    # A volume whose feature is off is dropped, and its mounts with it.
    names |= {volume.name for volume in written if volume not in volumes}
    names |= {volume.name for volume in kept} - {volume.name for volume in written}
    rules: Rules = {
        "terminationMessagePolicy": _one_of("File", "FallbackToLogsOnError"),
        "ports": _port_name_errors,
        "env[*]": partial(_variable_errors, release),
        "volumeMounts": partial(_mount_errors, names),
        "imagePullPolicy": _one_of("Always", "IfNotPresent", "Never"),
    }

    def container_errors(place: str, values: fields.Container, *, runs: bool = True) -> Errors:
        yield from _propagation_errors(place, values)
        yield from _errors({**rules, **(_RUNNING if runs else _ENDING)}, place, values)

    def init_container_errors(place: str, values: fields.Container) -> Errors:
        yield from container_errors(place, values, runs=values.get("restartPolicy") == "Always")

    yield from _errors({"containers[*]": container_errors, "initContainers[*]": init_container_errors}, path, spec)


def _port_name_errors(path: str, ports: Sequence[fields.Port]) -> Errors:
    seen: set[str] = set()
    for place, port in items(path, ports):
        name = port.get("name", "")
        faults = [*text_errors(f"{place}.name", name, port_name_faults)] if name else []
        yield from faults
        if name and not faults and name in seen:
            yield duplicate(f"{place}.name", name)
        seen.add(name)


def _variable_errors(release: Release, path: str, variable: fields.EnvVar) -> Errors:
    yield from _with("name")(path, variable)
    source, place = variable.get("valueFrom", {}), f"{path}.valueFrom"
    yield from _errors(dict.fromkeys(("configMapKeyRef", "secretKeyRef"), _key_selector_errors), place, source)
    if "valueFrom" in variable and not source:
        files = "`, `secretKeyRef` or `fileKeyRef`" if release.enables(ENV_FILES) else "` or `secretKeyRef`"
        wanted = f"must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef{files}"
        yield invalid(place, quoted(""), wanted)
    elif source and variable.get("value"):
        yield invalid(place, quoted(""), "may not be specified when `value` is not empty")
    elif len(source) > 1:
        yield invalid(place, quoted(""), "may not have more than one field specified at a time")


def _key_selector_errors(path: str, selector: fields.KeySelector) -> Errors:
    yield from text_errors(f"{path}.name", selector.get("name", ""), dns_subdomain_faults)
    yield from _with("key")(path, selector)


def _mount_errors(volumes: Collection[str], path: str, mounts: Sequence[fields.VolumeMount]) -> Errors:
    """Yield the errors of a container's mounts; ``volumes`` are the names of those that it may mount."""
    mount_paths: set[str] = set()
    for place, mount in items(path, mounts):
        name, mount_path, sub_path = mount.get("name", ""), mount.get("mountPath", ""), mount.get("subPath", "")
        yield from _with("name")(place, mount)
        if name not in volumes:
            yield not_found(f"{place}.name", name)
        yield from _with("mountPath")(place, mount)
        if mount_path in mount_paths:
            yield invalid(f"{place}.mountPath", quoted(mount_path), "must be unique")
        mount_paths.add(mount_path)
        # upstream: without the number of the mount.
        if sub_path.startswith("/"):
            yield invalid(f"{path}.subPath", quoted(sub_path), "must be a relative path")
        if ".." in sub_path.split("/"):
            yield invalid(f"{path}.subPath", quoted(sub_path), "must not contain '..'")


def _propagation_errors(path: str, container: fields.Container) -> Errors:
    """Source: validation.go validateMountPropagation (v1.36)."""
    privileged = container.get("securityContext", {}).get("privileged", False)
    # upstream: the path has no index.
    place = f"{path}.volumeMounts.mountPropagation"
    for mount in container.get("volumeMounts", ()):
        propagation = mount.get("mountPropagation")
        if propagation is not None:
            yield from choice_errors(place, propagation, _PROPAGATIONS)
        if propagation == _BIDIRECTIONAL and not privileged:
            yield forbidden(place, "Bidirectional mount propagation is available only to privileged containers")


def _handler_errors(path: str, handler: fields.Handler | fields.Probe) -> Errors:
    """Yield the errors of a handler: its first action is validated, any other is forbidden."""
    actions = [name for name in _ACTIONS if name in handler]
    if not actions:
        yield required(path, "must specify a handler type")
        return
    yield from _errors({actions[0]: _ACTIONS[actions[0]]}, path, handler)
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in actions[1:])


def _port_errors(path: str, action: fields.HTTPGet) -> Errors:
    port = action.get("port", 0)
    if isinstance(port, str):
        yield from text_errors(f"{path}.port", port, port_name_faults)
    else:
        yield from port_number_errors(f"{path}.port", port)
    yield from _one_of("HTTP", "HTTPS")(f"{path}.scheme", action.get("scheme", ""))


def _probe_errors(path: str, probe: fields.Probe) -> Errors:
    yield from _handler_errors(path, probe)
    yield from _errors(_PROBE, path, probe)
    grace, of_readiness = probe.get("terminationGracePeriodSeconds"), path.endswith(".readinessProbe")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if grace is not None and of_readiness:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
    successes = probe.get("successThreshold", 0)
    if successes not in {0, 1} and not of_readiness:
        yield invalid(f"{path}.successThreshold", successes, "must be 1")


_ACTIONS: Rules = {
    "exec": _with("command"),
    **dict.fromkeys(("httpGet", "tcpSocket", "grpc"), _port_errors),
    "sleep": lambda *_: iter(()),
}
"""The actions of a handler, in the order in which the API server reads them."""
_PROBE: Rules = dict.fromkeys(
    ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"), count_errors
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_RUNNING: Rules = {
    **dict.fromkeys(("lifecycle.postStart", "lifecycle.preStop"), _handler_errors),
    **dict.fromkeys(_PROBES, _probe_errors),
}
"""The rules for containers and sidecars. Other init containers may have neither probes nor a lifecycle."""
_ENDING: Rules = dict.fromkeys(
    ("lifecycle", *_PROBES),
    lambda path, _: iter((forbidden(path, "may not be set for init containers without restartPolicy=Always"),)),
)
