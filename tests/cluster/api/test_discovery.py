"""Which kinds a server serves: what is asked, and what the answers mean."""

from __future__ import annotations

import pytest

from kubectl_spread.cluster.api.discovery import Discovered, Resource, discover
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.errors import ClusterError
from tests.cluster.api_server import ApiServer, Response, in_turn, status

NOT_FOUND = status(404, "NotFound", "the server could not find the requested resource")
CLUSTERS = {"name": "rayclusters", "kind": "RayCluster", "namespaced": True}


def test_one_request_where_the_version_is_served(server: ApiServer, connection: Connection) -> None:
    subresource = {"name": "rayclusters/scale", "kind": "Scale", "namespaced": True}
    server.answer = in_turn(Response(body={"resources": [CLUSTERS, subresource]}))
    found = discover(connection, "ray.io/v1")
    assert found == Discovered({"RayCluster": Resource(name="rayclusters", kind="RayCluster", namespaced=True)})
    assert [seen.path for seen in server.seen] == ["/apis/ray.io/v1"]


def test_another_version_is_served(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(NOT_FOUND, Response(body={"versions": [{"groupVersion": "ray.io/v1"}]}))
    assert discover(connection, "ray.io/v2") == Discovered(versions=("ray.io/v1",))
    assert [seen.path for seen in server.seen] == ["/apis/ray.io/v2", "/apis/ray.io"]


def test_the_group_is_not_served(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(NOT_FOUND, NOT_FOUND)
    assert discover(connection, "ray.io/v1") == Discovered()


@pytest.mark.parametrize("api_version", ["a/b/c", "../v1", "x/..", "a b/v1", "/v1", "x/v1?y", "Ä/v1", "x"])
def test_no_server_serves_such_a_version_and_none_is_asked(
    api_version: str, server: ApiServer, connection: Connection
) -> None:
    assert discover(connection, api_version) == Discovered()
    assert not server.seen


@pytest.mark.parametrize("code", [401, 403])
def test_discovery_may_not_be_read(code: int, server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(code, "Forbidden", "no"))
    assert discover(connection, "ray.io/v1") is None


def test_an_answer_that_makes_no_sense(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body={"resources": 7}))
    with pytest.raises(ClusterError, match=r"cannot get the kinds of ray.io/v1: the server's answer is not valid"):
        discover(connection, "ray.io/v1")
