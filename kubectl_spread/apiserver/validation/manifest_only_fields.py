"""Fields that are read from manifests only, and decide nothing about placement: mounts, probes, seconds, schedules.

Source: pkg/apis/core/validation/validation.go validateContainerCommon, ValidateVolumeMounts, validateProbe,
validateHandler; pkg/apis/apps/validation, pkg/apis/batch/validation (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from kubectl_spread.apimachinery import quoted
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
from kubectl_spread.apiserver.validation.pod_settings import context_errors, setting_errors
from kubectl_spread.apiserver.validation.references import (
    annotation_errors,
    variable_errors,
    variable_source_errors,
    volume_source_errors,
)
from kubectl_spread.apiserver.validation.schedules import schedule_errors, time_zone_errors
from kubectl_spread.apiserver.validation.tables import Rules, descending_faults, one_of, table_errors, with_field
from kubectl_spread.apiserver.validation.volumes import mountable, parent_faults, volume_errors
from kubectl_spread.apiserver.validation.workloads import STATEFUL_SET_TEMPLATE_SINCE
from kubectl_spread.objects import core
from kubectl_spread.objects.decoding import DecodeError, convert
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.objects.manifest_only_fields import CommonVolume, Fields
from kubectl_spread.objects.meta import KubernetesObject, Plain
from kubectl_spread.objects.workloads import CronJob, Deployment, ReplicaSet, StatefulSet
from kubectl_spread.release import Release

_BIDIRECTIONAL = "Bidirectional"
_PROPAGATIONS = (_BIDIRECTIONAL, "HostToContainer", "None")
_READ_ONLY_MODES = ("Disabled", "Enabled", "IfPossible")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
_INIT_RESIZE_SINCE = 36
_GRACE_SECONDS = 30


def validate_details(
    obj: KubernetesObject, values: Plain, release: Release, *, exists: bool = False
) -> tuple[FieldError, ...]:
    """Return the errors of these fields; none for other kinds, and none while a field has the wrong type.

    ``exists``: whether the cluster has the object already.
    """
    kind = type(obj).__name__
    try:
        if isinstance(obj, core.Pod):
            pod, name = convert(values, Fields), name_as_created(obj.metadata)
            found = _pod_spec_errors("spec", pod.get("spec", {}), obj.spec.volumes, pod_name=name, release=release)
            return (*table_errors(_METADATA, "", pod), *found)
        if kind in WORKLOADS:
            workload = convert(values, Fields)
            spec = workload.get("spec", {})
            of_template = _template_errors(cast("Workload", obj), spec, release)
            validated = of_template if _validates_template(obj, release) else ()
            return (*table_errors(_METADATA, "", workload), *_workload_errors(kind, spec, exists=exists), *validated)
    except DecodeError:
        pass
    return ()


_METADATA: Rules = {"metadata.annotations": lambda _, keys: annotation_errors("metadata.annotations", keys)}
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


def _workload_errors(kind: str, spec: Fields, *, exists: bool) -> Errors:
    yield from table_errors(_WORKLOADS[kind], "spec", spec)
    if kind == "CronJob":
        yield from schedule_errors("spec.schedule", spec.get("schedule", ""), exists=exists)
        rules = {"timeZone": time_zone_errors, "concurrencyPolicy": one_of("Allow", "Forbid", "Replace")}
        yield from table_errors(rules, "spec", spec)


def _validates_template(obj: KubernetesObject, release: Release) -> bool:
    if isinstance(obj, StatefulSet) and release.minor < STATEFUL_SET_TEMPLATE_SINCE:
        return False
    # upstream: an invalid selector keeps the templates of these kinds from being validated.
    if isinstance(obj, Deployment | ReplicaSet | StatefulSet):
        return not any(label_selector_errors("", obj.spec.selector))
    return True


def _template_errors(obj: Workload, spec: Fields, release: Release) -> Errors:
    of_cron_job = isinstance(obj, CronJob)
    kept = obj.spec.job_template.spec if isinstance(obj, CronJob) else obj.spec
    job = spec.get("jobTemplate", {}).get("spec", {}) if of_cron_job else spec
    template = job.get("template", {})
    pod_spec = template.get("spec", {})
    # A StatefulSet's volumes for its claims replace the template's volumes of the same names.
    claims = (claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", []))
    added = {name: CommonVolume(name=name) for name in claims}
    own = (volume for volume in pod_spec.get("volumes", ()) if volume.name not in added)
    path = "spec.jobTemplate.spec.template.spec" if of_cron_job else "spec.template.spec"
    annotations = template.get("metadata", {}).get("annotations", {})
    yield from annotation_errors(f"{path.removesuffix('.spec')}.annotations", annotations)
    # Its controller overwrites these too.
    names = {"hostname": "", "subdomain": ""} if isinstance(obj, StatefulSet) else {}
    with_claims: Fields = {**pod_spec, **names, "volumes": (*added.values(), *own)}
    yield from _pod_spec_errors(path, with_claims, kept.template.spec.volumes, pod_name=None, release=release)


def _pod_spec_errors(
    path: str, spec: Fields, kept: Sequence[core.Volume], *, pod_name: str | None, release: Release
) -> Errors:
    """Yield the errors of a Pod's spec; ``kept`` are the object's volumes, of which the values may lack some."""
    written = spec.get("volumes", ())
    volumes = template_as_created(core.PodSpec(volumes=written), release).volumes
    # This includes the sources that only manifests have. An error that volumes.py found too is reported once.
    yield from volume_errors(f"{path}.volumes", volumes, pod_name=pod_name, release=release, more=volume_source_errors)
    known = mountable(volumes, pod_name=pod_name, release=release, more=volume_source_errors)
    # A volume whose feature is off is dropped, and its mounts with it.
    known |= {volume.name: volume for volume in written if volume not in volumes}
    names = {volume.name for volume in written}
    known |= {volume.name: volume for volume in kept if volume.name not in names}
    seconds = spec.get("terminationGracePeriodSeconds", _GRACE_SECONDS)
    # The defaults of a Pod make a negative period one second; those of a template leave it.
    handlers = partial(_handler_errors, 1 if seconds < 0 and pod_name is not None else seconds)
    running: Rules = {**dict.fromkeys(("lifecycle.postStart", "lifecycle.preStop"), handlers), **_PROBED}

    def container_errors(place: str, values: Fields, *, runs: bool = True) -> Errors:
        rules: Rules = {
            "terminationMessagePolicy": one_of("File", "FallbackToLogsOnError"),
            "ports": _port_name_errors,
            "env[*]": partial(variable_errors, release),
            "envFrom": variable_source_errors,
            "volumeMounts": partial(_mount_errors, known, values),
            "volumeDevices": partial(_device_errors, known, values),
            "imagePullPolicy": one_of("Always", "IfNotPresent", "Never"),
            "resources.claims": partial(_claim_errors, spec),
            "resizePolicy": partial(_resize_errors, spec, release),
            "securityContext": partial(context_errors, spec),
            **(running if runs else _ENDING),
        }
        yield from table_errors(rules, place, values)

    def init_container_errors(place: str, values: Fields) -> Errors:
        runs = values.get("restartPolicy") == "Always"
        yield from container_errors(place, values, runs=runs)
        if not runs and release.minor >= _INIT_RESIZE_SINCE:
            yield from table_errors({"resizePolicy[*].restartPolicy": _no_restart_errors}, place, values)

    yield from table_errors({"containers[*]": container_errors, "initContainers[*]": init_container_errors}, path, spec)
    yield from setting_errors(path, spec, release)


def _port_name_errors(path: str, ports: Sequence[Fields]) -> Errors:
    seen: set[str] = set()
    for place, port in items(path, ports):
        name = port.get("name", "")
        faults = [*text_errors(f"{place}.name", name, port_name_faults)] if name else []
        yield from faults
        if name and not faults and name in seen:
            yield duplicate(f"{place}.name", name)
        seen.add(name)


def _mount_errors(volumes: Collection[str], container: Fields, path: str, mounts: Sequence[Fields]) -> Errors:
    """Yield the errors of a container's mounts; ``volumes`` are the names of those that it may mount."""
    devices = {device.get("name", ""): device.get("devicePath", "") for device in container.get("volumeDevices", [])}
    mount_paths: set[str] = set()
    for place, mount in items(path, mounts):
        name, mount_path, sub_path = mount.get("name", ""), mount.get("mountPath", ""), mount.get("subPath", "")
        yield from with_field("name")(place, mount)
        if name not in volumes:
            yield not_found(f"{place}.name", name)
        yield from with_field("mountPath")(place, mount)
        if mount_path in mount_paths:
            yield invalid(f"{place}.mountPath", quoted(mount_path), "must be unique")
        mount_paths.add(mount_path)
        if name in devices:
            yield invalid(f"{place}.name", quoted(name), "must not already exist in volumeDevices")
        if mount_path in devices.values():
            yield invalid(f"{place}.mountPath", quoted(mount_path), "must not already exist as a path in volumeDevices")
        # upstream: from here on without the number of the mount.
        yield from text_errors(f"{path}.subPath", sub_path, descending_faults)
        expression = mount.get("subPathExpr", "")
        if expression and sub_path:
            detail = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{place}.subPathExpr", quoted(expression), detail)
        yield from text_errors(f"{path}.subPathExpr", expression, descending_faults)
        privileged = container.get("securityContext", {}).get("privileged", False)
        yield from table_errors({"mountPropagation": partial(_propagation_errors, privileged)}, path, mount)
        yield from table_errors({"recursiveReadOnly": partial(_read_only_errors, mount)}, path, mount)


