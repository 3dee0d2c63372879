"""Applies manifests to live objects as ``kubectl apply`` does, and refuses those that the API server refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread import gaps
from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.apply import Application, mapping, without_left_fields
from kubectl_spread.apiserver.denials import enforced_standard, lacks_namespace
from kubectl_spread.apiserver.fields import Api
from kubectl_spread.apiserver.quantities import Amounts
from kubectl_spread.apiserver.resourcequotas import object_usage, objects_fault
from kubectl_spread.apiserver.review import Review, Submission, review
from kubectl_spread.apiserver.strategic_merge import MergeError
from kubectl_spread.apiserver.updates import POD_IMMUTABLE
from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason, ValidationWarning, forbidden, required
from kubectl_spread.commands.bad_objects import find_malformed
from kubectl_spread.commands.manifests import MOST_PODS, Manifest, skipped_notes, spec_of, tables, too_many
from kubectl_spread.controllers.horizontal import bounds_of
from kubectl_spread.controllers.next_pod import completed, over_quota
from kubectl_spread.controllers.replicas import as_applied, made_for, replicas_of, replicas_scaled, replicas_taken_back
from kubectl_spread.controllers.revisions import of_older_revision, orphans_of_template
from kubectl_spread.controllers.workloads import revision_of
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.findings import MergedConstraints
from kubectl_spread.diagnosis.incomplete import unread_kinds
from kubectl_spread.errors import ManifestError
from kubectl_spread.gaps import Gap, MayRollOut
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Namespace, Pod, ResourceQuota
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, WORKLOADS, Kind, Scaled, Workload
from kubectl_spread.objects.meta import HELM_RELEASE, KubernetesObject, Plain
from kubectl_spread.objects.template_rest import may_roll_out
from kubectl_spread.objects.workloads import DaemonSet, Deployment, StatefulSet
from kubectl_spread.release import Release
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.scheduler.resource import total
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.check import replicas_decided
from kubectl_spread.wording.findings import finding_text
from kubectl_spread.wording.words import enumerated

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.dry_run import DryRun, Patch


class Applying(msgspec.Struct, frozen=True):
    """How manifests are applied.

    ``ask`` sends a dry run (kind, namespace, name, patch) to the API server; None to apply its rules here. ``read``
    returns a live object (kind, namespace, name) with all of its fields, which a patch depends on; None if it cannot.
    """

    ask: Callable[[Kind, str, str, Patch], DryRun] | None = None
    server_side: bool = False
    force_conflicts: bool = False
    read: Callable[[Kind, str, str], Plain] | None = None


CLIENT_SIDE = Applying()  # As ``kubectl apply`` without flags, with the API server's rules applied here


def application(manifest: Manifest, obj: KubernetesObject) -> Application:
    """Return what the manifest applies, with this object."""
    return Application.of(obj, manifest.document.api_version, manifest.document.values, tables())


def merge_all(
    manifests: Iterable[Manifest], snapshot: Snapshot, profile: Profile, how: Applying = CLIENT_SIDE
) -> tuple[Manifest, ...]:
    """Return the manifests merged with the live objects; ClusterError if the API server does not answer."""
    ordered = _before_their_namespaces([replace(each, server_side=how.server_side) for each in manifests], snapshot)
    merged = tuple(_merge_in_turn([*ordered], snapshot, profile, how))
    quotas = [each.obj for each in merged if isinstance(each.obj, ResourceQuota) and not each.is_left_out]
    if how.ask is not None or not (quotas or any(True for _ in snapshot.all(ResourceQuota))):
        return merged
    charged: dict[str, Amounts] = {}
    with_quotas = snapshot.with_objects(quotas)
    return tuple(_within_quotas(each, with_quotas, charged) for each in merged)


def merged_constraints(manifest: Manifest) -> Iterator[MergedConstraints]:
    """Yield which constraints of a manifest, once it is merged, kubectl cannot tell apart."""
    written = manifest.written or manifest.obj
    # Server-side apply tells them apart.
    if written is not None and not manifest.server_side:
        there = None if manifest.live is None else spec_of(manifest.live)
        yield from lint.merged_constraints(spec_of(written), manifest.pod_spec, there)


def unreadable(problem: ManifestProblem) -> Gap:
    """Return what is not known because a document is missing."""
    return gaps.UnreadableManifest(place=problem.place, why=problem.message)


def _before_their_namespaces(manifests: Sequence[Manifest], before: Snapshot) -> Iterator[Manifest]:
    """Yield the manifests; refused are those whose namespace only a later one creates: kubectl sends each once."""
    to_come = [each.name for each in manifests if isinstance(each.obj, Namespace)]
    for each in manifests:
        if isinstance(each.obj, Namespace):
            to_come.remove(each.name)
        if each.namespace in to_come and lacks_namespace(each.namespace, before, before):
            message = f'namespaces "{each.namespace}" not found: a later document creates it'
            yield replace(each, refused=(FieldError("metadata.namespace", Reason.NO_NAMESPACE, message),))
        else:
            yield each


def _merge_in_turn(
    manifests: Sequence[Manifest], before: Snapshot, profile: Profile, how: Applying
) -> Iterator[Manifest]:
    """Yield the merged manifests; one whose object an earlier one has is merged with what that one leaves."""
    to_come = Counter(map(_identity, manifests))
    places: dict[Hashable, str] = {}
    for each in manifests:
        key = _identity(each)
        to_come[key] -= 1
        # The API server does not have what the earlier one leaves.
        by = replace(how, ask=None) if key in places else how
        found = _reviewed(_merge(replace(each, again=places.get(key, "")), before, by), before, profile)
        if not to_come[key]:
            yield found
            continue
        places[key] = each.document.problem("").place
        accepted = found.obj is not None and not _is_refused(found, found.obj, before, profile)
        yield replace(found, replaced=accepted)
        if accepted and found.obj is not None:
            left = found.obj if found.written else application(found, found.obj).over(None)
            before = before.with_objects([left])


def _reviewed(manifest: Manifest, before: Snapshot, profile: Profile) -> Manifest:
    """Return the manifest, refused if it makes no Pods and the API server refuses it."""
    if manifest.makes_pods or manifest.refused:
        return manifest
    answer = review_of(manifest, before, before, profile.release)
    return replace(manifest, refused=(*answer.errors, *answer.change_errors))


def _is_refused(manifest: Manifest, obj: KubernetesObject, before: Snapshot, profile: Profile) -> bool:
    """Whether the API server refuses the object: by its rules, or its admission where it is a Pod."""
    answer = review_of(manifest, before, before, profile.release)
    by_rules = answer.namespace_errors or answer.errors or answer.change_errors
    return bool(by_rules or (isinstance(obj, Pod) and completed(obj, (), before, profile).refusals))


def _identity(manifest: Manifest) -> Hashable:
    obj = manifest.obj
    # Of a name that is to be made up there is one each time.
    return (type(obj), *obj.key) if obj is not None and obj.metadata.name else id(manifest)


def _merge(manifest: Manifest, snapshot: Snapshot, how: Applying) -> Manifest:
    found = _over_live(manifest, snapshot, how)
    owner, workload = found.obj, f"{manifest.namespace}/{manifest.ref}"
    if isinstance(owner, Workload) and (found.live is None or isinstance(owner, Deployment)):
        # Whether there is a live one, and which ReplicaSets a live Deployment has, decides what becomes of its Pods.
        new = found.live is None
        needed = kinds.BY_NAME[type(owner).__name__] if new else kinds.REPLICA_SET
        purpose = gaps.Purpose.APPLYING if new else gaps.Purpose.SIMULATION
        not_read = unread_kinds(snapshot.inventory, {needed}.__contains__, purpose)
        found = replace(found, unknown=(*found.unknown, *not_read))
    if isinstance(owner, StatefulSet | DaemonSet) and not found.refused:
        pods = [pod for pod, certain in of_older_revision(owner, snapshot, snapshot.all(Pod)) if not certain]
    elif isinstance(owner, Deployment) and not found.refused and any(made_for(owner, snapshot)):
        pods = [*orphans_of_template(owner, snapshot)]
    else:
        return found
    orphaned, unread = isinstance(owner, Deployment), dict.fromkeys(map(revision_of, pods))
    unknown = (MayRollOut(workload=workload, revision=each, orphaned=orphaned) for each in unread)
    return replace(found, unknown=(*found.unknown, *unknown))


def _within_quotas(manifest: Manifest, snapshot: Snapshot, charged: dict[str, Amounts]) -> Manifest:
    """Return the manifest, refused if a quota has no room for its object; of what its controller makes, say so.

    ``charged``: namespace → what earlier manifests use that the quotas do not count yet. It is updated.
    """
    obj, namespace = manifest.obj, manifest.namespace
    if obj is None or isinstance(obj, Pod) or manifest.refused or not namespace:
        return manifest
    own = [obj] if snapshot.get(type(obj), *obj.key) is None and not manifest.again else []
    made = [*made_for(obj, snapshot)] if isinstance(obj, Workload) else []
    for objects in (own, made):
        wanted = total(map(object_usage, objects))
        fault = objects_fault(wanted, charged.get(namespace, {}), namespace, snapshot)
        if fault and objects is own:
            return replace(manifest, refused=(FieldError("", Reason.FORBIDDEN, fault),))
        if fault:
            gap = gaps.MayBreakQuota(workload=f"{namespace}/{manifest.ref}", why=fault)
            return replace(manifest, unknown=(*manifest.unknown, gap))
        charged[namespace] = total((charged.get(namespace, {}), wanted))
    return manifest


def _over_live(manifest: Manifest, snapshot: Snapshot, how: Applying) -> Manifest:
    obj = manifest.written or manifest.obj
    live = snapshot.get(type(obj), obj.metadata.namespace, obj.metadata.name) if obj is not None else None
    if obj is None or live is None:
        return manifest
    manifest = replace(manifest, live=live)
    applied = application(manifest, obj)
    try:
        if how.ask is not None:
            return _asked(manifest, applied, live, how)
        return _by_our_rules(manifest, applied, live, how)
    except MergeError as error:
        message = f"kubectl apply cannot merge it with the live object: {error}"
        return replace(manifest, refused=(FieldError("", Reason.NOT_SENT, message),))


def _by_our_rules(manifest: Manifest, applied: Application, live: KubernetesObject, how: Applying) -> Manifest:
    found, named = applied.merged(live), str(manifest.ref)
    if how.server_side:
        # differs: the managers of fields are not read here; the answer says so.
        return replace(manifest, obj=found.obj, written=applied.obj, unknown=(gaps.UnknownManagers(named=named),))
    if found.changes_unkept:
        return replace(manifest, obj=found.obj, written=applied.obj, refused=(forbidden("spec", POD_IMMUTABLE),))
    unknown: tuple[Gap, ...] = (gaps.MayBeRefused(named=named),) if found.changes_unkept is None else ()
    if may_roll_out(found.obj):
        unknown = (*unknown, MayRollOut(workload=f"{manifest.namespace}/{manifest.ref}"))
    return replace(manifest, obj=found.obj, written=applied.obj, merge=found, unknown=unknown)


def _asked(manifest: Manifest, applied: Application, live: KubernetesObject, how: Applying) -> Manifest:
    """Return the manifest with the object that results from a dry run on the API server."""
    from kubectl_spread.cluster.api.dry_run import Patch, PatchType

    assert how.ask is not None  # noqa: S101 - the caller looks
    kind = BY_API[manifest.document.api_version, manifest.document.kind]
    if how.server_side:
        change = Patch(values=applied.sent, type=PatchType.APPLY, force=how.force_conflicts)
    else:
        whole = how.read(kind, manifest.namespace, manifest.name) if how.read else None
        change = Patch(values=applied.patch(live, mapping(whole)))
    said = how.ask(kind, manifest.namespace, manifest.name, change)
    if said.impossible:
        ours = _by_our_rules(manifest, applied, live, how)
        return replace(ours, unknown=(*ours.unknown, gaps.NoDryRun(why=said.impossible)))
    if not isinstance(said.values, dict) or said.obj is None:
        reasons = (Reason(it.reason) if it.reason in set(Reason) else Reason.INVALID for it in said.causes)
        found = zip(said.causes, reasons, strict=True)
        errors = tuple(FieldError(cause.field, reason, cause.message) for cause, reason in found)
        return replace(_by_our_rules(manifest, applied, live, how), refused=errors, unknown=())
    served = without_left_fields(said.values) if how.server_side else said.values
    return replace(manifest, obj=convert(served, kind.struct), written=applied.obj, served=served)


def standard_notes(manifests: Iterable[Manifest], snapshot: Snapshot) -> Iterator[str]:
    """Yield the namespaces of the manifests' Pods that enforce a Pod Security Standard, which is not evaluated.

    The snapshot has the Namespaces of the manifests too.
    """
    for namespace in sorted({each.namespace for each in manifests if each.makes_pods}):
        if standard := enforced_standard(namespace, snapshot):
            enforces = f"Namespace {namespace} enforces the Pod Security Standard {standard}"
            yield f"{enforces}, which is not evaluated: check --dry-run=server asks the API server"


def notes_of(manifests: Sequence[Manifest], snapshot: Snapshot) -> Iterator[str]:
    """Yield ``check``'s notes on the merged manifests, its warnings, and the constraints that apply merges."""
    custom = [each.ref for each in manifests if each.template is not None]
    yield from (f"the controller of the Pods of {ref} is not known" for ref in custom)
    yield from skipped_notes(manifests)
    yield from standard_notes(manifests, snapshot)
    for each in manifests:
        yield from (f"{each.ref}: {warning.field}: {warning.message}" for warning in apply_warnings(each, snapshot))
        yield from (f"{each.ref}: {finding_text(merge).removesuffix('.')}" for merge in merged_constraints(each))


