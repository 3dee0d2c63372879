"""Who keeps an object as its source says, so that what is patched here does not last."""

from __future__ import annotations

from kubectl_spread.diagnosis.fixes.conclusion import Keeper
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ARGO_TRACKING_ID, HELM_RELEASE

INSTANCE = "app.kubernetes.io/instance"
ARGO_INSTANCE = "argocd.argoproj.io/instance"
MANAGED_BY = "app.kubernetes.io/managed-by"
FLUX = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
"""Flux's kind → the prefix of the labels by which its controller marks what it keeps."""


def keeper_of(owner: Workload) -> Keeper | None:
    """Return what keeps the workload; None where nothing says so.

    Source: Argo CD util/argo/resource_tracking.go, Flux pkg/ssa and kustomize-controller (owner labels), Helm 3
    pkg/action/validate.go.
    """
    annotations, labels = owner.metadata.annotations, owner.metadata.labels
    # What a chart made may say Helm too; the one who applies it decides.
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