def _propagation_errors(privileged: bool, path: str, propagation: str) -> Errors:  # noqa: FBT001 - bound by partial
    """Source: validation.go validateMountPropagation (v1.36)."""
    yield from choice_errors(path, propagation, _PROPAGATIONS)
    if propagation == _BIDIRECTIONAL and not privileged:
        yield forbidden(path, "Bidirectional mount propagation is available only to privileged containers")


def _read_only_errors(mount: Fields, path: str, mode: str) -> Errors:
    """Source: validation.go validateMountRecursiveReadOnly (v1.36)."""
    yield from choice_errors(path, mode, _READ_ONLY_MODES)
    if mode in _READ_ONLY_MODES[1:]:
        if not mount.get("readOnly"):
            yield forbidden(path, "may only be specified when readOnly is true")
        if mount.get("mountPropagation", "None") != "None":
            yield forbidden(path, "may only be specified when mountPropagation is None or not specified")


def _device_errors(
    volumes: Mapping[str, core.Volume], container: Fields, path: str, devices: Sequence[Fields]
) -> Errors:
    """Source: validation.go ValidateVolumeDevices (v1.36)."""
    mounts = {mount.get("name", ""): mount.get("mountPath", "") for mount in container.get("volumeMounts", [])}
    names, paths = set[str](), set[str]()
    for place, device in items(path, devices):
        name, device_path = device.get("name", ""), device.get("devicePath", "")
        yield from with_field("name")(place, device)
        if name in names:
            yield invalid(f"{place}.name", quoted(name), "must be unique")
        if name not in volumes:
            yield not_found(f"{place}.name", name)
        elif not volumes[name].claims:
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{place}.name", quoted(name), detail)
        yield from with_field("devicePath")(place, device)
        if device_path in paths:
            yield invalid(f"{place}.devicePath", quoted(device_path), "must be unique")
        if any(parent_faults(device_path)):
            yield invalid(f"{place}.devicePath", quoted(device_path), "can not contain backsteps ('..')")
        else:
            paths.add(device_path)
        if name in mounts:
            yield invalid(f"{place}.name", quoted(name), "must not already exist in volumeMounts")
        if device_path in mounts.values():
            yield invalid(
                f"{place}.devicePath", quoted(device_path), "must not already exist as a path in volumeMounts"
            )
        names |= {name} - {""}


