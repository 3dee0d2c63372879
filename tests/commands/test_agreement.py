"""What ``show``, ``check`` and ``why-pending`` say of one Pod: the next one, the manifest's, the one that waits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import build
from tests.build import HOSTNAME, ZONE, Object, app
from tests.build_workloads import owned, revision, template, workload
from tests.commands.waiting import Situation, assuming, daemons, refusing, situations
from tests.diagnosis.judged import ABC, TAINTED
from tests.program import Values, listed, spread
from tests.sampling import first

COUNT = 140
STUCK = {"Blocked", "Unschedulable", "NoDomains"}


GENERATED = [
    # In every third the other Pods are not bound yet.
    situation if number % 3 else assuming(situation)
    for number, situation in enumerate(situations(seed=12, count=COUNT))
]


@pytest.fixture(params=first(35, GENERATED), ids=lambda each: each.named)
def situation(request: pytest.FixtureRequest) -> Situation:
    found: Situation = request.param
    return found


@pytest.fixture
def answers(situation: Situation, tmp_path: Path) -> tuple[list[Values], Values, Values]:
    """Return show's rows, check's item and why-pending's item about the same Pod."""
    where = ("-n", situation.namespace, "--kube-version", "v1.36", "-o", "json", "--from")
    alive = [*situation.cluster, situation.owner, *situation.beside]
    before = [*situation.cluster, *situation.beside] if situation.owner["kind"] == "Pod" else alive
    cluster = listed(tmp_path / "cluster.json", before)
    waits = listed(tmp_path / "pending.json", [*alive, situation.pod])
    manifest = listed(tmp_path / "manifest.json", [situation.owner])
    rows = spread("show", situation.named, *where, cluster if before is alive else waits).items
    once = () if situation.owner["kind"] in {"CronJob", "Pod"} else ("--replicas", "1")
    check = spread("check", "-f", manifest, *once, "--fix-budget", "0", *where, cluster).item
    name = situation.pod["metadata"]["name"]
    pending = spread("why-pending", name, "--fix-budget", "0", *where, waits).item
    return rows, check, pending


def test_they_agree(situation: Situation, answers: tuple[list[Values], Values, Values]) -> None:
    rows, check, pending = answers
    agree_about_domains(rows, situation)
    # Its selector may match Pods that nothing controls: they become its own, and none is made.
    if check["verdict"] in {"Invalid", "FailedCreate"} or not (check["placements"] or check["jam"]):
        return
    if pending["preemption"]:
        assert (check["verdict"], check["jam"]) == ("Schedulable", None)
        assert check["placements"][0]["node"] in (pending["preemption"]["node"], *pending["preemption"]["ties"])
    else:
        assert (check["verdict"], check["conflict"]) == (pending["verdict"], pending["conflict"])
        assert check["summary"] == pending["summary"]
    assert check["feasible"] == pending["feasible"]
    if situation.owner["kind"] != "Pod":
        agree_with_show(rows, pending)


def takes_next(domain: Values) -> bool:
    """Whether the next Pod may go to the domain, as the report has it."""
    if "next" in domain:
        return domain["next"] in {"Preemption", "NodeName"}
    return bool(domain["eligible"] and domain["allowed"] and not domain["pinnedBy"])


def agree_about_domains(rows: list[Values], situation: Situation) -> None:
    """Hold the domains that take the next Pod, by the table of each row, against the nodes that do."""
    labels = {
        each["metadata"]["name"]: each["metadata"]["labels"] for each in situation.cluster if each["kind"] == "Node"
    }
    for row in rows:
        if row["status"] == "Incomplete" or (row["nextReason"] and not row["next"]):
            continue
        taking = {labels[name].get(row["constraint"]["topologyKey"]) for name in row["next"] if name in labels}
        open_to_it = {each["value"] for each in row["constraint"]["domains"] if takes_next(each)}
        assert open_to_it == taking - {None}


