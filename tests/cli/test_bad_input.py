"""What cannot be answered: one line on standard error that names the thing and the next step, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.naming import in_order
from tests.program import spread

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP = EXAMPLES / "shop.yaml"
CHECKOUT = EXAMPLES / "checkout.yaml"
USAGE, UNDETERMINED = 2, 3

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: web}}
spec:
  containers: [{name: main, image: registry.example/web}]
"""
SPREAD_POD = f"""{POD}
  topologySpreadConstraints:
  - topologyKey: zone
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {{matchExpressions: [{{key: app, operator: Likes, values: [web]}}]}}
"""


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "deploy,gadget"), ('"gadget"', "use one of", "deployments", "pods")),
        (("show", "deploy/web", "pods"), ("TYPE/NAME or TYPE NAME",)),
        (("show", "deploy/web", "-A"), ("by name across all namespaces", "use -n")),
        (("why-pending", "svc/web"), ("resource type", "statefulsets")),
        (("show", "-l", "a==b==c"), ("'a==b==c'", "want key=value")),
        (("show", "-o", "xml"), ("'xml' for --output", "table, wide, json, yaml, name")),
        (("show", "-n", "a\udcff"), ("'a\\udcff' for --namespace",)),
        (("why-pending", "--read=some"), ("'some'", "auto, all or needed")),
        (("show", "--sort-by", "size"), ("'size' for --sort-by", "status, skew, name")),
        (("show", "--color", "mauve"), ("'mauve' for --color", "auto, always, never")),
        (("show", "--feature-gates", "A"), ("'A'", "Name=true")),
    ],
    ids=in_order,
)
def test_a_question_that_makes_no_sense(words: tuple[str, ...], said: tuple[str, ...]) -> None:
    ended = spread(*words, "--from", SHOP)
    assert ended.code == USAGE
    assert all(part in ended.error for part in said), ended.error
    assert ended.error.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bogus",), "No such command 'bogus'"),
        (("show", "--bogus"), "No such option: --bogus"),
        (("check", "--file", "x"), "No such option: --file (Possible options: --filename)"),
        (("check", "-f", "x", "--replicas", "0"), "--replicas"),
        (("why-pending", "--fix-budget", "-1"), "--fix-budget"),
        (("show", "-n"), "'-n' requires an argument"),
    ],
    ids=in_order,
)
def test_flags_that_do_not_exist_or_want_something_else(words: tuple[str, ...], said: str) -> None:
    ended = spread(*words)
    assert (ended.code, ended.stdout) == (USAGE, "")
    assert said in ended.stderr.splitlines()[-1]
    assert "--user" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "deploy/web"), ('not found in namespace "default"', "there is one in namespace shop: use -n")),
        (("why-pending", "nope", "-n", "shop"), ('pods "nope" not found in namespace "shop"', "check the name")),
        (("why-pending", "web-5d9c7b6f4-x2x5q"), ('in namespace "default"', "there is one in namespace shop: use -n")),
        (("show", "--scheduler-config", "nowhere.yaml"), ("nowhere.yaml: does not exist",)),
        (("show", "--scheduler-config", str(CHECKOUT)), ("is a Deployment, not a KubeSchedulerConfiguration",)),
        (("check", "-f", "nowhere.yaml"), ("nowhere.yaml: does not exist",)),
    ],
    ids=in_order,
)
def test_what_does_not_exist(words: tuple[str, ...], said: tuple[str, ...]) -> None:
    ended = spread(*words, "--from", SHOP)
    assert ended.code == UNDETERMINED
    assert all(part in ended.error for part in said), ended.error


@pytest.mark.parametrize("words", [("show",), ("why-pending",), ("show", "deploy")])
def test_an_empty_answer_names_the_namespaces_with_pods(words: tuple[str, ...]) -> None:
    ended = spread(*words, "-n", "nowhere", "--from", SHOP)
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr.startswith("No ")
    assert ended.stderr.endswith(" found in nowhere namespace. Namespaces with Pods: shop.\n")


MANIFESTS = {
    "empty": ("", "holds no Kubernetes object"),
    "text": ("just text", "must be a mapping, not a string"),
    "no kind": ("a: b", "is not a Kubernetes object: apiVersion and kind are missing"),
    "binary": (b"\x00\x01\xff", "is not UTF-8 text"),
}
OF_WRONG_TYPES = {
    "wrong type": (POD.replace("[{name", "{name").replace("}]", "}"), "spec.containers: must be a list, not a mapping")
}


