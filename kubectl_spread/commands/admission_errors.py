"""The errors and warnings of the API server about a manifest, as reports have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

import kubectl_spread
from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.apply import mapping
from kubectl_spread.apiserver.fields import Api, Tables
from kubectl_spread.apiserver.review import Review, Submission, review
from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason, required
from kubectl_spread.apiserver.warnings import ValidationWarning
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.contract.check import ValidationError
from kubectl_spread.controllers.replicas import replicas_scaled, replicas_taken_back
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import enumerated


@cache
def tables() -> Tables:
    """Return the API's fields, which ship with this program."""
    # importlib.resources would import a dozen modules more.
    content = Path(kubectl_spread.__file__).with_name("schema").joinpath("fields.json").read_bytes()
    return msgspec.json.decode(content, type=Tables)


def review_of(
    manifest: Manifest, snapshot: Snapshot, before: Snapshot, release: Release, *, validated: bool = False
) -> Review:
    """Return the API server's review of the manifest; for the arguments see ``review``."""
    document = manifest.document
    submission = Submission(
        api_version=document.api_version,
        kind=document.kind,
        values=document.values,
        obj=manifest.obj,
        existing=manifest.live,
        template=manifest.template,
        template_values=(manifest.group.path, manifest.group.template) if manifest.group else None,
        namespace=manifest.namespace,
        merged=manifest.merge.values if manifest.merge else None,
    )
    found = review(submission, snapshot, before, Api(tables(), release.minor), release, validated=validated)
    if manifest.refused:
        return replace(found, errors=manifest.refused, change_errors=())
    return replace(found, errors=tuple(dict.fromkeys((*found.errors, *_name_errors(manifest)))))


def _name_errors(manifest: Manifest) -> Iterator[FieldError]:
    """Yield why kubectl cannot apply the document: it has no name.

    Source: kubectl pkg/cmd/apply/apply.go applyOneObject (v1.36).
    """
    metadata = mapping(mapping(manifest.document.values).get("metadata"))
    if metadata.get("generateName") and not metadata.get("name"):
        yield FieldError("metadata.generateName", Reason.NOT_SENT, "cannot use generate name with apply")
    elif not metadata.get("name"):
        yield required("metadata.name", "name or generateName is required")


def apply_warnings(manifest: Manifest) -> Iterator[ValidationWarning]:
    """Yield what to know about applying the merged manifest, and the API server does not say.

    Of a key that is given twice, kubectl sends only the last value, also with strict validation.

    Source: sigs.k8s.io/yaml yaml.go YAMLToJSON (v1.6.0), kubectl pkg/cmd/apply/apply.go WarnIfDeleting (v0.36).
    """
    if manifest.again:
        again = f"{manifest.again} has the same object: kubectl applies that one first"
        yield ValidationWarning(field="metadata.name", message=again)
    if manifest.live is not None and manifest.live.metadata.deletion_timestamp:
        going = "it is being deleted, and what is applied to it goes with it: apply the manifest again once it is gone"
        yield ValidationWarning(field="metadata.deletionTimestamp", message=going)
    for path, (first, last) in manifest.document.twice.items():
        if path.startswith(manifest.document.path):
            where = f"on line {first}" if first == last else f"on lines {first} and {last}"
            message = f"the key is given twice, {where}: the last value counts"
            yield ValidationWarning(field=path.removeprefix(f"{manifest.document.path}."), message=message)
    if (live := replicas_taken_back(manifest.obj, manifest.live)) is not None:
        reset = f"the manifest applied before sets it, and this one does not: applying it changes {live} replicas to 1"
        yield ValidationWarning(field="spec.replicas", message=reset)
    elif not manifest.refused and (scaled := replicas_scaled(manifest.obj, manifest.live)):
        before, now = scaled
        by = "something else, as a HorizontalPodAutoscaler or kubectl scale, has set it since the last apply"
        yield ValidationWarning(field="spec.replicas", message=f"{by}: applying it changes {before} replicas to {now}")
    # Fields that the manifest leaves out stay where kubectl did not apply the live object.
    elif manifest.merge is not None and not manifest.merge.applied and (kept := manifest.merge.kept):
        lacks = "the live object lacks the annotation last-applied-configuration"
        stay = f"{lacks}, so fields that the manifest leaves out stay: {enumerated(kept)}"
        yield ValidationWarning(field=kept[0], message=stay)


def pod_errors(
    manifest: Manifest, refusals: Iterable[Refusal], reported: Iterable[ValidationError] = ()
) -> tuple[ValidationError, ...]:
    """Return why none of the manifest's Pods is created, though the object may be accepted.

    ``refusals`` are those of the first Pod; ``reported`` are errors of the manifest, which are not repeated.
    """
    fields = {error.field for error in reported}
    found = (
        ValidationError(
            field=".".join(filter(None, (manifest.pod_path, refusal.field))),
            reason=refusal.reason,
            message=refusal.message,
        )
        for refusal in refusals
    )
    return tuple(error for error in dict.fromkeys(found) if error.field not in fields)


def as_errors(errors: Iterable[FieldError]) -> tuple[ValidationError, ...]:
    """Return the errors as a report has them."""
    return tuple(ValidationError(field=e.field, reason=str(e.reason), message=e.message) for e in errors)
