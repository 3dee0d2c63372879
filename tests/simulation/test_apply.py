"""What manifests do to a cluster in which other steps are done, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.commands import exit_codes
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.errors import ManifestError
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.wording.incomplete import entries
from tests.build import HOSTNAME, ZONE, Object, app, namespace, node, object_of, pod, spread
from tests.build_storage import claim, storage_class
from tests.build_workloads import controller, kubectl_applied, template, workload
from tests.simulation.generated import forms
from tests.simulation.test_steps import (
    SIX,
    budget,
    daemons,
    deployment,
    item,
    last,
    pending,
    running,
    simulated,
    stateful,
)


def written(folder: Path, *objects: Object, name: str = "manifests.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return path


def manifest(kind: str, *constraints: Object, replicas: int | None = None, **spec: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return what a file says of web."""
    made = workload(kind, "web", pods=template(*constraints, **spec), replicas=replicas or 1)
    if replicas is None:
        made["spec"].pop("replicas", None)
    return made


def applied(folder: Path, objects: Sequence[Object], *manifests: Object) -> Any:  # noqa: ANN401 - a step as JSON has it
    return last(objects, f"apply {written(folder, *manifests)}")


def refusals(step: Any) -> str:  # noqa: ANN401 - as JSON has it
    """Return why manifests of the step are refused."""
    return "; ".join(f"{each.field}: {each.message}" for each in step.refused or ())


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
@pytest.mark.parametrize("restarts", [False, True])
def test_what_webhooks_inject_comes_to_the_pods_of_a_rollout_too(tmp_path: Path, kind: str, *, restarts: bool) -> None:
    make = {"Deployment": deployment, "StatefulSet": stateful, "DaemonSet": daemons}[kind]
    own = make(["a1"])
    labels = {"controller-revision-hash": "web-1", "pod-template-generation": "1"} if kind != "Deployment" else {}
    own[-1]["metadata"]["labels"] |= labels
    own[-1]["spec"]["containers"].append({"name": "proxy", "image": "proxy", "resources": {"requests": {"cpu": "3"}}})
    manifests = [] if restarts else [manifest(kind, requests={"cpu": "1"})]
    step = f"restart {kind.lower()}/web" if restarts else f"apply {written(tmp_path, *manifests)}"
    nodes = [node("a1", zone="a", allocatable={"cpu": cpu}) for cpu in ("2", "8")]
    assert [len(pending(last([each, *own], step))) for each in nodes] == [1, 0]


def test_replicas_that_are_not_said_stay_as_they_live(tmp_path: Path) -> None:
    objects = [*SIX, *deployment(["a1", "a2", "b1"])]
    path = written(tmp_path, manifest("Deployment", spread(ZONE, selector=app("web"))))
    assert item(last(objects, f"apply {path}")).after == {"a": 1, "b": 1, "c": 1}
    assert sum(item(last(objects, "scale deployment/web=6", f"apply {path}")).after.values()) == 6


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    constraint = spread(ZONE, selector=app("web"))
    step = applied(tmp_path, [*SIX, *deployment(["a1", "a2", "b1"], constraint)], manifest("Deployment", constraint))
    assert (item(step).after, step.pending) == ({"a": 2, "b": 1, "c": 0}, ())


def test_a_rollout_sticks_where_a_pod_finds_no_node(tmp_path: Path) -> None:
    constraint = spread(HOSTNAME, selector=app("web"))
    changed = manifest("Deployment", constraint, requests={"cpu": "100"})
    report = simulated([*SIX, *deployment(["a1", "b1", "c1"], constraint)], f"apply {written(tmp_path, changed)}")
    assert pending(forms(report)[0]) == {"deployment/web": (1, 1)}
    assert sum(item(forms(report)[0]).after.values()) == 3
    assert exit_codes.of_simulate(report) == 1


@pytest.mark.parametrize("before", [0, 4])
def test_one_more_pod_that_finds_no_node_is_no_failure(tmp_path: Path, before: int) -> None:
    constraint, large = spread(HOSTNAME, selector=app("web")), {"cpu": "3"}
    nodes = [node(f"{zone}{number}", zone=zone, allocatable={"cpu": "4"}) for zone in "abc" for number in "12"]
    there = deployment(["a1", "a2", "b1", "b2"], constraint, requests=large) if before else []
    report = simulated(
        [*nodes, *there], f"apply {written(tmp_path, manifest('Deployment', constraint, replicas=6, requests=large))}"
    )
    found = item(forms(report)[0])
    assert found.status_before == (SpreadStatus.OK if before else None)
    assert (found.status_after, pending(forms(report)[0])) == (SpreadStatus.OK, {})
    assert exit_codes.of_simulate(report) == 0


