"""What ``check`` says the API server would refuse, as far as no Pod has to be made to know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

from kubectl_spread.commands.check import CheckOptions, check, exit_code
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.report import CheckItem, CheckReport, Verdict
from tests.build import ZONE, Object, app, pod, spread
from tests.build_workloads import workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import ABC

Check: TypeAlias = Callable[..., CheckReport]


@pytest.fixture
def checked(tmp_path: Path) -> Check:
    """Return what checks manifests against the cluster of these objects, under the rules of a release."""

    def run(
        manifests: Sequence[Object],
        objects: Sequence[Object] = ABC,
        *,
        version: str = "v1.36",
        gates: Mapping[str, bool] | None = None,
    ) -> CheckReport:
        path = tmp_path / "manifests.yaml"
        path.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
        options = CheckOptions(filenames=(str(path),), namespace="default")
        rules = SchedulerOptions(kube_version=version, feature_gates=gates or {})
        return check(Memory(objects), options, rules, stdin=None).report

    return run


def refused(item: CheckItem) -> list[str]:
    """Return the fields that are refused."""
    return [error.field for error in item.validation]


def test_unknown_fields_and_where_the_pods_would_go_otherwise(checked: Check) -> None:
    described = pod("web", labels={"app": "web"}, topologySpreadConstraint=[spread(ZONE, selector=app("web"))])
    report = checked([described])
    (item,) = report.items
    assert (item.verdict, exit_code(report)) == (Verdict.INVALID, 1)
    assert refused(item) == ["spec.topologySpreadConstraint"]
    assert item.feasible == ("a1", "a2", "b1", "c1")


def test_fields_are_those_of_the_release(checked: Check) -> None:
    described = pod("web", hostnameOverride="web")
    assert refused(checked([described], version="v1.33").items[0]) == ["spec.hostnameOverride"]
    assert refused(checked([described], version="v1.34").items[0]) == []


def test_an_object_without_pods_is_an_item_where_it_is_refused_alone(checked: Check) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"port": []}}
    sound = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "fine"}, "spec": {"ports": []}}
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": {}}
    report = checked([sound, service, pod("web"), budget])
    assert [(item.kind, item.verdict, item.replicas) for item in report.items] == [
        ("Service", Verdict.INVALID, 0),
        ("Pod", Verdict.SCHEDULABLE, 1),
        ("PodDisruptionBudget", Verdict.INVALID, 0),
    ]
    assert [refused(item) for item in report.items] == [["spec.port"], [], ["apiVersion"]]
    assert exit_code(report) == 1


def test_a_workload_of_an_api_that_is_no_longer_served(checked: Check) -> None:
    old = {**workload("Deployment", "web"), "apiVersion": "extensions/v1beta1"}
    (item,) = checked([old]).items
    assert item.verdict is Verdict.INVALID
    assert [error.message for error in item.validation] == [
        'no matches for kind "Deployment" in version "extensions/v1beta1": v1.36 serves it in apps/v1'
    ]


def test_a_template_of_another_api_is_held_to_what_a_template_has(checked: Check) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerationss": [], "containerConcurrency": 1}
    metadata = {"name": "web"}
    rollout = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": metadata}
    (item,) = checked([{**rollout, "spec": {"strategies": {}, "template": {"spec": spec}}}]).items
    assert refused(item) == ["spec.template.spec.tolerationss"]


def test_a_value_that_cannot_be_decoded_is_told_once(checked: Check) -> None:
    described = pod("web")
    described["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1x"}}
    (item,) = checked([described]).items
    assert [(error.field, error.message) for error in item.validation] == [
        ("spec.containers[0].resources.requests[cpu]", "must be a quantity such as 500m or 2Gi")
    ]
    assert item.nodes == ()


def test_feature_gates_reach_validation(checked: Check) -> None:
    described = pod("web", tolerations=[{"key": "sla", "operator": "Gt", "value": "950"}])
    gate = "TaintTolerationComparisonOperators"
    assert refused(checked([described]).items[0]) == ["spec.tolerations[0].operator"]
    assert refused(checked([described], gates={gate: True}).items[0]) == []
