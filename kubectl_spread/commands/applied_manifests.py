"""Manifests that a step applies: read as in ``check``, and refused where the API server refuses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

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


def apply_all(manifests: Sequence[Manifest], snapshot: Snapshot, profile: Profile) -> Snapshot:
    """Return the cluster with the manifests applied, before any controller acts.

    Raises:
        ManifestError: the API server would refuse any of them.
        ValueError: an object of the cluster cannot be read.
    """
    manifests = merge_all(manifests, snapshot, profile)
    objects = [each.obj for each in manifests if each.obj is not None]
    with_namespaces = snapshot.with_objects(obj for obj in objects if isinstance(obj, Namespace))
    reviews = [(each, review_of(each, with_namespaces, snapshot, profile.release)) for each in manifests]
    faults = [fault for each, review in reviews for fault in _find_faults(each, review)]
    if not faults:
        faults = [
            fault
            for number, (each, review) in enumerate(reviews)
            for fault in _find_faults_in_cluster(each, review, manifests[:number], snapshot, profile)
        ]
    if faults:
        raise ManifestError(faults, hint="the API server would refuse it; check -f lists all errors")
    return snapshot.with_objects(as_applied(obj, snapshot) for obj in objects)


def _find_faults(manifest: Manifest, review: Review) -> Iterator[ManifestProblem]:
    yield from _problems(manifest, review.errors)
    if not review.errors:
        yield from (manifest.document.problem(why, path) for path, why in find_malformed(manifest.obj))
    asked = replicas_of(cast("Workload", manifest.obj)) if type(manifest.obj) in WORKLOADS.values() else 0
    if asked > MOST_PODS:
        yield too_many(manifest, asked)


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
