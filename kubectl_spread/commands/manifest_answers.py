"""What ``check`` reports about each manifest: the Pods it asks for, the API server's answer, and their outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.apply import mapping
from kubectl_spread.apiserver.review import Review
from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason
from kubectl_spread.commands.applying import apply_warnings, merged_constraints, pod_errors, review_of
from kubectl_spread.commands.bad_objects import find_malformed
from kubectl_spread.commands.manifests import MOST_PODS, Manifest, too_many
from kubectl_spread.commands.view import View
from kubectl_spread.contract import check
from kubectl_spread.contract.evaluation import EvaluationReport, as_item, with_missing
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers.next_pod import NextPod, carried_over, completed, over_quota, siblings
from kubectl_spread.controllers.replicas import as_created, first_pod, replicas_applied, with_replicas
from kubectl_spread.controllers.rollout_plan import DesiredWorkload, FailedCreate
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, owner_of
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.manifest_outcome import ManifestOutcome, outcome_of, undecided_outcome, unplaced_pods
from kubectl_spread.errors import ManifestError
from kubectl_spread.gaps import Gap, MayBreakQuota, NoDryRun, Purpose, UnreadKind
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.kinds import BY_API, POD, Kind, Workload
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta, OwnerReference, Plain
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.objects.workloads import CronJob, StatefulSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.applied import AppliedOutcomes, AppliedWorkload, applied
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.dry_run import DryRun
    from kubectl_spread.diagnosis.fixes.situation import Written


# (Kind, namespace, object) → the result of the dry run.
Create: TypeAlias = "Callable[[Kind, str, Mapping[str, Plain]], DryRun]"


class Served(msgspec.Struct, frozen=True):
    """The server's answer to a manifest: the Pod as it would store it, or why it refuses the manifest or its Pods.

    ``missing``: what could not be asked.
    """

    pod: Pod | None = None
    errors: tuple[FieldError, ...] = ()
    of_pods: tuple[FieldError, ...] = ()
    missing: tuple[Gap, ...] = ()


def _ask(manifest: Manifest, pod: Pod, create: Create) -> Served:
    """Return the server's answer to the manifest and its first Pod; ClusterError if it does not answer."""
    kind = manifest.served_as or BY_API.get((manifest.document.api_version, manifest.document.kind))
    known = kind is None or manifest.served is not None or manifest.refused
    from kubectl_spread.cluster.api.dry_run import DryRun

    result = DryRun() if kind is None or known else create(kind, manifest.namespace, mapping(manifest.document.values))
    if manifest.refused or result.causes or result.impossible or kind is POD:
        return _answer_of(result, pod, path="")
    labels: Plain = {**pod.metadata.labels}
    metadata: Plain = {
        **mapping(_template_sent(manifest).get("metadata")),
        "generateName": f"{pod.metadata.name}-",
        "labels": labels,
    }
    values: dict[str, Plain] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": _spec_sent(manifest, pod),
    }
    served = _answer_of(create(POD, manifest.namespace, values), pod, path=manifest.pod_path.removesuffix("spec"))
    return replace(served, errors=(), of_pods=served.errors)


def _answer_of(result: DryRun, pod: Pod, *, path: str) -> Served:
    if result.impossible:
        return Served(missing=(NoDryRun(why=result.impossible),))
    if result.causes or not isinstance(result.obj, Pod):
        errors = (
            FieldError(field=path * bool(each.field) + each.field, reason=each.reason, message=each.message)
            for each in result.causes
        )
        return Served(errors=tuple(errors))
    # The manifest lacks what a controller adds, such as the tolerations of a DaemonSet's Pods.
    own = result.obj.spec.tolerations
    added = (toleration for toleration in pod.spec.tolerations if toleration not in own)
    return Served(pod=replace(pod, spec=replace(result.obj.spec, tolerations=(*own, *added))))


