"""The manifests that ``check`` places: their Pods, the API server's errors, and the outcome of applying them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.review import Review
from kubectl_spread.apiserver.validation.field_errors import FieldError
from kubectl_spread.commands import admission_errors
from kubectl_spread.commands.bad_objects import find_malformed
from kubectl_spread.commands.manifests import MOST_PODS, Manifest, too_many
from kubectl_spread.commands.view import View
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers.next_pod import NextPod, carried_over, completed, over_quota, siblings
from kubectl_spread.controllers.replicas import as_created, first_pod, replicas_applied, with_replicas
from kubectl_spread.controllers.rollout_plan import DesiredWorkload
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, owner_of
from kubectl_spread.errors import ManifestError
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta, OwnerReference
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.objects.workloads import CronJob, StatefulSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.applied import AppliedOutcomes, applied
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.commands.server_side import Create, Served


class AskedManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest that makes Pods.

    Attributes:
        wanted: the Pods that it asks for, as the API server stores them.
        handle: the cluster with all manifests but without their Pods, as the scheduler of its Pods sees it.
        errors: why the API server refuses the object; for a bare Pod, also why it does not admit it.
        refusals: why the API server refuses the Pods of a workload, by the rules known here.
        refused: the same as reports have it, in the API server's own words where it was asked.
        from_living: the paths of fields that are taken from live Pods because the template does not have them.
        is_sound: whether its Pods can be parsed.
        numbered: whether the number of Pods comes from a flag and not from the manifest.
    """

    manifest: Manifest
    wanted: DesiredWorkload
    handle: Handle
    review: Review
    errors: tuple[FieldError, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    refused: tuple[FieldError, ...] = ()
    from_living: tuple[str, ...] = ()
    served: Served | None = None
    is_sound: bool = True
    numbered: bool = False

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
    review = admission_errors.review_of(manifest, snapshot, view.snapshot, release, validated=answered is not None)
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
    from kubectl_spread.commands.server_side import ask

    # The first Pod of a StatefulSet has volumes that the template does not have.
    first = wanted.replica(1) if isinstance(wanted.owner, StatefulSet) else wanted.pod
    return ask(manifest, first, create)


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
    refused = admission_errors.pod_errors(manifest, found.refusals, reported)
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