@pytest.mark.parametrize(("content", "said"), MANIFESTS.values(), ids=MANIFESTS.keys())
def test_a_manifest_that_is_none(content: str | bytes, said: str, tmp_path: Path) -> None:
    write(tmp_path, {"pod.yaml": content})
    ended = spread("check", "-f", tmp_path / "pod.yaml", "--from", SHOP)
    assert ended.code == UNDETERMINED
    assert "pod.yaml" in ended.error
    assert said in ended.error


@pytest.mark.parametrize(("content", "said"), OF_WRONG_TYPES.values(), ids=OF_WRONG_TYPES.keys())
def test_a_manifest_of_wrong_types_is_refused(content: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, {"pod.yaml": content})
    ended = spread("check", "-f", tmp_path / "pod.yaml", "--from", SHOP)
    assert (ended.code, ended.stderr) == (1, "")
    first, second = ended.stdout.splitlines()
    assert first == "default/pod/p: the API server refuses it."
    field, _, message = said.partition(": ")
    assert second.replace("[app]", ".app").startswith(f"invalid: {field}: {message}")


ALL_FAULTS = {**MANIFESTS, **OF_WRONG_TYPES}


@pytest.mark.parametrize(("content", "said"), ALL_FAULTS.values(), ids=ALL_FAULTS.keys())
def test_a_cluster_that_is_none(content: str | bytes, said: str, tmp_path: Path) -> None:
    write(tmp_path, {"cluster.yaml": content})
    ended = spread("why-pending", "--from", tmp_path / "cluster.yaml")
    assert ended.code == UNDETERMINED
    assert "cluster.yaml" in ended.error
    assert said in ended.error


def test_no_document_has_a_pod_template(tmp_path: Path) -> None:
    kinds = "".join(f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: x}}\n---\n" for kind in ("Service", "ConfigMap"))
    write(tmp_path, {"rest.yaml": kinds})
    ended = spread("check", "-f", tmp_path / "rest.yaml", "--from", SHOP)
    assert ended.code == UNDETERMINED
    assert "no document is a Pod or has a Pod template (found: ConfigMap, Service)" in ended.error
    assert "want a Pod, or a workload" in ended.error


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{spec: {containers: [{image: i}], nodeSelector: []}}", "spec.template.spec.nodeSelector: must be a mapping"),
        (
            "{metadata: {labels: []}, spec: {containers: [{image: i}]}}",
            "spec.template.metadata.labels: must be a mapping",
        ),
    ],
)
def test_a_template_of_another_api_is_read_as_strictly(template: str, said: str, tmp_path: Path) -> None:
    rollout = (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {{name: web}}\nspec: {{template: {template}}}\n"
    )
    write(tmp_path, {"rollout.yaml": rollout})
    ended = spread("check", "-f", tmp_path / "rollout.yaml", "--from", SHOP)
    assert ended.code == UNDETERMINED
    assert said in ended.error


def test_the_identity_of_an_object_of_another_api_is_read_too(tmp_path: Path) -> None:
    rollout = "apiVersion: example.com/v1\nkind: App\nmetadata: {name: web, ownerReferences: [1]}\nspec: {}\n"
    write(tmp_path, {"pod.yaml": f"{POD}---\n{rollout}"})
    ended = spread("check", "-f", tmp_path / "pod.yaml", "--from", SHOP)
    assert ended.code == UNDETERMINED
    assert "metadata.ownerReferences[0] (unreadable): must be a mapping" in ended.stdout


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("profiles: [{schedulerName: 1}]", "profiles[0].schedulerName: must be a string"),
        (
            "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: [List]}}]}]",
            "defaultingType: must be a string, not a list",
        ),
    ],
)
def test_a_scheduler_configuration_with_the_wrong_types(config: str, said: str, tmp_path: Path) -> None:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    write(tmp_path, {"config.yaml": f"{head}{config}\n"})
    ended = spread("show", "--from", SHOP, "--scheduler-config", tmp_path / "config.yaml")
    assert ended.code == UNDETERMINED
    assert "config.yaml" in ended.error
    assert said in ended.error