def agree_with_show(rows: list[Values], pending: Values) -> None:
    """Hold show's rows against what is said of the Pod that waits."""
    statuses = {row["constraint"]["index"]: row["status"] for row in rows}
    if pending["feasible"] or pending["preemption"]:
        assert not set(statuses.values()) & {"Blocked", "Unschedulable"}
        return
    assert set(statuses.values()) & STUCK
    assert not {"Blocked", "Unschedulable"} <= set(statuses.values())
    if "Unschedulable" not in statuses.values():
        named = {each["index"] for each in pending["conflict"] if each["kind"] == "constraint"}
        assert {statuses[index] for index in named} <= {"Blocked", "NoDomains"}
    assert all(row["headroom"]["more"] == 0 for row in rows)


SOME = [each for each in situations(seed=13, count=42) if each.owner["kind"] != "Pod"]


@pytest.mark.parametrize("situation", first(10, SOME), ids=lambda each: each.named)
def test_they_agree_about_pods_that_are_refused(situation: Situation, tmp_path: Path) -> None:
    where = ("-n", situation.namespace, "--kube-version", "v1.36", "-o", "json", "--from")
    manifest = listed(tmp_path / "manifest.json", [situation.owner])
    for obstacle in refusing(situation):
        objects = [*situation.cluster, situation.owner, *situation.beside, obstacle]
        cluster = listed(tmp_path / "cluster.json", objects)
        rows = spread("show", situation.named, *where, cluster).items
        check = spread("check", "-f", manifest, "--replicas", "1", "--fix-budget", "0", *where, cluster).item
        assert {row["status"] for row in rows} <= {"FailedCreate", "NoDomains"}
        # Its selector may match Pods that nothing controls: they become its own, and none is made.
        assert check["verdict"] == "FailedCreate" or not (check["placements"] or check["jam"])


@pytest.mark.parametrize("situation", first(9, situations(seed=14, count=24)), ids=lambda each: each.named)
def test_they_agree_about_daemons(situation: Situation, tmp_path: Path) -> None:
    where = ("-n", situation.namespace, "--kube-version", "v1.36", "-o", "json", "--from")
    owner, _ = daemons(situation, (), ())
    manifest = listed(tmp_path / "manifest.json", [owner])
    # What is being deleted goes, and then what waits may find room.
    at_rest = [
        each
        for each in situation.cluster
        if each["kind"] != "Pod" or ("deletionTimestamp" not in each["metadata"] and each["spec"].get("nodeName"))
    ]
    cluster = listed(tmp_path / "cluster.json", at_rest)
    check = spread("check", "-f", manifest, "--fix-budget", "0", *where, cluster).item
    full = check["jam"]["nodes"] if check["jam"] else []
    _, pods = daemons(situation, [each["node"] for each in check["placements"]], full)
    pending = listed(tmp_path / "pending.json", [*at_rest, owner, *pods])
    items = spread("why-pending", *(f"for-{name}" for name in full), "--fix-budget", "0", *where, pending).items
    ours = [item for item in items if item["name"].startswith("for-")]
    assert {item["verdict"] for item in ours} <= {"Unschedulable"}
    assert len(ours) == len(full)
    if full:
        assert check["jam"]["message"] == ours[0]["message"]


def paused(*on: str) -> list[Object]:
    """Return a paused Deployment of three with Pods on these nodes, whose new template no Pod has."""
    pods = template(build.spread(ZONE, selector=app("web")))
    made = revision("web", 1, pods=pods)
    made["spec"]["replicas"] = 3
    labels = {"pod-template-hash": "h1"}
    living = [
        owned(f"web-{n}", "ReplicaSet", "web-h1", on=at, labels=labels, **pods["spec"]) for n, at in enumerate(on)
    ]
    changed = template(build.spread(HOSTNAME, selector=app("web")))
    return [workload("Deployment", "web", pods=changed, replicas=3, paused=True), made, *living]


