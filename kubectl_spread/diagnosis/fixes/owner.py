"""The owner of a Pod: how a change leaves it, its next Pods, and what keeps it as its source describes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from kubectl_spread.apiserver.creation import prepared, unmerged
from kubectl_spread.apiserver.validation import validate
from kubectl_spread.controllers.deployment import replica_set_of
from kubectl_spread.controllers.templates import REVISION_LABELS, template_of
from kubectl_spread.diagnosis.fixes.candidate import Candidate, PodEdit, edited, edits_of
from kubectl_spread.diagnosis.fixes.conclusion import Keeper
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Affinity, Pod, PodTemplateSpec
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ARGO_TRACKING_ID, HELM_RELEASE
from kubectl_spread.objects.template_rest import with_template
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.release import Release

INSTANCE = "app.kubernetes.io/instance"
ARGO_INSTANCE = "argocd.argoproj.io/instance"
MANAGED_BY = "app.kubernetes.io/managed-by"
FLUX = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
"""Flux's kind → the label prefix with which its controller marks the objects that it keeps."""


def patchable_owner(situation: Situation) -> Workload | None:
    """Return the topmost owner of the Pod; None if there is none, or if one of the owners cannot be read."""
    owner = situation.topmost_owner
    return owner if owner is not None and owner.metadata.controller is None else None


def is_of_older_revision(situation: Situation) -> bool:
    """Whether the Pod is of an older revision of its Deployment."""
    owner, controller = situation.topmost_owner, situation.pod.metadata.controller
    newest = replica_set_of(owner, situation.handle.snapshot) if isinstance(owner, Deployment) else None
    return bool(newest and controller and controller.name != newest.metadata.name)


def stays_valid(owner: Workload, edits: Iterable[PodEdit], release: Release) -> bool:
    """Whether the API server accepts the edited owner at least as far as it accepts the owner now.

    Raises:
        LookupError: an edit does not fit the template.
    """
    return set(validate(with_edits(owner, edits), release)) <= set(validate(owner, release))


def with_edits(owner: Workload, edits: Iterable[PodEdit]) -> Workload:
    """Return the owner with the edits in its template."""
    return with_template(owner, lambda template: edited(template, edits))


def new_revision_pod(parts: Sequence[Candidate], situation: Situation) -> Pod | None:
    """Return the Pod that the changed template would create; None if the changed Pod can stand for it.

    Its revision hash is unique, so constraints and affinity with matchLabelKeys start counting at zero.
    """
    pod, edits = situation.pod, edits_of(parts)
    # A manifest is changed before its Pods are created.
    owner = None if situation.written else patchable_owner(situation)
    hashes = {label: f"{pod.metadata.labels[label]}-next" for label in REVISION_LABELS if label in pod.metadata.labels}
    if owner is None or not edits or not hashes:
        return None
    try:
        template = edited(template_of(owner), edits)
    except LookupError:
        return None
    if not _match_label_keys(template) & hashes.keys():
        return None
    changed = edited(pod, edits)
    metadata = replace(changed.metadata, labels={**changed.metadata.labels, **hashes})
    # The API server has merged the old hash into the Pod's own selectors.
    upcoming = replace(changed, metadata=metadata, spec=unmerged(changed.spec))
    return prepared(upcoming, situation.handle.profile.release)


def _match_label_keys(template: PodTemplateSpec) -> set[str]:
    """Return the labels whose values a constraint or a required affinity term takes from the Pod itself."""
    affinity = template.spec.affinity or Affinity()
    terms = [
        term
        for each in (affinity.pod_affinity, affinity.pod_anti_affinity)
        if each is not None
        for term in each.required_during_scheduling_ignored_during_execution
    ]
    of_terms = {key for term in terms for key in (*term.match_label_keys, *term.mismatch_label_keys)}
    return of_terms.union(*(each.match_label_keys for each in template.spec.topology_spread_constraints))


def keeper_of(owner: Workload) -> Keeper | None:
    """Return what keeps the workload as its source describes it; None if nothing shows it.

    Source: Argo CD util/argo/resource_tracking.go, Flux pkg/ssa and kustomize-controller (owner labels), Helm 3
    pkg/action/validate.go.
    """
    annotations, labels = owner.metadata.annotations, owner.metadata.labels
    # Objects of a chart may name Helm too; the tool that applies them comes first.
    if ARGO_TRACKING_ID in annotations or ARGO_INSTANCE in labels:
        tracked = annotations.get(ARGO_TRACKING_ID, "").partition(":")[0]
        return Keeper(
            f"Argo CD application {tracked or labels.get(ARGO_INSTANCE) or labels.get(INSTANCE, '')}".rstrip()
        )
    for kind, prefix in FLUX.items():
        if f"{prefix}/name" in labels:
            names = filter(None, (labels.get(f"{prefix}/namespace"), labels[f"{prefix}/name"]))
            return Keeper(f"Flux {kind} {'/'.join(names)}")
    if HELM_RELEASE in annotations or labels.get(MANAGED_BY) == "Helm":
        return Keeper(
            f"Helm release {annotations.get(HELM_RELEASE) or labels.get(INSTANCE, '')}".rstrip(), reverts=False
        )
    return None
