"""Whole objects of any kind: Pods, and the workloads that make them.

Source: pkg/apis/apps/validation/validation.go, pkg/apis/batch/validation/validation.go, pkg/apis/core/validation
ValidateReplicationController (v1.33 to v1.37).
"""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_spread import labels
from kubectl_spread.apimachinery import as_json, dns_label_faults, dns_subdomain_faults, quoted
from kubectl_spread.apiserver.creation import job_as_created, name_as_created
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    FieldError,
    count_errors,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.labelselectors import label_errors, label_selector_errors, selector_as_json
from kubectl_spread.apiserver.validation.names import dns_label_errors
from kubectl_spread.apiserver.validation.pods import metadata_errors, pod_errors, template_errors
from kubectl_spread.apiserver.validation.volumes import claim_errors
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector, parse_label_selector
from kubectl_spread.release import Release

_TEMPLATE = "spec.template"
_MISMATCH = "`selector` does not match template `labels`"
_MAX_CRON_JOB_NAME = 52
_ALWAYS, *_ENDING = "Always", "OnFailure", "Never"
_NEVER = _ENDING[-1]
_FAIL_INDEX = "FailIndex"
_FAILURE_ACTIONS = ("Count", _FAIL_INDEX, "FailJob", "Ignore")
_REPLACEMENT_POLICIES = ("Failed", "TerminatingOrFailed")
STATEFUL_SET_TEMPLATE_SINCE = 34
"""The first release that looks at the templates of a StatefulSet."""
_MANAGEMENT_POLICIES = ("OrderedReady", "Parallel")
_RETENTION_POLICIES = ("Retain", "Delete")
_COMPLETION_MODES = _NON_INDEXED, _INDEXED = "NonIndexed", "Indexed"
_CONTROLLER_GENERATE_NAME_UNTIL = 34


def validate(obj: KubernetesObject, release: Release) -> tuple[FieldError, ...]:
    """Return everything for which the API server would refuse to create the object; nothing for other kinds."""
    return tuple(dict.fromkeys(_errors(obj, release)))


def validate_template(template: PodTemplateSpec, release: Release, *, path: str) -> tuple[FieldError, ...]:
    """Return what is wrong with the template of a workload whose own rules are not known."""
    return tuple(dict.fromkeys(template_errors(path, template, release)))


def _errors(obj: KubernetesObject, release: Release) -> Errors:
    match obj:
        case Pod():
            yield from pod_errors(obj, release)
        case workloads.Deployment() | workloads.ReplicaSet():
            yield from _deployment_errors(obj, release)
        case workloads.StatefulSet():
            yield from _stateful_set_errors(obj, release)
        case workloads.DaemonSet():
            yield from _daemon_set_errors(obj, release)
        case workloads.Job():
            yield from _job_errors(obj, release)
        case workloads.CronJob():
            yield from _cron_job_errors(obj, release)
        case ReplicationController():
            yield from _replication_controller_errors(obj, release)


def _deployment_errors(owner: workloads.Deployment | workloads.ReplicaSet, release: Release) -> Errors:
    # upstream: the template is not looked at while the selector cannot be read.
    spec = owner.spec
    yield from metadata_errors(owner.metadata, dns_subdomain_faults)
    yield from count_errors("spec.replicas", spec.replicas)
    yield from _selector_errors(spec, kind="deployment")
    if _is_readable(spec.selector):
        yield from _mismatch_errors(spec)
        yield from template_errors(_TEMPLATE, spec.template, release)
        yield from _forever_errors(spec.template, kind="ReplicaSet")
    else:
        yield invalid("spec.selector", _selector_text(spec), "invalid label selector")
    if isinstance(owner, workloads.Deployment):
        yield from _strategy_errors(owner, owner.spec.strategy, release)