def test_a_constraint_is_known_by_its_key_in_another_place(tmp_path: Path) -> None:
    two = [spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web"), soft=True)]
    step = applied(tmp_path, [*SIX, *deployment(["a1", "b1", "c1"], *two)], manifest("Deployment", *two[::-1]))
    assert [
        (each.constraint.topology_key, each.before.keys() & {"a", "a1"}, each.status_before) for each in step.items
    ] == [(HOSTNAME, {"a1"}, SpreadStatus.OK), (ZONE, {"a"}, SpreadStatus.OK)]


@pytest.mark.parametrize(
    ("classes", "what"),
    [([storage_class("imm", waits=False)], 'the volume of claim "data"'), ([], "list storageclasses")],
    ids=["made-at-once", "class-not-read"],
)
def test_a_volume_of_unknown_place_leaves_the_answer_open(tmp_path: Path, classes: list[Object], what: str) -> None:
    mounting = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    report = simulated(
        [*SIX, *classes], f"apply {written(tmp_path, claim('data', class_name='imm'), pod('web', volumes=[mounting]))}"
    )
    assert ([each.what for each in entries(report.incomplete)], exit_codes.of_simulate(report)) == (
        [what],
        ExitCode.UNDETERMINED,
    )


def test_each_revision_waits_for_its_own_reasons(tmp_path: Path) -> None:
    large = {"cpu": "5"}
    keeping = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 2}}
    on = ["a1", "a2", "b1", "b2", "c1", "c2"]
    moved = manifest("Deployment", replicas=8, requests=large, nodeSelector={"disk": "ssd"})
    moved["spec"]["strategy"] = keeping
    objects = [*SIX, *deployment(on, replicas=8, strategy=keeping, requests=large)]
    (waits,) = applied(tmp_path, objects, moved).pending
    assert waits.count == 4
    assert waits.summary == (
        "2 Pods of the new revision: all 6 nodes have too little cpu (5 requested, at most 3 free); they lack the label"
        " disk=ssd, which nodeSelector requires. No spread constraint is the cause."
        " 2 Pods of the old revision: all 6 nodes have too little cpu (5 requested, at most 3 free). No spread"
        " constraint is the cause."
    )


def test_a_stateful_set_rolls_out_a_new_template(tmp_path: Path) -> None:
    owner, constraint = controller("StatefulSet", "web"), spread(ZONE, selector=app("web"))
    status = {"currentRevision": "web-1", "updateRevision": "web-1"}
    made = workload("StatefulSet", "web", pods=template(), replicas=3, status=status)
    labels = {"controller-revision-hash": "web-1"}
    pods = [running(f"web-{at}", f"a{at % 2 + 1}", owner, labels=labels) for at in range(3)]
    step = applied(tmp_path, [*SIX, made, *pods], manifest("StatefulSet", constraint))
    assert item(step).after == {"a": 1, "b": 1, "c": 1}


def test_a_daemon_set_replaces_its_pods(tmp_path: Path) -> None:
    made = manifest("DaemonSet")
    pods = [running(f"web-{at}", each, controller("DaemonSet", "web")) for at, each in enumerate(["a1", "b1", "c1"])]
    step = applied(tmp_path, [*SIX[::2], made, *pods], manifest("DaemonSet", requests={"cpu": "100"}))
    assert pending(step) == {"daemonset/web": (1, 1)}


@pytest.mark.parametrize(("by_hand", "lets_go"), [(False, False), (True, False), (True, True)])
def test_a_daemon_set_goes_on_with_what_is_of_an_older_template(
    tmp_path: Path, *, by_hand: bool, lets_go: bool
) -> None:
    pods, kind = template(requests={"cpu": "100"}), "OnDelete" if by_hand else "RollingUpdate"
    shown = {"deprecated.daemonset.template.generation": "2"}
    made = workload("DaemonSet", "web", pods=pods, annotations=shown, updateStrategy={"type": kind})
    by, labels = controller("DaemonSet", "web"), {"controller-revision-hash": "1", "pod-template-generation": "1"}
    there = [running(f"web-{each}", each, by, labels={"app": "web"} | labels) for each in ("a1", "b1")]
    rolling = workload("DaemonSet", "web", pods=pods, updateStrategy={"type": "RollingUpdate"})
    does = f"apply {written(tmp_path, rolling)}" if lets_go else "cordon b1"
    step = last([node("a1", zone="a"), node("b1", zone="b"), made, *there], does)
    assert pending(step) == ({} if by_hand and not lets_go else {"daemonset/web": (1, 1)})


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_what_is_taken_out_of_a_template_without_a_revision_goes(tmp_path: Path, kind: str) -> None:
    only_a1: dict[str, Any] = {"nodeSelector": {HOSTNAME: "a1"}, "requests": {"cpu": "3"}}
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "4"}) for zone in "abc"]
    lone = running("web-0", "a1", controller(kind, "web"), **only_a1)
    step = applied(
        tmp_path,
        [*nodes, kubectl_applied(manifest(kind, **only_a1)), lone],
        manifest(kind, replicas=3, requests={"cpu": "3"}),
    )
    assert step.pending == ()


