"""What ``check`` and ``simulate --apply`` say where a namespace enforces a Pod Security Standard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.build import Object, namespace, node, pod
from tests.build_workloads import kubectl_applied, owned, revision, workload
from tests.e2e.applied_pairs import orders_of
from tests.program import Ended, spread

RESTRICTED = namespace("default", **{"pod-security.kubernetes.io/enforce": "restricted"})
SOUND: Object = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
UNSOUND: Object = {**SOUND, "runAsUser": 0}


def written(folder: Path, name: str, items: Sequence[Object]) -> Path:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items]}))
    return path


def asked(folder: Path, manifests: Sequence[Object], there: Sequence[Object], *, snapshot: bool = False) -> list[Ended]:
    """Return what ``check`` and ``simulate --apply`` say."""
    file, cluster = written(folder, "new.json", manifests), written(folder, "cluster.json", [node("a1"), *there])
    if snapshot:
        kept = folder / "snapshot.json"
        assert spread("snapshot", "--from", cluster, "-o", kept).code == 0
        cluster = kept
    both = ("check", "-f", file), ("simulate", "--apply", file)
    return [spread(*words, "--from", cluster, "-o", "json") for words in both]


def container(image: str = "web:1", **context: Any) -> Object:  # noqa: ANN401 - any field of a security context
    return {"name": "main", "image": image, "securityContext": context}


def deployment(**context: Any) -> Object:  # noqa: ANN401 - the same
    pods = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(**context)]}}
    return workload("Deployment", "web", pods=pods, replicas=1)


def test_all_fields_of_a_new_workload_are_judged(tmp_path: Path) -> None:
    check, simulated = asked(tmp_path, [deployment(**SOUND)], [RESTRICTED])
    assert (check.code, check.item["verdict"], "violates" in simulated.stdout) == (0, "Schedulable", False)
    check, simulated = asked(tmp_path, [deployment(**UNSOUND)], [RESTRICTED])
    assert (check.code, check.item["verdict"]) == (1, "FailedCreate")
    message = 'violates PodSecurity "restricted:latest": runAsUser=0 (spec.containers[0].securityContext.runAsUser)'
    assert check.item["failedCreate"]["message"] == message
    assert json.dumps(message)[1:-1] in simulated.stdout


def test_a_namespace_in_the_same_file_counts(tmp_path: Path) -> None:
    check, _ = asked(tmp_path, [RESTRICTED, deployment()], [])
    assert check.items[-1]["verdict"] == "FailedCreate"


@pytest.mark.parametrize("scaled", [False, True])
def test_the_merged_template_is_judged_with_what_was_changed_by_hand(tmp_path: Path, scaled: bool) -> None:  # noqa: FBT001 - a table
    applied = deployment(**SOUND)
    by_hand = kubectl_applied(applied)
    by_hand["spec"] = deployment(**UNSOUND)["spec"]
    there = [
        RESTRICTED,
        by_hand,
        *([{**revision("web", 1), "spec": {"template": by_hand["spec"]["template"]}}] * scaled),
    ]
    again = {**applied, "spec": {**applied["spec"], "replicas": 2}}
    check, _ = asked(tmp_path, [again], there)
    assert check.item["verdict"] == "FailedCreate"


def test_what_a_snapshot_does_not_hold_is_incomplete(tmp_path: Path) -> None:
    applied = deployment(**SOUND)
    check, _ = asked(tmp_path, [applied], [RESTRICTED, kubectl_applied(applied)], snapshot=True)
    assert (check.code, check.item["verdict"]) == (0, "Schedulable")
    by_hand = kubectl_applied(applied)
    by_hand["spec"] = deployment(**UNSOUND)["spec"]
    for ended in asked(tmp_path, [applied], [RESTRICTED, by_hand], snapshot=True):
        assert ended.code == 3
        assert "Pod Security Standard restricted" in ended.stdout


@pytest.mark.parametrize(("image", "refused"), [("web:1", False), ("web:2", True)])
def test_a_living_pod_is_judged_again_if_its_image_changes(tmp_path: Path, image: str, refused: bool) -> None:  # noqa: FBT001 - a table
    live = kubectl_applied({**pod("web"), "spec": {"containers": [container()]}})
    live["spec"]["nodeName"] = "a1"
    manifest = {**pod("web"), "spec": {"containers": [container(image)]}}
    check, simulated = asked(tmp_path, [manifest], [RESTRICTED, live])
    assert (check.item["verdict"] == "Invalid") is refused
    assert ("violates PodSecurity" in simulated.stdout) is refused


def test_a_pod_of_a_stateful_set_that_is_deleted_for_a_refused_one_does_not_come_back(tmp_path: Path) -> None:
    pods = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(**SOUND)]}}
    db = kubectl_applied(workload("StatefulSet", "db", pods=pods, replicas=1))
    db["status"] = {"currentRevision": "db-1", "updateRevision": "db-1"}
    living = owned("db-0", "StatefulSet", "db", on="a1", labels={"app": "web", "controller-revision-hash": "db-1"})
    bad = {**pods, "spec": {"containers": [container(**UNSOUND)]}}
    _, simulated = asked(tmp_path, [workload("StatefulSet", "db", pods=bad, replicas=1)], [RESTRICTED, db, living])
    (step,) = simulated.report["steps"]
    assert "violates PodSecurity" in json.dumps(step["notes"])


def test_a_replica_set_that_is_not_empty_is_judged_by_all_its_fields(tmp_path: Path) -> None:
    live = kubectl_applied(deployment(**UNSOUND))
    older = {**revision("web", 1), "spec": {"replicas": 2, "template": live["spec"]["template"]}}
    new = deployment(**UNSOUND)
    new["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"
    cluster = written(tmp_path, "cluster.json", [node("a1"), RESTRICTED, live, older])
    simulated = spread("simulate", "--apply", written(tmp_path, "new.json", [new]), "--from", cluster, "-o", "json")
    (step,) = simulated.report["steps"]
    assert [("deployment/web, as before" in note, "violates" in note) for note in step["notes"]] == [(True, True)]


def test_a_daemon_set_whose_pods_are_refused_replaces_one_pod(tmp_path: Path) -> None:
    pods = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(**SOUND)]}}
    live = kubectl_applied(workload("DaemonSet", "web", pods=pods))
    live["status"] = {}
    both = [
        owned(f"web-{n}", "DaemonSet", "web", on=n, labels={"controller-revision-hash": "old"}) for n in ("a1", "b1")
    ]
    bad = {**pods, "spec": {"containers": [container(**UNSOUND)]}}
    new = written(tmp_path, "new.json", [workload("DaemonSet", "web", pods=bad)])
    cluster = written(tmp_path, "cluster.json", [node("a1"), node("b1"), RESTRICTED, live, *both])
    assert {(each.kept, each.made) for each in orders_of(cluster, new, "default")} == {(1, 0)}
