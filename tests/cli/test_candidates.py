"""What may come next on a command line, asked of the program's own commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from kubectl_spread.cli import application
from kubectl_spread.cli.candidates import Completion, Directive, complete
from kubectl_spread.cli.completion import SCRIPTS
from tests.cluster.api_server import ApiServer, Response, serving
from tests.cluster.kubeconfigs import write_kubeconfig

ROOT = typer.main.get_group(application())
NAMES = {
    "/api/v1/namespaces": ("default", "shop", "shipping"),
    "/apis/apps/v1/namespaces/shop/deployments": ("api", "web"),
    "/api/v1/namespaces/shop/pods": ("web-0", "web-1"),
    "/api/v1/namespaces/default/pods": ("elsewhere",),
    "/api/v1/nodes": ("a1", "b1"),
}
LABELS = {
    "a1": {"topology.kubernetes.io/zone": "a", "kubernetes.io/hostname": "a1"},
    "b1": {"topology.kubernetes.io/zone": "b", "kubernetes.io/hostname": "b1", "topology.example/rack": "r1"},
}
KEYS = ["kubernetes.io/hostname", "topology.example/rack", "topology.kubernetes.io/zone"]


def after(line: str) -> Completion:
    """Return what may come after the line, whose last word is being typed."""
    return complete(ROOT, line.split(" "))


def words(line: str) -> list[str]:
    return list(after(line).candidates)


@pytest.fixture(autouse=True)
def api_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Yield the server to which the only kubeconfig leads."""
    with serving(lambda seen: listing(seen.path)) as running:
        path = write_kubeconfig(tmp_path / "config", server=running.url, name="test", namespace="default")
        monkeypatch.setenv("KUBECONFIG", str(path))
        yield running


def listing(path: str) -> Response:
    """Return the objects that lie under the path."""
    named = ({"name": name, "labels": LABELS.get(name, {})} for name in NAMES.get(path, ()))
    return Response(body={"metadata": {}, "items": [{"metadata": metadata} for metadata in named]})


def test_first_comes_a_command_with_what_it_does() -> None:
    completion = after("")
    assert set(completion.candidates) == set(ROOT.commands)
    assert completion.candidates["version"].startswith("Print the version")
    assert completion.directive == Directive.NO_FILES


def test_no_words_are_an_empty_line() -> None:
    assert complete(ROOT, []) == after("")


def test_an_unknown_command_has_nothing_after_it() -> None:
    assert after("bogus ") == Completion({})


@pytest.mark.parametrize("command", sorted(ROOT.commands))
def test_every_flag_of_every_command_is_offered_with_its_help(command: str) -> None:
    offered = after(f"{command} -").candidates
    declared = {name: param for param in ROOT.commands[command].params for name in param.opts if name.startswith("-")}
    assert set(offered) == {*declared, "-h", "--help"}
    assert all(offered.values())


def test_a_flag_is_completed_by_its_beginning() -> None:
    assert after("show --names").candidates == {"--namespace": "The namespace to read."}


@pytest.mark.parametrize(
    ("given", "flag"),
    [
        ("-A", "--all-namespaces"),
        ("--all-namespaces", "-A"),
        ("-n shop", "--namespace"),
        ("-nshop", "--namespace"),
        ("--namespace=shop", "-n"),
        ("--namespace shop deploy/web", "-n"),
    ],
)
def test_a_flag_is_offered_once(given: str, flag: str) -> None:
    assert flag in words("show -")
    assert flag not in words(f"show {given} -")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("show --sort-by ", ["status", "skew", "name"]),
        ("show --sort-by s", ["status", "skew"]),
        ("show --sort-by=sk", ["skew"]),
        ("show --color=", ["auto", "always", "never"]),
        ("check -f pod.yaml -o y", ["yaml"]),
        ("completion ", list(SCRIPTS)),
    ],
)
def test_values_out_of_a_few_are_offered(line: str, expected: list[str]) -> None:
    assert words(line) == expected
    assert after(line).directive == Directive.NO_FILES


@pytest.mark.parametrize(
    "line",
    ["check -f ", "check --filename=ma", "check -Rf ma", "show --from ", "show --kubeconfig ", "show --client-key k"],
)
def test_files_are_left_to_the_shell(line: str) -> None:
    assert after(line) == Completion({}, Directive.FILES)


@pytest.mark.parametrize(
    "line", ["show --selector ", "show -l a", "show --kube-version ", "show --by-node=", "check x"]
)
def test_what_only_the_user_knows_is_not_guessed(line: str) -> None:
    assert after(line) == Completion({})