def test_a_pod_waits_or_runs_and_one_that_lives_stays(tmp_path: Path) -> None:
    large = pod("large", requests={"cpu": "100"})
    assert pending(applied(tmp_path, SIX, pod("small"), large)) == {"pod/large": (1, 1)}
    living = pod("small", on="a1")
    assert pending(applied(tmp_path, [*SIX, living], pod("small"))) == {}


def test_what_comes_along_counts_from_then_on(tmp_path: Path) -> None:
    path = written(tmp_path, budget(minAvailable=2), manifest("Deployment", replicas=2))
    report = simulated(SIX[:2], "cordon a2", f"apply {path}", "drain a1")
    assert [step.step.partition(" ")[0] for step in forms(report)] == ["cordon", "apply", "drain"]
    assert [each.why for each in forms(report)[-1].blocked if "budget web" in each.why]


def test_a_node_of_a_file_can_be_named_afterwards(tmp_path: Path) -> None:
    path = written(tmp_path, node("d1", zone="d"), manifest("Deployment", replicas=1))
    assert pending(last((), f"apply {path}", "cordon d1", "scale deployment/web=2")) == {"deployment/web": (1, 1)}


def test_kinds_of_other_apis_are_named(tmp_path: Path) -> None:
    rollout = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "web"},
        "spec": {"template": template()},
    }
    scaler = {"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": {"name": "web"}}
    step = applied(tmp_path, SIX, rollout, scaler)
    assert step.notes == (
        "the controller of the Pods of rollout/web is not known",
        "Skipped, because it has no Pod template: verticalpodautoscaler/web",
    )


def test_the_notes_on_a_manifest_are_those_of_check(tmp_path: Path) -> None:
    twice = (
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "name": "p"}, "spec": {"containers":'
        ' [{"name": "main", "image": "app:1"}]}}'
    )
    path = tmp_path / "manifest.yaml"
    path.write_text(f"{twice}\n---\n{twice.replace(':1', ':2')}")
    again = f"{path}, document 1 has the same object: kubectl applies that one first"
    keys = "pod/p: metadata.name: the key is given twice, on line {0}: the last value counts"
    assert last(SIX, f"apply {path}").notes == (keys.format(1), f"pod/p: metadata.name: {again}", keys.format(3))


def test_a_scenario_applies_too(tmp_path: Path) -> None:
    path = written(tmp_path, manifest("Deployment", replicas=2))
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        f"apiVersion: spread.kubectl.dev/v1alpha1\nkind: Scenario\nsteps:\n- apply: {path}\n- scale: deployment/web=3\n"
    )
    assert [step.step for step in forms(simulated(SIX, f"filename {scenario}"))] == [
        f"apply {path}",
        "scale deployment/web=3",
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"strategy": {"rollingUpdate": {"maxSurge": "many"}}}, "spec.strategy.rollingUpdate.maxSurge"),
        ({"replicas": -1}, "spec.replicas"),
        ({"selector": {"matchLabels": {"app": "other"}}}, "spec.template.metadata.labels"),
        ({"template": template(requests={"cpu": "some"})}, "resources.requests"),
        ({"paws": 4}, "spec.paws"),
    ],
)
def test_what_the_api_server_refuses_names_the_field(change: Object, field: str, tmp_path: Path) -> None:
    made = manifest("Deployment", replicas=2)
    made["spec"] |= change
    report = simulated(SIX, f"apply {written(tmp_path, made)}")
    (step,) = forms(report)
    assert field in refusals(step)
    assert (exit_codes.of_simulate(report), step.pending, step.items) == (ExitCode.NO, (), ())


def test_more_pods_than_a_cluster_may_have_are_not_simulated(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="asks for 2000000000 Pods") as error:
        applied(tmp_path, SIX, manifest("Deployment", replicas=2_000_000_000))
    assert error.value.exit_code == 3


