"""What is written of a cluster: all that the commands read, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import UnsetType

from kubectl_spread.cluster.files.manifests import read_inventory
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.snapshot import take
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.objects.kinds import KINDS, POD_DISRUPTION_BUDGET
from kubectl_spread.snapshot import Unread
from tests.build import Object, node, pod
from tests.build_workloads import kubectl_applied, owned, revision, template, workload
from tests.commands.memory import Memory
from tests.hostile.poison import SHOP, WAREHOUSE, objects_in
from tests.hostile.test_secrets import SENTENCE, with_environment
from tests.program import listed, spread

NOW = datetime(2026, 5, 4, 3, 2, 1, 7, tzinfo=UTC)
SCALED = {f"deployment.kubernetes.io/{name}-replicas": "2" for name in ("desired", "max")}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def kept_of(given: Object) -> Object:
    """Return what is kept of a Deployment's annotations."""
    _, taken = json.loads(take(Memory([workload("Deployment", "web", annotations=given)]), "", NOW).text)["items"]
    kept: Object = taken["metadata"]["annotations"]
    return kept


@pytest.mark.parametrize("cluster", [SHOP, WAREHOUSE], ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "command",
    [
        ("show", "-A", "--defaults"),
        ("why-pending", "-A", "--fix-budget", "600"),
        ("check", "-f", "examples/checkout.yaml"),
    ],
)
def test_every_command_answers_from_it_as_from_the_cluster(
    cluster: Path, command: tuple[str, ...], tmp_path: Path
) -> None:
    written = tmp_path / "cluster.json"
    assert spread("snapshot", "--from", cluster, "-o", written).code == 0
    told = [spread(*command, "--from", path, "-o", "json") for path in (cluster, written)]
    answers = [json.loads(ended.stdout) | {"metadata": None} for ended in told]
    assert answers[0] == answers[1]


