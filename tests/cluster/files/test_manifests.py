"""Files give objects, and every file that does not says exactly where and why."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest
import yaml

from kubectl_spread.cluster.files.documents import Document
from kubectl_spread.cluster.files.manifests import documents_of, pod_groups, read_inventory
from kubectl_spread.cluster.files.sources import Input
from kubectl_spread.errors import ManifestError
from kubectl_spread.gaps import NOT_IN_FILES
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.objects.kinds import KINDS, Kind
from kubectl_spread.objects.meta import AnnotatedMeta, ObjectMeta, Plain
from kubectl_spread.snapshot import Inventory, Unread
from tests.build import Object, node, pod
from tests.build_storage import claim
from tests.build_workloads import controller, revision, workload
from tests.cluster.files.reading import read_documents

SOUND = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
POD: Plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, content: str | bytes) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def places(documents: Iterable[Document]) -> list[tuple[str, int, str, str, str]]:
    return [(each.source, each.number, each.path, each.api_version, each.kind) for each in documents]


def problems_of(*sources: str) -> list[str]:
    with pytest.raises(ManifestError) as raised:
        read_documents(sources)
    return list(map(str, raised.value.problems))


def inventory_problems(*sources: str) -> list[str]:
    with pytest.raises(ManifestError) as raised:
        read_inventory(sources)
    return list(map(str, raised.value.problems))


def names(inventory: Inventory, kind: str) -> list[tuple[str, str]]:
    return [(each.metadata.namespace, each.metadata.name) for each in inventory.objects[kind]]


class TestDocuments:
    """What ``check -f`` reads."""

    def test_sources_are_read_in_their_order(self) -> None:
        write(
            "b.yaml",
            "kind: Pod\napiVersion: v1\n---\n# nothing\n---\nkind: Rollout\napiVersion: argoproj.io/v1alpha1\n",
        )
        write("dir/a.json", json.dumps(POD))
        documents = read_documents(["b.yaml", "-", "dir"], stdin=io.BytesIO(json.dumps(POD).encode()))
        assert places(documents) == [
            ("b.yaml", 1, "", "v1", "Pod"),
            ("b.yaml", 3, "", "argoproj.io/v1alpha1", "Rollout"),
            ("standard input", 1, "", "v1", "Pod"),
            ("dir/a.json", 1, "", "v1", "Pod"),
        ]
        assert documents[2].values == POD

    def test_a_list_is_its_items(self) -> None:
        write(
            "list.yaml",
            "apiVersion: v1\nkind: List\nitems:\n"
            "- {apiVersion: apps/v1, kind: Deployment}\n"
            "- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod}]}\n"
            "- {apiVersion: v1, kind: NodeList, items: [{}, {metadata: {name: a}}]}\n"
            "- {apiVersion: v1, kind: Service}\n",
        )
        assert places(read_documents(["list.yaml"])) == [
            ("list.yaml", 1, "items[0]", "apps/v1", "Deployment"),
            ("list.yaml", 1, "items[1].items[0]", "v1", "Pod"),
            ("list.yaml", 1, "items[2].items[0]", "v1", "Node"),
            ("list.yaml", 1, "items[2].items[1]", "v1", "Node"),
            ("list.yaml", 1, "items[3]", "v1", "Service"),
        ]

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ({"apiVersion": "v1", "kind": "List"}, []),
            ({"apiVersion": "v1", "kind": "PodList", "items": None}, []),
            ({"apiVersion": "v1", "kind": "PodList", "items": []}, []),
            ({"apiVersion": "x/v1", "kind": "RolloutList", "items": [{}]}, [("x/v1", "Rollout")]),
            ({"apiVersion": "x/v1", "kind": "AllowList", "items": {"a": 1}}, [("x/v1", "AllowList")]),
            ({"apiVersion": "x/v1", "kind": "AllowList"}, [("x/v1", "AllowList")]),
            ({"apiVersion": "v1", "kind": "ConfigMap", "items": [1]}, [("v1", "ConfigMap")]),
            (
                {"apiVersion": "v1", "kind": "PodList", "items": [{"apiVersion": "x/v1", "kind": "Rollout"}]},
                [("x/v1", "Rollout")],
            ),
        ],
    )
    def test_what_is_a_list_and_what_is_not(self, values: Plain, expected: list[tuple[str, str]]) -> None:
        write("a.yaml", yaml.safe_dump(values))
        write("a.json", json.dumps(values))
        for path in ("a.yaml", "a.json"):
            assert [(each.api_version, each.kind) for each in read_documents([path])] == expected

    @pytest.mark.parametrize(
        ("content", "count"),
        [
            ("{apiVersion: v1, kind: Pod}", 1),
            ("{apiVersion: v1, kind: Pod}\n---\napiVersion: v1\nkind: Pod\n", 2),
            (f"{json.dumps(POD)}\n---\n{json.dumps(POD)}", 2),
            (json.dumps(POD) * 3, 3),
            (f"\ufeff{json.dumps(POD)}", 1),
            (f"# comment\n{json.dumps(POD)}", 1),
            (f"{json.dumps(POD)}\n---\napiVersion: v1\nkind: Pod\n", 2),
        ],
    )
    def test_json_and_yaml_may_be_mixed_as_kubectl_lets_them(self, content: str, count: int) -> None:
        write("a", content)
        assert [each.number for each in read_documents(["a"])] == list(range(1, count + 1))

    def test_comments_alone_are_no_problem_in_a_directory(self) -> None:
        write("dir/a.yaml", "# all of it\n# is switched off\n")
        write("dir/b.json", json.dumps(POD))
        assert len(read_documents(["dir"])) == 1

    def test_known_kinds_decode_and_others_do_not(self) -> None:
        write("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: x/v1\nkind: Pod\n")
        known, unknown = read_documents(["a.yaml"])
        assert known.obj == Pod(metadata=ObjectMeta(name="a"))
        assert unknown.obj is None


TEMPLATE: Plain = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
OVERRIDES: Plain = {"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]}}


@pytest.mark.parametrize(
    ("api_version", "kind", "values", "expected"),
    [
        ("argoproj.io/v1alpha1", "Rollout", {"spec": {"template": TEMPLATE}}, ("spec.template", TEMPLATE)),
        ("serving.knative.dev/v1", "Service", {"spec": {"template": TEMPLATE}}, ("spec.template", TEMPLATE)),
        ("extensions/v1beta1", "Deployment", {"spec": {"template": TEMPLATE}}, ("spec.template", TEMPLATE)),
        ("apps/v1", "Deployment", {"spec": {"template": TEMPLATE}}, None),
        ("x/v1", "Thing", {"spec": {"template": {"spec": {}}}}, None),
        ("x/v1", "Thing", {"spec": {"deployments": {"a": {"spec": {"template": OVERRIDES}}}}}, None),
        (
            "x/v1",
            "Thing",
            {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": OVERRIDES}},
            ("spec.template", OVERRIDES),
        ),
        ("x/v1", "Thing", {"spec": {"template": "<p>{{ name }}</p>"}}, None),
        ("x/v1", "Thing", {"spec": {"template": {"spec": {"containers": 5}}}}, None),
        ("x/v1", "Thing", {"spec": []}, None),
        ("x/v1", "Thing", {}, None),
        ("x/v1", "Thing", [], None),
    ],
)
def test_a_pod_template_is_found_in_kinds_we_do_not_know(
    api_version: str, kind: str, values: Plain, expected: tuple[str, Plain] | None
) -> None:
    for content in (values, msgspec.Raw(json.dumps(values).encode())):
        groups = pod_groups(Document("a", 1, api_version, kind, content))
        assert [(each.path, each.template) for each in groups] == ([expected] if expected else [])


def nested(*fields: str | int, **counts: int) -> Plain:
    """Return the template within these fields, and the counts beside the first of them."""
    found: Plain = TEMPLATE
    for field in reversed(fields):
        found = [found] if isinstance(field, int) else {field: found}
    assert isinstance(found, dict)
    return {**found, **counts}


RAY: Plain = {
    "headGroupSpec": nested("template"),
    "workerGroupSpecs": [
        {"groupName": "small", "replicas": 2, "template": TEMPLATE},
        {"groupName": "big", "replicas": 3, "numOfHosts": 2, "template": TEMPLATE},
    ],
}
JOB_SET: Plain = {
    "replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": TEMPLATE}}}]
}
TORCH: Plain = {
    "pytorchReplicaSpecs": {"Master": {"template": TEMPLATE}, "Worker": {"replicas": 4, "template": TEMPLATE}}
}


@pytest.mark.parametrize(
    ("spec", "groups"),
    [
        (RAY, [("head", 1), ("small", 2), ("big", 6)]),
        (JOB_SET, [("", 6)]),
        (TORCH, [("master", 1), ("worker", 4)]),
        (nested("template", replicas=3), [("", 3)]),
        (nested("podTemplate", replicas=0), [("", 0)]),
        (nested("driver", "template"), [("", 1)]),
        ({"template": {"spec": {"domain": {}}}}, []),
    ],
)
def test_each_group_of_pods_is_found_by_its_shape_with_its_number(spec: Plain, groups: list[tuple[str, int]]) -> None:
    found = pod_groups(Document("a", 1, "x/v1", "Thing", {"spec": spec}))
    assert [(each.name, each.replicas) for each in found] == groups
    assert {json.dumps(each.template) for each in found} <= {json.dumps(TEMPLATE)}


WRONG_FILES: dict[str, list[str]] = {
    "": ["f: holds no Kubernetes object"],
    " \n\n": ["f: holds no Kubernetes object"],
    "# a\n---\n# b\n": ["f: holds no Kubernetes object"],
    "null\n": ["f: holds no Kubernetes object"],
    "- a\n": ["f, document 1: must be a mapping, not a list"],
    "a\n": ["f, document 1: must be a mapping, not a string"],
    "[{}]": ["f, document 1: must be a mapping, not a list"],
    '{"a": 1} 5': [
        "f, document 1: is not a Kubernetes object: apiVersion and kind are missing",
        "f, document 2: must be a mapping, not an integer",
    ],
    "{}": ["f, document 1: is not a Kubernetes object: apiVersion and kind are missing"],
    "a: 1\n": ["f, document 1: is not a Kubernetes object: apiVersion and kind are missing"],
    "kind: Pod\n": ["f, document 1: is not a Kubernetes object: apiVersion is missing"],
    "apiVersion: v1\nkind: ''\n": ["f, document 1: is not a Kubernetes object: kind is missing"],
    "apiVersion: 1\nkind: Pod\n": ["f, document 1, apiVersion: must be a string, not an integer"],
    '{"apiVersion": "v1", "kind": ["Pod"]}': ["f, document 1, kind: must be a string, not a list"],
    "kind: List\napiVersion: v1\nitems: 5\n": ["f, document 1, items: must be a list, not an integer"],
    '{"kind": "PodList", "apiVersion": "v1", "items": {}}': ["f, document 1, items: must be a list, not a mapping"],
    "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n- null\n- apiVersion: v1\n  kind: Pod\n  spec: 5\n": [
        "f, document 1, items[0]: is not a Kubernetes object: apiVersion is missing",
        "f, document 1, items[1]: must be a mapping, not null",
        "f, document 1, items[2].spec: must be a mapping, not an integer",
    ],
    '{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"labels": {"a": "b", "tier": 5}}}]}': [
        "f, document 1, items[0].metadata.labels.tier: must be a string, not an integer (quote it)"
    ],
    "apiVersion: v1\nkind: Pod\nmetadata: {labels: {enabled: yes}}\n": [
        "f, document 1, metadata.labels.enabled: must be a string, not a boolean (quote it)"
    ],
    "a: b: c\n---\napiVersion: v1\nkind: Pod\nspec: []\n---\nkind: x\n--- y\n": [
        "f, document 1: is not valid YAML: line 1, column 5: mapping values are not allowed in this context",
        "f, document 2, spec: must be a mapping, not a list",
        "f, document 3: is not a Kubernetes object: apiVersion is missing",
        "f, document 4: is not valid YAML: line 8: only a comment may follow ---, not 'y'",
    ],
    "apiVersion: v1\nkind: Pod\nkind: Node\n": [
        "f, document 1: is not valid YAML: line 3, column 1: the key 'kind' is given twice, first on line 2"
    ],
    '{"apiVersion": "v1", "kind": "Pod", "kind": "Node"}': ["f, document 1: the key 'kind' is given twice"],
    '{"apiVersion": "v1",\n "kind":: "Pod"}': ["f, document 1: is not valid JSON: line 2, column 9: invalid character"],
    '{"apiVersion": "v1", "kind": "Pod"}\n{"kind": "Pod"}\n{"apiVersion"': [
        "f, document 2: is not a Kubernetes object: apiVersion is missing",
        "f, document 3: is cut off: the JSON ends in the middle of a value",
    ],
    '{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {}}, {"meta': [
        "f, document 1: is cut off: the JSON ends in the middle of a value"
    ],
    f'{{"apiVersion": "v1", "kind": "Pod", "x": {"[" * 250}{"]" * 250}}}': [
        "f, document 1: is nested more than 200 deep"
    ],
    f'{{"apiVersion": "v1", "kind": "Pod", "x": {"[" * 99_999}{"]" * 99_999}}}': ["f, document 1: is nested too deep"],
    f"apiVersion: v1\nkind: Pod\na: &a {'[' * 150}{']' * 150}\nb: {'[' * 150}*a{']' * 150}\n": [
        "f, document 1: is nested more than 200 deep"
    ],
}


@pytest.mark.parametrize("content", WRONG_FILES, ids=range(len(WRONG_FILES)))
def test_everything_wrong_with_a_file_is_listed(content: str) -> None:
    write("f", content)
    assert problems_of("f") == WRONG_FILES[content]


def test_bytes_that_are_no_text_are_told_by_their_line() -> None:
    write("a.yaml", b"apiVersion: v1\nkind: Pod\nmetadata: {name: \xff}\n")
    write("b.json", b'{"apiVersion": "v1", "kind": "Pod", "x": "\xff"}')
    assert problems_of("a.yaml", "b.json") == [
        "a.yaml: is not UTF-8 text: line 3 holds the byte 0xff",
        "b.json, document 1: is not valid JSON: a string is not UTF-8",
    ]


def test_all_sources_are_read_before_anything_is_said() -> None:
    write("a.yaml", "kind: Pod\n")
    write("dir/b.json", "")
    write("c.yaml", "apiVersion: v1\nkind: Pod\nspec: {priority: high}\n")
    assert problems_of("a.yaml", "missing.yaml", "dir", "c.yaml", "-") == [
        "a.yaml, document 1: is not a Kubernetes object: apiVersion is missing",
        "missing.yaml: does not exist",
        "dir/b.json: holds no Kubernetes object",
        "c.yaml, document 1, spec.priority: must be an integer, not a string",
        "standard input: is closed",
    ]


class TestInventory:
    """What ``--from`` reads."""

    def test_every_kind_has_an_entry(self) -> None:
        write("a.json", '{"apiVersion": "v1", "kind": "List", "items": []}')
        inventory = read_inventory(["a.json"])
        assert inventory.objects == {kind.name: () for kind in KINDS}
        assert inventory.resource_versions == {}
        assert inventory.unread == ()

    @pytest.mark.parametrize("write_as", [json.dumps, yaml.safe_dump], ids=["json", "yaml"])
    def test_known_kinds_are_kept_with_their_namespace(self, write_as: Callable[[Plain], str]) -> None:
        items: list[Plain] = [
            POD,
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}},
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}, "spec": None},
            {"apiVersion": "x/v1", "kind": "Node", "metadata": 5},
            {"apiVersion": "v1", "kind": "Endpoints", "subsets": 1},
        ]
        write("a", write_as({"apiVersion": "v1", "kind": "List", "items": items}))
        inventory = read_inventory(["a"])
        assert names(inventory, "Pod") == [("default", "a"), ("shop", "a")]
        assert inventory.objects["Node"] == (Node(metadata=AnnotatedMeta(name="node-1")),)
        assert sum(map(len, inventory.objects.values())) == 3

    def test_what_is_given_last_wins(self) -> None:
        for path, uid in (("dir/a.json", "first"), ("dir/b.yaml", "second")):
            write(path, json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": uid}}))
        (pod,) = read_inventory(["dir"]).objects["Pod"]
        assert pod.metadata.uid == "second"
        (pod,) = read_inventory(["dir/b.yaml", "dir/a.json"]).objects["Pod"]
        assert pod.metadata.uid == "first"

    def test_everything_wrong_is_listed(self) -> None:
        write(
            "a.json", '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":5},{},{"metadata":'
        )
        write("b.json", '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":5},{},null]}')
        write("c.json", '{"apiVersion":"v1","kind":"Status","status":"Failure","message":"pods is forbidden"}')
        write("d/e.txt", "")
        assert inventory_problems("a.json", "b.json", "c.json", "d", "https://example.com/a.json") == [
            "a.json, document 1: is cut off: the JSON ends in the middle of a value",
            "b.json, document 1, items[0].spec: must be a mapping, not an integer",
            "b.json, document 1, items[1].metadata.name: is missing",
            "b.json, document 1, items[2]: must be a mapping, not null",
            "c.json, document 1: is an answer of the API server, not an object: pods is forbidden",
            "d: holds no file whose name ends in .json, .yaml, .yml, .json.gz, .yaml.gz, .yml.gz",
            "https://example.com/a.json: is a URL, not a file",
        ]

    def test_a_broken_string_in_a_field_that_is_read_is_told(self) -> None:
        write("a.json", b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"\xff"}}')
        (problem,) = inventory_problems("a.json")
        assert problem.startswith("a.json, document 1: not valid JSON: a string is not UTF-8")

    def test_nesting_ends_in_a_problem(self) -> None:
        deep = "[" * 99_999 + "]" * 99_999
        write("a.json", f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","labels":{deep}}}}}')
        write("b.yaml", f"apiVersion: v1\nkind: Pod\nmetadata: {deep}\n")
        first, second = inventory_problems("a.json", "b.yaml")
        assert first == "a.json, document 1: is nested too deep"
        # The column is ours or libyaml's, whose newer releases have a bound of their own and read ahead.
        assert re.match(
            r"b\.yaml, document 1: is not valid YAML: line 3, column \d+: mappings and lists are nes", second
        )


TESTDATA = Path(__file__).parent / "testdata"


DUMPED = [
    *(("v1", kind) for kind in ("Event", "ReplicationController", "Pod")),
    *(("apps/v1", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet")),
]
NO_NODES, NO_PODS = Unread(kinds.NODE, NOT_IN_FILES), Unread(kinds.POD, NOT_IN_FILES)


def absent(kind: Kind) -> Unread:
    """Return what is unread where the files hold nothing of a kind."""
    return Unread(kind, NOT_IN_FILES)


CLAIMING = [{"name": "data", "persistentVolumeClaim": {"claimName": "d"}}]
REFUSED = {
    "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available: 3 node(s) ..."}]
}
FAILED_SCHEDULING: Object = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e", "namespace": "default"},
    "reason": "FailedScheduling",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
}
DONE, RUNS = {"phase": "Succeeded"}, {"phase": "Running"}


@pytest.mark.parametrize(
    ("objects", "unread"),
    [
        ([pod("p", on="a1")], [NO_NODES]),
        ([pod("p", on="a1", status=RUNS), node("b1")], [Unread(kinds.NODE, "a1 not in the files")]),
        (
            [*(pod(name, on=name, status=RUNS) for name in "vwxyz"), node("b1")],
            [Unread(kinds.NODE, "v, w, x and 2 more not in the files")],
        ),
        ([pod("p", on="gone"), pod("q", on="gone", status=RUNS, terminating=True), node("b1")], []),
        ([pod("p", on="a1", status=DONE), node("b1")], []),
        ([pod("p"), node("b1")], []),
        ([pod("p", status=REFUSED)], [NO_NODES]),
        ([pod("p", status=REFUSED), node("b1")], []),
        ([pod("p"), FAILED_SCHEDULING], [NO_NODES]),
        ([pod("p")], []),
        ([pod("p"), workload("DaemonSet", "ds", status={"desiredNumberScheduled": 1})], [NO_NODES]),
        ([node("b1")], []),
        ([node("b1"), workload("ReplicaSet", "web", status={"replicas": 1})], [NO_PODS]),
        ([node("b1"), workload("Deployment", "web", status={"replicas": 1})], [NO_PODS]),
        ([node("b1"), workload("DaemonSet", "ds", status={"currentNumberScheduled": 1})], [NO_PODS]),
        ([node("b1"), workload("ReplicaSet", "web", status={"replicas": 0})], []),
        ([node("b1"), pod("p"), workload("ReplicaSet", "web", status={"replicas": 1})], []),
        ([node("b1"), pod("p", owner=controller("StatefulSet", "db"))], [absent(kinds.STATEFUL_SET)]),
        ([node("b1"), pod("p", owner=controller("Job", "j"))], [absent(kinds.JOB)]),
        ([node("b1"), pod("p", owner={**controller("Rollout", "r"), "apiVersion": "argoproj.io/v1alpha1"})], []),
        ([revision("web", 1)], [absent(kinds.DEPLOYMENT)]),
        ([node("b1"), pod("p", on="b1", volumes=CLAIMING)], [absent(kinds.PERSISTENT_VOLUME_CLAIM)]),
        ([node("b1"), pod("p", volumes=CLAIMING)], []),
        ([node("b1"), pod("p", on="b1", status=DONE, volumes=CLAIMING)], []),
        ([node("b1"), pod("p", on="b1", resourceClaims=[{"name": "gpu"}])], [absent(kinds.RESOURCE_CLAIM)]),
        ([claim("d", bound_to="pv")], [absent(kinds.PERSISTENT_VOLUME)]),
        ([claim("d")], []),
    ],
)
def test_what_other_objects_show_to_exist_is_unread(objects: list[Object], unread: list[Unread]) -> None:
    write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    assert list(read_inventory(["cluster.json"]).unread) == unread


class TestClusterInfoDump:
    """What ``kubectl cluster-info dump`` writes, with and without ``--output-directory``."""

    def test_a_directory_is_read_without_its_logs(self) -> None:
        inventory = read_inventory([str(TESTDATA / "cluster-info-dump")])
        assert names(inventory, "Node") == [("", "node-1"), ("", "node-2")]
        assert names(inventory, "Pod") == [("default", "web-1"), ("default", "web-2")]
        assert names(inventory, "Deployment") == [("default", "web")]

    def test_kinds_that_it_never_holds_are_unread_and_kinds_with_empty_lists_are_read(self) -> None:
        inventory = read_inventory([str(TESTDATA / "cluster-info-dump")])
        unread = {each.kind.name for each in inventory.unread}
        assert unread >= {"PodDisruptionBudget", "StatefulSet", "Job", "PersistentVolume", "ResourceQuota"}
        assert unread.isdisjoint({"Node", "Service", "ReplicationController", "DaemonSet", "Event"})

    @pytest.mark.parametrize(
        ("namespaces", "why"),
        [
            (("default", "kube-system"), "only those of default, kube-system are in the files"),
            (("default", "empty"), "only those of default are in the files"),
            (("default", "kube-system", "kube-public", "kube-node-lease"), None),
            (("a", "b", "c", "default", "kube-system", "kube-public", "kube-node-lease"), None),
        ],
    )
    def test_it_is_of_all_namespaces_or_says_which(self, namespaces: tuple[str, ...], why: str | None) -> None:
        empty = {"empty", "kube-public", "kube-node-lease"}
        lists: list[Plain] = [{"apiVersion": "v1", "kind": "NodeList", "items": []}]
        for namespace in namespaces:
            lists += [{"apiVersion": api, "kind": f"{kind}List", "items": []} for api, kind in DUMPED]
            service: Plain = {"metadata": {"name": "s", "namespace": namespace}}
            lists.append({"apiVersion": "v1", "kind": "ServiceList", "items": [] if namespace in empty else [service]})
        write("dump.json", "\n".join(map(json.dumps, lists)))
        pods = [each.why for each in read_inventory(["dump.json"]).unread if each.kind is kinds.POD]
        assert pods == ([why] if why else [])

    def test_what_is_given_beside_it_is_read(self) -> None:
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}}
        write("budgets.yaml", yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [budget]}))
        inventory = read_inventory([str(TESTDATA / "cluster-info-dump"), "budgets.yaml"])
        assert "PodDisruptionBudget" not in {each.kind.name for each in inventory.unread}

    def test_one_stream_holds_the_same(self) -> None:
        directory, stream = TESTDATA / "cluster-info-dump", TESTDATA / "cluster-info-dump.txt"
        assert read_inventory([str(stream)]) == read_inventory([str(directory)])

    def test_a_stream_of_yaml_holds_the_same(self) -> None:
        lists, *logs = (TESTDATA / "cluster-info-dump.txt").read_text().partition("==== START")
        documents = [yaml.safe_dump(json.loads(each)) for each in lists.replace("\n}\n{", "\n}\0{").split("\0")]
        write("dump.txt", "---\n".join(documents) + "".join(logs))
        assert read_inventory(["dump.txt"]) == read_inventory([str(TESTDATA / "cluster-info-dump.txt")])

    def test_lines_are_those_of_the_file(self) -> None:
        stream = (TESTDATA / "cluster-info-dump.txt").read_text()
        write("dump.txt", f"{stream}oops")
        line = stream.count("\n") + 1
        assert inventory_problems("dump.txt") == [
            f"dump.txt, document 16: is not valid JSON: line {line}, column 1: invalid character"
        ]


def test_a_cluster_is_read_faster_than_json_reads_its_plain_values() -> None:
    fields = json.dumps({f"f:{number}": {".": {}} for number in range(200)})
    pod = f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"%d","managedFields":[{fields}]}}}}'
    pods = ",".join(pod % number for number in range(2_000))
    write("pods.json", f'{{"apiVersion":"v1","kind":"List","items":[{pods}]}}')
    start = time.process_time()
    assert len(read_inventory(["pods.json"]).objects["Pod"]) == 2_000
    middle = time.process_time()
    json.loads(Path("pods.json").read_bytes())
    assert middle - start < time.process_time() - middle


class TestBounds:
    """What a file may ask of its reader."""

    def test_a_hundred_problems_are_enough(self) -> None:
        write("a.yaml", "---\nbroken\n" * 500)
        with pytest.raises(ManifestError) as caught:
            read_documents(["a.yaml"])
        assert len(caught.value.problems) == 100
        assert caught.value.hint == "there may be more errors: reading stopped here"

    def test_so_many_objects_are_taken(self) -> None:
        two, four = (Input("a.yaml", "---\n".join([SOUND] * count).encode()) for count in (2, 4))
        assert len(documents_of([two], most=2)) == 2
        with pytest.raises(ManifestError, match=r"^a.yaml, document 3: at most 2 objects are read$"):
            documents_of([four], most=2)

    def test_lists_lie_within_one_another_up_to_a_point(self) -> None:
        start, end = '{"apiVersion": "v1", "kind": "List", "items": [', "]}"
        write("ten.json", start * 10 + end * 10)
        read_inventory(["ten.json"])
        write("more.json", start * 12 + end * 12)
        with pytest.raises(ManifestError, match=r"\.items\[0\]: lists are nested more than 10 deep$"):
            read_inventory(["more.json"])

    def test_a_number_out_of_range_is_named(self) -> None:
        write(
            "a.json", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"priority":%s}}' % ("9" * 5000)
        )
        with pytest.raises(ManifestError, match=r"^a.json, document 1, spec.priority: Integer value out of range$"):
            read_inventory(["a.json"])

    def test_log_sections_that_do_not_end_stay_as_they_are(self) -> None:
        begun = "==== START logs for container a of pod b ====\n"
        write(
            "a.yaml",
            f"{SOUND}{begun}noise: [\n==== END logs for container a of pod b ====\n---\n{SOUND}" + f"# x\n{begun}",
        )
        with pytest.raises(ManifestError, match=r"^a.yaml, document 2: is not valid YAML: line "):
            read_inventory(["a.yaml"])