def test_what_may_not_change_is_refused(tmp_path: Path) -> None:
    made = manifest("Deployment", labels={"app": "web", "tier": "front"})
    made["spec"]["selector"] = {"matchLabels": {"app": "web", "tier": "front"}}
    assert "spec.selector: " in refusals(applied(tmp_path, [*SIX, *deployment(["a1"])], made))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none\.yaml"):
        last(SIX, f"apply {tmp_path}/none.yaml")


def test_a_name_that_is_to_be_made_up_cannot_be_applied(tmp_path: Path) -> None:
    made = pod("x")
    made["metadata"] = {"generateName": "x-"}
    assert "cannot use generate name with apply" in refusals(applied(tmp_path, SIX, made))


def test_a_quota_ends_the_making_of_pods(tmp_path: Path) -> None:
    number = {"pods": "2"}
    metadata = {"name": "narrow", "namespace": "default"}
    quota: Object = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": number}}
    quota["status"] = {"hard": number, "used": {"pods": "0"}}
    step = applied(tmp_path, [*SIX, quota], manifest("Deployment", spread(ZONE, selector=app("web")), replicas=5))
    assert sum(item(step).after.values()) == 2
    assert pending(step) == {}
    assert any("exceeded quota: narrow" in note for note in step.notes)


@pytest.mark.parametrize(
    "strategy",
    [
        {"type": "OnDelete"},
        {"type": "RollingUpdate"},
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    ],
    ids=["OnDelete", "RollingUpdate", "surge"],
)
def test_daemons_leave_nodes_that_are_no_longer_meant(strategy: Object, tmp_path: Path) -> None:
    room = {"cpu": "5"}
    narrowed = template(requests=room, nodeSelector={ZONE: "b"})
    tool = pod("tool", requests=room, nodeSelector={ZONE: "a"})
    objects = [*SIX, *daemons([each["metadata"]["name"] for each in SIX], **strategy)]
    assert "pod/tool" in pending(last(objects, f"apply {written(tmp_path, tool)}"))
    owner = workload("DaemonSet", "web", pods=narrowed, updateStrategy=strategy)
    assert "pod/tool" not in pending(last(objects, f"apply {written(tmp_path, owner, tool)}"))


def test_a_paused_deployment_without_a_revision_makes_no_pods(tmp_path: Path) -> None:
    paused = manifest("Deployment", spread(ZONE, selector=app("web")), replicas=6)
    paused["spec"]["paused"] = True
    step = applied(tmp_path, SIX, paused)
    assert (pending(step), any(any(each.after.values()) for each in step.items)) == ({}, False)
    paused["spec"]["paused"] = False
    assert item(applied(tmp_path, SIX, paused)).after == {"a": 2, "b": 2, "c": 2}


def test_a_file_may_hold_a_quota_alone(tmp_path: Path) -> None:
    objects = [*SIX, *deployment(["a1", "b1"], spread(ZONE, selector=app("web")))]
    quota: Object = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {}}}
    quota["spec"]["hard"] = {"pods": "2"}
    file = written(tmp_path, quota)
    assert exit_codes.of_simulate(simulated(objects, f"apply {file}", "scale default/deployment/web=3")) == 1
    wider = quota | {"metadata": {"name": "q", "namespace": "default"}, "status": {"hard": {"pods": "2"}}}
    wider["status"] |= {"used": {"pods": "2"}}
    quota["spec"] = {"hard": {"pods": "3"}}
    file = written(tmp_path, quota)
    assert exit_codes.of_simulate(simulated([*objects, wider], f"apply {file}", "scale default/deployment/web=3")) == 0


def test_a_taint_that_comes_with_a_node_evicts_pods(tmp_path: Path) -> None:
    tainted = node("a1", zone="a", taints=["maintenance:NoExecute"])
    step = applied(tmp_path, [*SIX, *deployment(["a1", "b1"])], tainted)
    assert [each.pod for each in step.evicted] == ["web-0"]


@pytest.mark.parametrize(("taints", "left"), [((), 0), (("node.kubernetes.io/out-of-service:NoExecute",), 1)])
def test_pods_are_gone_from_a_node_that_is_marked_as_shut_down(
    taints: Sequence[str], left: int, tmp_path: Path
) -> None:
    # The StatefulSet makes a Pod again once the old one of its name is gone.
    path = written(tmp_path, node("a1", zone="a", taints=taints))
    step = last([*SIX, *stateful(["a1", "b1", "c1"])], "lose a1", f"apply {path}", "uncordon b1")
    assert (sum(item(step).after.values()), step.evicted) == (2 + left, ())


