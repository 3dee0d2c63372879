"""What ``check`` offers for replicas without a node: changes of the manifest, and of the cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.diagnosis.judged import GPU
from tests.program import Values, listed
from tests.program import spread as run

ON_ZONES = spread(ZONE, selector=app("web"))
CORDONED = (node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c", unschedulable=True))
TAINTED = (node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c", taints=[GPU]))
WEB = workload("Deployment", "web", pods=template(ON_ZONES), replicas=4)
ROLLOUT = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}, "spec": WEB["spec"]}
JOB = workload("Job", "web", pods=template(ON_ZONES, restartPolicy="Never"), parallelism=4, completions=4)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return tmp_path / "manifests.yaml"


def written(manifest: Path, *documents: Object) -> Path:
    manifest.write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")
    return manifest


def checked(path: Path, objects: Sequence[Object], *words: str) -> list[Values]:
    """Return what is said of each manifest of the file in the cluster of these objects."""
    cluster = path.with_name("cluster.json")
    listed(cluster, objects)
    return run("check", "-f", path, "--from", cluster, "-o", "json", *words).items


def only(path: Path, objects: Sequence[Object], *words: str) -> Values:
    """Return what is said of the only manifest."""
    (item,) = checked(path, objects, *words)
    return item


def by_id(item: Values) -> dict[str, Values]:
    return {fix["id"]: fix for fix in item["fixes"]}


def test_a_change_of_the_manifest_has_its_line_and_its_yaml(manifest: Path) -> None:
    item = checked(written(manifest, pod("other"), WEB), TAINTED)[1]
    (edit,) = by_id(item)["RaiseMaxSkew"]["edits"]
    assert (edit["file"], edit["document"]) == (str(manifest), 2)
    assert edit["path"] == "spec.template.spec.topologySpreadConstraints[0].maxSkew"
    assert (edit["before"], edit["after"]) == ("maxSkew: 1", "maxSkew: 2")
    assert manifest.read_text(encoding="utf-8").splitlines()[edit["line"] - 1].lstrip(" -") == "maxSkew: 1"


def test_a_change_of_the_cluster_has_its_command(manifest: Path) -> None:
    uncordon = by_id(only(written(manifest, WEB), CORDONED))["Uncordon"]
    assert (uncordon["commands"], uncordon["edits"]) == (["kubectl uncordon c1"], [])
    assert (uncordon["admits"], uncordon["siblings"]) == (2, 2)


@pytest.mark.parametrize(
    ("described", "prefix"),
    [
        (WEB, ("spec", "template")),
        (ROLLOUT, ("spec", "template")),
        (JOB, ("spec", "template")),
        (
            cron_job("web", pods=template(ON_ZONES, restartPolicy="Never"), parallelism=4),
            ("spec", "jobTemplate", "spec", "template"),
        ),
        (workload("StatefulSet", "web", pods=template(ON_ZONES), replicas=4), ("spec", "template")),
        (pod("web", labels={"app": "web"}, topologySpreadConstraints=[ON_ZONES]), ()),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_each_change_helps_once_it_is_made(described: Object, prefix: tuple[str, ...], manifest: Path) -> None:
    before = only(written(manifest, described), TAINTED, "--replicas", "4")
    edited = [fix for fix in before["fixes"] if fix["edits"]]
    assert {"RaiseMaxSkew", "MakeSoft", "AddToleration", "HonorTaints"} <= {fix["id"] for fix in edited}
    for fix in edited:
        changed = json.loads(json.dumps(described))
        for edit in fix["edits"]:
            assert edit["path"].startswith(".".join((*prefix, "spec")))
            put(changed, edit)
        after = only(written(manifest, changed), TAINTED, "--replicas", "4")
        assert len(after["placements"]) > len(before["placements"]), fix["id"]


def put(document: Object, edit: Values) -> None:
    """Make a change that is told as YAML."""
    *parents, last = edit["path"].replace("[", ".").replace("]", "").split(".")
    at: Any = document
    for step in parents:
        at = at[int(step)] if isinstance(at, list) else at[step]
    after = yaml.safe_load(edit["after"])
    if isinstance(after, list):
        at[last] = [*at.get(last, ()), *after]
    else:
        at[last] = after[last]


def test_no_pod_of_the_manifest_is_to_be_moved(manifest: Path) -> None:
    alone = workload("Deployment", "web", pods=template(spread(HOSTNAME, selector=app("web")), requests={"cpu": "2"}))
    item = only(
        written(manifest, alone),
        [node("a1", allocatable={"cpu": "3"}), node("b1", allocatable={"cpu": "1"})],
        "--replicas",
        "2",
    )
    assert item["jam"]["replica"] == 2
    assert "MovePod" not in "+".join(fix["id"] for fix in item["fixes"])


def test_a_change_that_the_api_server_takes_of_no_job_that_lives_is_said_to_be_such(manifest: Path) -> None:
    living = {**JOB, "metadata": {**JOB["metadata"], "namespace": "default", "uid": "1"}}
    raised = by_id(only(written(manifest, JOB), [*TAINTED, living]))["RaiseMaxSkew"]
    assert (
        raised["starts"] == "the API server refuses such a change of job/web: delete it before you apply the manifest"
    )


def test_an_object_that_is_owned_is_named_itself_not_its_owner() -> None:
    shop = "examples/shop.yaml"
    items = run("check", "-f", shop, "--from", shop, "-n", "shop", "-l", "app=web", "-o", "json").items
    (waiting,) = (item for item in items if item["name"] == "web-5d9c7b6f4-x2x5q")
    assert "refuses such a change of pod/web-5d9c7b6f4-x2x5q:" in by_id(waiting)["RaiseMaxSkew"]["starts"]
    (replicas,) = (item for item in items if item["name"] == "web-5d9c7b6f4")
    assert replicas["rollout"]["running"] == 3


def test_of_json_only_the_document_is_known(manifest: Path) -> None:
    manifest.write_text(json.dumps(WEB), encoding="utf-8")
    (edit,) = by_id(only(manifest, TAINTED))["RaiseMaxSkew"]["edits"]
    assert (edit["document"], edit["line"]) == (1, 0)


def test_what_admission_adds_cannot_be_changed_in_the_manifest(manifest: Path) -> None:
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "scheduling": {"nodeSelector": {"kata": "yes"}},
    }
    described = pod("web", runtimeClassName="kata")
    fix = by_id(only(written(manifest, described), [node("a1"), runtime]))["RelaxNodeSelector"]
    assert (fix["edits"], fix["commands"]) == ([], [])
    assert fix["starts"] == "the manifest of pod/web has no such field: admission adds it"


@pytest.mark.parametrize(
    ("kind", "fields", "command"),
    [
        ("ReplicaSet", {}, "kubectl delete pod web-c -n default"),
        ("StatefulSet", {"updateStrategy": {"type": "OnDelete"}}, "kubectl delete pod web-c -n default"),
        ("Deployment", {"paused": True}, "kubectl rollout resume deployment/web -n default"),
        ("Deployment", {}, ""),
    ],
)
def test_a_change_of_the_manifest_comes_with_what_replaces_the_pods_that_wait(
    kind: str, fields: Object, command: str, manifest: Path
) -> None:
    by = workload(kind, "web", pods=template(ON_ZONES), replicas=3, **fields)
    sets = [revision("web", 1, pods=template(ON_ZONES))] * (kind == "Deployment")
    owner = ("ReplicaSet", "web-h1") if sets else (kind, "web")
    labels = {"app": "web", **({"pod-template-hash": "h1"} if sets else {})}
    living = [
        owned(f"web-{zone}", *owner, on=on, labels=labels, topologySpreadConstraints=[ON_ZONES])
        for zone, on in (("a", "a1"), ("b", "b1"), ("c", ""))
    ]
    live = [*TAINTED, by, *sets, *living]
    by = by | {"spec": {key: value for key, value in by["spec"].items() if key != "paused"}}
    fix = by_id(only(written(manifest, by), live))["HonorTaints"]
    assert fix["edits"]
    assert fix["commands"] == [command] * bool(command)


def paused_and_waiting(**spec: Any) -> list[Object]:  # noqa: ANN401 - any field of a Pod
    """Return a paused Deployment with this Pod spec, and its Pod without one, which asks for another disk."""
    by = workload("Deployment", "web", pods=template(**spec), replicas=1, paused=True)
    labels = {"app": "web", "pod-template-hash": "h1"}
    old = revision("web", 1, pods=template(nodeSelector={"disk": "ssd"}))
    return [node("a1"), by, old, owned("web-h1-0", "ReplicaSet", "web-h1", labels=labels, nodeSelector={"disk": "ssd"})]


@pytest.mark.parametrize(
    ("spec", "fix", "summary"),
    [
        ({}, "RecreatePod", "resume deployment/web"),
        ({"nodeSelector": {"disk": "nvme"}}, "RelaxNodeSelector", "drop disk=nvme from the nodeSelector"),
    ],
)
def test_a_manifest_that_pauses_is_resumed_in_the_manifest(
    spec: Object, fix: str, summary: str, manifest: Path
) -> None:
    """A command would hold until the manifest is applied again. What is named is what stands in the manifest."""
    objects = paused_and_waiting(**spec)
    found = by_id(only(written(manifest, objects[1]), objects))[fix]
    assert (found["summary"].startswith(summary), found["commands"]) == (True, [])
    assert (found["edits"][-1]["before"], found["edits"][-1]["after"]) == ("paused: true", "paused: false")


def test_what_is_refused_gets_no_fixes(manifest: Path) -> None:
    wrong = workload("Deployment", "web", pods=template(ON_ZONES | {"maxSkew": 0}), replicas=4)
    assert only(written(manifest, wrong), TAINTED)["fixes"] == []


def test_a_label_with_dots_is_found(manifest: Path) -> None:
    described = pod("web", nodeSelector={"a": "b", "kubernetes.io/os": "none"})
    nodes = [node("a1", labels={"a": "b", "kubernetes.io/os": "linux"})]
    (edit,) = by_id(only(written(manifest, described), nodes))["RelaxNodeSelector"]["edits"]
    assert edit["path"] == "spec.nodeSelector[kubernetes.io/os]"
    assert manifest.read_text(encoding="utf-8").splitlines()[edit["line"] - 1].strip() == "kubernetes.io/os: none"


@pytest.mark.parametrize("both", [True, False])
def test_no_fix_deletes_a_pod_that_is_a_manifest_too(manifest: Path, both: bool) -> None:  # noqa: FBT001 - a case
    nodes = [node("a1", allocatable={"cpu": "4", "pods": "9"}), node("b1", allocatable={"cpu": "2", "pods": "9"})]
    tool = pod("tool", requests={"cpu": "2"})
    there = pod("tool", requests={"cpu": "2"}, on="a1", status={"phase": "Running"})
    web = workload("Deployment", "web", pods=template(requests={"cpu": "3"}))
    item = checked(written(manifest, *([tool] if both else []), web), [*nodes, there])[-1]
    assert ("MovePod" in by_id(item)) is not both
    assert "LowerRequests" in by_id(item)
