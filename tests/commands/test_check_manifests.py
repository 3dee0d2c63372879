"""The manifests that ``check`` is asked about: namespaces, kustomizations, what makes Pods."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_spread.commands.manifests import Manifest, ManifestSources, read_manifests
from kubectl_spread.errors import ManifestError
from tests.build import Object, namespace, node, pod
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.program import Ended, kubectl, listed, spread

ROLLOUT: Object = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Rollout",
    "metadata": {"name": "web", "namespace": "own"},
    "spec": {"template": {"spec": {"containers": [{"image": "i"}]}}},
}


def read(folder: Path, *documents: Object, **sources: Any) -> list[Manifest]:  # noqa: ANN401 - as for ManifestSources
    path = folder / "manifests.yaml"
    path.write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    return read_manifests(ManifestSources(filenames=(str(path),), **{"namespace": "asked", **sources}), stdin=None)[0]


def checked(folder: Path, text: str, *words: str, there: Sequence[Object] = ()) -> tuple[Path, Ended]:
    """Return the file with this text, and what is said of it in a cluster of a node and these objects."""
    path = folder / "manifests.yaml"
    path.write_text(text, encoding="utf-8")
    nodes = listed(folder / "cluster.json", [node("node-1", labels={"zone": "a"}), *there])
    return path, spread("check", "-f", path, "--from", nodes, "-o", "json", *words)


@pytest.mark.parametrize("described", [pod("web", namespace="own"), workload("Job", "web", namespace="own"), ROLLOUT])
def test_a_document_of_another_namespace_than_the_one_asked_for_is_an_error(tmp_path: Path, described: Object) -> None:
    assert read(tmp_path, described)[0].namespace == "own"
    assert read(tmp_path, described, namespace="own", enforce_namespace=True)[0].namespace == "own"
    with pytest.raises(ManifestError) as raised:
        read(tmp_path, described, enforce_namespace=True)
    (problem,) = raised.value.problems
    assert problem.message == (
        'the namespace from the provided object "own" does not match the namespace "asked".'
        " You must pass '--namespace=own' to perform this operation."
    )
    assert problem.document == 1


def test_kinds_that_live_in_no_namespace_do_not_mind(tmp_path: Path) -> None:
    strange = node("node-1")
    strange["metadata"]["namespace"] = "own"
    found = read(tmp_path, strange, namespace("other"), pod("web", namespace="asked"), enforce_namespace=True)
    assert [manifest.namespace for manifest in found] == ["", "", "asked"]


@pytest.mark.parametrize(
    ("described", "path"),
    [
        (pod("web"), "spec"),
        (workload("Deployment", "web"), "spec.template.spec"),
        (cron_job("web"), "spec.jobTemplate.spec.template.spec"),
        (ROLLOUT, "spec.template.spec"),
    ],
)
def test_where_the_pods_spec_stands(tmp_path: Path, described: Object, path: str) -> None:
    (manifest,) = read(tmp_path, described)
    assert (manifest.pod_path, manifest.makes_pods) == (path, True)
    assert str(manifest.ref) == f"{described['kind'].lower()}/web"


def test_a_directory_is_built_by_kustomize(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(pod("built")), encoding="utf-8")
    monkeypatch.setenv("KUBECTL_PATH", str(kubectl(tmp_path, 'cat "$3/pod.yaml"')))
    (manifest,), _ = read_manifests(ManifestSources(kustomize=str(tmp_path), namespace="asked"), stdin=None)
    assert (manifest.name, manifest.namespace) == ("built", "default")


def test_a_kustomization_without_pods_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ns.yaml").write_text(yaml.safe_dump(namespace("x")), encoding="utf-8")
    monkeypatch.setenv("KUBECTL_PATH", str(kubectl(tmp_path, 'cat "$3/ns.yaml"')))
    with pytest.raises(ManifestError, match=f"^{tmp_path}: no document is a Pod"):
        read_manifests(ManifestSources(kustomize=str(tmp_path), namespace="asked"), stdin=None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "must specify one of -f and -k"),
        (("-f", "a", "-k", "b"), "only one of -f or -k can be specified"),
        (("-k", "b", "-R"), "the -k flag can't be used with -f or -R"),
        (("-f", "a", "--dry-run", "client", "--from", "b"), "'client' for --dry-run; must be one of: none, server"),
        (("-f", "a", "--dry-run=server", "--from", "b"), "--dry-run=server asks an API server; leave out --from"),
    ],
)
def test_flags_that_do_not_go_together(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "b").write_text(yaml.safe_dump(node("node-1")), encoding="utf-8")
    ended = spread("check", *words)
    assert (ended.code, ended.stdout) == (2, "")
    assert said in ended.stderr.splitlines()[-1]


def test_one_flag_may_name_several_files(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.yaml", "b.yaml", "nodes.yaml")]
    for path, described in zip(files, (pod("a"), pod("b"), node("node-1")), strict=True):
        path.write_text(yaml.safe_dump(described), encoding="utf-8")
    ended = spread("check", "-f", f"{files[0]},{files[1]}", "--from", files[2], "-o", "json")
    assert [item["name"] for item in ended.items] == ["a", "b"]


def test_a_document_in_which_something_is_wrong_costs_its_own_answer_alone(tmp_path: Path) -> None:
    documents = [pod("a"), {**pod("b"), "spec": []}, {"replicaCount": 3}, pod("c")]
    path, ended = checked(tmp_path, yaml.safe_dump_all(documents))
    assert ([item["name"] for item in ended.items], ended.code) == (["a", "b", "c"], 1)
    assert [gap["what"] for gap in json.loads(ended.stdout)["incomplete"]] == [f"{path}, document 3"]


def test_all_that_is_wrong_with_a_document_is_reported(tmp_path: Path) -> None:
    misspelt = {**pod("a"), "spec": {"container": [], "containers": [{"name": "main", "image": "i", "tty": "yes"}]}}
    misspelt["spec"]["priority"] = "1"
    refused, sound = checked(tmp_path, yaml.safe_dump_all([misspelt, pod("b")]))[1].items
    assert [(error["field"], error["reason"]) for error in refused["validation"]] == [
        ("spec.container", "UnknownField"),
        ("spec.containers[0].tty", "FieldValueTypeInvalid"),
        ("spec.priority", "FieldValueTypeInvalid"),
    ]
    assert sound["verdict"] == "Schedulable"


NO_QUANTITY = template(requests={"cpu": ""})


@pytest.mark.parametrize(
    "manifest",
    [
        workload("Deployment", "web", pods=NO_QUANTITY, replicas=0),
        workload("Deployment", "web", pods=template(requests={"cpu": ""}, priority="high"), replicas=0),
        workload("Deployment", "web", pods=NO_QUANTITY, replicas=1, paused=True),
        workload("Job", "web", pods=template(requests={"cpu": ""}, restartPolicy="Never"), suspend=True),
    ],
    ids=["without Pods", "beside a wrong type", "paused over a Pending Pod", "suspended"],
)
def test_what_cannot_be_parsed_is_placed_nowhere_and_has_its_errors(manifest: Object, tmp_path: Path) -> None:
    labels = {"app": "web", "pod-template-hash": "h1"}
    waiting = owned("web-h1-0", "ReplicaSet", "web-h1", labels=labels, nodeSelector={"disk": "ssd"})
    live = [workload("Deployment", "web", pods=template(), replicas=1), revision("web", 1, pods=template()), waiting]
    item = checked(tmp_path, yaml.safe_dump(manifest), there=live)[1].item
    assert (item["verdict"], item["placements"], item["fixes"]) == ("Invalid", [], [])
    field = "spec.template.spec.containers[0].resources.requests[cpu]"
    assert item["validation"][0] == {
        "field": field,
        "reason": "FieldValueTypeInvalid",
        "message": "must be a quantity such as 500m or 2Gi",
    }


TWICE = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  schedulerName: first
  containers: [{name: main, image: nginx}]
  schedulerName: last
"""