def test_what_a_manifest_of_a_node_does_not_say_stays(tmp_path: Path) -> None:
    made = node("a1")
    made["metadata"]["labels"] = {"pool": "blue"}
    objects = [*SIX, *deployment(["a1", "b1", "c1"], spread(ZONE, selector=app("web")))]
    path = written(tmp_path, made)
    step = last(objects, "cordon a2", "lose a1", f"apply {path}", "lose pool=blue")
    assert (item(step).before, item(step).after) == ({"a": 0, "b": 1, "c": 1}, {"a": 0, "b": 1, "c": 1})
    assert pending(step) == {"deployment/web": (1, 1)}


def test_a_daemon_set_that_came_meanwhile_gets_its_pod_on_a_node_that_answers_again(tmp_path: Path) -> None:
    path = written(tmp_path, workload("DaemonSet", "web", pods=template(spread(ZONE, selector=app("web")))))
    away, back = forms(simulated(SIX, "lose a1", f"apply {path}", "return a1"))[1:]
    assert (item(away).after["a"], item(back).after["a"]) == (1, 2)


def without_owner(*objects: Object) -> list[Object]:
    """Return the objects as ``--cascade=orphan`` leaves them."""
    for each in objects:
        each["metadata"].pop("ownerReferences", None)
    return list(objects)


def test_a_replica_set_adopts_and_deletes_the_surplus(tmp_path: Path) -> None:
    constraint = spread(ZONE, selector=app("web"))
    orphans = without_owner(*deployment(["a1", "b1", "c1"], constraint)[2:])
    step = applied(tmp_path, [*SIX, *orphans], manifest("ReplicaSet", constraint, replicas=2))
    assert (sum(item(step).after.values()), step.pending) == (2, ())


def test_a_stateful_set_adopts_the_pods_of_its_name_alone(tmp_path: Path) -> None:
    orphans = without_owner(*stateful(["a1", "b1"])[1:])
    other = pod("else-0", on="c1", labels={"app": "web"})
    report = simulated([*SIX, *orphans, other], f"apply {written(tmp_path, manifest('StatefulSet', replicas=2))}")
    assert (forms(report)[0].evicted, forms(report)[0].pending) == ((), ())


def test_a_deployment_adopts_its_replica_set_and_rolls_out(tmp_path: Path) -> None:
    constraint = spread(HOSTNAME, selector=app("web"))
    own, *pods = deployment(["a1", "b1", "c1"], constraint)[1:]
    changed = manifest("Deployment", constraint, replicas=3, requests={"cpu": "2"})
    step = applied(tmp_path, [*SIX, *without_owner(own), *pods], changed)
    assert (sum(item(step).after.values()), step.pending) == (3, ())


@pytest.mark.parametrize(("change", "waits"), [({"suspend": True}, 0), ({"parallelism": 1}, 0), ({}, 1)])
def test_a_job_has_as_many_pods_as_it_says_now(change: Object, waits: int, tmp_path: Path) -> None:
    nodes = [node("a1", zone="a", allocatable={"cpu": "2", "pods": "9"})]
    pods = template(requests={"cpu": "1"}, restartPolicy="Never")
    job = workload("Job", "web", pods=pods, parallelism=2, completions=9)
    of_job = [running(f"web-{n}", "a1", controller("Job", "web"), requests={"cpu": "1"}) for n in (1, 2)]
    waiting = pod("waits", requests={"cpu": "1"})
    less = {**job, "spec": {**job["spec"], **change}}
    step = applied(tmp_path, [*nodes, job, *of_job, waiting], less)
    assert sum(each.count for each in step.pending) == waits


def test_workloads_that_need_each_other_come_whatever_their_order(tmp_path: Path) -> None:
    near = {"topologyKey": ZONE, "labelSelector": app("cache")}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    first = workload("Deployment", "first", pods=template(affinity=affinity), replicas=1)
    cache = workload("Deployment", "cache", pods=template(labels={"app": "cache"}), replicas=1)
    cache["spec"]["selector"] = {"matchLabels": {"app": "cache"}}
    for both in ([first, cache], [cache, first]):
        assert applied(tmp_path, SIX, *both).pending == ()


@pytest.mark.parametrize("first", [True, False])
def test_a_bare_pod_needs_what_admits_it_before_it(tmp_path: Path, *, first: bool) -> None:
    account = object_of("ServiceAccount", "own")
    bare = pod("bare", serviceAccountName="own")
    path = written(tmp_path, *([account, bare] if first else [bare, account]))
    there = [*SIX, namespace("default"), {**account, "metadata": {"name": "default", "namespace": "default"}}]
    (step,) = forms(simulated(there, f"apply {path}"))
    assert step.pending == ()
    refused = [each.message for each in step.refused or ()]
    why = 'error looking up service account default/own: serviceaccount "own" not found'
    assert refused == ([] if first else [why])
