"""The manifests that ``check`` places: what each asks for, what the API server refuses, and what becomes of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.apiserver.review import Review
from kubectl_spread.commands import admission_errors
from kubectl_spread.commands.manifests import MOST_PODS, Manifest, too_many
from kubectl_spread.commands.view import View
from kubectl_spread.contract.check import ValidationError
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers.next_pod import NextPod, completed, siblings
from kubectl_spread.controllers.replicas import as_created, first_pod, replicas_applied, with_replicas
from kubectl_spread.controllers.rollout_plan import DesiredWorkload
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, owner_of
from kubectl_spread.errors import ManifestError
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta, OwnerReference
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.objects.workloads import CronJob, StatefulSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.simulation.applied import AppliedOutcomes, applied
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.commands.server_side import Create, Served


class AskedManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest that makes Pods.

    Attributes:
        wanted: what it asks for, its Pod as the API server stores it.
        handle: the cluster with all manifests, before any Pod of theirs is there, as the scheduler of its Pods sees it.
        review: what the API server says to the object.
        errors: why it refuses the object; for a bare Pod, why it is not let in too.
        refusals: why it refuses the Pods of a workload, by what is known of its rules.
        refused: the same as reports have it, by what it says itself where it was asked.
        from_living: the paths of what was taken from living Pods, for its template does not say so.
        served: what the API server says of it; None where it was not asked.
        is_sound: whether all that was to be read of its Pods can be read.
        numbered: whether the number of Pods was given, and not by the manifest.
    """

    manifest: Manifest
    wanted: DesiredWorkload
    handle: Handle
    review: Review
    errors: tuple[ValidationError, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    refused: tuple[ValidationError, ...] = ()
    from_living: tuple[str, ...] = ()
    served: Served | None = None
    is_sound: bool = True
    numbered: bool = False

    @property
    def is_placed(self) -> bool:
        """Whether its Pods have a place once nobody refuses them: they are sound themselves."""
        return self.is_sound and all(each.by_policy for each in self.refusals)

    @property
    def is_held(self) -> bool:
        """Whether its Pods come to no node as things are, whatever nodes there are: somebody refuses or holds them."""
        pod = self.wanted.pod
        gated = bool(pod.spec.scheduling_gates) or not self.handle.profile.serves(pod)
        return gated or bool(self.errors or self.refused)

    @property
    def objects(self) -> Iterator[KubernetesObject]:
        """What is applied for it: the workload, with the run that a CronJob makes next; or the Pods."""
        wanted, owner = self.wanted, self.wanted.owner
        if isinstance(self.manifest.obj, Pod) and not wanted.numbered:
            yield wanted.pod if self.served and self.served.pod else self.manifest.obj
        elif owner is None:
            yield from (wanted.replica(number) for number in range(1, wanted.replicas + 1))
        else:
            applied_owner = with_replicas(owner, wanted.replicas) if self.numbered else owner
            runs = isinstance(owner, CronJob) and not owner.spec.suspend
            yield from as_created(applied_owner, self.handle.snapshot) if runs else (applied_owner,)


def laid_over(manifests: Sequence[Manifest], snapshot: Snapshot, profile: Profile) -> Snapshot:
    """Return the cluster as it would be with the documents applied, before any Pod of theirs is scheduled."""
    objects = [manifest.obj for manifest in manifests if manifest.obj is not None]
    claims = [obj for obj in objects if isinstance(obj, PersistentVolumeClaim)]
    # A volume that exists is bound or not, whatever the manifest says.
    volumes_there = {volume.metadata.name for volume in snapshot.all(PersistentVolume)}
    merged = snapshot.with_objects(
        created
        for obj in objects
        if not isinstance(obj, Pod | PersistentVolumeClaim)
        and not (isinstance(obj, PersistentVolume) and obj.metadata.name in volumes_there)
        for created in as_created(obj, snapshot)
    )
    return merged.with_others(volumes.created(claims, merged, profile))


def asked_manifest(
    manifest: Manifest,
    earlier: Sequence[Manifest],
    view: View,
    snapshot: Snapshot,
    *,
    replicas: int | None,
    create: Create | None,
) -> AskedManifest:
    """Return what one manifest asks for, and what the API server says to it.

    Args:
        manifest: the manifest.
        earlier: those before it.
        view: the cluster without any of them.
        snapshot: the cluster with all of them.
        replicas: how many are meant; None for as many as there are once it is applied.
        create: what asks the API server for a dry run; None to go by what is known of its rules.

    Raises:
        ManifestError: it asks for more Pods than there can be.
        ValueError: an object of the cluster cannot be read.
    """
    if isinstance(manifest.obj, Pod):
        # A Pod is let in as it is sent: by what is there then.
        snapshot = laid_over(earlier, view.snapshot, view.handle().profile)
    wanted = desired(manifest, snapshot, view.snapshot, replicas)
    served = _served(manifest, wanted, create) if create else None
    handle = handle_for(wanted.pod, snapshot, view)
    release = handle.profile.release
    answered = served if served and not served.missing else None
    review = admission_errors.reviewed(manifest, snapshot, view.snapshot, release, validated=answered is not None)
    errors = admission_errors.as_errors((*review.namespace_errors, *review.errors))
    errors += answered.errors if answered else ()
    asked = AskedManifest(
        manifest=manifest,
        wanted=replace(wanted, release=release),
        handle=handle,
        review=review,
        errors=errors + admission_errors.as_errors(review.change_errors),
        served=served,
        numbered=replicas is not None,
    )
    try:
        found = next_of(manifest, wanted, snapshot, view, handle.profile)
    except ValueError:
        if not asked.errors:
            raise
        return replace(asked, is_sound=False)
    return _with_refusals(asked, found, view, errors)


def _with_refusals(
    asked: AskedManifest, found: NextPod, view: View, reported: Sequence[ValidationError]
) -> AskedManifest:
    """Return the manifest with its Pod as it is stored, and why that is refused."""
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
    refused = admission_errors.not_created(manifest, found.refusals, reported)
    if answered:
        return replace(asked, refused=answered.of_pods)
    if exists or not refused:
        return asked
    if isinstance(manifest.obj, Pod):
        return replace(asked, errors=(*asked.errors, *refused))
    return replace(asked, refusals=found.refusals, refused=refused)


def desired(manifest: Manifest, snapshot: Snapshot, before: Snapshot, replicas: int | None) -> DesiredWorkload:
    """Return what the manifest asks for, its Pod as the controller makes it.

    Args:
        manifest: the manifest.
        snapshot: the cluster with all manifests.
        before: the cluster without them.
        replicas: how many are meant; None for as many as there are once it is applied.

    Raises:
        ManifestError: it asks for more Pods than there can be.
    """
    if isinstance(manifest.obj, Pod):
        return DesiredWorkload(manifest.ref, None, manifest.obj, replicas or 1, numbered=replicas is not None)
    if manifest.template is not None:
        return DesiredWorkload(
            manifest.ref, None, _custom_pod(manifest), manifest.replicas if replicas is None else replicas
        )
    owner = cast("Workload", manifest.obj)
    asked = replicas_applied(owner, before) if replicas is None else replicas
    if asked > MOST_PODS:
        raise ManifestError([too_many(manifest, asked)])
    return DesiredWorkload(manifest.ref, owner, first_pod(owner, snapshot), asked)


def next_of(manifest: Manifest, wanted: DesiredWorkload, snapshot: Snapshot, view: View, profile: Profile) -> NextPod:
    """Return the manifest's Pod as the API server completes or refuses it."""
    return completed(wanted.pod, _siblings(manifest, wanted, view.snapshot), snapshot, profile)


def handle_for(pod: Pod, snapshot: Snapshot, view: View) -> Handle:
    """Return the cluster as the scheduler of the Pod sees it."""
    return Handle.build(snapshot, view.handle(pod.spec.scheduler_name).profile)


def outcomes_of(
    asked: Sequence[AskedManifest], others: Iterable[KubernetesObject], view: View, *, as_if: bool = False
) -> Mapping[int, AppliedOutcomes]:
    """Return what becomes of manifests that are applied together, by the place of each in the sequence.

    Args:
        asked: the manifests.
        others: what is applied besides, which makes no Pods.
        view: the cluster without them.
        as_if: whether nobody refuses their Pods, or holds them back.
    """
    if not asked:
        return {}
    stored: dict[tuple[str, WorkloadRef], Pod] = {
        (each.manifest.namespace, WorkloadRef(kind=type(obj).__name__, name=obj.metadata.name)): each.wanted.pod
        for each in asked
        # Each Pod of a StatefulSet has volumes of its own.
        if each.served and each.served.pod and not isinstance(each.wanted.owner, StatefulSet)
        for obj in each.objects
    }
    objects = (*others, *(obj for each in asked for obj in each.objects))
    found = applied([each.wanted for each in asked], objects, view.handles, stored=stored, as_if=as_if)
    return dict(enumerate(found))


def _siblings(manifest: Manifest, wanted: DesiredWorkload, before: Snapshot) -> tuple[Pod, ...]:
    """Return the Pods that live and were made by the template of the manifest."""
    if wanted.owner is None:
        return ()
    own = (pod for pod in before.all(Pod) if not pod.finished and pod.metadata.namespace == manifest.namespace)
    running = tuple(pod for pod in own if owner_of(pod, before) == manifest.ref)
    return siblings(wanted.pod, OwnedPods(manifest.namespace, manifest.ref, wanted.owner, running), before)


def _served(manifest: Manifest, wanted: DesiredWorkload, create: Create) -> Served:
    """Return what the API server says of the manifest.

    Raises:
        ClusterError: it cannot be reached or understood.
    """
    from kubectl_spread.commands.server_side import ask

    # The first Pod of a StatefulSet has volumes that the template does not name.
    return ask(manifest, wanted.replica(1) if isinstance(wanted.owner, StatefulSet) else wanted.pod, create)


def _custom_pod(manifest: Manifest) -> Pod:
    document, template = manifest.document, manifest.template
    assert template is not None  # noqa: S101 - the caller looks
    owner = OwnerReference(api_version=document.api_version, kind=document.kind, name=manifest.name, controller=True)
    metadata = ObjectMeta(
        name=owner.name, namespace=manifest.namespace, labels=template.metadata.labels, owner_references=(owner,)
    )
    return Pod(metadata=metadata, spec=template.spec)