def _claim_errors(spec: Fields, path: str, claims: Sequence[Fields]) -> Errors:
    """Source: validation.go validateResourceClaimNames (v1.36). A claim that is named twice is not reported."""
    known = sorted({claim.get("name", "") for claim in spec.get("resourceClaims", [])} - {""})
    for place, claim in items(path, claims):
        name = claim.get("name", "")
        if not name:
            yield required(place)
        elif name not in known:
            where = f": {', '.join(known)}" if known else " which is empty"
            yield not_found(place, name, f"must be one of the names in pod.spec.resourceClaims{where}")


def _resize_errors(spec: Fields, release: Release, path: str, policies: Sequence[Fields]) -> Errors:
    """Source: validation.go validateResizePolicy (v1.36)."""
    seen: set[str] = set()
    for place, policy in items(path, policies):
        resource, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if resource in seen:
            yield duplicate(place, resource)
        seen.add(resource)
        # upstream: without the number of the policy.
        for value, known in ((resource, ("cpu", "memory")), (restart, _RESIZE_POLICIES)):
            yield from choice_errors(path, value, known) if value else iter((required(path),))
        if spec.get("restartPolicy") == "Never" and restart != _RESIZE_POLICIES[0]:
            of_pod = "pod " if release.minor >= _INIT_RESIZE_SINCE else ""
            detail = f"must be 'NotRequired' when {of_pod}`restartPolicy` is 'Never'"
            yield invalid(path, quoted(restart), detail)


