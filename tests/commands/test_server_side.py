"""``check --dry-run=server``: what the API server itself makes of a manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

from kubectl_spread.cluster.api.discovery import Discovered, Resource
from kubectl_spread.cluster.api.dry_run import DryRun
from kubectl_spread.cluster.net.failures import StatusCause
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.objects.meta import Plain
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, namespace, node, pod, spread
from tests.build_storage import claim
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.commands.memory import Memory
from tests.commands.test_check import only
from tests.diagnosis.judged import ABC
from tests.program import encoded

Asked: TypeAlias = list[tuple[str, str, Mapping[str, Plain]]]
Answer: TypeAlias = Callable[[Kind, Mapping[str, Plain]], DryRun]
Check: TypeAlias = Callable[..., tuple[CheckReport, Asked]]


def stored(kind: Kind, values: Mapping[str, Plain]) -> DryRun:
    """Return what a server says that changes nothing."""
    return DryRun(obj=convert(dict(values), kind.struct))


@pytest.fixture
def checked(tmp_path: Path) -> Check:
    """Return what checks manifests with a server that answers so."""

    def run(
        manifests: Sequence[Object],
        answer: Answer = stored,
        objects: Sequence[Object] = ABC,
        discovered: Mapping[str, Discovered] | None = None,
        *,
        dry: bool = True,
    ) -> tuple[CheckReport, Asked]:
        path = tmp_path / "manifests.yaml"
        path.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
        asked: Asked = []

        def create(kind: Kind, namespace: str, values: Mapping[str, Plain]) -> DryRun:
            asked.append((kind.name, namespace, values))
            return answer(kind, values)

        options = CheckOptions(filenames=(str(path),), namespace="default")
        source = Memory(objects, server="https://x", said_version="v1.36.2", discovered=discovered or {})
        report = check(source, options, SchedulerOptions(), stdin=None, create=create if dry else None).report
        encoded(report)
        return report, asked

    return run


def test_a_pod_is_asked_for_as_it_stands(checked: Check) -> None:
    report, asked = checked([pod("web", namespace="shop")])
    assert [(kind, namespace) for kind, namespace, _ in asked] == [("Pod", "shop")]
    assert (only(report).verdict, exit_codes.of_check(report)) == ("Schedulable", 0)


@pytest.mark.parametrize("described", [workload("Deployment", "web"), cron_job("web")], ids=["Deployment", "CronJob"])
def test_a_workload_is_asked_for_and_then_the_first_of_its_pods(checked: Check, described: Object) -> None:
    report, asked = checked([described])
    kinds = [kind for kind, _, _ in asked]
    assert kinds == [described["kind"], "Pod"]
    made = convert(dict(asked[1][2]), Pod)
    assert made.metadata.generate_name.startswith("web")
    assert made.metadata.labels["app"] == "web"
    assert ("pod-template-hash" in made.metadata.labels) is (described["kind"] == "Deployment")
    assert made.spec.containers[0].name == "main"
    assert only(report).verdict == "Schedulable"


def test_the_pods_of_a_stateful_set_mount_its_claims(checked: Check) -> None:
    described = workload("StatefulSet", "db", volumeClaimTemplates=[claim("data", class_name="fast")])
    _, asked = checked([described])
    made = convert(dict(asked[1][2]), Pod)
    assert [volume.name for volume in made.spec.volumes] == ["data"]


def test_what_the_server_writes_into_a_pod_decides(checked: Check) -> None:
    def selecting(kind: Kind, values: Mapping[str, Plain]) -> DryRun:
        said = dict(values)
        if kind.name == "Pod":
            spec = said["spec"]
            assert isinstance(spec, dict)
            said["spec"] = {**spec, "nodeSelector": {ZONE: "b"}}
        return DryRun(obj=convert(said, kind.struct))

    report, _ = checked([workload("Deployment", "web", replicas=2)], selecting)
    assert {placement.node for placement in only(report).placements} == {"b1"}


def test_a_daemons_own_tolerations_are_kept(checked: Check) -> None:
    nodes = [node("a", taints=["node.kubernetes.io/unschedulable:NoSchedule"], unschedulable=True)]
    report, _ = checked([workload("DaemonSet", "agent")], objects=nodes)
    assert [placement.node for placement in only(report).placements] == ["a"]


CAUSE = StatusCause(reason="FieldValueInvalid", message="must be better", field="spec.x")


def test_a_manifest_that_the_server_refuses(checked: Check) -> None:
    report, asked = checked([workload("Deployment", "web")], lambda _kind, _values: DryRun(causes=(CAUSE,)))
    (error,) = only(report).validation
    assert (error.field, error.reason, error.message) == ("spec.x", "FieldValueInvalid", "must be better")
    assert [kind for kind, _, _ in asked] == ["Deployment"]
    assert exit_codes.of_check(report) == 1


def refusing_pods(kind: Kind, values: Mapping[str, Plain]) -> DryRun:
    """Return what a server says that refuses every Pod."""
    return DryRun(causes=(CAUSE,)) if kind.name == "Pod" else stored(kind, values)


@pytest.mark.parametrize(
    ("described", "field"),
    [
        (pod("web"), "spec.x"),
        (workload("Deployment", "web"), "spec.template.spec.x"),
        (cron_job("web"), "spec.jobTemplate.spec.template.spec.x"),
    ],
    ids=["Pod", "Deployment", "CronJob"],
)
def test_a_pod_that_the_server_refuses_is_named_by_its_field_in_the_manifest(
    checked: Check, described: Object, field: str
) -> None:
    report, _ = checked([described], refusing_pods)
    assert [error.field for error in only(report).refusals] == [field]
    assert only(report).verdict == ("Invalid" if described["kind"] == "Pod" else "FailedCreate")


def test_the_servers_word_stands_in_the_place_of_ours(checked: Check) -> None:
    broken = spread(ZONE, selector=app("web"), maxSkew=0)
    report, _ = checked([workload("Deployment", "web", pods=template(broken))])
    assert only(report).validation == ()


@pytest.mark.parametrize("kind", ["Deployment", "Pod"])
def test_a_server_that_may_not_be_asked_leaves_the_answer_open(checked: Check, kind: str) -> None:
    def refusing(asked: Kind, values: Mapping[str, Plain]) -> DryRun:
        return DryRun(impossible="forbidden") if asked.name == kind else stored(asked, values)

    report, _ = checked([workload("Deployment", "web")], refusing)
    item = only(report)
    assert (item.verdict, exit_codes.of_check(report)) == ("Incomplete", 3)
    assert [(missing.what, missing.why) for missing in entries(item.incomplete)] == [("the dry run", "forbidden")]


def test_what_cannot_be_asked_is_judged_by_our_rules(checked: Check) -> None:
    broken = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"), maxSkew=0)))
    report, _ = checked([broken], lambda _kind, _values: DryRun(impossible="forbidden"))
    refused = [error.field for error in only(report).validation]
    assert refused == ["spec.template.spec.topologySpreadConstraints[0].maxSkew"]


@pytest.mark.parametrize(("replicas", "verdict"), [(1, "Schedulable"), (3, "FailedCreate")])
def test_a_quota_is_counted_as_pods_come_and_go(checked: Check, replicas: int, verdict: str) -> None:
    hard = {"pods": "2"}
    quota: Object = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}}
    quota |= {"spec": {"hard": hard}, "status": {"hard": hard, "used": hard}}
    pods = [owned(f"web-{on}", "ReplicaSet", "web-h1", on=on, phase="Running") for on in ("a1", "b1")]
    live = [workload("Deployment", "web", replicas=2), revision("web", 1), *pods]
    said = 'pods "web-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'

    def full(kind: Kind, values: Mapping[str, Plain]) -> DryRun:
        refused = DryRun(causes=(StatusCause(reason="Forbidden", message=said),))
        return refused if kind.name == "Pod" else stored(kind, values)

    report, _ = checked([workload("Deployment", "web", replicas=replicas)], full, [*ABC, *live, quota])
    assert only(report).verdict == verdict


def test_a_sound_manifest_gets_the_same_answer_either_way(checked: Check) -> None:
    manifest = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"))), replicas=5)
    assert checked([manifest])[0].items == checked([manifest], dry=False)[0].items


def test_a_server_that_was_asked_has_evaluated_the_standard_of_the_namespace(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.safe_dump(pod("web")), encoding="utf-8")
    enforcing = namespace("default", **{"pod-security.kubernetes.io/enforce": "restricted"})
    options = CheckOptions(filenames=(str(path),), namespace="default")
    notes = [
        check(Memory([*ABC, enforcing]), options, SchedulerOptions(), stdin=None, create=server).notes
        for server in (None, lambda kind, _namespace, values: stored(kind, values))
    ]
    assert [*map(bool, notes)] == [True, False]


ROLLOUT = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Rollout",
    "metadata": {"name": "web"},
    "spec": {"template": template()},
}
SERVED = {"argoproj.io/v1alpha1": Discovered({"Rollout": Resource(name="rollouts", kind="Rollout", namespaced=True)})}


def test_a_kind_of_another_api_is_asked_for_and_then_its_pods(checked: Check) -> None:
    _, asked = checked([ROLLOUT], discovered=SERVED)
    assert [(kind, namespace) for kind, namespace, _ in asked] == [("Rollout", "default"), ("Pod", "default")]


def test_a_kind_that_is_not_served_is_not_asked_for(checked: Check) -> None:
    report, asked = checked([ROLLOUT], discovered={"argoproj.io/v1alpha1": Discovered()})
    assert (only(report).verdict, asked) == ("Invalid", [])


@pytest.mark.parametrize("first", [False, True], ids=["the account last", "the account first"])
@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_what_the_server_refuses_for_want_of_another_document_counts_for_nothing(
    kind: str,
    first: bool,  # noqa: FBT001 - a parameter of the test
    checked: Check,
) -> None:
    account: Object = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    default = {**account, "metadata": {"name": "default", "namespace": "default"}}
    made = pod("web", serviceAccountName="robot")
    asked = made if kind == "Pod" else workload(kind, "web", pods=template(serviceAccountName="robot"))
    report, _ = checked([account, asked] if first else [asked, account], refusing_pods, [*ABC, default])
    # A bare Pod is refused unless its account comes before it.
    assert only(report).verdict == ("Invalid" if kind == "Pod" and not first else "Schedulable")