class Marks:
    """Secrets, each of which is told from the others: ``secret-0``, ``secret-1`` and so on."""

    def __init__(self) -> None:
        self.count = 0

    def one(self) -> str:
        """Return another one."""
        self.count += 1
        return f"secret-{self.count}-of-all"

    def template(self) -> Object:
        """Return a template with all that may hold one, twice."""
        return {
            "metadata": {
                "labels": {"app": "web"},
                "annotations": {"note": self.one(), LAST_APPLIED: self.one(), "checksum/config": self.one()},
            },
            "spec": {
                "containers": [self.container("main"), self.container("beside")],
                "initContainers": [self.container("first")],
                "hostAliases": [{"ip": "1.2.3.4", "hostnames": [self.one()]}],
                "volumes": [
                    {"name": "v", "csi": {"driver": "d", "volumeAttributes": {"password": self.one()}}},
                    {"name": "w", "downwardAPI": {"items": [{"path": self.one()}]}},
                    {
                        "name": "e",
                        "ephemeral": {"volumeClaimTemplate": {"metadata": {"annotations": {"a": self.one()}}}},
                    },
                ],
            },
        }

    def container(self, name: str) -> Object:
        """Return a container that holds one wherever it can."""
        header = {"name": "Authorization", "value": self.one()}
        return {
            "name": name,
            "image": "web:1",
            "command": ["run", self.one()],
            "args": [f"--password={self.one()}"],
            "env": [{"name": "PASSWORD", "value": self.one()}],
            "livenessProbe": {"exec": {"command": [self.one()]}},
            "readinessProbe": {"httpGet": {"port": 80, "path": self.one(), "httpHeaders": [header]}},
            "lifecycle": {"preStop": {"exec": {"command": [self.one()]}}},
            "workingDir": self.one(),
        }

    def workload(self, kind: str) -> Object:
        """Return a workload that holds many, and more in what was last applied."""
        made, applied = ({**workload(kind, "web"), "metadata": {"name": "web"}} for _ in range(2))
        for each in (made, applied):
            inner = {"template": self.template()}
            each["spec"] |= {"jobTemplate": {"spec": inner}} if kind == "CronJob" else inner
            each["metadata"]["annotations"] = {"example.com/note": self.one()}
        applied["metadata"]["annotations"][LAST_APPLIED] = self.one()
        made["metadata"]["annotations"][LAST_APPLIED] = json.dumps(applied)
        return made

    def others(self) -> Iterator[Object]:
        """Yield what is no workload and holds some."""
        yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": self.one()}}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"status": self.one()}}
        yield {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e"},
            "reason": "Unhealthy",
            "message": self.one(),
        }
        yield {"apiVersion": "example.com/v1", "kind": "Database", "metadata": {"name": "d"}, "spec": {"p": self.one()}}
        conditions = [
            {"type": name, "status": "False", "message": self.one()} for name in ("Ready", "DisruptionTarget")
        ]
        waiting = {"name": "main", "state": {"waiting": {"reason": "ErrImagePull", "message": self.one()}}}
        status = {"phase": "Pending", "conditions": conditions, "containerStatuses": [waiting]}
        pod_of = {"metadata": {"name": "p"}, "apiVersion": "v1", "kind": "Pod", "spec": self.template()["spec"]}
        yield pod_of | {"status": status}
        applied = {LAST_APPLIED: json.dumps({"stringData": {"password": self.one()}}), "note": self.one()}
        for kind in ("PersistentVolumeClaim", "Node", "Service", "ServiceAccount"):
            yield {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "annotations": applied}}
        metadata = {"name": "x", "annotations": applied}
        data = {"spec": {"template": self.template(), "password": self.one()}, "password": self.one()}
        yield {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data}
        scaled = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 4, "metrics": [self.one()]}
        scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata}
        yield scaler | {"spec": scaled, "status": {"conditions": [{"message": self.one()}]}}
        text = {LAST_APPLIED: f"no JSON {self.one()}"}
        yield {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "x", "annotations": text}}
        claim = {"metadata": {"name": "data", "annotations": {"a": self.one(), LAST_APPLIED: self.one()}}}
        yield workload("StatefulSet", "db", volumeClaimTemplates=[claim])


@pytest.mark.parametrize("flags", [(), ("--no-digests",)], ids=" ".join)
def test_it_holds_no_secret(flags: tuple[str, ...], tmp_path: Path) -> None:
    marks, cluster, written = Marks(), tmp_path / "cluster.json", tmp_path / "written.json"
    kinds = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")
    items = [*map(marks.workload, kinds), *marks.others(), *with_environment(objects_in(WAREHOUSE))]
    listed(cluster, items)
    assert marks.count > 80
    ended = spread("snapshot", *flags, "--from", cluster, "-o", written)
    assert ended.code == 0
    again = spread("snapshot", *flags, "--from", written)
    for text in (written.read_text(), again.stdout, ended.stderr):
        assert "secret-" not in text
        assert SENTENCE not in text
    found = json.loads(written.read_text())["items"]
    assert {item["kind"] for item in found} <= {"SnapshotOrigin", *(kind.name for kind in KINDS)}
    assert again.stdout.count("spread.kubectl.dev/rest") == written.read_text().count("spread.kubectl.dev/rest") > 0


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"deployment.kubernetes.io/revision": "3", "example.com/a": "b"}, {"deployment.kubernetes.io/revision": "3"}),
        (
            {LAST_APPLIED: '{"kind":"Deployment","spec":{"replicas":7,"revisionHistoryLimit":3}}'},
            {LAST_APPLIED: '{"metadata":{},"spec":{"replicas":7}}'},
        ),
        ({LAST_APPLIED: "[]"}, {LAST_APPLIED: "unreadable"}),
        (SCALED, SCALED),
    ],
)
def test_of_annotations_it_holds_what_is_read(given: Object, kept: Object) -> None:
    assert kept_of(given) == kept


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    for path in (plain, packed):
        assert spread("snapshot", "--no-digests", "--from", SHOP, "-o", path).code == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_what_could_not_be_read_is_said() -> None:
    source = Memory([node("a1"), pod("p")], unread=(Unread(POD_DISRUPTION_BUDGET, "forbidden"),))
    taken = take(source, "", NOW)
    assert taken.notes == ("poddisruptionbudgets could not be read: forbidden",)
    assert exit_codes.of_snapshot(taken) == 3


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    ended = spread("snapshot", "--from", SHOP, "-o", tmp_path / "nowhere" / "a.json")
    assert ended.code == 3
    assert "cannot write to" in ended.stderr


