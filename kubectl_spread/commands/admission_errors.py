"""What the API server says of a manifest, as reports have it: whether it serves its kind, its errors and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

import kubectl_spread
from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.apply import mapping
from kubectl_spread.apiserver.fields import Api, Tables, no_kind_match
from kubectl_spread.apiserver.review import Review, Submission, review
from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason, required
from kubectl_spread.apiserver.warnings import ValidationWarning
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.controllers.replicas import replicas_scaled, replicas_taken_back
from kubectl_spread.gaps import Gap, UnknownKind, UnreadTemplate
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API, Kind
from kubectl_spread.objects.meta import HELM_RELEASE, KubernetesObject
from kubectl_spread.objects.workloads import ReplicaSet
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import enumerated

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.discovery import Discovered
    from kubectl_spread.commands.source import Source

_DEFINITION = "CustomResourceDefinition"


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
    )
    found = review(submission, snapshot, before, Api(tables(), release.minor), release, validated=validated)
    if manifest.refused:
        return replace(found, errors=manifest.refused, change_errors=())
    fault = [FieldError(field, Reason.TYPE_INVALID, why) for field, why in filter(None, [document.fault])]
    errors = (*(found.errors or fault), *_name_errors(manifest))
    return replace(found, errors=tuple(dict.fromkeys(errors)))


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
        others = f" and in {enumerated(kept[1:])}" * bool(kept[1:])
        lacks = "the live object lacks the annotation last-applied-configuration"
        stay = f"kubectl apply keeps what the manifest leaves out here{others}: {lacks}"
        if release := manifest.live and manifest.live.metadata.annotations.get(HELM_RELEASE):
            helm = f"helm upgrade of {release} also removes what its last release set"
            stay = f"{stay}. This is the answer for kubectl apply: {helm}"
        yield ValidationWarning(field=kept[0], message=stay)


def pod_errors(
    manifest: Manifest, refusals: Iterable[Refusal], reported: Iterable[FieldError] = ()
) -> tuple[FieldError, ...]:
    """Return why none of the manifest's Pods is created, though the object may be accepted.

    ``refusals`` are those of the first Pod; ``reported`` are errors of the manifest, which are not repeated.
    """
    fields = {error.field for error in reported}
    found = (
        FieldError(
            field=".".join(filter(None, (manifest.pod_path, refusal.field))),
            reason=refusal.reason,
            message=refusal.message,
        )
        for refusal in refusals
    )
    return tuple(error for error in dict.fromkeys(found) if error.field not in fields)


def with_served_kinds(manifests: Sequence[Manifest], source: Source) -> list[Manifest]:
    """Return the manifests; those of kinds that the API server does not serve are refused, as kubectl does.

    The server is asked only about groups that are not Kubernetes' own. Files do not say what a cluster serves.
    ClusterError if the server cannot be reached or understood.
    """
    versions = dict.fromkeys(each.document.api_version for each in manifests if _is_custom(each))
    if not (versions and source.server):
        return [*manifests]
    from kubectl_spread.cluster.net.background import Background

    asked = {version: Background(partial(source.discover, version)) for version in versions}
    served = {version: each.result() for version, each in asked.items()}
    definitions = (mapping(each.document.values) for each in manifests if each.document.kind == _DEFINITION)
    specs = [mapping(values.get("spec")) for values in definitions]
    defined = {(str(spec.get("group")), str(mapping(spec.get("names")).get("kind"))) for spec in specs}
    return [_with_kind(each, served, defined) if _is_custom(each) else each for each in manifests]


def unread_documents(manifests: Sequence[Manifest], snapshot: Snapshot, source: Source) -> Iterator[Gap]:
    """Yield what is not known about the manifests of other APIs: their Pods, and whether the cluster serves them."""
    skipped = (each for each in manifests if each.obj is None and not (each.is_answered or each.refused))
    yield from (UnreadTemplate(workload=str(each.ref)) for each in skipped if each.spreads)
    if not source.server:
        yield from _unknown_kinds([each for each in manifests if each.makes_pods], snapshot)


def _unknown_kinds(manifests: Sequence[Manifest], snapshot: Snapshot) -> Iterator[UnknownKind]:
    """Yield the kinds of which files do not show that the cluster serves them: no object is of them or owned by one."""
    custom = dict.fromkeys((each.document.api_version, each.document.kind) for each in manifests if _is_custom(each))
    if not custom:
        return
    owned = (*snapshot.all(Pod), *snapshot.all(ReplicaSet))
    seen = {(owner.api_version, owner.kind) for each in owned for owner in each.metadata.owner_references}
    for api_version, kind in custom:
        held = BY_API.get((api_version, kind))
        if (api_version, kind) not in seen and not (held and any(snapshot.all(held.struct))):
            yield UnknownKind(api_version=api_version, kind=kind, why="the files do not say")


def _is_custom(manifest: Manifest) -> bool:
    """Whether its group is not one of Kubernetes' own."""
    return not tables().has_group(manifest.document.api_version)


def _with_kind(manifest: Manifest, served: Mapping[str, Discovered | None], defined: set[tuple[str, str]]) -> Manifest:
    api_version, kind = manifest.document.api_version, manifest.document.kind
    found = served[api_version]
    if found is None:
        gap = UnknownKind(api_version=api_version, kind=kind, why="forbidden")
        return replace(manifest, unknown=(gap,))
    if resource := found.resources.get(kind):
        made = msgspec.defstruct(kind, (), bases=(KubernetesObject,), frozen=True)
        struct = cast("type[KubernetesObject]", made)
        return replace(manifest, served_as=Kind(struct, api_version, resource.name, namespaced=resource.namespaced))
    if found.versions:
        hint = f"the cluster serves the group only in {enumerated(found.versions)}"
    elif (api_version.rpartition("/")[0], kind) in defined:
        hint = f"kubectl looks for the kind before it applies anything: apply the {_DEFINITION} first"
    else:
        hint = f"install its {_DEFINITION} first"
    return replace(manifest, refused=(no_kind_match(api_version, kind, hint, near=found.resources),))