def _template_sent(manifest: Manifest) -> Mapping[str, Plain]:
    if manifest.group:
        return mapping(manifest.group.template)
    found: Plain = dict(manifest.served or mapping(manifest.document.values))
    for field in manifest.pod_path.split(".")[:-1]:
        found = mapping(found).get(field)
    return mapping(found)


def _spec_sent(manifest: Manifest, pod: Pod) -> dict[str, Plain]:
    """Return the template's spec with the volumes of volumeClaimTemplates."""
    spec = mapping(_template_sent(manifest).get("spec"))
    volumes = spec.get("volumes")
    known = [mapping(volume) for volume in volumes] if isinstance(volumes, list) else []
    names = {volume.get("name") for volume in known}
    claimed: Iterable[Plain] = (
        msgspec.to_builtins(volume)
        for volume in pod.spec.volumes
        if volume.name not in names and volume.persistent_volume_claim
    )
    return {**spec, "volumes": [*known, *claimed]}


class AskedManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest that makes Pods."""

    manifest: Manifest
    wanted: DesiredWorkload  # the Pods that it asks for, as the API server stores them
    handle: Handle  # the cluster with all manifests but without their Pods, as the scheduler of its Pods sees it
    review: Review
    # why the API server refuses the object; for a bare Pod, also why it does not admit it
    errors: tuple[FieldError, ...] = ()
    refusals: tuple[Refusal, ...] = ()  # why the API server refuses the Pods of a workload, by the rules known here
    # the same as reports have it, in the API server's own words where it was asked
    refused: tuple[FieldError, ...] = ()
    # the paths of fields that are taken from live Pods because the template does not have them
    from_living: tuple[str, ...] = ()
    served: Served | None = None
    is_sound: bool = True  # whether its Pods can be parsed
    numbered: bool = False  # whether the number of Pods comes from a flag and not from the manifest

    @property
    def is_placed(self) -> bool:
        """Whether its Pods are placed as if nobody refused them: they are valid themselves, and not an existing Pod."""
        exists = isinstance(self.manifest.obj, Pod) and bool(self.review.change_errors)
        return self.is_sound and not exists and all(each.by_policy for each in self.refusals)

    @property
    def is_held(self) -> bool:
        """Whether its Pods get no node whatever nodes there are: somebody refuses or holds them."""
        pod = self.wanted.pod
        gated = bool(pod.spec.scheduling_gates) or not self.handle.profile.serves(pod)
        return gated or bool(self.errors or self.refused)

    @property
    def is_accepted(self) -> bool:
        """Whether it is applied, and nobody but the API server keeps its Pods from a node."""
        return not self.errors and (bool(self.refused) or not self.is_held)

    @property
    def objects(self) -> Iterator[KubernetesObject]:
        """The objects to apply: the workload, with the next Job of a CronJob; or the Pods."""
        wanted, owner = self.wanted, self.wanted.owner
        if isinstance(self.manifest.obj, Pod) and not wanted.numbered:
            yield wanted.pod if self.served and self.served.pod else self.manifest.obj
        elif owner is None:
            yield from (wanted.replica(number) for number in range(1, wanted.replicas + 1))
        else:
            applied_owner = with_replicas(owner, wanted.replicas) if self.numbered else owner
            runs = isinstance(owner, CronJob) and not owner.spec.suspend
            yield from as_created(applied_owner, self.handle.snapshot) if runs else (applied_owner,)


def with_manifests(manifests: Sequence[Manifest], view: View) -> Snapshot:
    """Return the cluster with the documents applied, before any of their Pods is scheduled."""
    snapshot, applied = view.snapshot, (each for each in manifests if not each.is_left_out)
    objects = [each.obj for each in applied if each.obj is not None]
    claims = [obj for obj in objects if isinstance(obj, PersistentVolumeClaim)]
    # A manifest does not change whether an existing volume is bound.
    volumes_there = {volume.metadata.name for volume in snapshot.all(PersistentVolume)}
    merged = snapshot.with_objects(
        created
        for obj in objects
        if not isinstance(obj, Pod | PersistentVolumeClaim)
        and not (isinstance(obj, PersistentVolume) and obj.metadata.name in volumes_there)
        for created in as_created(obj, snapshot)
    )
    return merged.with_others(volumes.created(claims, merged, view.handle().profile))


def asked_manifest(
    manifest: Manifest,
    earlier: Sequence[Manifest],
    view: View,
    snapshot: Snapshot,
    *,
    replicas: int | None,
    create: Create | None,
) -> AskedManifest:
    """Return what one manifest asks for, and the API server's answer to it, by a dry run if ``create`` sends one.

    ``view`` is the cluster without any manifest, ``snapshot`` with all of them; ``replicas`` overrides the manifest's.

    Raises:
        ManifestError: it asks for too many Pods.
        ValueError: an object of the cluster cannot be parsed.
    """
    if isinstance(manifest.obj, Pod):
        # A Pod is admitted when it is sent, so only earlier manifests count.
        snapshot = with_manifests(earlier, view)
    wanted = desired(manifest, snapshot, view.snapshot, replicas)
    handle = handle_for(wanted.pod, snapshot, view)
    served = _served(manifest, wanted, create)
    if served and _is_cured(manifest, wanted, served, handle, view):
        served = None
    release = handle.profile.release
    answered = served if served and not served.missing else None
    review = review_of(manifest, snapshot, view.snapshot, release, validated=answered is not None)
    errors = (*review.namespace_errors, *review.errors)
    errors += answered.errors if answered else ()
    asked = AskedManifest(
        manifest=manifest,
        wanted=replace(wanted, release=release),
        handle=handle,
        review=review,
        errors=errors + review.change_errors,
        served=served,
        numbered=replicas is not None,
    )
    # What the scheduler makes of a constraint whose selector cannot be parsed is known.
    if asked.errors and any("topologySpreadConstraints" not in path for path, _ in find_malformed(wanted)):
        return replace(asked, is_sound=False)
    return _with_refusals(asked, next_of(manifest, wanted, handle, view), view, errors)


def _served(manifest: Manifest, wanted: DesiredWorkload, create: Create | None) -> Served | None:
    if create is None:
        return None
    # The first Pod of a StatefulSet has volumes that the template does not have.
    first = wanted.replica(1) if isinstance(wanted.owner, StatefulSet) else wanted.pod
    return _ask(manifest, first, create)


def _is_cured(manifest: Manifest, wanted: DesiredWorkload, served: Served, handle: Handle, view: View) -> bool:
    """Whether the API server refuses the Pod for want of other documents, or for Pods that go before this one comes.

    A quota that refuses it by our rules too is counted as Pods come and go.
    """
    errors = served.errors if isinstance(manifest.obj, Pod) else served.of_pods
    if not errors:
        return False
    pod, profile = wanted.pod, handle.profile
    now, then = (completed(pod, (), each, profile) for each in (view.snapshot, handle.snapshot))
    full = [each.message for each in over_quota(now.pod, (), view.snapshot, profile)]
    return (bool(now.refusals) and not then.refusals) or any(why in each.message for why in full for each in errors)


def _with_refusals(asked: AskedManifest, found: NextPod, view: View, reported: Sequence[FieldError]) -> AskedManifest:
    manifest, served = asked.manifest, asked.served
    answered = served if served and not served.missing else None
    stored = (served.pod if served else None) or found.pod
    handle = asked.handle
    if not handle.profile.serves(stored):
        handle = handle_for(stored, handle.snapshot, view)
    asked = replace(
        asked,
        wanted=replace(asked.wanted, pod=stored),
        handle=handle,
        from_living=found.from_living if stored is found.pod else (),
    )
    exists = isinstance(manifest.obj, Pod) and view.snapshot.get(Pod, *manifest.obj.key) is not None
    refused = pod_errors(manifest, found.refusals, reported)
    if answered:
        return replace(asked, refused=answered.of_pods)
    if exists or not refused:
        return asked
    if isinstance(manifest.obj, Pod):
        return replace(asked, errors=(*asked.errors, *refused))
    return replace(asked, refusals=found.refusals, refused=refused)


def desired(manifest: Manifest, snapshot: Snapshot, before: Snapshot, replicas: int | None) -> DesiredWorkload:
    """Return what the manifest asks for, with its Pod as the controller creates it.

    ``snapshot`` is the cluster with all manifests, ``before`` without them; ``replicas`` overrides the manifest's.
    ManifestError if it asks for too many Pods.
    """
    if isinstance(manifest.obj, Pod):
        return DesiredWorkload(manifest.ref, None, manifest.obj, replicas or 1, numbered=replicas is not None)
    if manifest.template is not None:
        asked = manifest.replicas if replicas is None else replicas
        return DesiredWorkload(manifest.ref, None, _custom_pod(manifest, manifest.template), asked)
    owner = cast("Workload", manifest.obj)
    asked = replicas_applied(owner, before) if replicas is None else replicas
    if asked > MOST_PODS:
        raise ManifestError([too_many(manifest, asked)])
    return DesiredWorkload(manifest.ref, owner, first_pod(owner, snapshot), asked)


def next_of(manifest: Manifest, wanted: DesiredWorkload, handle: Handle, view: View) -> NextPod:
    """Return the manifest's Pod as the API server stores or refuses it."""
    living = _siblings(manifest, wanted, view)
    return completed(wanted.pod, living, handle.snapshot, handle.profile)