def _stateful_set_errors(owner: workloads.StatefulSet, release: Release) -> Errors:
    spec = owner.spec
    yield from metadata_errors(owner.metadata, dns_label_faults)
    if spec.pod_management_policy not in {"", *_MANAGEMENT_POLICIES}:
        told = f"must be {' or '.join(map(repr, _MANAGEMENT_POLICIES))}"
        yield invalid("spec.podManagementPolicy", quoted(spec.pod_management_policy), told)
    yield from _strategy_errors(owner, spec.update_strategy, release)
    yield from _claim_template_errors(spec, release)
    yield from count_errors("spec.replicas", spec.replicas)
    yield from count_errors("spec.ordinals.start", spec.ordinals.start)
    if spec.service_name:
        yield from dns_label_errors("spec.serviceName", spec.service_name)
    yield from _selector_errors(spec, kind="statefulset")
    if not _is_readable(spec.selector):
        yield invalid("spec.selector", _selector_text(spec), "")
        return
    yield from _mismatch_errors(spec)
    # Before, only what follows was checked, and everything else when the Pod was created.
    if release.minor >= STATEFUL_SET_TEMPLATE_SINCE:
        yield from template_errors(_TEMPLATE, spec.template, release)
    yield from label_errors(f"{_TEMPLATE}.labels", spec.template.metadata.labels)
    yield from _forever_errors(spec.template, kind="StatefulSet")


def _claim_template_errors(spec: workloads.StatefulSetSpec, release: Release) -> Errors:
    when_scaled = spec.persistent_volume_claim_retention_policy.when_scaled
    if when_scaled not in {"", *_RETENTION_POLICIES}:
        field = "spec.persistentVolumeClaimRetentionPolicy.whenScaled"
        yield not_supported(field, when_scaled, _RETENTION_POLICIES)
    if release.minor >= STATEFUL_SET_TEMPLATE_SINCE:
        for index, claim in enumerate(spec.volume_claim_templates):
            yield from claim_errors(f"spec.volumeClaimTemplates[{index}].spec", claim.spec)


def _daemon_set_errors(owner: workloads.DaemonSet, release: Release) -> Errors:
    spec = owner.spec
    yield from metadata_errors(owner.metadata, dns_subdomain_faults)
    yield from label_selector_errors("spec.selector", spec.selector)
    if _is_readable(spec.selector):
        yield from _mismatch_errors(spec)
    if spec.selector == LabelSelector():
        yield invalid("spec.selector", "{}", "empty selector is invalid for daemonset")
    yield from template_errors(_TEMPLATE, spec.template, release)
    yield from _forever_errors(spec.template, kind="DaemonSet")
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
    # differs: a selector is taken for one under ``manualSelector: true``; without that, the API server refuses it.
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
    if spec.selector is not None and _is_readable(spec.selector):
        yield from _mismatch_errors(spec)


def _cron_job_errors(owner: workloads.CronJob, release: Release) -> Errors:
    yield from metadata_errors(owner.metadata, dns_subdomain_faults)
    spec = owner.spec.job_template.spec
    yield from _job_spec_errors("spec.jobTemplate.spec", spec, release)
    if spec.selector is not None:
        detail = "`selector` will be auto-generated"
        yield invalid("spec.jobTemplate.spec.selector", selector_as_json(spec.selector), detail)
    # Its Jobs' names get a dash and ten digits more, and theirs are labels of at most 63 characters.
    if len(owner.metadata.name.encode()) > _MAX_CRON_JOB_NAME:
        detail = f"must be no more than {_MAX_CRON_JOB_NAME} characters"
        yield invalid("metadata.name", quoted(owner.metadata.name), detail)


def _job_spec_errors(path: str, spec: workloads.JobSpec, release: Release) -> Errors:
    yield from count_errors(f"{path}.parallelism", spec.parallelism)
    yield from count_errors(f"{path}.completions", spec.completions)
    yield from count_errors(f"{path}.backoffLimit", spec.backoff_limit)
    yield from _indexes_errors(path, spec)
    yield from _failure_errors(path, spec)
    yield from template_errors(f"{path}.template", spec.template, release)
    policy, field = spec.template.spec.restart_policy, f"{path}.template.spec.restartPolicy"
    if policy == _ALWAYS:
        yield required(field, 'valid values: "OnFailure", "Never"')
    elif policy not in _ENDING:
        yield not_supported(field, policy, _ENDING)
    elif spec.pod_failure_policy is not None and policy != _NEVER:
        yield invalid(field, quoted(policy), f'only "{_NEVER}" is supported when podFailurePolicy is specified')