def test_it_is_of_whole_namespaces() -> None:
    assert "--selector cannot be used here" in spread("snapshot", "-l", "app=web", "--from", SHOP).stderr


def pending_in(namespace: str) -> Object:
    """Return a Pod that waits for a node, which is cordoned."""
    return pod("web", namespace=namespace)


def taken_with(access: ClusterAccess | UnsetType, path: Path, *pods: Object, server: str = "https://eu:6443") -> Path:
    """Write a snapshot of a cluster that was reached so, and return its path."""
    path.write_text(take(Memory([node("a1", unschedulable=True), *pods], server=server, access=access), "", NOW).text)
    return path


def test_it_says_when_and_where_it_was_taken_without_what_is_secret_or_local(tmp_path: Path) -> None:
    flags = ("--kubeconfig", "/home/me/config", "--context", "prod", "--user", "dev", "--as", "admin")
    access = ClusterAccess(context="prod", cluster="eu", flags=flags, secret_flags=("--token",))
    first = json.loads(taken_with(access, tmp_path / "a.json").read_text())["items"][0]
    assert {"nodes", "pods", "replicasets"} < set(first.pop("held"))
    assert first == {
        "apiVersion": "spread.kubectl.dev/v1alpha1",
        "kind": "SnapshotOrigin",
        "takenAt": "2026-05-04T03:02:01Z",
        "context": "prod",
        "cluster": "eu",
        "server": "https://eu:6443",
        "userFlag": "dev",
        "otherFlags": ["--kubeconfig", "--as", "--token"],
    }


def test_commands_from_it_carry_its_context_and_the_header_says_when_and_where_it_was_taken(tmp_path: Path) -> None:
    access = ClusterAccess(context="prod", cluster="eu", flags=("--user", "dev"))
    path = taken_with(access, tmp_path / "a.json", pending_in("shop"))
    again = tmp_path / "b.json"
    assert spread("snapshot", "--from", path, "-o", again).code == 0
    for file in (path, again):
        told = spread("why-pending", "-n", "shop", "--from", file).stdout
        assert told.startswith("Snapshot of 2026-05-04T03:02:01Z from context prod, cluster eu, https://eu:6443.\n\n")
        assert "kubectl uncordon a1 --context prod --user dev\n" in told
        assert "Add --context" not in told


def test_a_context_that_is_given_takes_the_place_of_its_own(tmp_path: Path) -> None:
    access = ClusterAccess(context="prod", cluster="eu", flags=("--user", "dev"))
    path = taken_with(access, tmp_path / "a.json", pending_in("shop"))
    for flags, said in (
        (("--context", "mine"), "--context mine"),
        (("--user", "ops"), "--context prod --user ops"),
        (("--as", "me"), "--context prod --user dev --as me"),
    ):
        told = spread("why-pending", "-n", "shop", "--from", path, *flags).stdout
        assert f"kubectl uncordon a1 {said}\n" in told


