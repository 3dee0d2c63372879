"""What an API server does with a submitted object: decode it, validate it, and compare it with the one that exists.

The Pods that a controller creates later are reviewed in admission.py, denials.py and resourcequotas.py.
"""

import msgspec

from kubectl_spread.apiserver.denials import ending, lacks_namespace
from kubectl_spread.apiserver.fields import Api
from kubectl_spread.apiserver.strategic_merge import DIRECTIVES
from kubectl_spread.apiserver.validation import FieldError, Reason, validate, validate_template
from kubectl_spread.apiserver.validation.field_errors import Errors
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.meta import KubernetesObject, Plain
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """An object as it is sent to an API server."""

    api_version: str
    kind: str
    values: Plain
    obj: KubernetesObject | None = None  # the object; None for a kind of another API
    # the object of its kind and name that exists when it is sent; None if there is none
    existing: KubernetesObject | None = None
    template: PodTemplateSpec | None = None  # the Pod template of a kind of another API; None where it has none
    template_values: tuple[str, Plain] | None = None
    namespace: str = ""  # empty for kinds without namespaces


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """The API server's answer to a submission."""

    namespace_errors: tuple[FieldError, ...] = ()  # that its namespace does not exist, or is being terminated
    errors: tuple[FieldError, ...] = ()  # of decoding and validation. A field that cannot be decoded is not validated.
    change_errors: tuple[FieldError, ...] = ()  # what it must not change in the existing object


def review(
    submission: Submission,
    snapshot: Snapshot,
    before: Snapshot,
    api: Api,
    release: Release,
    *,
    validated: bool = False,
) -> Review:
    """Return the API server's answer to the submission, by the rules that are modelled.

    The snapshot is the cluster once everything is applied, ``before`` the one that was read. If the server itself has
    ``validated`` the object, its rules are left out here.
    """
    obj, existing = submission.obj, submission.existing
    namespace = submission.namespace
    absent: tuple[FieldError, ...] = ()
    if namespace and lacks_namespace(namespace, snapshot, before):
        message = f'namespaces "{namespace}" not found'
        absent = (FieldError("metadata.namespace", Reason.NO_NAMESPACE, message),)
    # That of a Pod is one of its denials.
    elif obj is not None and not isinstance(obj, Pod) and not existing and (why := ending(namespace, snapshot)):
        absent = (FieldError("metadata.namespace", Reason.FORBIDDEN, why),)
    undecodable = [*api.object_errors(submission.api_version, submission.kind, submission.values)]
    if submission.template_values:
        undecodable += api.template_errors(*submission.template_values)
    if existing is not None:
        # kubectl sends a strategic merge patch, which executes its directives.
        undecodable = [each for each in undecodable if not each.field.rpartition(".")[2].startswith(DIRECTIVES)]
    rejected = {error.field for error in undecodable}
    invalid = () if validated else dict.fromkeys(_validation_errors(submission, release))
    errors = (*undecodable, *(error for error in invalid if error.field not in rejected))
    changes: tuple[FieldError, ...] = ()
    if obj is not None and existing is not None:
        from kubectl_spread.apiserver.updates import update_errors

        changes = tuple(update_errors(obj, existing, release))
    return Review(namespace_errors=absent, errors=errors, change_errors=changes)


def _validation_errors(submission: Submission, release: Release) -> Errors:
    if submission.obj is None:
        # The controller of another API may add to its template, so a missing field or volume is no error.
        if submission.template is not None and submission.template_values is not None:
            errors = validate_template(submission.template, release, path=submission.template_values[0])
            yield from (error for error in errors if error.reason not in {Reason.REQUIRED, Reason.NOT_FOUND})
        return
    yield from validate(submission.obj, release)
