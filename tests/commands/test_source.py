"""Where a cluster is read from: files, or an API server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_spread.cluster.access.client_config import connect
from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands.source import ClusterSource, FileSource
from kubectl_spread.errors import ManifestError
from kubectl_spread.objects.kinds import NODE, POD
from tests.cluster.api_server import ApiServer, Response, Seen, serving
from tests.cluster.kubeconfigs import write_kubeconfig

NODES = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"


def answer(seen: Seen) -> Response:
    """Answer as a small API server would."""
    if seen.path == "/version":
        return Response(body={"gitVersion": "v1.36.2", "major": "1", "minor": "36"})
    names = {"/api/v1/nodes": ["n1"], "/api/v1/pods": ["a", "b"]}.get(seen.path, [])
    items = [{"metadata": {"name": name, "namespace": "default"}} for name in names]
    return Response(body={"metadata": {"resourceVersion": "7", "remainingItemCount": 40}, "items": items})


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(answer) as running:
        yield running


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> Iterator[ClusterSource]:
    """Yield the cluster that a kubeconfig leads to."""
    path = write_kubeconfig(tmp_path / "config", server=server.url, name="test", namespace="shop")
    connection = connect(ConnectionOptions(kubeconfig=str(path)))
    yield ClusterSource(connection, progress=None)
    connection.pool.clear()


def test_files_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(NODES, encoding="utf-8")
    source = FileSource([str(path)], stdin=None)
    assert [each.metadata.name for each in source.read([Read(POD)]).objects["Node"]] == ["n1"]
    assert (source.namespace, source.server, source.name) == ("default", "", str(path))
    assert (source.version(), source.count_pods()) == ("", 0)


def test_standard_input_is_a_file_too() -> None:
    source = FileSource(["-"], stdin=io.BytesIO(NODES.encode()))
    assert [each.metadata.name for each in source.read([]).objects["Node"]] == ["n1"]
    with pytest.raises(ManifestError, match="standard input: is closed"):
        FileSource(["-"], stdin=None).read([])


def test_several_files_are_one_cluster() -> None:
    assert FileSource(["a.yaml", "b/"], stdin=None).name == "a.yaml, b/"


def test_a_cluster_is_asked_for_what_is_wanted(cluster: ClusterSource, server: ApiServer) -> None:
    inventory = cluster.read([Read(NODE), Read(POD)])
    assert {kind: [each.metadata.name for each in found] for kind, found in inventory.objects.items()} == {
        "Node": ["n1"],
        "Pod": ["a", "b"],
    }
    assert inventory.resource_versions == {"nodes": "7", "pods": "7"}
    assert {seen.path for seen in server.seen} == {"/api/v1/nodes", "/api/v1/pods"}


def test_what_is_read_later_is_of_the_same_moment(cluster: ClusterSource, server: ApiServer) -> None:
    cluster.read([Read(NODE)])
    cluster.read([Read(POD)])
    assert [seen.query.get("resourceVersion") for seen in server.seen] == [None, "7"]


def test_a_cluster_says_what_it_is(cluster: ClusterSource, server: ApiServer) -> None:
    assert (cluster.namespace, cluster.server, cluster.name) == ("shop", server.url, "test")
    assert (cluster.version(), cluster.count_pods()) == ("v1.36.2", 42)
