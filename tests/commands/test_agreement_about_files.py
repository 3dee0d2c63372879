"""``check`` and ``simulate --apply`` give one answer about files of several workloads that count each other."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from tests.build import ZONE, Object, app, node, pod
from tests.build import spread as spread_on
from tests.build_workloads import kubectl_applied, template, workload
from tests.commands.memory import Memory
from tests.e2e.applied_pairs import counting, drawn
from tests.program import listed, spread
from tests.sampling import first
from tests.simulation.test_steps import last

RUN: Object = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "x"},
    "spec": {"template": template(restartPolicy="Never")},
}


@pytest.mark.parametrize("seed", first(7, range(30)))
def test_as_many_pods_wait_by_either(seed: int, tmp_path: Path) -> None:
    files = [counting(seed), drawn(seed)]
    nodes, manifests = files[0].nodes, [*files[0].manifests, *files[1].manifests]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    source, file = Memory([there, account, *nodes]), tmp_path / "manifests.json"
    listed(file, manifests)
    options = CheckOptions(filenames=(str(file),), namespace="default", fix_budget=0)
    items = check(source, options, SchedulerOptions(), stdin=None).report.items
    step = last([there, account, *nodes], f"apply {file}")
    pending = {str(each.workload): each.range for each in step.pending}
    assert items
    for item in items:
        least, most = pending.get(str(item.workload), (0, 0))
        if item.kind != "CronJob":
            assert least <= item.pending <= most
            assert (item.jam is not None) == (most > 0)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"name": "web", "namespace": "other"}, 'the namespace from the provided object "other" does not match'),
        ({"generateName": "web-"}, "metadata.generateName: cannot use generate name with apply"),
        ({"labels": {"app": "web"}}, "metadata.name: Required value: name or generateName is required"),
    ],
    ids=["another namespace than -n", "no name but a beginning", "no name"],
)
def test_what_kubectl_does_not_send_is_refused_by_either(metadata: Object, said: str, tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    cluster = listed(tmp_path / "cluster.json", [node("a1")])
    file.write_text(json.dumps({**workload("Deployment", "web"), "metadata": metadata}))
    asked = ("--from", cluster, "-n", "default")
    checked, simulated = spread("check", "-f", file, *asked), spread("simulate", "--apply", file, *asked)
    assert said in checked.stdout + checked.stderr
    assert said in simulated.stdout.replace("document 1, ", "") + simulated.stderr
    assert 0 not in {checked.code, simulated.code}


@pytest.mark.parametrize(
    ("spec", "who", "said"),
    [
        ({"pods": template({"$patch": "replace"}, spread_on(ZONE))}, "kubectl", "does not contain declared merge key"),
        (
            {"pods": template(labels={"app": "other"}), "selector": {"matchLabels": {"app": "other"}}},
            "the API server",
            "field is immutable",
        ),
    ],
    ids=["kubectl cannot merge it", "it may not change"],
)
def test_who_refuses_a_manifest_is_named(spec: Object, who: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    live = kubectl_applied(workload("Deployment", "web", pods=template(spread_on(ZONE)), replicas=1))
    cluster = listed(tmp_path / "cluster.json", [node("a1"), live])
    file.write_text(json.dumps(workload("Deployment", "web", **spec)))
    checked, simulated = (
        spread(*words, file, "--from", cluster) for words in (("check", "-f"), ("simulate", "--apply"))
    )
    assert (f"default/deployment/web: {who} refuses it." in checked.stdout, said in checked.stdout) == (True, True)
    assert (": not safe: 1 manifest is refused" in simulated.stdout, said in simulated.stdout) == (True, True)
    assert (checked.code, simulated.code) == (1, 1)


ROLLOUT: Object = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}}


@pytest.mark.parametrize(
    ("manifest", "missing"),
    [
        (workload("Deployment", "web", pods=template(nodeName="a1")), "spec.nodeName a1"),
        (pod("web", nodeName="a1"), "spec.nodeName a1"),
        ({**ROLLOUT, "spec": {"template": template()}}, "whether the cluster serves Rollout in argoproj.io/v1alpha1"),
        ({**ROLLOUT, "spec": {"topologySpreadConstraints": [spread_on(ZONE)]}}, "the Pods of rollout/web"),
    ],
    ids=["a template that names its node", "a Pod that names its node", "a kind", "a kind without a template"],
)
def test_what_is_not_known_of_a_file_is_incomplete_by_either(manifest: Object, missing: str, tmp_path: Path) -> None:
    cluster = listed(tmp_path / "cluster.json", [node("a1", zone="a")])
    file = listed(tmp_path / "manifests.json", [manifest, pod("other")])
    asked = ("--from", cluster, "-o", "json")
    checked = spread("check", "-f", file, *asked).report
    gaps = [*checked["incomplete"], *(gap for item in checked["items"] for gap in item["incomplete"])]
    simulated = spread("simulate", "--apply", file, *asked)
    for found in (gaps, simulated.report["incomplete"]):
        assert missing in [gap["what"] for gap in found]
    assert simulated.code == 3


@pytest.mark.parametrize("lives", [False, True], ids=["new", "pinned by hand"])
def test_of_an_object_that_a_file_has_twice_the_last_counts_and_drops_what_the_first_one_set(
    tmp_path: Path, *, lives: bool
) -> None:
    even = template(spread_on(ZONE, selector=app("web")))
    pinned = template(spread_on(ZONE, selector=app("web")), nodeSelector={ZONE: "a"})
    first, last = (workload("Deployment", "web", pods=pods, replicas=2) for pods in (pinned, even))
    live = {**kubectl_applied(deepcopy(last)), "spec": first["spec"]}
    nodes = [node(f"{zone}1", zone=zone) for zone in "ab"]
    cluster = listed(tmp_path / "cluster.json", [*nodes, *([live] if lives else [])])
    file = listed(tmp_path / "manifests.json", [first, last])
    item = spread("check", "-f", file, "--from", cluster, "-o", "json").item
    assert {each["node"] for each in item["placements"]} == {"a1", "b1"}
    assert [each["message"] for each in item["warnings"]] == [
        f"{file}, document 1, items[0] has the same object: kubectl applies that one first"
    ]
    for number, each in enumerate((first, last)):
        (tmp_path / f"{number}.json").write_text(json.dumps(each))
    in_steps = [word for number in range(2) for word in ("--apply", tmp_path / f"{number}.json")]
    for words in (["--apply", file], in_steps):
        step = spread("simulate", *words, "--from", cluster, "-o", "json").report["steps"][-1]
        assert (step["pending"], step["items"][0]["after"]) == ([], {"a": 1, "b": 1})


CRITICAL: Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "critical"}}


def test_what_the_api_server_refuses_to_change_stays_for_the_other_documents(tmp_path: Path) -> None:
    low = pod("low", on="a1", requests={"cpu": "1"})
    there = [node("a1", allocatable={"cpu": "1"}), {**CRITICAL, "value": 10}, low]
    cluster = listed(tmp_path / "cluster.json", there)
    wants = pod("high", requests={"cpu": "1"}, priorityClassName="critical")
    changed = {**CRITICAL, "value": 20, "preemptionPolicy": "Never"}
    file = listed(tmp_path / "manifests.json", [changed, wants])
    checked = spread("check", "-f", file, "--from", cluster, "-o", "json")
    refused, placed = checked.items
    why = [("value", "Invalid value: 20: field is immutable"), ("preemptionPolicy", IMMUTABLE)]
    assert (checked.code, refused["verdict"], placed["verdict"]) == (1, "Invalid", "Schedulable")
    assert [(each["field"], each["message"]) for each in refused["validation"]] == why
    assert placed["placements"][0]["preempts"] == [{"namespace": "default", "name": "low"}]
    simulated = spread("simulate", "--apply", file, "--from", cluster, "-o", "json")
    (step,) = simulated.report["steps"]
    assert (simulated.code, step["pending"], [each["pod"] for each in step["preempted"]]) == (1, [], ["low"])
    assert [(each["field"], each["message"]) for each in step["refused"]] == [
        (f"items[0].{field}", message) for field, message in why
    ]
    text = spread("check", "-f", file, "--from", cluster).stdout
    assert text.startswith("priorityclass/critical: the API server refuses it.\n")
    assert text.endswith("\n2 manifests: 1 Schedulable, 1 Invalid.\n")
    text = spread("simulate", "--apply", file, "--from", cluster).stdout
    assert ": not safe: 1 manifest is refused" in text
    assert f"Not applied: {file}, document 1, items[0].value: Invalid value: 20: field is immutable.\n" in text


@pytest.mark.parametrize("named", ["trainer", "misspelt"])
def test_a_namespace_of_the_file_has_only_the_accounts_of_the_file(named: str, tmp_path: Path) -> None:
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("default", "new")]
    there = [node("a1"), namespaces[0], DEFAULT]
    cluster = listed(tmp_path / "cluster.json", there)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "trainer", "namespace": "new"}}
    bare = pod("bare", namespace="new", serviceAccountName=named)
    web = workload("Deployment", "web", namespace="new", pods=template(serviceAccountName=named), replicas=1)
    plain = pod("plain", namespace="new")
    items = [namespaces[1], bare, account, web, plain]
    file = listed(tmp_path / "manifests.json", items)
    checked = spread("check", "-f", file, "--from", cluster, "-o", "json")
    of_web = "Schedulable" if named == "trainer" else "FailedCreate"
    assert [item["verdict"] for item in checked.items] == ["Invalid", of_web, "Schedulable"]
    simulated = spread("simulate", "--apply", file, "--from", cluster, "-A")
    missing = f'error looking up service account new/{named}: serviceaccount "{named}" not found.'
    assert f"document 1, items[1].spec.serviceAccountName: {missing}" in simulated.stdout
    assert ("The API server refuses Pods of " in simulated.stdout) is (named == "misspelt")


IMMUTABLE = 'Invalid value: "Never": field is immutable'
DEFAULT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "default", "namespace": "default"},
}


@pytest.mark.parametrize(
    ("first", "last", "verdicts"),
    [
        (pod("x"), pod("x", nodeSelector={ZONE: "a"}), ["Schedulable", "Invalid"]),
        (pod("x"), pod("x", tolerations=[{"key": "t", "operator": "Exists"}]), ["Schedulable"]),
        (pod("x", topologySpreadConstraints=[spread_on(ZONE, maxSkew=0)]), pod("x"), ["Invalid", "Schedulable"]),
        (pod("x", serviceAccountName="none"), pod("x", labels={"a": "b"}), ["Invalid", "Schedulable"]),
        (RUN, {**RUN, "spec": {"template": template(restartPolicy="Never", nodeSelector={ZONE: "a"})}}, ["Invalid"]),
    ],
    ids=["immutable", "mutable", "the first is invalid", "the first is refused", "of a Job"],
)
def test_what_a_file_has_twice_is_compared_with_what_the_first_one_leaves(
    first: Object, last: Object, verdicts: list[str], tmp_path: Path
) -> None:
    cluster = listed(tmp_path / "cluster.json", [node("a1", zone="a"), DEFAULT])
    file = listed(tmp_path / "manifests.json", [first, last])
    checked = spread("check", "-f", file, "--from", cluster, "-o", "json")
    assert [item["verdict"] for item in checked.items] == verdicts
    simulated = spread("simulate", "--apply", file, "--from", cluster)
    assert ("Not applied: " in simulated.stdout) is ("Invalid" in verdicts)


def _quota(pods: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": str(pods)}},
    }


ONE, TWO = (workload("Deployment", name, replicas=2) for name in ("one", "two"))


@pytest.mark.parametrize(
    ("items", "verdicts"),
    [
        ([ONE, TWO], ["Incomplete", "Incomplete"]),
        ([ONE, pod("x")], ["Incomplete", "Incomplete"]),
        ([pod("x"), ONE], ["Schedulable", "FailedCreate"]),
        ([pod("x"), pod("z"), pod("w")], ["Schedulable", "Schedulable", "Invalid"]),
        ([_quota(3), ONE, pod("x")], ["Schedulable", "Incomplete"]),
        ([_quota(1), pod("x"), pod("z")], ["Schedulable", "Incomplete"]),
    ],
    ids=["workloads", "then a Pod", "after a Pod", "Pods", "a larger quota", "a smaller quota"],
)
def test_who_comes_last_is_refused_and_where_controllers_decide_who_does_is_not_known(
    items: list[Object], verdicts: list[str], tmp_path: Path
) -> None:
    there = [node("a1", zone="a"), {**_quota(2), "status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}}]
    there[1]["metadata"]["namespace"] = "default"
    cluster = listed(tmp_path / "cluster.json", there)
    file = listed(tmp_path / "manifests.json", items)
    assert [item["verdict"] for item in spread("check", "-f", file, "--from", cluster, "-o", "json").items] == verdicts
    simulated = spread("simulate", "--apply", file, "--from", cluster)
    assert "exceeded quota: q" in simulated.stdout
    # A changed quota is enforced as soon as its controller has seen it, so perhaps nobody is refused.
    assert simulated.code == (3 if items[0]["kind"] == "ResourceQuota" else 1)
    assert ("Not applied: " in simulated.stdout) is ("Invalid" in verdicts)


def test_where_one_order_is_simulated_it_is_not_known_who_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubectl_spread.simulation.applied.MOST_WORK", 0)
    file = tmp_path / "manifests.json"
    there = {**_quota(3), "metadata": {"name": "q", "namespace": "default"}}
    cluster = listed(tmp_path / "cluster.json", [node("a1", zone="a"), there])
    for items, verdict in (
        ([ONE, TWO], "Incomplete"),
        ([{**ONE, "spec": {**ONE["spec"], "replicas": 4}}], "FailedCreate"),
    ):
        listed(file, items)
        ended = spread("check", "-f", file, "--from", cluster, "-o", "json")
        assert {item["verdict"] for item in ended.items} == {verdict}