def test_of_a_key_given_twice_the_last_value_counts_and_a_warning_says_so(tmp_path: Path) -> None:
    item = checked(tmp_path, TWICE)[1].item
    (warning,) = item["warnings"]
    said = "the key is given twice, on lines 6 and 8: the last value counts"
    assert warning == {"field": "spec.schedulerName", "message": said}
    assert item["incomplete"][0]["what"] == "schedulerName last"


def test_warnings_may_be_failures(tmp_path: Path) -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    text = yaml.safe_dump(pod("a", topologySpreadConstraints=[constraint]))
    codes = [checked(tmp_path, text, f"--fail-on={what}")[1].code for what in ("error", "warning", "x")]
    assert codes == [0, 1, 2]


@pytest.mark.parametrize(
    ("api_version", "kind", "now"),
    [("batch/v1beta1", "CronJob", "batch/v1"), ("policy/v1beta1", "PodDisruptionBudget", "policy/v1")],
)
def test_a_kind_that_is_gone_says_what_replaced_it(api_version: str, kind: str, now: str, tmp_path: Path) -> None:
    text = yaml.safe_dump({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}})
    _, ended = checked(tmp_path, text, "--kube-version", "v1.36")
    message = f'no matches for kind "{kind}" in version "{api_version}": v1.36 serves it in {now}'
    assert (ended.code, [error["message"] for error in ended.item["validation"]]) == (1, [message])