class AppliedManifests(msgspec.Struct, frozen=True):
    """The manifests of a step once they are applied."""

    snapshot: Snapshot  # the cluster then, before any controller acts
    # those that are applied, merged with the live objects; ``unmerged``: the same as they were read
    merged: tuple[Manifest, ...] = ()
    unmerged: tuple[Manifest, ...] = ()
    refused: tuple[ManifestProblem, ...] = ()  # why the API server refuses the others, which change nothing


def apply_all(manifests: Sequence[Manifest], snapshot: Snapshot, profile: Profile) -> AppliedManifests:
    """Return the manifests as kubectl applies them: it goes on after one that the API server refuses.

    Raises:
        ManifestError: one asks for too many Pods.
        ValueError: an object of the cluster cannot be read.
    """
    if not manifests:
        return AppliedManifests(snapshot)
    merged = merge_all(manifests, snapshot, profile)
    namespaces = [each.obj for each in merged if isinstance(each.obj, Namespace) and not each.is_left_out]
    with_namespaces = snapshot.with_objects(namespaces)
    pairs: list[tuple[Manifest, Manifest]] = []
    refused: list[ManifestProblem] = []
    for manifest, unmerged in zip(merged, manifests, strict=True):
        review = review_of(manifest, with_namespaces, snapshot, profile.release)
        faults = [*_find_faults(manifest, review)]
        faults = faults or [*_find_faults_in_cluster(manifest, review, [each for each, _ in pairs], snapshot, profile)]
        refused += faults
        pairs += [] if faults else [(manifest, unmerged)]
    objects = (each.obj for each, _ in pairs if each.obj is not None)
    after = snapshot.with_objects(as_applied(obj, snapshot) for obj in objects)
    applied, sent = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    return AppliedManifests(after, applied, sent, tuple(refused))


