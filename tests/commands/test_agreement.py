"""What ``show``, ``check`` and ``why-pending`` say of one Pod: the next one, the manifest's, the one that waits."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.build import Object
from tests.conformance.generate import cases
from tests.program import Values, spread

COUNT = 40
NAME = "of-a-replica-set"
GONE = ("nodeName", "priority", "schedulingGates", "schedulerName")
"""Fields that no template may have, or that make somebody else decide."""


ADMITTED = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for what in ("not-ready", "unreachable")
]
"""What the API server writes into every Pod."""


def replica_set(pod: Object) -> Object:
    """Return what makes one Pod like this."""
    spec = {key: value for key, value in pod["spec"].items() if key not in GONE}
    metadata = {"name": NAME, "namespace": pod["metadata"].get("namespace", "default"), "uid": NAME}
    labels = pod["metadata"]["labels"]
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def waiting(owner: Object, name: str) -> Object:
    """Return the Pod that it makes, as the API server stores it, not bound yet."""
    template = copy.deepcopy(owner["spec"]["template"])
    template["spec"]["tolerations"] = [*template["spec"].get("tolerations", ()), *ADMITTED]
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": NAME, "uid": NAME, "controller": True}
    metadata = {"name": name, "namespace": owner["metadata"]["namespace"], "ownerReferences": [reference]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template["metadata"], **metadata},
        "spec": template["spec"],
    }


def situations() -> Iterator[tuple[list[Object], Object]]:
    """Yield (the cluster, a ReplicaSet in it) of generated cases whose Pod has labels and hard constraints."""
    for case in cases(suite="spread", minor=36, seed=12, count=COUNT * 3):
        pod = case["pod"]
        hard = any(
            each.get("whenUnsatisfiable") == "DoNotSchedule"
            for each in pod["spec"].get("topologySpreadConstraints", ())
        )
        if pod["metadata"].get("labels") and hard and not case.get("config"):
            yield [each for each in case["objects"] if each["kind"] != "ReplicaSet"], replica_set(pod)


@pytest.fixture(params=list(situations())[:COUNT], ids=range(COUNT))
def answers(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[Values], Values, Values]:
    """Return show's rows, check's item and why-pending's item about the same Pod."""
    objects, owner = request.param
    (tmp_path / "manifest.json").write_text(json.dumps(owner))
    (tmp_path / "cluster.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*objects, owner]}))
    waits = [*objects, owner, waiting(owner, NAME)]
    (tmp_path / "pending.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": waits}))
    where = ("-n", owner["metadata"]["namespace"], "--kube-version", "v1.36", "-o", "json", "--from")
    rows = spread("show", f"replicaset/{NAME}", *where, tmp_path / "cluster.json").items
    manifest = ("-f", tmp_path / "manifest.json", "--replicas", "1")
    check = spread("check", *manifest, *where, tmp_path / "cluster.json").item
    pending = spread("why-pending", NAME, "--fix-budget", "0", *where, tmp_path / "pending.json").item
    return rows, check, pending


def test_they_agree(answers: tuple[list[Values], Values, Values]) -> None:
    rows, check, pending = answers
    if check["verdict"] == "Invalid":
        return
    assert (check["verdict"], check["conflict"]) == (pending["verdict"], pending["conflict"])
    assert check["feasible"] == pending["feasible"]
    statuses = {row["constraint"]["index"]: row["status"] for row in rows}
    stuck = {"Blocked", "Unschedulable", "NoDomains"}
    if pending["feasible"] or pending["preemption"]:
        assert not set(statuses.values()) & {"Blocked", "Unschedulable"}
        return
    assert set(statuses.values()) & stuck
    assert not {"Blocked", "Unschedulable"} <= set(statuses.values())
    if "Unschedulable" not in statuses.values():
        named = {each["index"] for each in pending["conflict"] if each["kind"] == "constraint"}
        assert {statuses[index] for index in named} <= {"Blocked", "NoDomains"}
    assert all(row["headroom"]["more"] == 0 for row in rows)