def test_what_no_core_rule_knows_is_not_refused_and_what_is_skipped_is_said(tmp_path: Path) -> None:
    cluster = listed(tmp_path / "cluster.json", [node("a1")])
    hello = {"metadata": {"name": "hello"}, "spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}
    kafka = {"kafka": {"replicas": 3, "template": {"pod": {"topologySpreadConstraints": [{"topologyKey": "zone"}]}}}}
    items = [
        {"apiVersion": "serving.knative.dev/v1", "kind": "Service", **hello},
        {"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "Kafka", "metadata": {"name": "k"}, "spec": kafka},
        {"apiVersion": "x/v1", "kind": "Cert", "metadata": {"name": "c"}, "spec": {}},
        {"apiVersion": "apps/v9", "kind": "Deployment", "metadata": {"name": "d"}},
    ]
    manifest = listed(tmp_path / "manifest.json", items)
    ended = spread("check", "-f", manifest, "--from", cluster, "-o", "json")
    verdicts = {each["name"]: each["verdict"] for each in json.loads(ended.stdout)["items"]}
    assert verdicts == {"hello": "Schedulable", "d": "Invalid"}
    assert "Skipped, because they have no Pod template: kafka/k, cert/c." in ended.stderr
    assert [gap["what"] for gap in json.loads(ended.stdout)["incomplete"]] == [
        "the Pods of kafka/k",
        "whether the cluster serves Service in serving.knative.dev/v1",
    ]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("values.yaml", "replicas: 3", "but the values of a Helm chart"),
        ("Chart.yaml", "apiVersion: v2\nname: web", "but the metadata of a Helm chart"),
        ("kustomization.yaml", "resources: [web.yaml]", "but a kustomization, which -k builds"),
        ("deployment.yaml", "kind: {{ .Values.kind }}", "is a template, such as helm template renders, and no YAML"),
    ],
)
def test_what_a_file_beside_manifests_is_costs_its_own_answer_only(
    name: str, text: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(pod("web")))
    sources = ManifestSources(filenames=(str(tmp_path),), recursive=True, namespace="asked")
    manifests, (problem,) = read_manifests(sources, stdin=None)
    assert [manifest.name for manifest in manifests] == ["web"]
    assert told in str(problem)


def test_an_empty_list_is_said_to_be_empty(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"no document is a Pod or has a Pod template \(found: an empty list\)"):
        read(tmp_path, {"apiVersion": "v1", "kind": "List", "items": []})
