"""Workloads that are kept as a source says, and what is printed for them."""

from __future__ import annotations

import pytest
import yaml

from kubectl_spread.diagnosis.fixes.route import keeper_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.workloads import Deployment, StatefulSet
from tests.build import Object
from tests.diagnosis.fixes.clusters import JsonFix, fixes, web, zones
from tests.diagnosis.fixes.owners import owned, owner

ARGO: Object = {"annotations": {"argocd.argoproj.io/tracking-id": "shop-web:apps/Deployment:shop/web"}}
HELM: Object = {
    "labels": {"app.kubernetes.io/managed-by": "Helm"},
    "annotations": {"meta.helm.sh/release-name": "web-1"},
}
FLUX: Object = {
    "labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
}
FLUX_HELM: Object = {"labels": {"helm.toolkit.fluxcd.io/name": "web", **HELM["labels"]}}


@pytest.mark.parametrize(
    ("metadata", "name", "reverts"),
    [
        (ARGO, "Argo CD application shop-web", True),
        ({**HELM, "annotations": {**HELM["annotations"], **ARGO["annotations"]}}, "Argo CD application shop-web", True),
        ({"labels": {"argocd.argoproj.io/instance": "web"}}, "Argo CD application web", True),
        (FLUX, "Flux Kustomization flux-system/apps", True),
        (FLUX_HELM, "Flux HelmRelease web", True),
        (HELM, "Helm release web-1", False),
        ({"labels": {**HELM["labels"], "app.kubernetes.io/instance": "web-2"}}, "Helm release web-2", False),
    ],
)
@pytest.mark.parametrize("kind", [Deployment, StatefulSet])
def test_who_keeps_it(kind: type[Deployment | StatefulSet], metadata: Object, name: str, *, reverts: bool) -> None:
    keeper = keeper_of(convert({"metadata": metadata}, kind))
    assert keeper is not None
    assert (keeper.name, keeper.reverts) == (name, reverts)


@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/instance": "web"}, {"app.kubernetes.io/managed-by": "me"}])
def test_nobody_says_so(labels: Object) -> None:
    assert keeper_of(convert({"metadata": {"labels": labels}}, Deployment)) is None


def offered(kind: str = "StatefulSet", **metadata: object) -> dict[str, JsonFix]:
    """Return what is offered for a Pod whose workload has such labels and annotations, and zone c a taint."""
    pending = web("web-2")
    by = owner(kind, pending)
    by["metadata"] |= metadata
    counted = [web(f"web-{i}", on=name) for i, name in enumerate(("a1", "b1"))]
    return fixes([*zones(c={"taints": ["x=y:NoSchedule"]}), *counted, by], owned(pending, by))


def test_what_would_be_reverted_is_no_command() -> None:
    found = offered(**ARGO)
    raised, tolerating = found["RaiseMaxSkew"], found["AddToleration"]
    assert (raised.commands, raised.source) == ((), "Argo CD application shop-web")
    assert raised.starts.startswith("change it in its source (Argo CD application shop-web): a patch will be reverted")
    assert [line.split()[1:3] for line in tolerating.commands] == [["patch", "pod"]]


def test_what_lasts_until_the_next_upgrade_is() -> None:
    found = offered(**HELM)["RaiseMaxSkew"]
    assert found.commands
    assert "kubectl's change lasts until the next upgrade" in found.starts


def test_the_yaml_names_the_workload_and_holds_what_changes() -> None:
    found = offered()
    assert not found["RaiseMaxSkew"].source
    written = yaml.safe_load(found["RaiseMaxSkew"].yaml)
    assert (written["kind"], written["metadata"]) == ("StatefulSet", {"name": "web", "namespace": "default"})
    (constraint,) = written["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert (constraint["maxSkew"], constraint["labelSelector"]) == (2, {"matchLabels": {"app": "web"}})
    assert written["spec"].keys() == {"template"}
    assert not found["RemoveTaint"].yaml


def test_what_is_dropped_is_a_comment() -> None:
    pending = web("web-2", nodeSelector={"disk": "ssd"})
    by = owner("ReplicaSet", pending)
    found = fixes([*zones(), by], owned(pending, by))["RelaxNodeSelector"]
    assert found.yaml.splitlines()[0] == "# remove spec.template.spec.nodeSelector"
    assert convert(yaml.safe_load(found.yaml), Pod).metadata.name == "web"
