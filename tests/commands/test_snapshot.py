"""What is written of a cluster: all that the commands read, and nothing else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kubectl_spread.commands.snapshot import take
from kubectl_spread.objects.kinds import KINDS, POD_DISRUPTION_BUDGET
from kubectl_spread.snapshot import Unread
from tests.build import Object, node, pod
from tests.build_workloads import workload
from tests.commands.memory import Memory
from tests.hostile.poison import SHOP, WAREHOUSE, objects_in
from tests.hostile.test_secrets import SENTENCE, with_environment
from tests.program import spread

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def kept_of(given: Object) -> Object:
    """Return what is kept of a Deployment's annotations."""
    taken = json.loads(take(Memory([workload("Deployment", "web", annotations=given)]), "").text)
    kept: Object = taken["items"][0]["metadata"]["annotations"]
    return kept


@pytest.mark.parametrize("cluster", [SHOP, WAREHOUSE], ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "command", [("show", "-A", "--defaults"), ("why-pending", "-A"), ("check", "-f", "examples/checkout.yaml")]
)
def test_every_command_answers_from_it_as_from_the_cluster(
    cluster: Path, command: tuple[str, ...], tmp_path: Path
) -> None:
    written = tmp_path / "cluster.json"
    assert spread("snapshot", "--from", cluster, "-o", written).code == 0
    told = [spread(*command, "--from", path, "-o", "json") for path in (cluster, written)]
    answers = [json.loads(ended.stdout) | {"metadata": None} for ended in told]
    assert answers[0] == answers[1]


def test_it_holds_no_secret(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": SENTENCE}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"password": SENTENCE}}
    probe = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "Unhealthy", "message": SENTENCE}
    items = [secret, config, probe, *with_environment(objects_in(WAREHOUSE))]
    for each in items:
        each["metadata"].setdefault("annotations", {})["example.com/note"] = SENTENCE
        each["metadata"]["annotations"][LAST_APPLIED] = json.dumps({"spec": {"replicas": 2, "env": SENTENCE}})
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    ended = spread("snapshot", "--from", cluster)
    assert ended.code == 0
    assert SENTENCE not in ended.stdout + ended.stderr
    assert {item["kind"] for item in json.loads(ended.stdout)["items"]} <= {kind.name for kind in KINDS}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"deployment.kubernetes.io/revision": "3", "example.com/a": "b"}, {"deployment.kubernetes.io/revision": "3"}),
        ({LAST_APPLIED: '{"spec":{"replicas":7,"paused":true}}'}, {LAST_APPLIED: '{"spec":{"replicas":1}}'}),
        ({LAST_APPLIED: '{"spec":{"paused":true}}'}, {LAST_APPLIED: "{}"}),
    ],
)
def test_of_annotations_it_holds_what_is_read(given: Object, kept: Object) -> None:
    assert kept_of(given) == kept


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    for path in (plain, packed):
        assert spread("snapshot", "--from", SHOP, "-o", path).code == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_what_could_not_be_read_is_said() -> None:
    source = Memory([node("a1"), pod("p")], unread=(Unread(POD_DISRUPTION_BUDGET, "forbidden"),))
    taken = take(source, "")
    assert taken.notes == ("poddisruptionbudgets could not be read: forbidden",)
    assert taken.exit_code == 3


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    ended = spread("snapshot", "--from", SHOP, "-o", tmp_path / "nowhere" / "a.json")
    assert ended.code == 3
    assert "cannot write to" in ended.stderr


def test_it_is_of_whole_namespaces() -> None:
    assert "--selector cannot be used here" in spread("snapshot", "-l", "app=web", "--from", SHOP).stderr
