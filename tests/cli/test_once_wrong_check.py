"""``check`` where a manifest that looks sound is refused, or its Pods find no node; and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.build import ZONE, Object, app, namespace, node, pod, spread
from tests.build_devices import device_class, resource_slice
from tests.build_workloads import template, workload
from tests.cli.once_wrong import (
    ON_ZONES,
    SANDBOX,
    SHUT,
    ZONES,
    asked,
    deployed,
    nightly,
    ordinals,
    paused,
    pods_of,
    run_of,
)

THREE = (*ZONES, node("c1", zone="c"))
REPEATING = {**ON_ZONES, "matchLabelKeys": ["app"]}
GPU = template(ON_ZONES, requests={"example.com/gpu": "1"})
GPU["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
QUOTA: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "quota", "namespace": "default"},
    "spec": {"hard": {"pods": "1"}},
    "status": {"hard": {"pods": "1"}, "used": {"pods": "0"}},
}
BOUNDS: Object = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]},
}
ONE = template(requests={"cpu": "1"})
GREATER = {"key": "sla", "operator": "Gt", "value": "950", "effect": "NoSchedule"}
ROLLOUT: Object = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Rollout",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"replicas": 3, "selector": app("web"), "template": template(ON_ZONES)},
}


def deployment(pods: Object, **spec: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return the Deployment web with this template."""
    return workload("Deployment", "web", pods=pods, **spec)


class Row(Struct, frozen=True, kw_only=True):
    """A manifest, the cluster, and what is right.

    Attributes:
        objects: the cluster.
        manifest: what is asked about.
        words: further words of the command line.
        code: the exit code.
        verdict: of the manifest.
        said: how the first line begins, after the name.
        invalid: (field, what the message begins with) of each refusal.
    """

    objects: Sequence[Object] = THREE
    manifest: Object
    words: Sequence[str] = ()
    code: int
    verdict: str
    said: str
    invalid: Sequence[tuple[str, str]] = ()