def handle_for(pod: Pod, snapshot: Snapshot, view: View) -> Handle:
    """Return the cluster as the scheduler of the Pod sees it."""
    return Handle.build(snapshot, view.handle(pod.spec.scheduler_name).profile)


def outcomes_of(
    asked: Mapping[int, AskedManifest], others: Mapping[int, KubernetesObject], view: View, *, as_if: bool = False
) -> Mapping[int, AppliedOutcomes]:
    """Return place among all documents → the outcome of the manifest there, where all are applied together.

    ``others`` are further objects to apply, by place; ``as_if`` nobody refused or held their Pods.
    """
    if not asked:
        return {}
    stored: dict[tuple[str, WorkloadRef], Pod] = {
        (each.manifest.namespace, WorkloadRef(kind=type(obj).__name__, name=obj.metadata.name)): each.wanted.pod
        for each in asked.values()
        # Each Pod of a StatefulSet has its own volumes.
        if each.served and each.served.pod and not isinstance(each.wanted.owner, StatefulSet)
        for obj in each.objects
    }
    objects = objects_of(asked, others)
    found = applied([each.wanted for each in asked.values()], objects, view.handles, stored=stored, as_if=as_if)
    return dict(zip(asked, found, strict=True))


def objects_of(
    asked: Mapping[int, AskedManifest], others: Mapping[int, KubernetesObject]
) -> tuple[KubernetesObject, ...]:
    """Return the objects to apply, in the order of the documents; arguments as for ``outcomes_of``."""
    by_place = ((asked[n].objects if n in asked else (others[n],)) for n in sorted((*asked, *others)))
    return tuple(obj for objects in by_place for obj in objects)