def _no_restart_errors(path: str, policy: str) -> Errors:
    if policy == _RESIZE_POLICIES[1]:
        detail = f"must not be set to '{policy}' for non-sidecar initContainers"
        yield invalid(path, quoted(policy), detail)


def _handler_errors(grace_seconds: int, path: str, handler: Fields) -> Errors:
    """Yield the errors of a handler: its first action is validated, any other is forbidden."""
    actions = [name for name in _ACTIONS if name in handler]
    if not actions:
        yield required(path, "must specify a handler type")
        return
    yield from table_errors({actions[0]: _ACTIONS[actions[0]]}, path, handler)
    seconds = handler.get("sleep", {}).get("seconds", 0)
    if actions[0] == "sleep" and not 0 <= seconds <= grace_seconds:
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
        yield invalid(f"{path}.sleep", seconds, detail)
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in actions[1:])


def _port_errors(path: str, action: Fields) -> Errors:
    port = action.get("port", 0)
    if isinstance(port, str):
        yield from text_errors(f"{path}.port", port, port_name_faults)
    else:
        yield from port_number_errors(f"{path}.port", port)
    yield from one_of("HTTP", "HTTPS")(f"{path}.scheme", action.get("scheme", ""))
    for header in action.get("httpHeaders", []):
        yield from text_errors(f"{path}.httpHeaders", header.get("name", ""), _header_faults)


def _header_faults(name: str) -> Iterator[str]:
    if not re.fullmatch("[-A-Za-z0-9]+", name):
        yield (
            "a valid HTTP header must consist of alphanumeric characters or '-'"
            " (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
        )


def _probe_errors(path: str, probe: Fields) -> Errors:
    yield from _handler_errors(0, path, probe)
    yield from table_errors(_PROBE, path, probe)
    grace, of_readiness = probe.get("terminationGracePeriodSeconds"), path.endswith(".readinessProbe")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if grace is not None and of_readiness:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
    successes = probe.get("successThreshold", 0)
    if successes not in {0, 1} and not of_readiness:
        yield invalid(f"{path}.successThreshold", successes, "must be 1")


_ACTIONS: Rules = {
    "exec": with_field("command"),
    **dict.fromkeys(("httpGet", "tcpSocket", "grpc"), _port_errors),
    "sleep": lambda *_: iter(()),
}
"""The actions of a handler, in the order in which the API server reads them."""
_PROBE: Rules = dict.fromkeys(
    ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"), count_errors
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBED: Rules = dict.fromkeys(_PROBES, _probe_errors)
"""The probes of containers and sidecars. Other init containers may have neither probes nor a lifecycle."""
_ENDING: Rules = dict.fromkeys(
    ("lifecycle", *_PROBES),
    lambda path, _: iter((forbidden(path, "may not be set for init containers without restartPolicy=Always"),)),
)