@pytest.mark.parametrize("flag", ["--context", "--cluster", "--user"])
def test_names_of_the_kubeconfig_need_no_cluster(api_server: ApiServer, flag: str) -> None:
    assert words(f"show {flag} ") == ["test"]
    assert api_server.seen == []


def test_the_kubeconfig_that_is_given_counts(tmp_path: Path) -> None:
    other = write_kubeconfig(tmp_path / "other", name="other")
    assert words(f"show --kubeconfig {other} --context ") == ["other"]


def test_contexts_are_completed_after_a_comma_where_several_are_read(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "other", name="other")
    config = json.loads(path.read_text())
    config["contexts"] += [{**config["contexts"][0], "name": name} for name in ("prod-a", "prod-b")]
    path.write_text(json.dumps(config))
    assert words(f"audit --kubeconfig {path} --context prod-a,") == ["prod-a,other", "prod-a,prod-b"]
    assert words(f"show --kubeconfig {path} --context prod-a,other,p") == ["prod-a,other,prod-b"]
    assert words(f"why-pending --kubeconfig {path} --context other --context p") == ["prod-a", "prod-b"]
    assert words(f"check --kubeconfig {path} --context prod-a,") == []


def test_types_of_workloads_end_in_a_slash_and_stay_open() -> None:
    completion = after("show d")
    assert list(completion.candidates) == ["deployment/", "daemonset/"]
    assert completion.directive == Directive.NO_FILES | Directive.NO_SPACE


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("why", ["why-pending"]),
        ("nothing", []),
        ("--", ["--version", "--help"]),
        ("show --from a.yaml --fro", ["--from"]),
        ("check -- -", []),
        ("show --bogus --sort-by sk", ["skew"]),
        ("show -n ", ["default", "shipping", "shop"]),
        ("show --namespace=sh", ["shipping", "shop"]),
        ("show -n shop --topology-key ", KEYS),
        ("show -A --topology-key topo", KEYS[1:]),
        ("show --from snapshot.yaml --topology-key=", []),
        ("show -n shop deployment/", ["deployment/api", "deployment/web"]),
        ("show -nshop deploy/w", ["deploy/web"]),
        ("show --namespace=shop deploy ", ["api", "web"]),
        ("show -n shop deploy web ", ["api"]),
        ("show -n shop deploy/web deploy/", ["deploy/api"]),
        ("show -n shop deployments/web deploy/api deploy/", []),
        ("show -n shop sts/web deploy/w", ["deploy/web"]),
        ("show pod/", ["pod/elsewhere"]),
        ("show -n shop -- deploy/w", ["deploy/web"]),
        ("show unheard-of/", []),
        ("show -n shop w", ["web"]),
        ("show -n shop deployment/web ap", ["api"]),
        ("simulate --drain ", ["a1", "b1"]),
        ("simulate --drain a1 --lose ", ["a1", "b1"]),
        ("simulate --drain a1 --drain ", ["b1"]),
        ("simulate --add-node=b", ["b1"]),
        ("simulate -n shop --restart deployment/w", ["deployment/web"]),
        ("simulate -n shop --scale deployment/", ["deployment/api", "deployment/web"]),
        ("show unheard-of ", []),
    ],
)
def test_what_may_come_next(line: str, expected: list[str]) -> None:
    assert words(line) == expected


def test_pods_that_wait_are_named_once(api_server: ApiServer) -> None:
    assert words("why-pending -n shop web-0 ") == ["web-1"]
    assert api_server.seen[0].query["fieldSelector"] == "spec.nodeName=,status.phase=Pending"


@pytest.mark.parametrize("flags", ["--from snapshot.yaml", "-A"])
def test_names_that_make_no_sense_are_not_asked_for(api_server: ApiServer, flags: str) -> None:
    assert words(f"why-pending {flags} ") == []
    assert api_server.seen == []


def test_the_flags_lead_to_the_cluster(api_server: ApiServer) -> None:
    assert words(f"show --as jane --as-group dev --server {api_server.url} -n ") == ["default", "shipping", "shop"]
    assert api_server.seen[0].header("Impersonate-User") == "jane"
    assert api_server.seen[0].header("Impersonate-Group") == "dev"


def test_an_answer_is_what_kubectl_reads() -> None:
    completion = Completion({"a": "first", "b": ""}, Directive.NO_FILES | Directive.NO_SPACE)
    assert str(completion) == "a\tfirst\nb\n:6\n"