def _siblings(manifest: Manifest, wanted: DesiredWorkload, view: View) -> tuple[Pod, ...]:
    """Return the live Pods that were created from the manifest's template, or that show what webhooks add to it."""
    if wanted.owner is None:
        return ()
    before = view.snapshot
    own = (pod for pod in before.within(Pod, manifest.namespace) if not pod.finished)
    running = tuple(pod for pod in own if owner_of(pod, before) == manifest.ref)
    workload = OwnedPods(manifest.namespace, manifest.ref, wanted.owner, running)
    profile = view.handle(wanted.pod.spec.scheduler_name).profile
    return siblings(wanted.pod, workload, before) or carried_over(wanted.pod, running, before, profile)


def _custom_pod(manifest: Manifest, template: PodTemplateSpec) -> Pod:
    document = manifest.document
    owner = OwnerReference(api_version=document.api_version, kind=document.kind, name=manifest.name, controller=True)
    metadata = ObjectMeta(
        name=owner.name, namespace=manifest.namespace, labels=template.metadata.labels, owner_references=(owner,)
    )
    return Pod(metadata=metadata, spec=template.spec)


class Answer(msgspec.Struct, frozen=True):
    """The answer about one manifest."""

    item: check.CheckItem
    # the outcome in which its first Pod finds no node; None where all find one, or another scheduler decides
    jammed: AppliedWorkload | None = None
    written: Written | None = None  # the manifest, for changes of it in that outcome


