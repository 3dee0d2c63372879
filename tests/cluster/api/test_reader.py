"""Lists, pages, objects: what is asked for, and what comes of it."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kubectl_spread.cluster.api.reader import NODES_AT_ONCE, TIMES_BEGUN, count, list_metadata, read, server_version
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import Status
from kubectl_spread.cluster.reads import Read
from kubectl_spread.errors import ClusterError, UsageError
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DEPLOYMENT, DEVICE_CLASS, EVENT, JOB, NODE, POD, Kind
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.snapshot import Unread
from tests.cluster.api_server import ApiServer, Response, Seen, in_turn, status
from tests.protobuf_writing import document, list_of, message


def listing(*names: str, namespace: str = "shop", version: str = "7", **metadata: object) -> Response:
    items = [{"metadata": {"name": name, "namespace": namespace}} for name in names]
    metadata["resourceVersion"] = version
    return Response(body={"metadata": metadata, "items": items})


def names_of(found: object) -> list[str]:
    return [held.metadata.name for held in found]  # type: ignore[attr-defined] # any sequence of objects


def test_a_list_is_asked_for_at_the_newest_version_in_pages(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a"))
    read(connection, [Read(POD)])
    assert server.seen[0].path == "/api/v1/pods"
    assert server.seen[0].query == {"limit": "500"}


def test_what_was_read_is_not_gone_through_for_garbage(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a", "b"))
    before = gc.get_freeze_count()
    read(connection, [Read(POD)])
    assert gc.get_freeze_count() > before
    assert gc.isenabled()


def test_a_list_that_is_read_beside_an_answer_leaves_garbage_alone(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a", "b"))
    before = gc.get_freeze_count()
    beside = threading.Thread(target=read, args=(connection, [Read(POD)]))
    beside.start()
    beside.join()
    assert len(server.seen) == 1
    assert gc.get_freeze_count() == before


def test_selectors_are_sent(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing())
    read(connection, [Read(POD, "shop", label_selector="app in (a,b)", field_selector="spec.nodeName=n&1")])
    assert server.seen[0].path == "/api/v1/namespaces/shop/pods"
    assert server.seen[0].query["labelSelector"] == "app in (a,b)"
    assert server.seen[0].query["fieldSelector"] == "spec.nodeName=n&1"


def test_pages_are_joined_in_order(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a", "b", **{"continue": "t+/="}), listing("c", **{"continue": "u"}), listing("d"))
    inventory = read(connection, [Read(POD)])
    assert names_of(inventory.objects["Pod"]) == ["a", "b", "c", "d"]
    assert [seen.query.get("continue") for seen in server.seen] == [None, "t+/=", "u"]
    assert inventory.resource_versions == {"pods": "7"}
    assert inventory.unread == ()


def test_the_next_page_is_asked_for_before_one_is_decoded(server: ApiServer, connection: Connection) -> None:
    asked = threading.Event()

    def answer(seen: Seen) -> Response:
        if "continue" not in seen.query:
            return Response(body={"metadata": {"continue": "t"}, "items": [{"metadata": {"name": 5}}]})
        asked.set()
        return listing("b")

    server.answer = answer
    with pytest.raises(ClusterError, match=r"is not valid: items\[0\]\.metadata\.name: must be a string"):
        read(connection, [Read(POD)])
    assert asked.wait(5)


def test_lists_are_read_side_by_side(server: ApiServer, connection: Connection) -> None:
    together = threading.Barrier(3, timeout=5)

    def answer(seen: Seen) -> Response:
        if seen.path != "/api/v1/nodes":
            together.wait()
        return listing("x")

    server.answer = answer
    inventory = read(connection, [Read(NODE), Read(POD), Read(DEPLOYMENT), Read(JOB)])
    assert set(inventory.objects) == {"Node", "Pod", "Deployment", "Job"}


def pins(server: ApiServer) -> dict[str, str]:
    """Return path → the version that was asked for at last; every one is asked for exactly."""
    assert all(("resourceVersion" in seen.query) == ("resourceVersionMatch" in seen.query) for seen in server.seen)
    assert {seen.query.get("resourceVersionMatch") for seen in server.seen} <= {None, "Exact"}
    return {seen.path: seen.query.get("resourceVersion", "") for seen in server.seen}


JOBS = "/apis/batch/v1/namespaces/shop/jobs"


class Busy:
    """A cluster that changes with every list: each is of the next version, unless it is asked for one.

    Args:
        first: the version of the first list.
        oldest: the least version that may be asked for.
    """

    def __init__(self, first: int = 7, oldest: int = 0) -> None:
        self._versions = iter(range(first, 1000))
        self.oldest = oldest

    def __call__(self, seen: Seen) -> Response:
        """Return a list of one object."""
        asked = seen.query.get("resourceVersion")
        if asked and int(asked) < self.oldest:
            return status(410, "Expired", f"too old resource version: {asked}")
        return listing("a", version=asked or str(next(self._versions)))


def test_all_lists_are_of_the_version_of_the_first(server: ApiServer, connection: Connection) -> None:
    server.answer = Busy()
    inventory = read(connection, [Read(NODE), Read(POD), Read(JOB, "shop")])
    assert inventory.resource_versions == {"nodes": "7", "pods": "7", "jobs": "7"}
    assert not inventory.apart
    assert pins(server) == {"/api/v1/nodes": "", "/api/v1/pods": "7", JOBS: "7"}


def test_a_version_that_is_known_is_waited_for_by_none(server: ApiServer, connection: Connection) -> None:
    together = threading.Barrier(2, timeout=5)

    def answer(seen: Seen) -> Response:
        together.wait()
        return Busy()(seen)

    server.answer = answer
    assert read(connection, [Read(NODE), Read(POD)], resource_version="5").resource_versions == {
        "nodes": "5",
        "pods": "5",
    }


def test_the_other_lists_begin_when_the_first_page_has_come(server: ApiServer, connection: Connection) -> None:
    asked = threading.Event()

    def answer(seen: Seen) -> Response:
        if seen.path == "/api/v1/pods":
            asked.set()
        elif "continue" in seen.query:
            assert asked.wait(5)
        else:
            return listing("n1", **{"continue": "t"})
        return listing("a")

    server.answer = answer
    assert read(connection, [Read(NODE), Read(POD)]).resource_versions == {"nodes": "7", "pods": "7"}


def test_further_pages_are_of_the_version_of_the_first_by_their_token(
    server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(listing("a", **{"continue": "t"}), listing("b"))
    read(connection, [Read(POD)], resource_version="7")
    assert [seen.query for seen in server.seen] == [
        {"limit": "500", "resourceVersion": "7", "resourceVersionMatch": "Exact"},
        {"limit": "500", "continue": "t"},
    ]


def test_events_are_of_a_time_of_their_own(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: listing("a", version="9000" if seen.path == "/api/v1/events" else "7")
    inventory = read(connection, [Read(EVENT), Read(NODE), Read(POD)])
    assert pins(server) == {"/api/v1/events": "", "/api/v1/nodes": "", "/api/v1/pods": "7"}
    assert inventory.resource_versions == {"events": "9000", "nodes": "7", "pods": "7"}
    assert not inventory.apart


def test_the_namespace_that_is_left_is_of_the_same_version(server: ApiServer, connection: Connection) -> None:
    listed, pods = Busy(), only_in("shop")
    server.answer = lambda seen: listed(seen) if pods(seen).status == 200 or "nodes" in seen.path else pods(seen)
    inventory = read(connection, [Read(NODE), Read(POD, fallback="shop")])
    assert inventory.resource_versions == {"nodes": "7", "pods": "7"}


def test_a_version_that_expires_is_given_up_for_a_newer_one(server: ApiServer, connection: Connection) -> None:
    server.answer = Busy(first=7, oldest=7)
    inventory = read(connection, [Read(NODE), Read(POD)], resource_version="5")
    assert inventory.resource_versions == {"nodes": "7", "pods": "7"}


def test_versions_that_keep_expiring_are_given_up(server: ApiServer, connection: Connection) -> None:
    server.answer = Busy(first=7, oldest=1000)
    inventory = read(connection, [Read(NODE), Read(POD)])
    assert {kind: names_of(found) for kind, found in inventory.objects.items()} == {"Node": ["a"], "Pod": ["a"]}
    assert inventory.apart
    nodes = [seen.query for seen in server.seen if seen.path == "/api/v1/nodes"]
    assert nodes == [{"limit": "500"}] * TIMES_BEGUN


TOO_NEW = {
    "1.36": Response(
        status=504,
        body={
            "kind": "Status",
            "reason": "Timeout",
            "message": "Timeout: Too large resource version: 7, current: 3",
            "details": {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]},
        },
        headers={"Retry-After": "1"},
    ),
    "1.33": status(500, "", "etcdserver: mvcc: required revision is a future revision"),
}


@pytest.mark.parametrize("refusal", TOO_NEW.values(), ids=TOO_NEW)
def test_a_kind_whose_versions_count_apart_is_read_all_the_same(
    refusal: Response, server: ApiServer, connection: Connection
) -> None:
    server.answer = lambda seen: refusal if "resourceVersion" in seen.query else Busy()(seen)
    began = time.monotonic()
    assert set(read(connection, [Read(NODE), Read(POD)]).objects) == {"Node", "Pod"}
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("code", [400, 422])
def test_a_server_that_takes_no_version_is_asked_for_none(code: int, server: ApiServer, connection: Connection) -> None:
    busy = Busy()
    server.answer = lambda seen: status(code, "BadRequest") if "resourceVersion" in seen.query else busy(seen)
    inventory = read(connection, [Read(NODE), Read(POD)])
    assert inventory.resource_versions == {"nodes": "7", "pods": "8"}
    assert [seen.path for seen in server.seen] == ["/api/v1/nodes", "/api/v1/pods", "/api/v1/pods"]


def test_a_server_that_does_not_heed_the_version_is_found_out(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: listing("a", version="7" if seen.path == "/api/v1/nodes" else "9")
    inventory = read(connection, [Read(NODE), Read(POD)])
    assert (inventory.resource_versions, inventory.apart) == ({"nodes": "7", "pods": "9"}, True)


def test_a_server_without_versions_is_asked_for_none(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda _: listing("a", version="")
    assert read(connection, [Read(NODE), Read(POD)]).resource_versions == {}
    assert pins(server) == {"/api/v1/nodes": "", "/api/v1/pods": ""}


def test_a_first_list_that_may_stay_unread_keeps_none_waiting(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: status(403, "Forbidden") if seen.path == JOBS else listing("a")
    inventory = read(connection, [Read(JOB, "shop", required=False), Read(NODE)])
    assert inventory.resource_versions == {"nodes": "7"}


def test_two_lists_of_a_kind_may_be_of_two_versions(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: listing("a", version=seen.query["labelSelector"])
    inventory = read(connection, [Read(POD, label_selector="7"), Read(POD, label_selector="8")])
    assert (inventory.resource_versions, inventory.apart) == ({"pods": "7 and 8"}, True)


class OnNodes:
    """A server that lists the Pods of single nodes, each at a newer version.

    Args:
        *before: what it answers first, whatever it is asked for.
    """

    def __init__(self, *before: Response) -> None:
        self._before = list(before)
        self._versions = iter(range(8, 1000))
        self._lock = threading.Lock()
        self.most_at_once = 0
        self._at_once = 0

    def __call__(self, seen: Seen) -> Response:
        """Return one Pod, named for the node."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            before, version = self._before.pop(0) if self._before else None, str(next(self._versions))
        time.sleep(0.01)
        with self._lock:
            self._at_once -= 1
        name = seen.query["fieldSelector"].removeprefix("spec.nodeName=")
        return before or listing(f"on-{name}", version=version)