def test_files_without_one_take_the_flags_that_are_given(tmp_path: Path) -> None:
    items = [node("a1", unschedulable=True), pending_in("shop")]
    path = listed(tmp_path / "a.json", items)
    asked = ("why-pending", "-n", "shop", "--from", path)
    told = spread(*asked, "--context", "mine").stdout
    assert "kubectl uncordon a1 --context mine\n" in told
    assert "Add --context" not in told
    assert "Snapshot" not in told
    access = json.loads(spread(*asked, "--context", "mine", "-o", "json").stdout)["metadata"]["access"]
    assert (access["current"], access["flags"]) == (False, ["--context", "mine"])
    told = spread(*asked, "--user", "dev").stdout
    assert "kubectl uncordon a1 --user dev\n" in told
    assert "Add --context" in told


def test_snapshots_of_two_clusters_have_no_context(tmp_path: Path) -> None:
    files = [
        taken_with(ClusterAccess(context=name), tmp_path / f"{name}.json", pending_in(name)) for name in ("eu", "us")
    ]
    told = spread("why-pending", "-A", *(word for file in files for word in ("--from", file))).stdout
    assert "Add --context NAME to the commands below" in told
    assert "--context eu" not in told


def test_a_file_may_name_entries_of_the_kubeconfig_but_neither_servers_nor_commands(tmp_path: Path) -> None:
    path = taken_with(ClusterAccess(context="prod"), tmp_path / "a.json", pending_in("shop"))
    snapshot = json.loads(path.read_text())
    snapshot["items"][0] |= {
        "context": "x; reboot",
        "userFlag": "$(reboot)",
        "flags": ["--server", "https://evil"],
        "otherFlags": ["--server=https://evil", "--token"],
    }
    path.write_text(json.dumps(snapshot))
    told = spread("why-pending", "-n", "shop", "--from", path).stdout
    assert "kubectl uncordon a1 --context 'x; reboot' --user '$(reboot)'\n" in told
    assert "Add --token to each kubectl command" in told
    assert "evil" not in told


def test_a_damaged_origin_is_a_clear_error(tmp_path: Path) -> None:
    path = taken_with(ClusterAccess(context="prod"), tmp_path / "a.json")
    path.write_text(path.read_text().replace('"prod"', "7"))
    ended = spread("show", "-A", "--from", path)
    assert ended.code == 3
    assert "items[0].context" in ended.stderr


ENV: Object = {"containers": [{"name": "main", "image": "web:1", "env": [{"name": "A", "value": "1"}]}]}
LATER: Object = {"containers": [{"name": "main", "image": "web:1", "env": [{"name": "A", "value": "2"}]}]}
ADDED: Object = {"containers": [{**ENV["containers"][0], "workingDir": "/srv"}]}
BY_HAND: Object = {"containers": [{"name": "main", "image": "web:1", "env": [{"name": "A", "value": "3"}]}]}


def deployed(spec: Object, *, applied: Object | None = None) -> Object:
    """Return a Deployment whose Pods are so, with what was applied last."""
    made = workload("Deployment", "web", replicas=1, pods=None)
    made["spec"]["template"]["spec"] = spec
    made["metadata"]["annotations"] = {} if applied is None else {LAST_APPLIED: json.dumps(deployed(applied))}
    return made