def answers_of(
    asked: Mapping[int, AskedManifest], others: Mapping[int, KubernetesObject], view: View
) -> Mapping[int, Answer]:
    """Return place among all documents → the answer about the manifest there; ``others`` create no Pods.

    ValueError if an object of the cluster cannot be parsed.
    """
    before = view.snapshot
    came = {place: unplaced_pods(each.wanted, before, each.handle) for place, each in asked.items() if each.is_sound}
    if any(each.undecided for each in came.values()):
        outcomes = {place: undecided_outcome(asked[place].wanted, one) for place, one in came.items()}
        return {place: _answer(each, outcomes.get(place), None) for place, each in asked.items()}
    seen = _seen(asked, others, view)
    answers = {}
    for place, each in asked.items():
        answer = _answer(each, *_outcomes(each, [found.get(place) for found in seen], before))
        if answer.jammed is not None:
            together = {n: other for n, other in asked.items() if other.is_accepted or other is each}
            answer = replace(answer, written=_written(each, objects_of(together, others), before))
        answers[place] = answer
    return answers


def _written(asked: AskedManifest, applied: tuple[KubernetesObject, ...], before: Snapshot) -> Written:
    """Return the manifest, applied together with these objects, as the search for fixes changes it."""
    from kubectl_spread.diagnosis.fixes.candidate import as_template
    from kubectl_spread.diagnosis.fixes.patch import pointer
    from kubectl_spread.diagnosis.fixes.situation import Written

    manifest = asked.manifest
    obj = manifest.written or manifest.obj
    return Written(
        obj=cast("Workload | Pod | None", manifest.obj),
        template=manifest.template
        or (as_template(obj) if isinstance(obj, Pod) else template_of(cast("Workload", obj))),
        path=pointer(*manifest.pod_path.split(".")[:-1]),
        values=manifest.document.values,
        before=before,
        applied=applied,
        own=tuple(asked.objects),
        as_if=asked.is_held,
    )


def _outcomes(
    asked: AskedManifest, seen: Sequence[AppliedOutcomes | None], before: Snapshot
) -> tuple[ManifestOutcome | None, ManifestOutcome | None]:
    """Return the outcome, and the outcome if all Pods were admitted where only some are; None for no outcome."""
    if not asked.is_placed:
        return None, None
    now, as_if = (outcome_of(asked.wanted, before, found) if found else None for found in seen)
    if now is None or as_if is None:
        return now or as_if, None
    if now.failed_create is not None and now.failed_create.created:
        return now, as_if
    if now.refused_by_chance:
        return now, None
    return replace(as_if, failed_create=now.failed_create, refused_by_chance=now.refused_by_chance), None


