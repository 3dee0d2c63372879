"""Names for completion: what is asked of the server, and that nothing but names ever comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.cluster.api.completion import UNSCHEDULED, cluster_names, configured_names
from kubectl_spread.objects.kinds import DEPLOYMENT, NAMESPACE, POD
from tests.cluster.api_server import ApiServer, Response, in_turn, status
from tests.cluster.kubeconfigs import write_kubeconfig


def listing(*names: str) -> Response:
    """Return a list of objects that have names and nothing else."""
    return Response(body={"metadata": {}, "items": [{"metadata": {"name": name}} for name in names]})


@pytest.fixture
def options(server: ApiServer) -> ConnectionOptions:
    """Return flags that lead to the server."""
    return ConnectionOptions(server=server.url, namespace="shop")


def test_names_are_sorted(server: ApiServer, options: ConnectionOptions) -> None:
    server.answer = in_turn(listing("web", "api"))
    assert cluster_names(options, DEPLOYMENT) == ("api", "web")
    assert server.seen[0].path == "/apis/apps/v1/namespaces/shop/deployments"


def test_only_metadata_is_asked_for_and_not_without_end(server: ApiServer, options: ConnectionOptions) -> None:
    cluster_names(options, DEPLOYMENT)
    assert server.seen[0].header("Accept").startswith("application/json;as=PartialObjectMetadataList;")
    assert server.seen[0].query == {"limit": "500", "resourceVersion": "0"}


def test_namespaces_are_listed_whatever_the_namespace(server: ApiServer, options: ConnectionOptions) -> None:
    server.answer = in_turn(listing("default", "shop"))
    assert cluster_names(options, NAMESPACE) == ("default", "shop")
    assert server.seen[0].path == "/api/v1/namespaces"


def test_the_server_picks_pods_that_wait_for_a_node(server: ApiServer, options: ConnectionOptions) -> None:
    server.answer = in_turn(listing("web-0"))
    assert cluster_names(options, POD, field_selector=UNSCHEDULED) == ("web-0",)
    assert server.seen[0].query["fieldSelector"] == "spec.nodeName=,status.phase=Pending"


def test_the_namespace_is_the_contexts_unless_given(server: ApiServer, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "config", server=server.url, namespace="billing")
    cluster_names(ConnectionOptions(kubeconfig=str(path)), POD)
    assert server.seen[0].path == "/api/v1/namespaces/billing/pods"


@pytest.mark.parametrize(
    "response",
    [status(403, "Forbidden"), status(500, "InternalError"), Response(body=b"<html>"), Response(body={}, sent_bytes=1)],
    ids=["forbidden", "broken", "no JSON", "cut short"],
)
def test_a_server_that_does_not_answer_has_no_names(
    server: ApiServer, options: ConnectionOptions, response: Response
) -> None:
    server.answer = in_turn(response)
    assert cluster_names(options, POD) == ()
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "options", [ConnectionOptions(), ConnectionOptions(server="http://127.0.0.1:1", request_timeout="soon")]
)
def test_without_a_way_to_a_cluster_there_are_no_names(options: ConnectionOptions) -> None:
    assert cluster_names(options, POD) == ()


def test_a_slow_server_is_given_up_after_a_second(server: ApiServer, options: ConnectionOptions) -> None:
    server.answer = in_turn(Response(body={}, delay_seconds=3))
    started = time.monotonic()
    assert cluster_names(options, POD) == ()
    assert time.monotonic() - started < 2


def test_a_slow_credential_plugin_is_given_up_after_a_second(tmp_path: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sleep", "args": ["3"]}
    user: Mapping[str, object] = {"exec": {**plugin, "interactiveMode": "Never"}}
    path = write_kubeconfig(tmp_path / "config", user=user)
    started = time.monotonic()
    assert cluster_names(ConnectionOptions(kubeconfig=str(path)), POD) == ()
    assert time.monotonic() - started < 2


def test_names_of_the_kubeconfig_are_those_of_all_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write_kubeconfig(tmp_path / name, name=name) for name in ("west", "east")]
    monkeypatch.setenv("KUBECONFIG", ":".join(map(str, paths)))
    assert configured_names("contexts") == ("east", "west")
    assert configured_names("users", path=str(paths[0])) == ("west",)


@pytest.mark.parametrize("text", ["{", "contexts: 7"])
def test_a_broken_kubeconfig_has_no_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")
    assert configured_names("contexts", path=str(path)) == ()


def test_a_missing_kubeconfig_has_no_names(tmp_path: Path) -> None:
    assert configured_names("clusters", path=str(tmp_path / "none")) == ()
