"""``check --dry-run=server``: what is asked of the API server, and what its answers change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_spread.cluster.api.dry_run import DryRun
from kubectl_spread.cluster.net.failures import StatusCause
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckItem
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.objects.meta import Plain
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, namespace, node, pod, spread
from tests.build_storage import claim
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import ABC

WRONG = StatusCause(reason="FieldValueInvalid", message="Invalid value: 0", field="spec.maxSkew")


class Server:
    """An API server that answers as it is told to.

    Args:
        spec: what it writes into the specs of Pods.
        answers: kind's name → what it says of objects of the kind instead.
    """

    def __init__(self, spec: Object | None = None, **answers: DryRun) -> None:
        self._spec = spec or {}
        self._answers = answers
        self.asked: list[tuple[str, str, Any]] = []

    def __call__(self, kind: Kind, namespace: str, values: Mapping[str, Plain]) -> DryRun:
        """Return what it says, and remember what it was asked."""
        asked: Any = values
        self.asked.append((kind.name, namespace, asked))
        if kind.name in self._answers:
            return self._answers[kind.name]
        stored = {**asked, "spec": {**asked["spec"], **self._spec}} if kind.name == "Pod" else asked
        return DryRun(obj=convert(stored, kind.struct))


def checked(folder: Path, manifest: Object, server: Server | None) -> tuple[CheckItem, int]:
    """Return what is said of the manifest in a cluster of four nodes, and the exit code."""
    path = folder / "manifest.yaml"
    path.write_text(yaml.safe_dump(manifest), encoding="utf-8")
    options = CheckOptions(filenames=(str(path),), namespace="default")
    report = check(Memory(ABC), options, SchedulerOptions(), stdin=None, create=server).report
    (item,) = report.items
    return item, exit_codes.of_check(report)


def test_a_pod_is_asked_about_as_it_stands(tmp_path: Path) -> None:
    server = Server({"nodeSelector": {ZONE: "b"}})
    item, _ = checked(tmp_path, pod("web"), server)
    assert [(kind, namespace) for kind, namespace, _ in server.asked] == [("Pod", "default")]
    assert server.asked[0][2] == pod("web")
    assert item.feasible == ("b1",)


@pytest.mark.parametrize(
    "manifest",
    [workload("Deployment", "web", replicas=2), workload("Job", "web"), cron_job("web")],
    ids=lambda manifest: manifest["kind"],
)
def test_a_pod_of_the_template_is_asked_about_too(tmp_path: Path, manifest: Object) -> None:
    server = Server({"nodeSelector": {ZONE: "b"}})
    item, code = checked(tmp_path, manifest, server)
    (owner, _, sent), (kind, namespace, asked) = server.asked
    assert (owner, sent, kind, namespace) == (manifest["kind"], manifest, "Pod", "default")
    assert asked["metadata"]["generateName"].startswith("web")
    assert asked["metadata"]["labels"]["app"] == "web"
    assert asked["spec"]["containers"] == template()["spec"]["containers"]
    assert ({placement.node for placement in item.placements}, code) == ({"b1"}, 0)


def test_the_pod_carries_the_label_of_its_revision(tmp_path: Path) -> None:
    server = Server()
    checked(tmp_path, workload("Deployment", "web"), server)
    assert "pod-template-hash" in server.asked[1][2]["metadata"]["labels"]


def test_what_the_controller_adds_is_kept(tmp_path: Path) -> None:
    item, _ = checked(tmp_path, workload("DaemonSet", "agent"), Server())
    assert item.replicas == 4
    cordoned = node("c1", zone="c", unschedulable=True)
    path = tmp_path / "ds.yaml"
    path.write_text(yaml.safe_dump(workload("DaemonSet", "agent")), encoding="utf-8")
    options = CheckOptions(filenames=(str(path),), namespace="default")
    report = check(Memory([cordoned]), options, SchedulerOptions(), stdin=None, create=Server()).report
    assert [placement.node for placement in report.items[0].placements] == ["c1"]


def test_the_claims_of_a_stateful_set_are_volumes_of_its_pod(tmp_path: Path) -> None:
    server = Server()
    described = workload("StatefulSet", "db", volumeClaimTemplates=[claim("data")])
    checked(tmp_path, described, server)
    volumes = server.asked[1][2]["spec"]["volumes"]
    assert volumes == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]


def test_what_the_server_refuses_stands_in_the_place_of_our_rules(tmp_path: Path) -> None:
    broken = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"), maxSkew=0)))
    item, code = checked(tmp_path, broken, Server(Deployment=DryRun(causes=(WRONG,))))
    assert [(error.field, error.message) for error in item.validation] == [("spec.maxSkew", "Invalid value: 0")]
    assert code == 1
    sound, _ = checked(tmp_path, workload("Deployment", "web"), Server(Deployment=DryRun(causes=(WRONG,))))
    assert len(sound.validation) == 1
    assert sound.placements


def test_what_is_wrong_with_the_pod_stands_at_its_place_in_the_manifest(tmp_path: Path) -> None:
    denied = StatusCause(reason="Forbidden", message="exceeded quota")
    server = Server(Pod=DryRun(causes=(WRONG, denied)))
    item, _ = checked(tmp_path, cron_job("web"), server)
    assert item.failed_create is not None
    fields = [(error.field, error.reason) for error in item.failed_create.refusals]
    assert item.verdict == "FailedCreate"
    assert fields == [("spec.jobTemplate.spec.template.spec.maxSkew", "FieldValueInvalid"), ("", "Forbidden")]


@pytest.mark.parametrize(("replicas", "verdict"), [(1, "Schedulable"), (3, "FailedCreate")])
def test_a_quota_is_counted_as_pods_come_and_go(tmp_path: Path, replicas: int, verdict: str) -> None:
    hard = {"pods": "2"}
    quota: Object = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}}
    quota |= {"spec": {"hard": hard}, "status": {"hard": hard, "used": hard}}
    pods = [owned(f"web-{on}", "ReplicaSet", "web-h1", on=on, phase="Running") for on in ("a1", "b1")]
    live = [workload("Deployment", "web", replicas=2), revision("web", 1), *pods]
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump(workload("Deployment", "web", replicas=replicas)), encoding="utf-8")
    options = CheckOptions(filenames=(str(path),), namespace="default")
    said = 'pods "web-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    server = Server(Pod=DryRun(causes=(StatusCause(reason="Forbidden", message=said),)))
    (item,) = check(Memory([*ABC, *live, quota]), options, SchedulerOptions(), stdin=None, create=server).report.items
    assert item.verdict == verdict


@pytest.mark.parametrize("kind", ["Deployment", "Pod"])
def test_what_cannot_be_asked_is_told(tmp_path: Path, kind: str) -> None:
    answers: dict[str, Any] = {kind: DryRun(impossible="no right")}
    server = Server(**answers)
    item, code = checked(tmp_path, workload("Deployment", "web"), server)
    assert (item.verdict, code) == ("Incomplete", 3)
    assert [(entry.what, entry.why) for entry in entries(item.incomplete)] == [("the dry run", "no right")]


def test_what_cannot_be_asked_is_judged_by_our_rules(tmp_path: Path) -> None:
    broken = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"), maxSkew=0)))
    item, code = checked(tmp_path, broken, Server(Deployment=DryRun(impossible="no right")))
    assert ([error.field for error in item.validation], code) == (
        ["spec.template.spec.topologySpreadConstraints[0].maxSkew"],
        1,
    )


def test_a_sound_manifest_gets_the_same_answer_either_way(tmp_path: Path) -> None:
    manifest = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"))), replicas=5)
    assert checked(tmp_path, manifest, Server()) == checked(tmp_path, manifest, None)


def test_a_server_that_was_asked_has_evaluated_the_standard_of_the_namespace(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.safe_dump(pod("web")), encoding="utf-8")
    enforcing = namespace("default", **{"pod-security.kubernetes.io/enforce": "restricted"})
    options = CheckOptions(filenames=(str(path),), namespace="default")
    notes = [
        check(Memory([*ABC, enforcing]), options, SchedulerOptions(), stdin=None, create=server).notes
        for server in (None, Server())
    ]
    assert [*map(bool, notes)] == [True, False]