UNREADABLE = {
    "quantity of a Pod": (
        {"node.yaml": NODE, "pod.yaml": POD.replace("web}]", "web, resources: {requests: {cpu: lots}}}]")},
        "Pod default/p, spec.containers[0].resources.requests.cpu: 'lots' is not a quantity",
    ),
    "quantity of a Node": (
        {"node.yaml": NODE.replace('"4"', "four"), "pod.yaml": POD},
        "Node n1, status.allocatable.cpu: 'four' is not a quantity",
    ),
}


@pytest.mark.parametrize(("files", "said"), UNREADABLE.values(), ids=UNREADABLE.keys())
@pytest.mark.parametrize("words", [("why-pending",), ("show", "pod/p")])
def test_what_no_api_server_stores(words: tuple[str, ...], files: Mapping[str, str], said: str, tmp_path: Path) -> None:
    write(tmp_path, files)
    ended = spread(*words, "--from", tmp_path)
    assert ended.code == UNDETERMINED
    assert said in ended.error
    assert ended.error.endswith("; an API server would refuse it")


@pytest.mark.parametrize(
    ("when", "else_said"),
    [("DoNotSchedule", "not schedulable."), ("ScheduleAnyway", "it can be scheduled now, on n1.")],
)
def test_a_manifest_whose_selector_cannot_be_parsed_is_invalid(when: str, else_said: str, tmp_path: Path) -> None:
    write(tmp_path, {"node.yaml": NODE, "pod.yaml": SPREAD_POD.replace("DoNotSchedule", when)})
    ended = spread("check", "-f", tmp_path / "pod.yaml", "--from", tmp_path / "node.yaml")
    assert ended.code == 1
    assert ended.stdout.startswith(f"default/pod/p: the API server refuses it. Otherwise: {else_said}")


def test_a_manifest_is_not_blamed_for_the_cluster(tmp_path: Path) -> None:
    write(tmp_path, {"node.yaml": NODE.replace('"4"', "four"), "pod.yaml": POD})
    ended = spread("check", "-f", tmp_path / "pod.yaml", "--from", tmp_path / "node.yaml")
    assert ended.code == UNDETERMINED
    assert "Node n1, status.allocatable.cpu: 'four' is not a quantity" in ended.error


def test_an_empty_cluster_is_an_answer(tmp_path: Path) -> None:
    write(tmp_path, {"empty.yaml": "apiVersion: v1\nkind: List\nitems: []\n", "pod.yaml": POD})
    ended = spread("check", "-f", tmp_path / "pod.yaml", "--from", tmp_path / "empty.yaml")
    assert ended.code == 1
    assert ended.stdout.startswith("default/pod/p: not schedulable. The cluster has no nodes.\n")
    ended = spread("why-pending", "--from", tmp_path, "-o", "json")
    assert (ended.code, ended.item["message"]) == (1, "no nodes available to schedule pods")


@pytest.mark.parametrize("output", ["json", "yaml", "table", "sarif", "html"])
def test_a_file_whose_name_is_no_text(output: str, tmp_path: Path) -> None:
    path = tmp_path / "a\udcff.yaml"
    path.write_text(f"{NODE}---\n{POD}")
    ended = spread("check", "-f", path, "--from", path, "-o", output)
    assert ended.code == 0
    assert ended.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to simulate"),
        (("--drain", "nowhere"), 'nodes "nowhere" not found'),
        (("--lose", "zone=C"), "zone=C; did you mean topology.kubernetes.io/zone=c?"),
        (("--drain", "node-"), 'nodes "node-" not found; these begin with it: node-a1, node-a2, node-b1, node-b2 and'),
        (("--scale", "web=3"), "'web' names no object; did you mean deployment/web?"),
        (("--scale", "deployment/web=many"), "'many' is not a number"),
        (("--scale", "daemonset/web=3"), "want [NAMESPACE/]TYPE/NAME of deployment"),
        (("--delete", "deployment/web"), "want [NAMESPACE/]pod/NAME"),
        (("--add-node", "node-a1=x"), "'x' is not a number"),
        (("--remove", "node-a1", "--drain", "node-a1"), 'nodes "node-a1" not found'),
    ],
)
def test_a_step_that_means_nothing_is_told(words: tuple[str, ...], said: str) -> None:
    ended = spread("simulate", *words, "-n", "shop", "--from", SHOP)
    assert ended.code in {USAGE, UNDETERMINED}
    assert said in ended.stderr
