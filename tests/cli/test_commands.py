"""The commands from flags to exit code, against files and against an API server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kubectl_spread.commands.read_sets import WHOLE_CLUSTER_PODS
from kubectl_spread.objects.kinds import KINDS
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, template, workload
from tests.cluster.api_server import ApiServer, Response, Seen, serving, status
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.program import spread as run

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP, CHECKOUT = EXAMPLES / "shop.yaml", EXAMPLES / "checkout.yaml"
CONSTRAINTS = [spread(ZONE, selector=app("web"))]
CLUSTER: Sequence[Object] = [
    node("a1", zone="a"),
    node("b1", zone="b", taints=["dedicated=gpu:NoSchedule"]),
    workload("Deployment", "web", pods=template(*CONSTRAINTS)),
    owned("web-0", "Deployment", "web", on="a1", topologySpreadConstraints=CONSTRAINTS),
    owned("web-1", "Deployment", "web", topologySpreadConstraints=CONSTRAINTS),
    pod("bound", on="a1"),
]
PLURALS = {kind.plural: kind for kind in KINDS}


def answer(seen: Seen, *, pods: int = 0) -> Response:
    """Answer as an API server that holds the cluster; Pods may be said to be more than there are."""
    if seen.path == "/version":
        return Response(body={"gitVersion": "v1.36.2", "major": "1", "minor": "36"})
    kind = PLURALS.get(seen.path.rpartition("/")[2])
    if kind is None:
        name = seen.path.rpartition("/")[2]
        return status(404, "NotFound", f'configmaps "{name}" not found', name=name)
    items = [each for each in CLUSTER if each["kind"] == kind.name]
    metadata: Object = {"resourceVersion": "7"}
    if kind.name == "Pod" and seen.query.get("limit") == "1":
        metadata["remainingItemCount"] = pods
    return Response(body={"metadata": metadata, "items": items})


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Yield a server that holds the cluster."""
    with serving(answer) as running:
        yield running


@pytest.fixture(autouse=True)
def kubeconfig(server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the only kubeconfig lead to the server."""
    path = write_kubeconfig(tmp_path / "config", server=server.url, name="test")
    monkeypatch.setenv("KUBECONFIG", str(path))


def test_show_asks_the_cluster() -> None:
    ended = run("show", "-o", "json")
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.item["workload"] == {"kind": "Deployment", "name": "web"}
    assert ended.item["status"] == "Blocked"
    metadata = ended.report["metadata"]
    assert (metadata["source"], metadata["kubeVersion"], metadata["kubeVersionFrom"]) == ("test", "v1.36.2", "server")
    assert metadata["resourceVersions"]["pods"] == "7"


def test_a_large_cluster_is_read_in_stages(server: ApiServer) -> None:
    server.answer = lambda seen: answer(seen, pods=WHOLE_CLUSTER_PODS)
    ended = run("show")
    assert "deployment/web" in ended.stdout
    assert ended.stderr.endswith("--read=all reads all.\n")
    for whole in ("--full", "--read=all"):
        ended = run("show", whole)
        assert (ended.code, ended.stderr) == (0, "")


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--exit-code",), 1), (("--exit-code", "-l", "app=none"), 0)])
def test_show_fails_only_when_it_is_asked_to(flags: tuple[str, ...], code: int) -> None:
    assert run("show", *flags).code == code


def test_why_pending_asks_the_cluster() -> None:
    ended = run("why-pending", "-o", "json")
    assert (ended.code, ended.stderr) == (1, "")
    assert (ended.item["name"], ended.item["verdict"]) == ("web-1", "Unschedulable")
    assert ended.item["fixes"]


def test_why_pending_says_which_named_pods_do_not_wait() -> None:
    ended = run("why-pending", "bound", "web-1", "-o", "name")
    assert (ended.code, ended.stdout) == (1, "pod/web-1\n")
    assert ended.stderr == "default/bound is not Pending: it is on a1.\n"
    alone = run("why-pending", "bound")
    assert (alone.code, alone.stdout, alone.stderr) == (0, "", ended.stderr)


@pytest.mark.parametrize("words", [("why-pending",), ("show",)], ids=lambda words: words[0])
def test_a_cluster_that_is_not_the_current_one_is_named_and_reached(words: tuple[str, ...], tmp_path: Path) -> None:
    server = json.loads((tmp_path / "config").read_bytes())["clusters"][0]["cluster"]["server"]
    other = write_kubeconfig(tmp_path / "other", server=server, name="prod", current=False)
    reach = ("--kubeconfig", str(other), "--context", "prod", "--token", "hidden")
    ended = run(*words, *reach)
    assert ended.stdout.startswith(
        f"Read from context prod, cluster prod, {server}, which is not the current context.\n\n"
    )
    commands = [line for line in ended.stdout.splitlines() if "kubectl " in line and line.startswith(" ")]
    assert all(f"--kubeconfig {other} --context prod" in line for line in commands)
    assert (not commands) == (words == ("show",))
    assert ("Add --token to each kubectl command: secrets are not printed." in ended.stdout) == bool(commands)
    assert "hidden" not in ended.stdout
    assert f"prod, {server}, which is not the current context" in run(*words, *reach, "-o", "markdown").stdout
    assert "not the current context" in run(*words, *reach, "-o", "html").stdout
    access = run(*words, *reach, "-o", "json").report["metadata"]["access"]
    assert (access["context"], access["cluster"], access["current"]) == ("prod", "prod", False)
    assert (access["flags"], access["secretFlags"]) == ([*reach[:4]], ["--token"])


def test_the_current_cluster_needs_no_name() -> None:
    ended = run("why-pending")
    assert "Read from" not in ended.stdout
    assert run("why-pending", "-o", "json").report["metadata"]["access"]["current"] is True


def test_check_asks_the_cluster(tmp_path: Path) -> None:
    manifest = tmp_path / "web.yaml"
    manifest.write_text(
        CHECKOUT.read_text(encoding="utf-8").replace("namespace: shop", "namespace: default"), encoding="utf-8"
    )
    ended = run("check", "-f", manifest, "-o", "json")
    assert (ended.code, ended.stderr) == (0, "")
    assert {placement["node"] for placement in ended.item["placements"]} == {"a1"}


def test_only_get_and_list_are_asked_for(server: ApiServer) -> None:
    for words in (("show",), ("why-pending",), ("check", "-f", str(CHECKOUT), "-n", "shop")):
        run(*words)
    assert {seen.method for seen in server.seen} == {"GET"}


@pytest.mark.parametrize("words", [("show",), ("why-pending",), ("check", "-f", str(CHECKOUT))])
def test_a_server_that_fails_is_no_answer(words: tuple[str, ...], server: ApiServer) -> None:
    server.answer = lambda _: Response(status=403, body={"kind": "Status", "reason": "Forbidden", "message": "no"})
    ended = run(*words)
    assert (ended.code, ended.stdout) == (3, "")
    assert ended.stderr.startswith("error: ")