@pytest.mark.parametrize(
    ("nodes", "on", "status", "verdict"),
    [
        (TAINTED, ("a1", "b1"), "Blocked", "Unschedulable"),
        (ABC, ("a1", "b1"), "OK", "Schedulable"),
        (TAINTED, ("a1", "b1", "c1"), "OK", "Schedulable"),
    ],
)
def test_a_paused_deployment_gets_the_pod_it_lacks_of_the_revision_that_runs(
    tmp_path: Path, nodes: Sequence[Object], on: Sequence[str], status: str, verdict: str
) -> None:
    objects = [build.namespace("default"), *nodes, *paused(*on)]
    cluster, manifest = listed(tmp_path / "cluster.json", objects), listed(tmp_path / "manifest.json", paused()[:1])
    row = spread("show", "--from", cluster, "-o", "json").item
    item = spread("check", "-f", manifest, "--from", cluster, "-o", "json").item
    assert (row["status"], item["verdict"], row["constraint"]["topologyKey"]) == (status, verdict, ZONE)
    assert len(item["placements"]) == (3 - len(on) if verdict == "Schedulable" else 0)


LENIENT = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: lenient
  plugins: {filter: {disabled: [{name: TaintToleration}]}, multiPoint: {disabled: [{name: TaintToleration}]}}
"""


@pytest.mark.parametrize(
    ("injected", "status", "verdict"),
    [({}, "Blocked", "Unschedulable"), ({"schedulerName": "lenient"}, "OK", "Schedulable")],
)
def test_the_scheduler_that_a_webhook_chooses_decides(
    tmp_path: Path, injected: dict[str, str], status: str, verdict: str
) -> None:
    pods = template(build.spread(ZONE, selector=app("web")))
    fields = {"labels": {"pod-template-hash": "h1"}, **pods["spec"], **injected}
    living = [owned(f"web-{on}", "ReplicaSet", "web-h1", on=on, **fields) for on in ("a1", "b1")]
    manifest = workload("Deployment", "web", pods=pods, replicas=3)
    alive = [manifest, revision("web", 1, pods=pods), *living]
    cluster = listed(tmp_path / "cluster.json", [build.namespace("default"), *TAINTED, *alive])
    (tmp_path / "scheduler.yaml").write_text(LENIENT)
    asked = ("--from", cluster, "--scheduler-config", tmp_path / "scheduler.yaml", "-o", "json")
    row = spread("show", *asked).item
    item = spread("check", "-f", listed(tmp_path / "manifest.json", [manifest]), *asked).item
    assert (row["status"], item["verdict"]) == (status, verdict)


@pytest.mark.parametrize(
    ("alive", "status", "verdict"), [(True, "OK", "Schedulable"), (False, "Incomplete", "Incomplete")]
)
def test_a_revision_that_no_pod_tells_of_is_not_known(
    tmp_path: Path, *, alive: bool, status: str, verdict: str
) -> None:
    manifest = workload(
        "StatefulSet",
        "db",
        pods=template(build.spread(ZONE, selector=app("web"))),
        replicas=2,
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
    )
    live = {**manifest, "status": {"currentRevision": "db-1", "updateRevision": "db-2"}}
    labels = {"controller-revision-hash": "db-1"}
    first = [owned("db-0", "StatefulSet", "db", on="a1", labels=labels, **manifest["spec"]["template"]["spec"])]
    cluster = listed(tmp_path / "cluster.json", [build.namespace("default"), *ABC, live, *(first if alive else [])])
    row = spread("show", "--from", cluster, "-o", "json").item
    item = spread("check", "-f", listed(tmp_path / "manifest.json", [manifest]), "--from", cluster, "-o", "json").item
    assert (row["status"], item["verdict"]) == (status, verdict)
    unread = [gap["what"] for gap in item["incomplete"]]
    assert unread == ([] if alive else ["ControllerRevision db-1"] * 2)
