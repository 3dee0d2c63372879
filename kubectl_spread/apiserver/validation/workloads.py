"""Whole objects of any kind: Pods, and the workloads that create them.

Source: pkg/apis/apps/validation/validation.go, pkg/apis/batch/validation/validation.go, pkg/apis/core/validation
ValidateReplicationController (v1.33 to v1.37).
"""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from kubectl_spread import labels
from kubectl_spread.apimachinery import as_json, dns_label_faults, dns_subdomain_faults, quoted
from kubectl_spread.apiserver.creation import job_as_created, name_as_created
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    FieldError,
    count_errors,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.labelselectors import label_errors, label_selector_errors, selector_as_json
from kubectl_spread.apiserver.validation.pods import metadata_errors, pod_errors, template_errors
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector, parse_label_selector
from kubectl_spread.release import Release

_TEMPLATE = "spec.template"
_MISMATCH = "`selector` does not match template `labels`"
_ALWAYS, *_ENDING = "Always", "OnFailure", "Never"
STATEFUL_SET_TEMPLATE_SINCE = 34  # The first release that validates the templates of a StatefulSet
_MANAGEMENT_POLICIES = ("OrderedReady", "Parallel")


def validate_template(template: PodTemplateSpec, release: Release, *, path: str) -> tuple[FieldError, ...]:
    """Return the errors of the Pod template of a workload whose own rules are not known."""
    return tuple(dict.fromkeys(template_errors(path, template, release)))


def _deployment_errors(owner: workloads.Deployment | workloads.ReplicaSet, release: Release) -> Errors:
    spec = owner.spec
    yield from metadata_errors(owner.metadata, dns_subdomain_faults)
    yield from count_errors("spec.replicas", spec.replicas)
    yield from _selector_errors(spec, kind="deployment")
    # upstream: an invalid selector keeps the template from being validated.
    if _is_valid(spec.selector):
        yield from _mismatch_errors(spec)
        yield from template_errors(_TEMPLATE, spec.template, release)
        yield from _restart_always_errors(spec.template)
    else:
        yield invalid("spec.selector", selector_as_json(spec.selector or LabelSelector()), "invalid label selector")
    if isinstance(owner, workloads.Deployment):
        yield from _strategy_errors(owner, owner.spec.strategy, release)


def _stateful_set_errors(owner: workloads.StatefulSet, release: Release) -> Errors:
    spec, policy = owner.spec, owner.spec.pod_management_policy
    yield from metadata_errors(owner.metadata, dns_label_faults)
    if policy not in {"", *_MANAGEMENT_POLICIES}:
        detail = f"must be {' or '.join(map(repr, _MANAGEMENT_POLICIES))}"
        yield invalid("spec.podManagementPolicy", quoted(policy), detail)
    yield from _strategy_errors(owner, spec.update_strategy, release)
    yield from count_errors("spec.replicas", spec.replicas)
    yield from count_errors("spec.ordinals.start", spec.ordinals.start)
    yield from _selector_errors(spec, kind="statefulset")
    if not _is_valid(spec.selector):
        yield invalid("spec.selector", selector_as_json(spec.selector or LabelSelector()), "")
        return
    yield from _mismatch_errors(spec)
    if release.minor >= STATEFUL_SET_TEMPLATE_SINCE:
        yield from template_errors(_TEMPLATE, spec.template, release)
    yield from label_errors(f"{_TEMPLATE}.labels", spec.template.metadata.labels)
    yield from _restart_always_errors(spec.template)


def _daemon_set_errors(owner: workloads.DaemonSet, release: Release) -> Errors:
    spec = owner.spec
    yield from metadata_errors(owner.metadata, dns_subdomain_faults)
    yield from label_selector_errors("spec.selector", spec.selector)
    if _is_valid(spec.selector):
        yield from _mismatch_errors(spec)
    if spec.selector == LabelSelector():
        yield invalid("spec.selector", "{}", "empty selector is invalid for daemonset")
    yield from template_errors(_TEMPLATE, spec.template, release)
    yield from _restart_always_errors(spec.template)
    yield from _strategy_errors(owner, spec.update_strategy, release)


def _strategy_errors(
    owner: workloads.Deployment | workloads.StatefulSet | workloads.DaemonSet,
    strategy: workloads.UpdateStrategy,
    release: Release,
) -> Errors:
    if strategy != workloads.UpdateStrategy():
        from kubectl_spread.apiserver.validation.strategies import strategy_errors

        yield from strategy_errors(owner, release)