CONSTRAINT = "spec.topologySpreadConstraints[0]"
REFUSED = "the API server refuses it."
ROWS = {
    "a DeviceClass stands for the resource": Row(
        objects=[*ZONES, device_class(stands_for="example.com/gpu"), resource_slice("a1")],
        manifest=deployment(GPU, replicas=1),
        code=3,
        verdict="Incomplete",
        said="default/web-75130b9f-00001 needs devices, and which nodes have them is not modelled;",
    ),
    "label keys repeat the selector": Row(
        manifest=deployment(template(REPEATING), replicas=3),
        code=1,
        verdict="FailedCreate",
        said='the API server refuses its Pods: Invalid value: "app": exists in both',
        invalid=[("spec.template.spec.topologySpreadConstraints[0][0]", 'Invalid value: "app": exists in both')],
    ),
    "a claim was kept for the next ordinal": Row(
        objects=[*THREE, *ordinals("a1", "b1", "c1", "a1")],
        manifest=ordinals("a1", "b1", "c1", "a1")[0],
        words=["--replicas=5"],
        code=1,
        verdict="Unschedulable",
        said="not schedulable. The Pod may only go to zones b and c, which have the fewest"
        " Pods (1), but none of their 2 nodes is available:"
        " claim data-db-4 is bound to pv-4 in a. One more Pod would exceed maxSkew 1 in zone a (2 Pods).",
    ),
    "a RuntimeClass selects nodes": Row(
        objects=[
            *(node(name, zone=name[0], labels={"sandbox": "yes"}) for name in ("a1", "b1")),
            *(namespace("default"), node("c1", zone="c"), SANDBOX),
            *deployed("a1", "b1", "a1", "b1", pods=template(ON_ZONES, runtimeClassName="sandbox")),
        ],
        manifest=deployment(template(ON_ZONES, runtimeClassName="sandbox"), replicas=5),
        code=0,
        verdict="Schedulable",
        said="the new Pod can be scheduled.",
    ),
    "another run's Pods do not count": Row(
        objects=[*ZONES, SHUT, nightly(), *run_of("nightly-1", "a1", "b1")],
        manifest={**nightly(), "spec": {**nightly()["spec"], "schedule": "0 0 1 1 *"}},
        code=0,
        verdict="Schedulable",
        said="all 2 replicas can be scheduled.",
    ),
    "another scheduler decides": Row(
        manifest=deployment(template(ON_ZONES, schedulerName="volcano"), replicas=2),
        code=3,
        verdict="Incomplete",
        said="volcano schedules this Pod; kube-scheduler's filters would allow",
    ),
    "as many as live": Row(
        objects=[*THREE, *deployed("a1", "b1", "c1", "a1", "b1", "c1", pods=template(ON_ZONES, requests={"cpu": "2"}))],
        manifest=deployment(template(ON_ZONES, requests={"cpu": "5"}), strategy={"type": "Recreate"}),
        code=1,
        verdict="Unschedulable",
        said="replica 4 of 6 cannot be scheduled.",
    ),
    "a daemon's new Pod comes beside the old one": Row(
        objects=[
            *THREE,
            workload("DaemonSet", "agent", pods=template(requests={"cpu": "5"})),
            *pods_of("DaemonSet", "agent", "a1", "b1", "c1", pods=template(requests={"cpu": "5"})),
        ],
        manifest=workload(
            "DaemonSet",
            "agent",
            pods=template(requests={"cpu": "6"}),
            updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        ),
        code=1,
        verdict="Unschedulable",
        said="not schedulable. No spread constraint is the cause. a1, the only node for this Pod, has too little cpu",
    ),
    "its namespace does not exist": Row(
        manifest=workload("Deployment", "web", namespace="nope", replicas=1),
        code=1,
        verdict="Invalid",
        said=REFUSED,
        invalid=[("metadata.namespace", 'namespaces "nope" not found')],
    ),
    "the quota has room for one": Row(
        objects=[*THREE, QUOTA],
        manifest=deployment(ONE, replicas=3),
        code=1,
        verdict="FailedCreate",
        said="Pod 2 of 3 is refused by the API server: exceeded quota: quota, requested: pods=1, used: pods=1,",
    ),
    "more than a LimitRange allows": Row(
        objects=[*THREE, BOUNDS],
        manifest=deployment(ONE, replicas=1),
        code=1,
        verdict="FailedCreate",
        said='the API server refuses its Pods: Invalid value: "1": must be less than or equal to cpu limit of 500m',
        invalid=[
            (
                "spec.template.spec.containers[0].resources.requests",
                'Invalid value: "1": must be less than or equal to cpu limit of 500m',
            ),
            ("spec.template.spec", "maximum cpu usage per Container is 500m, but request is 1"),
        ],
    ),
    "a Deployment's Pods are always restarted": Row(
        manifest=deployment(template(restartPolicy="OnFailure"), replicas=1),
        code=1,
        verdict="Invalid",
        said=REFUSED,
        invalid=[("spec.template.spec.restartPolicy", 'Unsupported value: "OnFailure"')],
    ),
    "a paused Deployment does not roll out": Row(
        objects=[*ZONES, SHUT, *paused()],
        manifest=paused()[0],
        code=0,
        verdict="Schedulable",
        said="no Pod needs to be scheduled.",
    ),
    "the gate reaches validation": Row(
        manifest=pod("web", tolerations=[GREATER]),
        words=["--feature-gates=TaintTolerationComparisonOperators=true", "--kube-version=v1.35"],
        code=0,
        verdict="Schedulable",
        said="it can be scheduled now, on a1, b1, c1.",
    ),
    "without the gate": Row(
        manifest=pod("web", tolerations=[GREATER]),
        words=["--feature-gates=TaintTolerationComparisonOperators=false", "--kube-version=v1.35"],
        code=1,
        verdict="Invalid",
        said=REFUSED,
        invalid=[("spec.tolerations[0].operator", "")],
    ),
    "misspelt fields": Row(
        manifest=deployment({**ONE, "spec": {**ONE["spec"], "topologySpreadContraints": [ON_ZONES]}}, replcas=2),
        code=1,
        verdict="Invalid",
        said=REFUSED,
        invalid=[
            ("spec.replcas", 'unknown field "spec.replcas", did you mean "replicas"?'),
            (
                "spec.template.spec.topologySpreadContraints",
                'unknown field "spec.template.spec.topologySpreadContraints", did you mean "topologySpreadCons',
            ),
        ],
    ),
    "misspelt fields of a constraint": Row(
        manifest=pod("web", topologySpreadConstraints=[spread(ZONE, matchLabelKey=["app"], nodeTaintPolicy="Honor")]),
        code=1,
        verdict="Invalid",
        said=REFUSED,
        invalid=[
            (
                f"{CONSTRAINT}.matchLabelKey",
                f'unknown field "{CONSTRAINT}.matchLabelKey", did you mean "matchLabelKeys"?',
            ),
            (
                f"{CONSTRAINT}.nodeTaintPolicy",
                f'unknown field "{CONSTRAINT}.nodeTaintPolicy", did you mean "nodeTaintsPolicy"?',
            ),
        ],
    ),
    "a kind of another API says how many": Row(
        manifest=ROLLOUT, code=0, verdict="Schedulable", said="all 3 replicas can be scheduled."
    ),
    "an API that is not served any more": Row(
        manifest={**deployment(ONE, replicas=1), "apiVersion": "extensions/v1beta1"},
        code=1,
        verdict="Invalid",
        said="kubectl refuses it.",
        invalid=[
            (
                "apiVersion",
                (
                    'no matches for kind "Deployment" in version "extensions/v1beta1":'
                    " v1.16 removed it, v1.36 serves it in apps/v1"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_verdict_is_what_comes_of_it(tmp_path: Path, row: Row) -> None:
    told = asked(tmp_path, "check", row.objects, *row.words, manifests=[row.manifest])
    item = asked(tmp_path, "check", row.objects, *row.words, "-o", "json", manifests=[row.manifest]).item
    first = told.stdout.splitlines()[0].removeprefix(f"{item['namespace']}/{item['kind'].lower()}/{item['name']}: ")
    of_pods = (item["failedCreate"] or {}).get("refusals", [])
    refusals = [(each["field"], each["message"]) for each in item["validation"] or of_pods]
    assert (told.code, item["verdict"], first[: len(row.said)]) == (row.code, row.verdict, row.said), first
    assert [field for field, _ in refusals] == [field for field, _ in row.invalid], refusals
    assert all(found.startswith(said) for (_, found), (_, said) in zip(refusals, row.invalid, strict=True)), refusals
