"""What the API server would refuse of a manifest, or warn of, by what is known of its rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

import kubectl_spread
from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.denials import lacks_namespace
from kubectl_spread.apiserver.fields import Api, Tables
from kubectl_spread.apiserver.validation import FieldError, validate, validate_template
from kubectl_spread.apiserver.validation.storageclasses import parameter_errors
from kubectl_spread.apiserver.warnings import template_warnings, warnings_of
from kubectl_spread.cluster.files.manifests import pod_template_values
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.contract.check import ValidationError, ValidationWarning
from kubectl_spread.controllers.replicas import replicas_taken_back
from kubectl_spread.controllers.rollout_plan import FailedCreate
from kubectl_spread.objects.core import ReplicationController
from kubectl_spread.objects.decoding import Plain
from kubectl_spread.objects.kinds import STORAGE_CLASS, KubernetesObject
from kubectl_spread.objects.workloads import Deployment, ReplicaSet, StatefulSet
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot

DETAILS = frozenset(
    (
        "activeDeadlineSeconds",
        "env",
        "imagePullPolicy",
        "jobTemplate",
        "lifecycle",
        "livenessProbe",
        "minReadySeconds",
        "ports",
        "progressDeadlineSeconds",
        "readinessProbe",
        "revisionHistoryLimit",
        "startupProbe",
        "terminationMessagePolicy",
        "ttlSecondsAfterFinished",
        "volumeMounts",
        "volumes",
    )
)
"""The fields that objects/details.py reads; all others of a CronJob stand beside its jobTemplate."""


@cache
def tables() -> Tables:
    """Return the fields of the API that ship with this program."""
    # importlib.resources would import a dozen modules more.
    content = Path(kubectl_spread.__file__).with_name("schema").joinpath("fields.json").read_bytes()
    return msgspec.json.decode(content, type=Tables)


def undecodable(manifest: Manifest, release: Release) -> tuple[ValidationError, ...]:
    """Return what an API server of the release cannot make out: unknown kinds and fields, values of a wrong type."""
    api, document = Api(tables(), release.minor), manifest.document
    of_object = api.object_errors(document.api_version, document.kind, document.values)
    found = pod_template_values(document)
    of_template = api.template_errors(*found) if found else ()
    return _told([*of_object, *of_template])


def errors_of(manifest: Manifest, release: Release, *, lives: bool = False) -> tuple[ValidationError, ...]:
    """Return everything that an API server of the release would refuse of the manifest; what cannot be decoded once.

    Args:
        manifest: the manifest.
        release: of the API server.
        lives: whether there is an object of its kind and name already.
    """
    first = undecodable(manifest, release)
    rejected = {error.field for error in first}
    others = dict.fromkeys(_invalid(manifest, release, lives=lives))
    return (*first, *(error for error in others if error.field not in rejected))


def alone(manifest: Manifest, before: Snapshot, release: Release) -> tuple[ValidationError, ...]:
    """Return what an API server of the release would refuse of a manifest that makes no Pods.

    Raises:
        ValueError: a quantity cannot be read.
    """
    return (*of_itself(manifest, release), *unchangeable(manifest, before, release))


def of_itself(manifest: Manifest, release: Release) -> tuple[ValidationError, ...]:
    """Return the same, whatever lives in the cluster."""
    values = manifest.document.values
    is_class = manifest.document.kind == STORAGE_CLASS.name
    parameters = values.get("parameters") if is_class and isinstance(values, dict) else None
    wrong = _told(parameter_errors(parameters)) if isinstance(parameters, dict) else ()
    return (*undecodable(manifest, release), *wrong)


def warnings(manifest: Manifest, release: Release) -> tuple[ValidationWarning, ...]:
    """Return what the API server would warn of, as it accepts the manifest."""
    if manifest.obj is not None:
        found = warnings_of(manifest.obj, release)
    else:
        found = template_warnings(manifest.template, path="spec.template") if manifest.template else ()
    return tuple(ValidationWarning(field=each.field, message=each.message) for each in found)


def taken_back(manifest: Manifest, before: Snapshot) -> tuple[ValidationWarning, ...]:
    """Return that applying the manifest takes replicas back, where it does."""
    if not isinstance(manifest.obj, Deployment | ReplicaSet | StatefulSet | ReplicationController):
        return ()
    live = replicas_taken_back(manifest.obj, before)
    if live is None:
        return ()
    message = f"what was applied before says it and this does not: applying it resets the {live} that live to 1"
    return (ValidationWarning(field="spec.replicas", message=message),)


def _invalid(manifest: Manifest, release: Release, *, lives: bool) -> Iterator[ValidationError]:
    if manifest.obj is not None:
        yield from _told(validate(manifest.obj, release))
    elif manifest.template is not None:
        yield from _told(validate_template(manifest.template, release, path="spec.template"))
    # A kind of another API may make more of its template before its Pods are created: volumes, ports of probes.
    if manifest.obj is not None and _says_more(manifest.document.values):
        # What knows these fields is loaded for manifests that have any.
        from kubectl_spread.apiserver.validation.manifest_only_fields import validate_details

        yield from _told(validate_details(manifest.obj, manifest.document.values, release, lives=lives))


def _says_more(values: Plain) -> bool:
    """Whether a field stands in the values that only the validation of manifests reads: small ones have none."""
    if isinstance(values, dict):
        return not DETAILS.isdisjoint(values) or any(map(_says_more, values.values()))
    return isinstance(values, list) and any(map(_says_more, values))


def not_created(
    manifest: Manifest, refusals: Iterable[Refusal], reported: Iterable[ValidationError]
) -> tuple[ValidationError, ...]:
    """Return why none of the manifest's Pods would be created, though its template may be taken.

    Args:
        manifest: the manifest.
        refusals: of the first Pod that its controller would make.
        reported: what is wrong with the manifest itself, which is not said again.
    """
    fields = {error.field for error in reported}
    found = dict.fromkeys(_forbidden(manifest, refusal) for refusal in refusals)
    return tuple(error for error in found if error.field not in fields)


def out_of_place(manifest: Manifest, snapshot: Snapshot, before: Snapshot) -> tuple[ValidationError, ...]:
    """Return that the manifest's namespace does not exist, where that is known.

    Args:
        manifest: the manifest.
        snapshot: the cluster with all manifests.
        before: the cluster without them.
    """
    if not manifest.namespace or not lacks_namespace(manifest.namespace, snapshot, before):
        return ()
    message = f'namespaces "{manifest.namespace}" not found'
    return (ValidationError(field="metadata.namespace", reason="NotFound", message=message),)


def unchangeable(manifest: Manifest, before: Snapshot, release: Release) -> tuple[ValidationError, ...]:
    """Return what the manifest changes of the object that lives and may not.

    Raises:
        ValueError: a quantity cannot be read.
    """
    live = living(manifest, before)
    if manifest.obj is None or live is None:
        return ()
    from kubectl_spread.apiserver.updates import update_errors

    return _told(update_errors(manifest.obj, live, release))


def living(manifest: Manifest, before: Snapshot) -> KubernetesObject | None:
    """Return the object of the manifest's kind and name that lives; None where there is none."""
    obj = manifest.obj
    return None if obj is None else before.get(type(obj), obj.metadata.namespace, obj.metadata.name)


def none_created(manifest: Manifest, failed: FailedCreate | None) -> tuple[ValidationError, ...]:
    """Return why the API server refuses already the first of the manifest's Pods."""
    if failed is None or failed.created:
        return ()
    return (ValidationError(field=manifest.pod_path, reason="Forbidden", message=failed.message),)


def _forbidden(manifest: Manifest, refusal: Refusal) -> ValidationError:
    field = ".".join(filter(None, (manifest.pod_path, refusal.field)))
    return ValidationError(field=field, reason=refusal.reason, message=refusal.message)


def _told(errors: Iterable[FieldError]) -> tuple[ValidationError, ...]:
    return tuple(ValidationError(field=e.field, reason=str(e.reason), message=e.message) for e in errors)