def _find_faults(manifest: Manifest, review: Review) -> Iterator[ManifestProblem]:
    """Yield why the API server refuses the manifest in any cluster; ManifestError if it asks for too many Pods."""
    yield from _problems(manifest, review.errors)
    if not review.errors:
        yield from (manifest.document.problem(why, path) for path, why in find_malformed(manifest.obj))
    asked = replicas_of(cast("Workload", manifest.obj)) if type(manifest.obj) in WORKLOADS.values() else 0
    if asked > MOST_PODS:
        raise ManifestError([too_many(manifest, asked)])


def _find_faults_in_cluster(
    manifest: Manifest, review: Review, earlier: Sequence[Manifest], before: Snapshot, profile: Profile
) -> Iterator[ManifestProblem]:
    yield from _problems(manifest, (*review.namespace_errors, *review.change_errors))
    if isinstance(manifest.obj, Pod) and manifest.live is None:
        # A Pod is admitted as it is sent, by what is there then.
        there = before.with_objects(as_applied(each.obj, before) for each in earlier if each.obj is not None)
        made = completed(manifest.obj, (), there, profile)
        yield from _problems(manifest, pod_errors(manifest, made.refusals))
        pods = [each.obj for each in earlier if isinstance(each.obj, Pod) and each.namespace == manifest.namespace]
        sent = [(pod, 1) for pod in pods if before.get(Pod, *pod.key) is None]
        # Whether the controller of quotas has seen those of the file by then is left to chance.
        changed = any(isinstance(each.obj, ResourceQuota) for each in earlier if each.namespace == manifest.namespace)
        refused = () if made.refusals or changed else over_quota(made.pod, sent, before, profile)
        yield from (manifest.document.problem(refusal.message) for refusal in refused)


