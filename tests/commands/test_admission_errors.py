"""What ``check`` says the API server would refuse, as far as no Pod has to be made to know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckItem, CheckReport
from kubectl_spread.controllers.rollout_plan import FailedCreate
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.objects import kinds
from kubectl_spread.render.outline.check import check_sentence
from kubectl_spread.snapshot import Unread
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, template, workload
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
    return [error.field for error in item.validation]


def test_unknown_fields_and_where_the_pods_would_go_otherwise(checked: Check) -> None:
    described = pod("web", labels={"app": "web"}, topologySpreadConstraint=[spread(ZONE, selector=app("web"))])
    report = checked([described])
    (item,) = report.items
    assert (item.verdict, exit_codes.of_check(report)) == (Verdict.INVALID, 1)
    assert refused(item) == ["spec.topologySpreadConstraint"]
    assert item.feasible == ("a1", "a2", "b1", "c1")


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
    assert exit_codes.of_check(report) == 1


def test_a_template_of_another_api_is_held_to_what_a_template_has(checked: Check) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerationss": [], "containerConcurrency": 1}
    metadata = {"name": "web"}
    rollout = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": metadata}
    (item,) = checked([{**rollout, "spec": {"strategies": {}, "template": {"spec": spec}}}]).items
    assert refused(item) == ["spec.template.spec.tolerationss"]


def test_feature_gates_reach_validation(checked: Check) -> None:
    described = pod("web", tolerations=[{"key": "sla", "operator": "Gt", "value": "950"}])
    gate = "TaintTolerationComparisonOperators"
    assert refused(checked([described]).items[0]) == ["spec.tolerations[0].operator"]
    assert refused(checked([described], gates={gate: True}).items[0]) == []


def namespace_of(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def account(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}}


def test_a_namespace_that_does_not_exist(checked: Check) -> None:
    described = pod("web", namespace="shop")
    (item,) = checked([described], [*ABC, namespace_of("other")]).items
    assert [(error.field, error.reason, error.message) for error in item.validation] == [
        ("metadata.namespace", "NotFound", 'namespaces "shop" not found')
    ]
    assert not refused(checked([namespace_of("shop"), described], [*ABC, namespace_of("other")]).items[0])
    assert not refused(checked([described]).items[0])
    assert not refused(checked([pod("web")], [*ABC, namespace_of("other")]).items[0])


def test_a_namespace_that_pods_of_the_dump_are_in_exists(checked: Check) -> None:
    running = [namespace_of("other"), pod("old", namespace="shop", on="a1")]
    assert not refused(checked([pod("web", namespace="shop")], [*ABC, *running]).items[0])


@pytest.mark.parametrize("field", ["serviceAccountName", "serviceAccount"])
def test_a_service_account_that_does_not_exist(field: str, checked: Check) -> None:
    named: Object = {field: "web"}
    described = workload("Deployment", "web", pods=template(**named))
    (item,) = checked([described], [*ABC, account("default")]).items
    assert (item.verdict, item.validation, len(item.placements)) == (Verdict.FAILED_CREATE, (), 1)
    assert [(error.field, error.message) for error in item.refusals] == [
        (
            "spec.template.spec.serviceAccountName",
            'error looking up service account default/web: serviceaccount "web" not found',
        )
    ]
    assert item.failed_create is not None
    assert item.failed_create.missing == ("ServiceAccount web",)
    for both in ([account("web"), described], [described, account("web")]):
        assert checked(both, [*ABC, account("default")]).items[0].verdict is Verdict.SCHEDULABLE
    bare = pod("web", **named)
    known = [*ABC, account("default")]
    assert checked([bare, account("web")], known).items[0].verdict is Verdict.INVALID
    assert checked([account("web"), bare], known).items[0].verdict is Verdict.SCHEDULABLE
    assert not refused(checked([described]).items[0])


def quota(*, there_are: str = "0", **hard: str) -> Object:
    used = dict.fromkeys(hard, there_are)
    metadata = {"name": "q", "namespace": "default"}
    status = {"hard": hard, "used": used}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}, "status": status}


def test_a_quota_ends_the_making_of_pods(checked: Check) -> None:
    described = workload("Deployment", "web", pods=template(), replicas=5)
    report = checked([described], [*ABC, quota(pods="3")])
    (item,) = report.items
    message = "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"
    assert item.failed_create == FailedCreate(created=3, message=message)
    assert (item.verdict, len(item.placements), item.replicas) == (Verdict.FAILED_CREATE, 3, 5)
    assert item.all_created is not None
    assert (len(item.all_created.placements), item.all_created.jam) == (5, None)
    assert exit_codes.of_check(report) == 1
    otherwise = "Otherwise: all 5 replicas can be scheduled."
    assert check_sentence(item) == f"Pod 4 of 5 is refused by the API server: {message}. {otherwise}"


@pytest.mark.parametrize(("pods", "created"), [("5", None), ("2", 2), ("0", 0)])
def test_a_quota_ends_the_making_of_daemons_too(checked: Check, pods: str, created: int | None) -> None:
    (item,) = checked([workload("DaemonSet", "web")], [*ABC, quota(pods=pods)]).items
    assert (item.failed_create.created if item.failed_create else None) == created
    assert (item.verdict is Verdict.FAILED_CREATE) == (created is not None)


def test_a_daemon_takes_the_place_of_the_old_one_in_the_quota(checked: Check) -> None:
    old, new = (template(image=image) for image in ("app:1", "app:2"))
    living = [owned(f"web-{on}", "DaemonSet", "web", on=on, **old["spec"]) for on in ("a1", "a2", "b1", "c1")]
    cluster = [*ABC, workload("DaemonSet", "web", pods=old), *living, quota(pods="4", there_are="4")]
    (item,) = checked([workload("DaemonSet", "web", pods=new)], cluster).items
    assert (item.rollout.replaced if item.rollout else 0, item.failed_create) == (4, None)


@pytest.mark.parametrize(("policy", "refused"), [("OrderedReady", False), ("Parallel", True)])
def test_a_pod_that_is_never_tried_is_not_refused(checked: Check, policy: str, *, refused: bool) -> None:
    large = template(requests={"cpu": "100"})
    described = workload("StatefulSet", "web", pods=large, replicas=2, podManagementPolicy=policy)
    (item,) = checked([described], [*ABC, quota(pods="1")]).items
    assert item.jam
    assert (item.jam.replica, bool(item.failed_create)) == (1, refused)


def test_a_limit_range_that_the_pods_break(checked: Check) -> None:
    limits = [{"type": "Pod", "max": {"cpu": "1"}}]
    bounds = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "default"}}
    described = workload("Deployment", "web", pods=template(requests={"cpu": "2"}))
    (item,) = checked([described], [*ABC, {**bounds, "spec": {"limits": limits}}]).items
    assert item.verdict is Verdict.FAILED_CREATE
    assert [(error.field, error.message) for error in item.refusals] == [
        ("spec.template.spec", "maximum cpu usage per Pod is 1.  No limit is specified")
    ]


def test_unread_quotas_leave_the_answer_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.safe_dump(pod("web")), encoding="utf-8")
    source = Memory(ABC, unread=(Unread(kinds.RESOURCE_QUOTA, "forbidden"), Unread(kinds.SERVICE_ACCOUNT, "forbidden")))
    options = CheckOptions(filenames=(str(path),), namespace="default")
    report = check(source, options, SchedulerOptions(), stdin=None).report
    assert report.items[0].verdict is Verdict.INCOMPLETE
    assert [gap.what for gap in entries(report.items[0].incomplete)] == ["list resourcequotas"]


def test_replicas_that_applying_takes_back_are_warned_of(checked: Check) -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": '{"spec": {"replicas": 2}}'}
    live = workload("Deployment", "web", pods=template(), replicas=6, annotations=applied)
    (item,) = checked([workload("Deployment", "web", pods=template())], [*ABC, live]).items
    assert item.replicas == 1
    assert [warning.message for warning in item.warnings] == [
        "the manifest applied before sets it, and this one does not: applying it changes 6 replicas to 1"
    ]


@pytest.mark.parametrize(("surge", "full"), [(None, ()), (0, ()), ("0%", ()), (1, ("a1",)), ("10%", ("a1",))])
def test_a_daemon_set_that_surges_needs_room_beside_the_old_pod(
    checked: Check, surge: str | int | None, full: tuple[str, ...]
) -> None:
    nodes = [node("a1", zone="a", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10"})]
    pods = template(requests={"cpu": "3"})
    old = owned("web-1", "DaemonSet", "web", on="a1", requests={"cpu": "3"})
    rolling = {} if surge is None else {"maxSurge": surge, "maxUnavailable": 0 if full else 1}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    newer = template(requests={"cpu": "3"}, tolerations=[{"key": "x", "operator": "Exists"}])
    described = workload("DaemonSet", "web", pods=newer, updateStrategy=strategy)
    (item,) = checked([described], [*nodes, workload("DaemonSet", "web", pods=pods), old]).items
    assert (item.jam.nodes if item.jam else ()) == full