def test_the_pods_of_single_nodes_may_be_newer(server: ApiServer, connection: Connection) -> None:
    server.answer = asked = OnNodes()
    nodes = tuple(f"n{number}" for number in range(40))
    inventory = read(connection, [Read(POD, on_nodes=nodes)], resource_version="7")
    assert sorted(names_of(inventory.objects["Pod"])) == sorted(f"on-{name}" for name in nodes)
    assert (inventory.resource_versions, inventory.apart) == ({"pods": "47"}, False)
    wanted = {"resourceVersion": "7", "resourceVersionMatch": "NotOlderThan"}
    assert all(seen.query == wanted | {"fieldSelector": seen.query["fieldSelector"]} for seen in server.seen)
    assert 1 < asked.most_at_once <= NODES_AT_ONCE


@pytest.mark.parametrize(
    ("refusal", "versions"),
    [(replace(TOO_NEW["1.36"], headers={}), ["7", "7"]), (status(410, "Expired"), ["7", None])],
    ids=["behind", "expired"],
)
def test_a_server_that_is_not_at_the_version_is_asked_again_for_a_node(
    refusal: Response, versions: list[str | None], server: ApiServer, connection: Connection
) -> None:
    server.answer = OnNodes(refusal)
    inventory = read(connection, [Read(POD, on_nodes=("n1",))], resource_version="7")
    assert names_of(inventory.objects["Pod"]) == ["on-n1"]
    assert [seen.query.get("resourceVersion") for seen in server.seen] == versions