def _job_errors(job: workloads.Job, release: Release) -> Errors:
    # differs: the API server refuses a selector without ``manualSelector: true``, which is not read here.
    created = job_as_created(job)
    spec = created.spec
    yield from metadata_errors(created.metadata, dns_subdomain_faults)
    if spec.selector is None:
        name = name_as_created(created.metadata)
        for key in workloads.JOB_NAME_LABELS:
            if spec.template.metadata.labels[key] != name:
                yield invalid(f"{_TEMPLATE}.metadata.labels[{key}]", _labels_text(spec.template), f"must be '{name}'")
    yield from _job_spec_errors("spec", spec, release)
    yield from label_selector_errors("spec.selector", spec.selector)
    if spec.selector is not None and _is_valid(spec.selector):
        yield from _mismatch_errors(spec)


def _cron_job_errors(owner: workloads.CronJob, release: Release) -> Errors:
    yield from metadata_errors(owner.metadata, dns_subdomain_faults)
    spec = owner.spec.job_template.spec
    yield from _job_spec_errors("spec.jobTemplate.spec", spec, release)
    if spec.selector is not None:
        detail = "`selector` will be auto-generated"
        yield invalid("spec.jobTemplate.spec.selector", selector_as_json(spec.selector), detail)


def _job_spec_errors(path: str, spec: workloads.JobSpec, release: Release) -> Errors:
    yield from count_errors(f"{path}.parallelism", spec.parallelism)
    yield from count_errors(f"{path}.completions", spec.completions)
    yield from count_errors(f"{path}.backoffLimit", spec.backoff_limit)
    yield from template_errors(f"{path}.template", spec.template, release)
    policy, field = spec.template.spec.restart_policy, f"{path}.template.spec.restartPolicy"
    if policy == _ALWAYS:
        yield required(field, 'valid values: "OnFailure", "Never"')
    elif policy not in _ENDING:
        yield not_supported(field, policy, _ENDING)


def _replication_controller_errors(owner: ReplicationController, release: Release) -> Errors:
    # Its labels and its selector default to the labels of the template.
    of_template = owner.spec.template.metadata.labels
    metadata = replace(owner.metadata, labels=owner.metadata.labels or of_template)
    selector = owner.spec.selector or of_template
    yield from metadata_errors(metadata, dns_subdomain_faults)
    if not selector:
        yield required("spec.selector")
    yield from count_errors("spec.replicas", owner.spec.replicas)
    if owner.spec.template == PodTemplateSpec():
        yield required(_TEMPLATE)
        return
    if not labels.from_set(selector).matches(of_template):
        yield invalid(f"{_TEMPLATE}.metadata.labels", _labels_text(owner.spec.template), _MISMATCH)
    yield from template_errors(_TEMPLATE, owner.spec.template, release)
    yield from _restart_always_errors(owner.spec.template)


def _restart_always_errors(template: PodTemplateSpec) -> Errors:
    if template.spec.restart_policy != _ALWAYS:
        yield not_supported(f"{_TEMPLATE}.spec.restartPolicy", template.spec.restart_policy, [_ALWAYS])


def _selector_errors(spec: workloads.WorkloadSpec, *, kind: str) -> Errors:
    if spec.selector is None:
        yield required("spec.selector")
        return
    yield from label_selector_errors("spec.selector", spec.selector)
    if spec.selector == LabelSelector():
        yield invalid("spec.selector", "{}", f"empty selector is invalid for {kind}")


def _mismatch_errors(spec: workloads.WorkloadSpec | workloads.JobSpec) -> Errors:
    if not parse_label_selector(spec.selector).matches(spec.template.metadata.labels):
        yield invalid(f"{_TEMPLATE}.metadata.labels", _labels_text(spec.template), _MISMATCH)


def _is_valid(selector: LabelSelector | None) -> bool:
    return not any(label_selector_errors("", selector))


def _labels_text(template: PodTemplateSpec) -> str:
    return as_json(dict(sorted(template.metadata.labels.items())) or None)


# Kind → its rules.
_RULES: Mapping[type[KubernetesObject], Callable[..., Errors]] = {
    Pod: pod_errors,
    **dict.fromkeys((workloads.Deployment, workloads.ReplicaSet), _deployment_errors),
    workloads.StatefulSet: _stateful_set_errors,
    workloads.DaemonSet: _daemon_set_errors,
    workloads.Job: _job_errors,
    workloads.CronJob: _cron_job_errors,
    ReplicationController: _replication_controller_errors,
}


def validate(obj: KubernetesObject, release: Release) -> tuple[FieldError, ...]:
    """Return every error for which the API server refuses to create the object; none for other kinds."""
    rules = _RULES.get(type(obj))
    return tuple(dict.fromkeys(rules(obj, release))) if rules else ()