def _seen(
    asked: Mapping[int, AskedManifest], others: Mapping[int, KubernetesObject], view: View
) -> Sequence[Mapping[int, AppliedOutcomes]]:
    """Return the outcomes by place: of the manifests whose Pods may get a node, and as if nobody refused or held Pods.

    The second are only of manifests whose Pods are refused or held.
    """
    now = outcomes_of({n: each for n, each in asked.items() if each.is_accepted}, others, view)
    short = {n for n, each in now.items() if each.first.refused} | {n for n, each in asked.items() if each.is_held}
    placed = {n: each for n, each in asked.items() if each.is_placed}
    as_if = outcomes_of(placed, others, view, as_if=True) if short.intersection(placed) else {}
    return now, {number: each for number, each in as_if.items() if number in short}


def _answer(asked: AskedManifest, outcome: ManifestOutcome | None, more: ManifestOutcome | None) -> Answer:
    """Return the answer about one manifest; ``more``: the outcome if all Pods were admitted, where only some are."""
    manifest, served = asked.manifest, asked.served
    item = _item(manifest, check.check_item(outcome) if outcome else _nothing(manifest))
    if outcome is None:
        item = replace(item, replicas=asked.wanted.replicas)
    else:
        injected = lint.from_living(asked.from_living)
        item = replace(item, findings=(*merged_constraints(manifest), *item.findings, *injected))
        item = with_missing(item, served.missing) if served and served.missing else item
    unknown = tuple(_unknown(manifest, outcome))
    item = with_missing(item, unknown)
    may_fit = any(isinstance(gap, UnreadKind) and gap.purpose is Purpose.PREEMPTION for gap in item.incomplete)
    if (unknown or may_fit) and item.verdict is not Verdict.INVALID:
        item = replace(item, verdict=Verdict.INCOMPLETE)
    item = replace(item, warnings=tuple(apply_warnings(manifest, asked.handle.snapshot)))
    failed, errors = item.failed_create, asked.errors
    if failed and isinstance(manifest.obj, Pod) and not asked.numbered:
        # The Pod is the object.
        errors = (*errors, FieldError(field="", reason=Reason.FORBIDDEN, message=failed.message))
    if errors:
        # A manifest is not invalid because its namespace does not exist yet.
        absent = all(error.reason is Reason.NO_NAMESPACE for error in errors)
        verdict = Verdict.FAILED_CREATE if absent else Verdict.INVALID
        return Answer(replace(item, verdict=verdict, validation=errors, failed_create=None))
    if asked.refused:
        first = asked.refused[0]
        missing = tuple(each.missing for each in asked.refusals if each.missing)
        failed = FailedCreate(created=0, message=first.message, refusals=asked.refused, missing=missing)
    if failed is None:
        return Answer(item, outcome.jammed if outcome else None)
    item = replace(item, failed_create=failed, all_created=check.all_created(more) if more else None)
    return Answer(replace(item, verdict=Verdict.FAILED_CREATE), outcome.jammed if outcome and failed.created else None)


def _unknown(manifest: Manifest, outcome: ManifestOutcome | None) -> Iterator[Gap]:
    yield from manifest.unknown
    if outcome is not None and outcome.refused_by_chance:
        workload = f"{manifest.namespace}/{manifest.ref}"
        yield MayBreakQuota(workload=workload, why=outcome.refused_by_chance, by_chance=True)


def refused_item(manifest: Manifest, errors: tuple[FieldError, ...]) -> check.CheckItem:
    """Return the item of a manifest without Pods that the API server refuses."""
    return replace(_item(manifest, _nothing(manifest)), replicas=0, validation=errors)


def _nothing(manifest: Manifest) -> EvaluationReport:
    return EvaluationReport(
        namespace=manifest.namespace,
        name=manifest.name,
        verdict=Verdict.INVALID,
        message="",
        feasible=(),
        nodes=(),
        constraints=(),
    )


def _item(manifest: Manifest, report: EvaluationReport) -> check.CheckItem:
    document = manifest.document
    return as_item(
        check.CheckItem,
        report,
        namespace=manifest.namespace,
        name=manifest.name,
        kind=document.kind,
        source=f"{document.source}, document {document.number}",
        workload=manifest.ref,
    )