def test_after_a_refusal_no_further_node_is_asked_for(server: ApiServer, connection: Connection) -> None:
    server.answer = OnNodes(*[status(403, "Forbidden")] * NODES_AT_ONCE)
    with pytest.raises(ClusterError, match="not allowed to list pods in all namespaces"):
        read(connection, [Read(POD, on_nodes=tuple(f"n{number}" for number in range(100)))], resource_version="7")
    assert len(server.seen) < 3 * NODES_AT_ONCE


def long_list(seen: Seen, *, begun: Response, further: Response) -> Response:
    """Answer for a list of which 600 Pods are left after the first page."""
    return further if "continue" in seen.query else begun


BEGUN = listing("a", remainingItemCount=600, **{"continue": "t"})
PROTOBUF = "application/vnd.kubernetes.protobuf"


def protobuf(body: bytes, code: int = 200) -> Response:
    """Return an answer in Protocol Buffers."""
    return Response(body=body, status=code, content_type=PROTOBUF)


def page_of(*names: str, **metadata: object) -> bytes:
    """Return a page of a list in Protocol Buffers."""
    pods = [Pod(metadata=ObjectMeta(name=name, namespace="shop")) for name in names]
    return list_of(pods, resourceVersion="7", **metadata)


def test_the_rest_of_a_long_list_comes_in_protocol_buffers(server: ApiServer, connection: Connection) -> None:
    last = protobuf(page_of("d"))
    server.answer = in_turn(BEGUN, protobuf(page_of("b", "c", remainingItemCount=1, **{"continue": "u"})), last)
    inventory = read(connection, [Read(POD)])
    assert names_of(inventory.objects["Pod"]) == ["a", "b", "c", "d"]
    assert inventory.resource_versions == {"pods": "7"}
    accepted = [seen.header("Accept") for seen in server.seen]
    assert accepted == ["application/json", *[f"{PROTOBUF},application/json"] * 2]