def _failure_errors(path: str, spec: workloads.JobSpec) -> Errors:
    rules = spec.pod_failure_policy.rules if spec.pod_failure_policy else ()
    for index, rule in enumerate(rules):
        field = f"{path}.podFailurePolicy.rules[{index}].action"
        if not rule.action:
            yield required(field, f"valid values: {as_json(_FAILURE_ACTIONS).replace(',', ' ')}")
        elif rule.action not in _FAILURE_ACTIONS:
            yield not_supported(field, rule.action, _FAILURE_ACTIONS)
        elif rule.action == _FAIL_INDEX and spec.backoff_limit_per_index is None:
            yield invalid(field, quoted(rule.action), "requires the backoffLimitPerIndex to be set")
    known = _REPLACEMENT_POLICIES[:1] if spec.pod_failure_policy else _REPLACEMENT_POLICIES
    if spec.pod_replacement_policy not in {"", *known}:
        yield not_supported(f"{path}.podReplacementPolicy", spec.pod_replacement_policy, known)


def _indexes_errors(path: str, spec: workloads.JobSpec) -> Errors:
    mode, indexed = spec.completion_mode, spec.completion_mode == _INDEXED
    limits = {"backoffLimitPerIndex": spec.backoff_limit_per_index, "maxFailedIndexes": spec.max_failed_indexes}
    for field, limit in limits.items():
        yield from count_errors(f"{path}.{field}", limit)
    if spec.max_failed_indexes is not None and spec.backoff_limit_per_index is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if mode not in _COMPLETION_MODES:
        yield not_supported(f"{path}.completionMode", mode, _COMPLETION_MODES)
    # Where it says neither, both default to 1.
    if indexed and spec.completions is None and spec.parallelism is not None:
        yield required(f"{path}.completions", f"when completion mode is {_INDEXED}")
    failed, most = spec.max_failed_indexes, spec.completions
    if indexed and failed is not None and most is not None and failed > most:
        yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    for field, limit in limits.items():
        if mode == _NON_INDEXED and limit is not None:
            yield invalid(f"{path}.{field}", limit, "requires indexed completion mode")


def _replication_controller_errors(owner: ReplicationController, release: Release) -> Errors:
    """Yield the errors of a ReplicationController; labels and selector are those of the template unless it says so."""
    of_template = owner.spec.template.metadata.labels
    metadata = replace(owner.metadata, labels=owner.metadata.labels or of_template)
    selector = owner.spec.selector or of_template
    check_generate_name = release.minor <= _CONTROLLER_GENERATE_NAME_UNTIL
    yield from metadata_errors(metadata, dns_subdomain_faults, check_generate_name=check_generate_name)
    if not selector:
        yield required("spec.selector")
    yield from count_errors("spec.replicas", owner.spec.replicas)
    if owner.spec.template == PodTemplateSpec():
        yield required(_TEMPLATE)
        return
    if not labels.from_set(selector).matches(of_template):
        yield invalid(f"{_TEMPLATE}.metadata.labels", _labels_text(owner.spec.template), _MISMATCH)
    yield from template_errors(_TEMPLATE, owner.spec.template, release)
    yield from _forever_errors(owner.spec.template, kind="ReplicationController")


def _forever_errors(template: PodTemplateSpec, *, kind: str) -> Errors:
    if template.spec.restart_policy != _ALWAYS:
        yield not_supported(f"{_TEMPLATE}.spec.restartPolicy", template.spec.restart_policy, [_ALWAYS])
    if template.spec.active_deadline_seconds is not None:
        message = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden(f"{_TEMPLATE}.spec.activeDeadlineSeconds", message)


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


def _is_readable(selector: LabelSelector | None) -> bool:
    """Whether the selector can be matched with; an absent one can, and selects nothing."""
    return not any(label_selector_errors("", selector))


def _selector_text(spec: workloads.WorkloadSpec) -> str:
    return selector_as_json(spec.selector or LabelSelector())


def _labels_text(template: PodTemplateSpec) -> str:
    return as_json(dict(sorted(template.metadata.labels.items())) or None)
