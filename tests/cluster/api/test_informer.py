"""Watches that end, expire, stammer and break: what is kept is what a new list would show."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.api.informer import Informer, Settings
from kubectl_spread.cluster.api.reader import read
from kubectl_spread.cluster.reads import Read
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.kinds import NODE, POD, SERVICE
from kubectl_spread.snapshot import Inventory, Unread
from tests.build import node, pod
from tests.cluster.api_server import Seen, status
from tests.cluster.conftest import Connect
from tests.cluster.watched import Object, Watched, event, expired, refusing, saying, watched
from tests.controlplane.waiting import wait_for
from tests.faults.raw_server import RESET

PODS = [Read(POD)]

HASTY = Settings(first_backoff=0.01, longest_backoff=0.05, short=0.02, calm=0.01, answer=0.02, tick=0.02, lost=0.1)
"""No pause is long."""

Watching = Callable[..., Informer]


@pytest.fixture
def cluster_and_url() -> Iterator[tuple[Watched, str]]:
    with watched() as served:
        yield served


@pytest.fixture
def cluster(cluster_and_url: tuple[Watched, str]) -> Watched:
    return cluster_and_url[0]


@pytest.fixture
def said() -> list[str]:
    """Return what was said about the server."""
    return []


@pytest.fixture
def watching(cluster_and_url: tuple[Watched, str], connecting: Connect, said: list[str]) -> Iterator[Watching]:
    """Yield how the cluster is watched; that ends afterwards."""
    stop = threading.Event()

    def watch(reads: list[Read] | None = None, *, settings: Settings = HASTY, **flags: object) -> Informer:
        connection = connecting(server=cluster_and_url[1], **flags)
        listed = read(connection, reads or PODS)
        return Informer(connection, reads or PODS, listed, say=said.append, settings=settings, stop=stop)

    yield watch
    stop.set()


def names(inventory: Inventory, kind: str = "Pod") -> list[str]:
    return [found.metadata.name for found in inventory.objects[kind]]


def until(watch: Informer, wanted: list[str]) -> None:
    """Return when the Pods are those wanted."""
    wait_for(lambda: names(watch.inventory()) == wanted, what=f"{wanted}")


def listen(watch: Informer, cluster: Watched) -> None:
    """Let somebody wait for changes until the test ends: who waits is told about the server."""

    def wait() -> None:
        while not cluster.over:
            watch.wait()

    threading.Thread(target=wait, daemon=True).start()


def versioned(each: Object, version: str) -> Object:
    return {**each, "metadata": {**each["metadata"], "resourceVersion": version}}


def test_what_was_there_is_kept_with_its_version(cluster: Watched, watching: Watching) -> None:
    cluster.put(node("n"), pod("b"), pod("a"))
    watch = watching([Read(NODE), Read(POD)])
    inventory = watch.inventory()
    assert (names(inventory), names(inventory, "Node")) == (["a", "b"], ["n"])
    assert inventory.resource_versions == {"nodes": "103", "pods": "103"}
    assert inventory.unread == ()


def test_a_watch_begins_where_the_list_ended_and_asks_for_bookmarks(cluster: Watched, watching: Watching) -> None:
    cluster.put(pod("a"))
    watching([Read(POD, "default", label_selector="app")])
    (asked,) = cluster.watches(POD)
    assert asked.path == "/api/v1/namespaces/default/pods"
    assert asked.query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "101",
        "timeoutSeconds": "300",
        "labelSelector": "app",
    }


def test_no_watch_outlasts_what_a_request_may_take(cluster: Watched, watching: Watching) -> None:
    watching(request_timeout="1500ms")
    assert cluster.watches(POD)[0].query["timeoutSeconds"] == "2"


def test_objects_come_change_and_go(cluster: Watched, watching: Watching) -> None:
    cluster.put(pod("a"), pod("b"))
    watch = watching()
    cluster.put(pod("c"), pod("b", on="n"))
    cluster.delete(pod("a"))
    until(watch, ["b", "c"])
    inventory = watch.inventory()
    assert [found.spec.node_name for found in inventory.objects["Pod"]] == ["n", ""]  # type: ignore[attr-defined] # Pods
    assert inventory.resource_versions == {"pods": "105"}


def test_objects_of_the_same_name_are_told_apart(cluster: Watched, watching: Watching) -> None:
    cluster.put(pod("a"), pod("a", namespace="shop"))
    watch = watching()
    cluster.delete(pod("a", namespace="shop"))
    until(watch, ["a"])
    assert watch.inventory().objects["Pod"][0].metadata.namespace == "default"


def test_waiting_ends_with_a_change(cluster: Watched, watching: Watching) -> None:
    watch = watching()
    cluster.put(pod("a"))
    watch.wait()
    assert names(watch.inventory()) == ["a"]


def test_waiting_does_not_end_for_what_is_no_news(cluster: Watched, watching: Watching) -> None:
    cluster.put(pod("a"))
    watch = watching()
    cluster.put(pod("a"))
    cluster.bookmark(POD)
    wait_for(lambda: watch.inventory().resource_versions == {"pods": "103"}, what="the bookmark")
    waiting = threading.Thread(target=watch.wait, daemon=True)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    cluster.put(pod("b"))
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_burst_is_one_answer(cluster: Watched, watching: Watching) -> None:
    watch = watching(settings=replace(HASTY, calm=1.0))
    cluster.put(*(pod(f"p{number}") for number in range(100)))
    watch.wait()
    assert len(names(watch.inventory())) == 100


def test_a_watch_that_ends_goes_on_after_the_last_event(cluster: Watched, watching: Watching) -> None:
    watch = watching()
    cluster.put(pod("a"))
    until(watch, ["a"])
    cluster.end_watches()
    wait_for(lambda: len(cluster.watches(POD)) == 2, what="the second watch")
    cluster.put(pod("b"))
    until(watch, ["a", "b"])
    assert [seen.query["resourceVersion"] for seen in cluster.watches(POD)] == ["100", "101"]
    assert len(cluster.lists(POD)) == 1


def test_a_watch_goes_on_after_the_last_bookmark(cluster: Watched, watching: Watching) -> None:
    watch = watching()
    cluster.put(node("n"))
    cluster.bookmark(POD)
    wait_for(lambda: watch.inventory().resource_versions == {"pods": "102"}, what="the bookmark")
    cluster.compact()
    cluster.end_watches()
    cluster.put(pod("a"))
    until(watch, ["a"])
    assert len(cluster.lists(POD)) == 1


def test_events_that_come_twice_change_nothing(cluster: Watched, watching: Watching) -> None:
    def again(_: Seen) -> Iterator[bytes | float]:
        return cluster.watch(POD, 100)

    cluster.faults["pods"] = [lambda _: cluster.watch(POD, 100), again]
    watch = watching()
    cluster.put(pod("a"), pod("b"))
    cluster.delete(pod("a"))
    until(watch, ["b"])
    cluster.end_watches()
    cluster.put(pod("c"))
    until(watch, ["b", "c"])
    assert cluster.faults["pods"] == []


@pytest.mark.parametrize(
    "fault", [saying(expired()), refusing(status(410, "Expired", "too old resource version"))], ids=["event", "status"]
)
def test_what_was_deleted_before_an_expired_version_is_gone(
    cluster: Watched, watching: Watching, fault: Callable[[Seen], list[bytes | float]]
) -> None:
    cluster.put(pod("a"), pod("b"))
    cluster.faults["pods"] = [saying(event("ADDED", versioned(pod("c"), "101"))), fault]
    watch = watching()
    cluster.delete(pod("a"))
    cluster.compact()
    until(watch, ["b"])
    assert len(cluster.lists(POD)) == 2


def test_versions_that_expire_for_real_are_listed_anew(cluster: Watched, watching: Watching, said: list[str]) -> None:
    cluster.put(pod("a"))
    watch = watching()
    listen(watch, cluster)
    cluster.down = True
    cluster.end_watches()
    wait_for(lambda: said, what="the server to be lost")
    cluster.delete(pod("a"))
    cluster.put(pod("b"))
    cluster.compact()
    cluster.down = False
    until(watch, ["b"])


@pytest.mark.parametrize(
    "fault",
    [
        saying(event("ADDED", pod("a"))[:50]),
        saying(event("ADDED", pod("a"))[:50], RESET),
        saying(b"{}\n"),
        saying(b"<html>\n"),
        saying(b"\xff\n"),
        saying(event("ADDED", pod("a"))),
        saying(event("RENAMED", versioned(pod("a"), "101"))),
        saying(event("ADDED", {"metadata": {"resourceVersion": "101", "labels": 3}})),
        saying(event("ERROR", {"kind": "Status", "code": 500, "message": "etcd is gone"})),
        saying(event("ERROR", {})),
        refusing(status(429, "TooManyRequests")),
        refusing(status(503, "ServiceUnavailable")),
        refusing(status(400, "BadRequest")),
        lambda _: [RESET],
        lambda _: [],
    ],
    ids=[
        "cut",
        "reset",
        "empty",
        "html",
        "bytes",
        "unversioned",
        "unknown type",
        "wrong field",
        "error",
        "empty error",
        "429",
        "503",
        "400",
        "no answer",
        "nothing",
    ],
)
def test_a_watch_that_breaks_begins_again(
    cluster: Watched, watching: Watching, fault: Callable[[Seen], list[bytes | float]]
) -> None:
    cluster.faults["pods"] = [fault, fault]
    watch = watching()
    cluster.put(pod("a"))
    until(watch, ["a"])
    cluster.put(pod("b"))
    until(watch, ["a", "b"])


def test_an_event_without_end_is_not_kept(cluster: Watched, watching: Watching) -> None:
    endless = saying(b'{"type": "ADDED", "object": {"metadata": {"name": "', *[b"a" * 500] * 3, 60.0)
    cluster.faults["pods"] = [endless]
    watch = watching(settings=replace(HASTY, max_event_bytes=1000))
    cluster.put(pod("a"))
    until(watch, ["a"])


def test_a_server_that_is_gone_for_a_while_is_said_once(cluster: Watched, watching: Watching, said: list[str]) -> None:
    cluster.put(node("n"))
    watch = watching([Read(NODE), Read(POD)])
    listen(watch, cluster)
    cluster.down = True
    cluster.end_watches()
    wait_for(lambda: said, what="the server to be lost")
    assert len(said) == 1
    assert said[0].startswith("lost the connection to the server 127.0.0.1:")
    assert said[0].endswith("; trying again until it works")
    cluster.put(pod("a"))
    cluster.down = False
    until(watch, ["a"])
    wait_for(lambda: len(said) == 2, what="the server to be back")
    assert said[1] == "the server answers again"


def test_a_kind_that_cannot_be_watched_is_said_while_others_change(
    cluster: Watched, watching: Watching, said: list[str]
) -> None:
    watch = watching([Read(NODE), Read(POD)])
    cluster.faults["pods"] = [refusing(status(503, "ServiceUnavailable"))] * 1000
    cluster.end_watches()
    for number in range(1000):
        cluster.put(node(f"n{number}"))
        watch.wait()
        if said:
            break
    assert said == [
        "cannot watch pods in all namespaces: the server answered 503 ServiceUnavailable; trying again until it works"
    ]


def test_a_watch_that_ends_now_and_then_is_not_worth_a_word(
    cluster: Watched, watching: Watching, said: list[str]
) -> None:
    watch = watching()
    listen(watch, cluster)
    for number in range(5):
        cluster.end_watches()
        cluster.put(pod(f"p{number}"))
        wait_for(lambda: len(names(watch.inventory())) == number + 1, what="the Pod")  # noqa: B023 - waited for here
    assert said == []


def test_a_watch_without_a_word_is_begun_again_without_one(
    cluster: Watched, watching: Watching, said: list[str]
) -> None:
    watch = watching(request_timeout="300ms")
    listen(watch, cluster)
    wait_for(lambda: len(cluster.watches(POD)) > 4, what="further watches")
    cluster.put(pod("a"))
    until(watch, ["a"])
    assert said == []
    assert len(cluster.lists(POD)) == 1


def test_a_server_that_ends_every_watch_at_once_is_said(cluster: Watched, watching: Watching, said: list[str]) -> None:
    cluster.faults["pods"] = [saying()] * 30
    watch = watching(settings=replace(HASTY, short=10.0))
    listen(watch, cluster)
    cluster.put(pod("a"))
    until(watch, ["a"])
    assert said[:1] == [
        "cannot watch pods in all namespaces: the server closes it at once; trying again until it works"
    ]


def test_a_server_that_asks_for_a_pause_has_it(cluster: Watched, watching: Watching) -> None:
    cluster.faults["pods"] = [refusing(status(429, "TooManyRequests", Retry_After="1"))]
    watch = watching()
    cluster.put(pod("a"))
    began = time.monotonic()
    until(watch, ["a"])
    assert time.monotonic() - began > 0.5


def test_who_may_not_watch_is_told_the_rule_that_lacks(cluster: Watched, watching: Watching) -> None:
    cluster.faults["pods"] = [refusing(status(403, "Forbidden", "no"))]
    with pytest.raises(ClusterError) as caught:
        watching([Read(NODE), Read(POD, "shop")])
    assert caught.value.message == 'not allowed to watch pods in namespace "shop" (Forbidden): no'
    rule = '{apiGroups: [""], resources: [pods], verbs: [watch]}'
    assert caught.value.hint == f'needs a Role in namespace "shop" with the rule {rule}'


def test_a_server_that_starts_may_refuse_for_a_moment(cluster: Watched, watching: Watching) -> None:
    forbidden = refusing(status(403, "Forbidden", "RBAC: not there yet"))
    watch = watching()
    cluster.faults["pods"] = [forbidden] * 5
    cluster.end_watches()
    wait_for(lambda: not cluster.faults["pods"], what="the refusals")
    cluster.put(pod("a"))
    until(watch, ["a"])


def test_who_may_not_watch_any_more_is_told(cluster: Watched, watching: Watching) -> None:
    watch = watching(settings=replace(HASTY, refused=0.1))
    cluster.faults["pods"] = [refusing(status(403, "Forbidden", "no"))] * 1000
    cluster.end_watches()
    with pytest.raises(ClusterError, match="not allowed to watch pods in all namespaces"):
        watch.wait()


def test_what_may_not_be_listed_is_not_watched(cluster: Watched, watching: Watching) -> None:
    cluster.refused = {"/api/v1/services"}
    watch = watching([Read(POD), Read(SERVICE, required=False)])
    cluster.put(pod("a"))
    until(watch, ["a"])
    inventory = watch.inventory()
    assert inventory.unread == (Unread(SERVICE, "forbidden"),)
    assert "Service" not in inventory.objects
    assert cluster.watches(SERVICE) == []


def test_who_may_list_one_namespace_watches_that(cluster: Watched, watching: Watching) -> None:
    cluster.refused = {"/api/v1/pods"}
    cluster.put(pod("a"))
    watch = watching([Read(POD, fallback="default")])
    cluster.put(pod("b"))
    until(watch, ["a", "b"])
    assert {seen.path for seen in cluster.watches(POD)} == {"/api/v1/namespaces/default/pods"}
    assert watch.inventory().unread == (Unread(POD, "forbidden"),)


def test_whatever_happens_what_is_kept_is_what_is_listed(
    cluster: Watched, watching: Watching, connecting: Connect, cluster_and_url: tuple[Watched, str]
) -> None:
    rng = random.Random(6)  # noqa: S311 - a seed
    reads = [Read(NODE), Read(POD)]
    watch = watching(reads)
    for _ in range(400):
        _change(cluster, rng)
    cluster.down = False
    listed = read(connecting(server=cluster_and_url[1]), reads)
    assert len(listed.objects["Pod"]) > 5
    wait_for(lambda: dict(watch.inventory().objects) == dict(listed.objects), what="what is listed")


def _change(cluster: Watched, rng: random.Random) -> None:
    """Let something happen to the cluster, and sometimes to its server."""
    each = pod(f"p{rng.randrange(20)}", on=rng.choice(["", "n1", "n2"]))
    match rng.randrange(3):
        case 0:
            cluster.delete(each)
        case 1:
            cluster.put(node(f"n{rng.randrange(3)}", zone=rng.choice("abc")))
        case _:
            cluster.put(each)
    if rng.random() < 0.05:
        acts: list[Callable[[], None]] = [cluster.end_watches, cluster.compact, partial(cluster.bookmark, POD)]
        rng.choice(acts)()
    cluster.down = rng.random() < 0.02