def _problems(manifest: Manifest, errors: Sequence[FieldError]) -> Iterator[ManifestProblem]:
    return (manifest.document.problem(error.message, error.field) for error in errors)


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


def apply_warnings(manifest: Manifest, snapshot: Snapshot) -> Iterator[ValidationWarning]:
    """Yield what to know about applying the merged manifest, and the API server does not say.

    The snapshot has all manifests.

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
    elif not manifest.refused and (decided := _autoscaled(manifest, snapshot)):
        yield ValidationWarning(field="spec.replicas", message=decided)
    elif not manifest.refused and (scaled := replicas_scaled(manifest.obj, manifest.live)):
        before, now = scaled
        by = "something else, as a HorizontalPodAutoscaler or kubectl scale, has set it since the last apply"
        yield ValidationWarning(field="spec.replicas", message=f"{by}: applying it changes {before} replicas to {now}")
    # Fields that the manifest leaves out stay where kubectl did not apply the live object.
    elif manifest.merge is not None and (kept := manifest.merge.kept):
        others = f" and in {enumerated(kept[1:])}" * bool(kept[1:])
        lacks = "the live object lacks the annotation last-applied-configuration"
        stay = f"kubectl apply keeps what the manifest leaves out here{others}: {lacks}"
        if release := manifest.live and manifest.live.metadata.annotations.get(HELM_RELEASE):
            helm = f"helm upgrade of {release} also removes what its last release set"
            stay = f"{stay}. This is the answer for kubectl apply: {helm}"
        yield ValidationWarning(field=kept[0], message=stay)


def _autoscaled(manifest: Manifest, snapshot: Snapshot) -> str:
    """Return that the manifest sets replicas that an autoscaler decides, and what follows; empty if it does not."""
    written, owner, live = manifest.written or manifest.obj, manifest.obj, manifest.live
    if not (isinstance(written, Scaled) and isinstance(owner, Scaled)) or written.spec.replicas is None:
        return ""
    if (bounds := bounds_of(owner, snapshot)) is None:
        return ""
    asked = replicas_of(owner)
    now, restored = (replicas_of(live) if isinstance(live, Scaled) else asked), bounds.restored(asked)
    return replicas_decided(bounds, now, asked, restored)


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