@pytest.mark.parametrize(
    ("live", "applied", "manifest", "exact", "offline"),
    [
        (ENV, ENV, ENV, "unchanged", "unchanged"),
        (ENV, ENV, LATER, "rollout", "rollout"),
        (BY_HAND, ENV, ENV, "rollout", "unsure"),
        (ADDED, ENV, ENV, "unchanged", "unsure"),
        ({**ENV, "hostPID": True}, ENV, LATER, "rollout", "rollout"),
        (BY_HAND, ENV, BY_HAND, "unchanged", "unchanged"),
        (BY_HAND, ENV, LATER, "rollout", "unsure"),
    ],
)
def test_applying_to_it_is_as_applying_to_the_cluster_or_not_known(
    live: Object, applied: Object, manifest: Object, exact: str, offline: str, tmp_path: Path
) -> None:
    cluster, written, new = (tmp_path / name for name in ("cluster.json", "written.json", "new.json"))
    old = revision("web", 1, pods={"metadata": {"labels": {"app": "web"}}, "spec": live})
    runs = owned("web-h1-x", "ReplicaSet", "web-h1", on="a1", labels={"pod-template-hash": "h1"})
    items = [node("a1"), deployed(live, applied=applied), old, runs]
    listed(cluster, items)
    new.write_text(json.dumps(deployed(manifest)))
    assert spread("snapshot", "--from", cluster, "-o", written).code == 0

    def outcome(path: Path) -> str:
        report = json.loads(spread("simulate", "--apply", new, "--from", path, "-o", "json").stdout)
        unsure = any(gap["what"] == "the template of default/deployment/web" for gap in report["incomplete"])
        check = spread("check", "-f", new, "--from", path, "-o", "json").item
        assert unsure is any(gap["consequence"] == "it may roll out" for gap in check["incomplete"])
        return "unsure" if unsure else "rollout" if check["rollout"]["replaced"] else "unchanged"

    assert outcome(cluster) == exact
    assert outcome(written) == offline
    assert spread("snapshot", "--no-digests", "--from", cluster, "-o", written).code == 0
    assert outcome(written) == "unsure"


def in_older_form(text: str) -> str:
    """Return a snapshot as releases wrote it that read nothing of these mounts, and digested them with the rest."""
    quote = r'\\?"'
    mount = rf"\{{{quote}name{quote}: ?{quote}v{quote}, ?{quote}mountPath{quote}: ?{quote}/v{quote}\}}"
    return re.sub(r"\b([0-9a-f]{32})[0-9a-f]{8}/", r"\1/", re.sub(mount, "{}", text))


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "Pod"])
@pytest.mark.parametrize("path", ["/v", "/other"])
def test_of_one_in_an_older_form_it_is_not_known_whether_a_template_changes(
    kind: str, path: str, tmp_path: Path
) -> None:
    def described(at: str) -> Object:
        mount = {"volumeMounts": [{"name": "v", "mountPath": at}]}
        never: Object = {"restartPolicy": "Never"} if kind in {"Job", "Pod"} else {}
        spec = template(
            containers=[{"name": "main", "image": "web:1", **mount}], volumes=[{"name": "v", "emptyDir": {}}], **never
        )["spec"]
        made = pod("web") if kind == "Pod" else workload(kind, "web", pods={**template(), "spec": spec})
        made["spec"] = {**made["spec"], **(spec if kind == "Pod" else {})}
        return made

    cluster, written, new = (tmp_path / name for name in ("cluster.json", "written.json", "new.json"))
    items = [node("a1"), kubectl_applied(described("/v"))]
    listed(cluster, items)
    new.write_text(json.dumps(described(path)))
    assert spread("snapshot", "--from", cluster, "-o", written).code == 0
    answers = [spread("check", "-f", new, "--from", each, "-o", "json").item["verdict"] for each in (cluster, written)]
    refused = path != "/v" and kind in {"Job", "Pod"}
    assert answers == ["Invalid" if refused else "Schedulable"] * 2
    written.write_text(in_older_form(written.read_text()))
    assert "mountPath" not in written.read_text()
    assert spread("check", "-f", new, "--from", written, "-o", "json").item["verdict"] == "Incomplete"


def test_it_holds_which_kinds_were_read(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    source = Memory([node("a1")], server="https://eu:6443", unread=(Unread(POD_DISRUPTION_BUDGET, "forbidden"),))
    path.write_text(take(source, "", NOW).text)
    inventory = read_inventory([str(path)])
    assert inventory.resource_versions == {"pods": "7"}
    assert Unread(POD_DISRUPTION_BUDGET, "forbidden") in inventory.unread
    plain = tmp_path / "dump.json"
    plain.write_text(json.dumps({"apiVersion": "v1", "kind": "NodeList", "items": [node("a1")]}))
    assert spread("snapshot", "--from", plain, "-o", path).code == 3
    assert read_inventory([str(path)]).unread == read_inventory([str(plain)]).unread
