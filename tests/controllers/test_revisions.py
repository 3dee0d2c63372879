"""Revisions to which a manifest goes back, or which a new object adopts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import Object, node, pod
from tests.build_workloads import controller, held_revision, kubectl_applied, template, workload
from tests.program import spread

NODES = [node("a1"), node("b1")]


def with_env(value: str, **spec: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a template of which the environment is not read."""
    made = template(**spec)
    made["spec"]["containers"][0]["env"] = [{"name": "A", "value": value}]
    return made


def made_by(kind: str, revision: str, *, owned: bool, generation: str = "2") -> list[Object]:
    """Return a Pod on each node, of a revision."""
    labels = {"app": "web", "controller-revision-hash": revision, "pod-template-generation": generation}
    owner = controller(kind, "web") if owned else None
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return [pod(f"web-{n}", on=f"{'ab'[n]}1", labels=labels, owner=owner, status=status) for n in (0, 1)]


def checked(folder: Path, objects: list[Object], manifest: Object) -> tuple[int, int, list[str]]:
    """Return (exit code, new Pods on nodes, what is not known)."""
    cluster, file = folder / "cluster.json", folder / "manifest.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*NODES, *objects]}))
    file.write_text(json.dumps(manifest))
    ended = spread("check", "-f", file, "--from", cluster, "-o", "json")
    simulated = spread("simulate", "--apply", file, "--from", cluster, "-o", "json").report
    unknown = [gap["what"] for gap in ended.item["incomplete"]]
    assert [gap["what"] for gap in simulated["incomplete"]] == unknown
    return ended.code, len(ended.item["placements"]), unknown


def manifest_of(kind: str, pods: Object) -> Object:
    """Return the manifest of web, which has two Pods."""
    replicas: Object = {} if kind == "DaemonSet" else {"replicas": 2}
    return workload(kind, "web", pods=pods, **replicas)


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
@pytest.mark.parametrize(
    ("held", "manifest", "expected"),
    [
        (with_env("1"), with_env("1"), (0, 0, [])),
        (with_env("1"), with_env("2"), (0, 2, [])),
        (None, with_env("1"), (3, 0, ["revision web-1 of default/{ref}"])),
        (None, with_env("1", tolerations=[{"key": "x", "operator": "Exists"}]), (0, 2, [])),
    ],
    ids=["the same", "another environment", "not read", "another in what is read"],
)
def test_pods_that_are_adopted_stay_where_they_are_of_the_template(
    kind: str, held: Object | None, manifest: Object, expected: tuple[int, int, list[str]], tmp_path: Path
) -> None:
    revision = "web-1" if kind == "StatefulSet" else "1"
    objects = [*made_by(kind, revision, owned=False), *([held_revision("web-1", held)] if held else [])]
    code, placed, unknown = checked(tmp_path, objects, manifest_of(kind, manifest))
    named = [each.format(ref=f"{kind.lower()}/web").replace("web-1", revision, 1) for each in expected[2]]
    assert (code, placed, unknown) == (*expected[:2], named)


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (template(), (3, 0, ["revision 59d4 of default/deployment/web"])),
        # The Pods do not show their environment.
        (with_env("1"), (3, 0, ["revision 59d4 of default/deployment/web"])),
        (template(nodeSelector={"kubernetes.io/os": "linux"}), (1, 0, [])),
        (template(image="app:2"), (0, 2, [])),
    ],
    ids=["the same", "another environment", "another selector", "another image"],
)
def test_a_deployment_may_adopt_pods_of_which_the_replica_set_is_gone_too(
    manifest: Object, expected: tuple[int, int, list[str]], tmp_path: Path
) -> None:
    labels = {"app": "web", "pod-template-hash": "59d4"}
    orphans = [pod(f"web-59d4-{n}", on="a1", labels=labels) for n in (0, 1)]
    assert checked(tmp_path, orphans, manifest_of("Deployment", manifest)) == expected


def test_a_new_daemon_set_keeps_what_one_that_never_rolled_out_left(tmp_path: Path) -> None:
    objects = [*made_by("DaemonSet", "1", owned=False, generation="1"), held_revision("web-1", with_env("1"))]
    assert checked(tmp_path, objects, manifest_of("DaemonSet", with_env("2"))) == (0, 0, [])


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
@pytest.mark.parametrize(("held", "placed", "sure"), [("1", 0, True), ("2", 2, True), ("", 0, False)])
def test_a_rollout_that_is_taken_back_leaves_the_pods_of_the_older_revision(
    kind: str, held: str, placed: int, tmp_path: Path, *, sure: bool
) -> None:
    stuck = manifest_of(kind, with_env("1", requests={"cpu": "99"}))
    name = "web-{}" if kind == "StatefulSet" else "{}"
    stuck["status"] = {"currentRevision": "web-1", "updateRevision": "web-2"}
    stuck["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "3"}
    objects = [kubectl_applied(stuck), *made_by(kind, name.format(1), owned=True)]
    objects += [held_revision("web-1", with_env(held))] if held else []
    code, came, unknown = checked(tmp_path, objects, manifest_of(kind, with_env("1")))
    assert (came, code, bool(unknown)) == (placed, 0 if sure else 3, not sure)


def test_below_the_partition_a_pod_is_of_the_revision_that_was_read(tmp_path: Path) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    live = workload("StatefulSet", "web", pods=template(), replicas=2, updateStrategy=rolling)
    live["status"] = {"currentRevision": "web-1", "updateRevision": "web-2"}
    old = held_revision("web-1", template(nodeSelector={"gone": "yes"}))
    code, came, unknown = checked(tmp_path, [live, old], live | {"status": {}})
    assert (code, came, unknown) == (1, 0, [])