@pytest.mark.parametrize(("kind", "left"), [(POD, 499), (DEPLOYMENT, 50_000)])
def test_other_lists_stay_json(kind: Kind, left: int, server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a", remainingItemCount=left, **{"continue": "t"}), listing("b"))
    read(connection, [Read(kind)])
    assert [seen.header("Accept") for seen in server.seen] == ["application/json"] * 2


def test_a_server_that_has_only_json_is_understood(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: long_list(seen, begun=BEGUN, further=listing("b"))
    assert names_of(read(connection, [Read(POD)]).objects["Pod"]) == ["a", "b"]


def test_a_page_that_is_cut_short_is_asked_for_again(server: ApiServer, connection: Connection) -> None:
    whole = page_of("b")
    server.answer = in_turn(BEGUN, protobuf(whole[:-3]), protobuf(whole))
    assert names_of(read(connection, [Read(POD)]).objects["Pod"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("further", "why"),
    [
        (page_of("b")[:-3], "cut short or malformed: not valid Protocol Buffers: cut short"),
        (b'{"items": []}', "cut short or malformed: not valid Protocol Buffers of Kubernetes"),
        (page_of("b").replace(b"PodList", b"PadList"), "the server answered with a PadList, not a PodList"),
        (document("PodList", b"\x12\x02\x0b\x0c"), "is not valid: not valid Protocol Buffers: there is no wire type 3"),
    ],
)
def test_what_is_no_page_in_protocol_buffers_is_one_line(
    further: bytes, why: str, server: ApiServer, connection: Connection
) -> None:
    server.answer = lambda seen: long_list(seen, begun=BEGUN, further=protobuf(further))
    with pytest.raises(ClusterError, match=why) as refused:
        read(connection, [Read(POD)])
    assert "\n" not in str(refused.value)


def test_protocol_buffers_that_nobody_asked_for_are_refused(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda _: protobuf(page_of("a"))
    with pytest.raises(ClusterError, match=f"the server answered with {PROTOBUF}, not JSON"):
        read(connection, [Read(POD)])


def test_a_refusal_in_protocol_buffers_is_understood(server: ApiServer, connection: Connection) -> None:
    said = Status(message="pods is forbidden: it is late", reason="Forbidden")
    refusal = protobuf(document("Status", message(said, "Status")), 403)
    server.answer = lambda seen: long_list(seen, begun=BEGUN, further=refusal)
    with pytest.raises(ClusterError, match=r"not allowed to list pods .*\(Forbidden\): pods is forbidden: it is late"):
        read(connection, [Read(POD)])


@pytest.mark.parametrize("body", [b"k8s\x00", b"k8s\x00\xff", b"k8s\x00\x0b"])
def test_a_refusal_that_makes_no_sense_says_its_status(body: bytes, server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: long_list(seen, begun=BEGUN, further=protobuf(body, 400))
    with pytest.raises(ClusterError, match=r"the server answered 400$"):
        read(connection, [Read(POD)])


def test_a_long_list_that_expires_half_way_is_begun_again(server: ApiServer, connection: Connection) -> None:
    expired = protobuf(document("Status", message(Status(message="too old", reason="Expired"), "Status")), 410)
    server.answer = in_turn(BEGUN, expired, BEGUN, protobuf(page_of("b")))
    assert names_of(read(connection, [Read(POD)]).objects["Pod"]) == ["a", "b"]


def test_several_reads_of_a_kind_are_put_together(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: listing("a", "b") if seen.query["labelSelector"] == "x" else listing("b", "c")
    inventory = read(connection, [Read(POD, label_selector="x"), Read(POD, label_selector="y")])
    assert names_of(inventory.objects["Pod"]) == ["a", "b", "c"]


def test_what_is_read_of_some_namespaces_is_said_to_be(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda _: listing("a")
    of_two = [Read(DEPLOYMENT, "shop"), Read(DEPLOYMENT, "bank"), Read(JOB, "shop"), Read(JOB), Read(NODE)]
    inventory = read(connection, of_two)
    assert inventory.within == {"Deployment": {"shop", "bank"}}
    assert [inventory.has_in(DEPLOYMENT, name) for name in ("shop", "other")] == [True, False]
    assert inventory.has_in(JOB, "other")


def test_one_object_says_nothing_of_others(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a"))
    assert not read(connection, [Read(DEPLOYMENT, "shop", "web")]).has_in(DEPLOYMENT, "shop")


def test_nulls_where_lists_and_maps_are_meant_count_as_absent(server: ApiServer, connection: Connection) -> None:
    item = {"metadata": {"name": "a", "labels": None}, "spec": {"tolerations": None}}
    server.answer = in_turn(Response(body={"metadata": {}, "items": [item]}), Response(body={"items": None}))
    assert names_of(read(connection, [Read(POD)]).objects["Pod"]) == ["a"]
    assert read(connection, [Read(POD)]).objects["Pod"] == ()


def test_nothing_to_read_is_nothing_read(connection: Connection) -> None:
    assert read(connection, []).objects == {}


def test_one_object_is_got_by_name(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body={"metadata": {"name": "web", "namespace": "shop", "resourceVersion": "9"}}))
    inventory = read(connection, [Read(DEPLOYMENT, "shop", "web")])
    assert server.seen[0].path == "/apis/apps/v1/namespaces/shop/deployments/web"
    assert server.seen[0].query == {}
    assert names_of(inventory.objects["Deployment"]) == ["web"]
    assert inventory.resource_versions == {}


def test_one_object_is_of_no_version_that_lists_share(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a", version="9"))
    read(connection, [Read(DEPLOYMENT, "shop", "web"), Read(NODE)])
    assert set(pins(server).values()) == {""}


def test_an_object_that_does_not_exist_is_absent(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(404, "NotFound", 'deployments.apps "web" not found', name="web"))
    inventory = read(connection, [Read(DEPLOYMENT, "shop", "web")])
    assert inventory.objects == {"Deployment": ()}
    assert inventory.unread == ()
    assert inventory.resource_versions == {}


def test_an_object_of_a_kind_that_is_not_served_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(status=404, body=b"404 page not found\n", content_type="text/plain"))
    with pytest.raises(ClusterError, match=r'cannot get job "x" in namespace "shop": .*404: 404 page not found'):
        read(connection, [Read(JOB, "shop", "x")])


@pytest.mark.parametrize("name", [".", "..", "a/b", "a%2fb"])
def test_a_name_cannot_lead_to_another_path(name: str, server: ApiServer, connection: Connection) -> None:
    with pytest.raises(UsageError, match="invalid namespace"):
        read(connection, [Read(POD, name)])
    with pytest.raises(UsageError, match="invalid resource name"):
        read(connection, [Read(POD, "shop", name)])
    assert server.seen == []


def test_what_stands_in_a_name_is_quoted(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing())
    read(connection, [Read(POD, "sh op?x")])
    assert server.seen[0].path == "/api/v1/namespaces/sh%20op%3Fx/pods"


@pytest.mark.parametrize(
    ("code", "why"), [(401, "unauthorized"), (403, "forbidden"), (404, "not served by this API server")]
)
def test_what_is_not_required_may_stay_unread(code: int, why: str, server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: listing("n") if seen.path == "/api/v1/nodes" else status(code, "No")
    inventory = read(connection, [Read(NODE), Read(JOB, "shop", required=False)])
    assert inventory.unread == (Unread(JOB, why, "shop"),)
    assert set(inventory.objects) == {"Node"}


def test_what_is_required_and_forbidden_is_an_error_that_names_the_permission(
    server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(status(403, "Forbidden", 'deployments.apps is forbidden: User "u" cannot list'))
    with pytest.raises(ClusterError) as caught:
        read(connection, [Read(DEPLOYMENT, "shop")])
    assert caught.value.message == (
        'not allowed to list deployments in namespace "shop" (Forbidden): '
        'deployments.apps is forbidden: User "u" cannot list'
    )
    assert caught.value.what == 'list deployments in namespace "shop"'
    assert caught.value.status == 403
    assert caught.value.hint == (
        'needs a Role in namespace "shop" with the rule {apiGroups: [apps], resources: [deployments], verbs: [list]}'
    )


@pytest.mark.parametrize(
    ("wanted", "what", "needs"),
    [
        (Read(POD), "list pods in all namespaces", ("ClusterRole", "pods", "list")),
        (Read(NODE), "list nodes", ("ClusterRole", "nodes", "list")),
        (Read(NODE, "shop"), "list nodes", ("ClusterRole", "nodes", "list")),
        (
            Read(POD, "shop", "web-0"),
            'get pod "web-0" in namespace "shop"',
            ('Role in namespace "shop"', "pods", "get"),
        ),
        (Read(NODE, name="n1"), 'get node "n1"', ("ClusterRole", "nodes", "get")),
    ],
)
def test_a_refusal_says_what_was_asked_for(
    *, wanted: Read, what: str, needs: tuple[str, str, str], server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(status(403, "Forbidden"))
    with pytest.raises(ClusterError) as caught:
        read(connection, [wanted])
    assert caught.value.message == f"not allowed to {what} (Forbidden)"
    role, resource, verb = needs
    rule = f'{{apiGroups: [""], resources: [{resource}], verbs: [{verb}]}}'
    assert caught.value.hint == f"needs a {role} with the rule {rule}"


def only_in(namespace: str, *forbidden: str) -> Callable[[Seen], Response]:
    """Return a server that lists Pods of the namespace alone, and of those called forbidden not even that."""

    def answer(seen: Seen) -> Response:
        if namespace in forbidden or seen.path != f"/api/v1/namespaces/{namespace}/pods":
            return status(403, "Forbidden", f"not {seen.path}")
        return listing("a", namespace=namespace)

    return answer


def test_who_may_not_list_all_namespaces_falls_back_on_one(server: ApiServer, connection: Connection) -> None:
    server.answer = only_in("shop")
    inventory = read(connection, [Read(POD, fallback="shop")])
    assert names_of(inventory.objects["Pod"]) == ["a"]
    assert inventory.unread == (Unread(POD, "forbidden"),)
    assert inventory.resource_versions == {"pods": "7"}
    assert not inventory.has(POD)


def test_pods_that_are_forbidden_half_way_are_not_taken_for_all(server: ApiServer, connection: Connection) -> None:
    begun = listing("a", "b", **{"continue": "t"})
    server.answer = in_turn(begun, status(403, "Forbidden"), listing("a", namespace="shop"))
    inventory = read(connection, [Read(POD, fallback="shop")])
    assert (names_of(inventory.objects["Pod"]), inventory.unread) == (["a"], (Unread(POD, "forbidden"),))


def test_who_may_not_list_that_one_either_needs_the_right_to_all(server: ApiServer, connection: Connection) -> None:
    server.answer = only_in("shop", "shop")
    with pytest.raises(ClusterError, match=r"not allowed to list pods in all namespaces .*: not /api/v1/pods$"):
        read(connection, [Read(POD, fallback="shop")])


def test_a_server_in_trouble_is_no_reason_to_read_less(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(400, "BadRequest"))
    with pytest.raises(ClusterError, match="400 BadRequest"):
        read(connection, [Read(POD, fallback="shop")])


def test_other_failures_are_errors_even_of_what_is_not_required(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(400, "BadRequest", "unable to parse requirement"))
    with pytest.raises(ClusterError, match=r"cannot list pods .*400 BadRequest: unable to parse requirement"):
        read(connection, [Read(POD, label_selector="a==", required=False)])


def test_a_list_that_expires_half_way_is_begun_again(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(
        listing("a", "old", version="1", **{"continue": "t"}),
        status(410, "Expired", "The provided continue parameter is too old"),
        listing("a", version="2", **{"continue": "u"}),
        listing("b", version="2"),
    )
    inventory = read(connection, [Read(POD)])
    assert names_of(inventory.objects["Pod"]) == ["a", "b"]
    assert inventory.resource_versions == {"pods": "2"}


def test_a_list_that_keeps_expiring_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(410, "Expired", "too old"))
    with pytest.raises(ClusterError, match=r"cannot list pods .*410 Expired: too old"):
        read(connection, [Read(POD)])
    assert len(server.seen) == TIMES_BEGUN


def test_a_list_whose_pages_are_of_different_versions_is_begun_again(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(
        listing("a", "old", version="1", **{"continue": "t"}),
        listing("b", version="2"),
        listing("a", version="2", **{"continue": "u"}),
        listing("b", version="2"),
    )
    assert names_of(read(connection, [Read(POD)]).objects["Pod"]) == ["a", "b"]


def test_a_list_that_keeps_changing_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: listing("a", version=seen.query.get("continue", "1"), **{"continue": "2"})
    with pytest.raises(ClusterError, match="cannot list pods in all namespaces: the list changed from one page"):
        read(connection, [Read(POD)])


def test_an_answer_that_is_no_list_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body={"items": [{"metadata": {"name": 5}}]}))
    with pytest.raises(ClusterError, match=r"is not valid: items\[0\].metadata.name: must be a string"):
        read(connection, [Read(POD)])


def test_a_failure_ends_the_read_while_other_lists_are_on_their_way(server: ApiServer, connection: Connection) -> None:
    def answer(seen: Seen) -> Response:
        if seen.path == "/api/v1/pods":
            return Response(body={"metadata": {"continue": "t"}, "items": []}, delay_seconds=0.5)
        return status(403, "Forbidden")

    server.answer = answer
    began = time.monotonic()
    with pytest.raises(ClusterError, match="not allowed to list nodes"):
        read(connection, [Read(POD), Read(NODE)], resource_version="7")
    assert time.monotonic() - began < 0.4
    time.sleep(0.6)
    assert [seen.path for seen in server.seen].count("/api/v1/pods") == 1


@pytest.mark.parametrize(
    ("pages", "total"),
    [
        ([listing("a", remainingItemCount=49_999, **{"continue": "t"})], 50_000),
        ([listing("a")], 1),
        ([listing()], 0),
        ([listing("a", **{"continue": "t"}), listing("b", "c", **{"continue": "u"}), listing("d")], 4),
    ],
)
def test_objects_are_counted_without_being_read(
    pages: list[Response], total: int, server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(*pages)
    assert count(connection, POD, namespace="shop") == (total, "7")
    assert server.seen[0].path == "/api/v1/namespaces/shop/pods"
    assert server.seen[0].query == {"limit": "1"}
    assert server.seen[0].header("Accept").startswith("application/json;as=PartialObjectMetadataList;")
    assert len(server.seen) == len(pages)


def test_what_may_not_be_listed_is_not_counted(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(403, "Forbidden"))
    assert count(connection, POD) == (0, "")
    server.answer = in_turn(status(400, "BadRequest"))
    with pytest.raises(ClusterError, match="400 BadRequest"):
        count(connection, POD)


def test_names_come_from_the_cache_and_no_more_than_asked_for(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(listing("a", "b", "c"))
    assert [found.name for found in list_metadata(connection, POD, namespace="shop", limit=2)] == ["a", "b"]
    assert server.seen[0].query == {"limit": "2", "resourceVersion": "0"}
    assert server.seen[0].header("Accept").startswith("application/json;as=PartialObjectMetadataList;")


def test_names_are_asked_for_once(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(500, "InternalError"))
    with pytest.raises(ClusterError):
        list_metadata(connection, POD)
    assert len(server.seen) == 1


def test_names_are_not_waited_for(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body={}, delay_seconds=0.3))
    with pytest.raises(ClusterError, match="did not answer in time"):
        list_metadata(connection, POD, timeout=0.05)


def test_the_servers_version_is_what_it_says(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body={"major": "1", "gitVersion": "v1.36.2"}))
    assert server_version(connection) == "v1.36.2"
    assert server.seen[0].path == "/version"


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_server_need_not_say_its_version(code: int, server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(code, "No"))
    assert server_version(connection) == ""


def test_a_version_that_cannot_be_had_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(400, "BadRequest"))
    with pytest.raises(ClusterError, match="cannot get the server's version: the server answered 400"):
        server_version(connection)


INTERRUPTED = """
import sys
from kubectl_spread.cluster.access.client_config import connect
from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.cluster.api.reader import read
from kubectl_spread.cluster.reads import Read
from kubectl_spread.objects.kinds import POD
print("reading", flush=True)
try:
    read(connect(ConnectionOptions(server=sys.argv[1])), [Read(POD)])
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interrupt_ends_a_read_at_once(server: ApiServer) -> None:
    asked = threading.Event()

    def answer(_: Seen) -> Response:
        asked.set()
        return Response(body={}, delay_seconds=5)

    server.answer = answer
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, server.url], cwd=root, stderr=subprocess.PIPE)
    assert asked.wait(10)
    began = time.monotonic()
    process.send_signal(2)
    _, errors = process.communicate(timeout=5)
    assert process.returncode == 130
    assert errors == b""
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_releases_without_the_stable_version_are_asked_for_an_older_one(
    version: str, server: ApiServer, connection: Connection
) -> None:
    served = f"/apis/resource.k8s.io/{version}/deviceclasses"
    server.answer = lambda seen: listing("gpu") if seen.path == served else status(404, "NotFound")
    inventory = read(connection, [Read(DEVICE_CLASS, required=False)])
    assert [each.metadata.name for each in inventory.objects["DeviceClass"]] == ["gpu"]
    assert inventory.unread == ()


def test_a_kind_of_no_version_is_left_unread_under_its_own_name(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda _: status(404, "NotFound")
    inventory = read(connection, [Read(DEVICE_CLASS, required=False)])
    assert inventory.unread == (Unread(DEVICE_CLASS, "not served by this API server"),)
