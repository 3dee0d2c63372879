"""Manifests that a step applies: read as in ``check``, and refused where the API server refuses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from kubectl_spread.apiserver.review import Review
from kubectl_spread.apiserver.validation import FieldError
from kubectl_spread.commands.admission_errors import apply_warnings, pod_errors, review_of
from kubectl_spread.commands.applying import merge_all, merged_constraints
from kubectl_spread.commands.bad_objects import find_malformed
from kubectl_spread.commands.manifests import MOST_PODS, Manifest, skipped_notes, too_many
from kubectl_spread.contract.check import ValidationError
from kubectl_spread.controllers.next_pod import completed, over_quota
from kubectl_spread.controllers.replicas import as_applied, replicas_of
from kubectl_spread.errors import ManifestError, ManifestProblem
from kubectl_spread.objects.core import Namespace, Pod, ResourceQuota
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.findings import FINDINGS


def notes_of(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Yield ``check``'s notes on the merged manifests, its warnings, and the constraints that apply merges.

    The warnings of the API server are not among them.
    """
    custom = [each.ref for each in manifests if each.template is not None]
    yield from (f"the controller of the Pods of {ref} is not known" for ref in custom)
    yield from skipped_notes(manifests)
    for each in manifests:
        yield from (f"{each.ref}: {warning.field}: {warning.message}" for warning in apply_warnings(each))
        yield from (f"{each.ref}: {FINDINGS.text(merge).removesuffix('.')}" for merge in merged_constraints(each))


class AppliedManifests(msgspec.Struct, frozen=True):
    """The manifests of a step once they are applied.

    Attributes:
        snapshot: the cluster then, before any controller acts.
        merged: those that are applied, merged with the live objects; ``unmerged``: the same as they were read.
        refused: why the API server refuses the others, which change nothing.
    """

    snapshot: Snapshot
    merged: tuple[Manifest, ...] = ()
    unmerged: tuple[Manifest, ...] = ()
    refused: tuple[ManifestProblem, ...] = ()


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


def _problems(manifest: Manifest, errors: Sequence[FieldError | ValidationError]) -> Iterator[ManifestProblem]:
    return (manifest.document.problem(error.message, error.field) for error in errors)
