"""The cluster, indexed, and its what-ifs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.labels import EVERYTHING, NOTHING, parse_selector
from kubectl_spread.objects.core import Node, Pod, Service
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import NODE, POD, SERVICE
from kubectl_spread.snapshot import Inventory, Snapshot, Unread, together
from tests.build import Object, namespace, node, pod, snapshot, typed_pod

CLUSTER = [
    node("b"),
    node("a"),
    pod("web-1", on="a", labels={"app": "web"}),
    pod("web-2", on="b", labels={"app": "web"}),
    pod("db-1", on="a", labels={"app": "db"}),
    pod("waiting", labels={"app": "web"}),
    pod("done", on="a", labels={"app": "web"}, status={"phase": "Succeeded"}),
    pod("broken", on="a", labels={"app": "web"}, status={"phase": "Failed"}),
    pod("leaving", on="b", labels={"app": "web"}, terminating=True),
    pod("elsewhere", on="b", namespace="other", labels={"app": "web"}),
    pod("lost", on="gone", labels={"app": "web"}),
]


def names(pods: Iterable[Pod]) -> set[str]:
    return {found.metadata.name for found in pods}


def on_nodes(cluster: Snapshot) -> dict[str, set[str]]:
    """Return node → the names of the Pods on it; nodes without any are left out."""
    return {name: names(pods) for name, pods in cluster.assigned.items() if pods}


def test_nodes_come_by_name() -> None:
    assert list(snapshot(CLUSTER).nodes) == ["a", "b"]


def test_pods_that_have_ended_or_wait_are_on_no_node() -> None:
    assert on_nodes(snapshot(CLUSTER)) == {
        "a": {"web-1", "db-1"},
        "b": {"web-2", "leaving", "elsewhere"},
        "gone": {"lost"},
    }


@pytest.mark.parametrize(
    ("namespace", "selector", "found"),
    [
        ("default", "app=web", {"web-1", "web-2", "leaving", "lost"}),
        ("default", "app in (web,db)", {"web-1", "web-2", "db-1", "leaving", "lost"}),
        ("default", "!app", set()),
        ("other", "app=web", {"elsewhere"}),
        ("nowhere", "app=web", set()),
    ],
)
def test_matching_pods_are_those_on_nodes(namespace: str, selector: str, found: set[str]) -> None:
    assert names(snapshot(CLUSTER).matching_pods(namespace, parse_selector(selector))) == found


def test_nothing_and_everything_are_selectors_too() -> None:
    cluster = snapshot(CLUSTER)
    assert names(cluster.matching_pods("default", NOTHING)) == set()
    assert names(cluster.matching_pods("default", EVERYTHING)) == {"web-1", "web-2", "db-1", "leaving", "lost"}


def test_objects_are_had_by_name_and_all_together() -> None:
    cluster = snapshot(CLUSTER)
    found = cluster.get(Pod, "other", "elsewhere")
    assert found is not None
    assert found.spec.node_name == "b"
    assert cluster.get(Pod, "default", "elsewhere") is None
    assert [each.metadata.name for each in cluster.all(Node)] == ["b", "a"]


def test_a_kind_that_was_not_read_has_no_objects() -> None:
    cluster = Snapshot.build(Inventory({}))
    assert list(cluster.all(Service)) == []
    assert cluster.get(Service, "default", "web") is None
    assert cluster.nodes == {}


def test_a_kind_was_read_when_all_of_it_was() -> None:
    inventory = Inventory({"Pod": (), "Service": ()}, unread=(Unread(SERVICE, "forbidden", "shop"),))
    assert inventory.has(POD)
    assert not inventory.has(SERVICE)
    assert not inventory.has(NODE)


def test_objects_laid_over_replace_those_of_the_same_name() -> None:
    before = snapshot(CLUSTER)
    services: list[Object] = [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"}, "spec": {}}
        for name in ("web", "db")
    ]
    after = before.with_objects(
        [typed_pod(pod("web-1", on="b", labels={"app": "other"})), *(convert(s, Service) for s in services)]
    )
    assert on_nodes(after)["a"] == {"db-1"}
    assert {each.metadata.name for each in after.all(Service)} == {"web", "db"}
    assert "web-1" in on_nodes(before)["a"]


def test_an_object_of_a_kind_that_was_not_read_is_there_afterwards() -> None:
    after = Snapshot.build(Inventory({})).with_objects([convert(node("new"), Node)])
    assert list(after.nodes) == ["new"]


def test_an_assumed_pod_is_found_like_any_other() -> None:
    before = snapshot(CLUSTER)
    after = before.with_assigned(typed_pod(pod("new", labels={"app": "fresh"})), "b")
    assert names(after.matching_pods("default", parse_selector("app=fresh"))) == {"new"}
    assert "new" in on_nodes(after)["b"]
    assert names(before.matching_pods("default", parse_selector("app=fresh"))) == set()


def test_the_first_pod_of_a_namespace_and_of_a_node_is_no_exception() -> None:
    after = snapshot([node("a")]).with_assigned(typed_pod(pod("first", namespace="new")), "a")
    assert names(after.matching_pods("new", EVERYTHING)) == {"first"}


def test_a_node_may_be_replaced_or_added() -> None:
    before = snapshot(CLUSTER)
    after = before.with_nodes(convert([node("a", zone="z"), node("0")], list[Node]))
    assert list(after.nodes) == ["0", "a", "b"]
    assert after.nodes["a"].metadata.labels["topology.kubernetes.io/zone"] == "z"
    assert {each.metadata.name for each in after.all(Node)} == {"0", "a", "b"}
    assert on_nodes(after) == on_nodes(before)


def test_a_deleted_pod_is_gone_from_every_index() -> None:
    before = snapshot(CLUSTER)
    gone = before.get(Pod, "default", "db-1")
    assert gone is not None
    after = before.without_pod(gone)
    assert on_nodes(after)["a"] == {"web-1"}
    assert names(after.matching_pods("default", EVERYTHING)) == {"web-1", "web-2", "leaving", "lost"}


MOVES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("web", "db"))), max_size=8)


@given(MOVES)
def test_assigning_pods_one_by_one_is_like_reading_them(moves: list[tuple[str, str]]) -> None:
    described = [pod(f"p{i}", labels={"app": app}) for i, (_, app) in enumerate(moves)]
    step_by_step = snapshot([node(name) for name in "abc"])
    for each, (where, _) in zip(described, moves, strict=True):
        step_by_step = step_by_step.with_assigned(typed_pod(each), where)
    bound = [pod(f"p{i}", on=where, labels={"app": app}) for i, (where, app) in enumerate(moves)]
    at_once = snapshot([node(name) for name in "abc"] + bound)
    assert on_nodes(step_by_step) == on_nodes(at_once)
    for app in ("web", "db"):
        selector = parse_selector(f"app={app}")
        assert names(step_by_step.matching_pods("default", selector)) == names(
            at_once.matching_pods("default", selector)
        )


def test_objects_that_are_no_pods_leave_the_indexes_as_they_are() -> None:
    before = snapshot(CLUSTER).with_assigned(typed_pod(pod("new")), "b")
    described: Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"}}
    after = before.with_others([convert(described, Service), convert(described, Service)])
    assert [each.metadata.name for each in after.all(Service)] == ["web"]
    assert after.by_labels is before.by_labels
    assert not list(before.all(Service))


@given(MOVES.filter(bool), st.data())
def test_deleting_undoes_assigning(moves: list[tuple[str, str]], data: st.DataObject) -> None:
    bound = [pod(f"p{i}", on=where, labels={"app": app}) for i, (where, app) in enumerate(moves)]
    before = snapshot([node(name) for name in "abc"] + bound)
    extra = typed_pod(pod("extra", labels={"app": data.draw(st.sampled_from(("web", "new")))}))
    added = before.with_assigned(extra, "a")
    assigned = next(found for found in added.assigned["a"] if found.metadata.name == "extra")
    after = added.without_pod(assigned)
    assert on_nodes(after) == on_nodes(before)
    assert after.by_labels == before.by_labels


def test_labels_of_a_namespace_that_was_not_read_are_none() -> None:
    found = snapshot([namespace("shop", team="a")])
    assert found.namespace_labels("shop") == {"team": "a"}
    assert found.namespace_labels("other") == {}


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ({"a"}, {"b"}, {"a": True, "b": True, "c": False}),
        ({"a"}, None, {"a": True, "b": True, "c": True}),
        (None, {"b"}, {"a": True, "b": True, "c": True}),
    ],
)
def test_of_two_readings_the_namespaces_of_both_were_read(
    first: set[str] | None, second: set[str] | None, whole: Mapping[str, bool]
) -> None:
    readings = [
        Inventory({SERVICE.name: ()}, within={} if read is None else {SERVICE.name: frozenset(read)})
        for read in (first, second)
    ]
    found = together(*readings)
    assert {name: found.has_in(SERVICE, name) for name in "abc"} == whole


def test_a_reading_that_was_not_asked_for_a_kind_says_nothing_of_it() -> None:
    within = {SERVICE.name: frozenset("a")}
    assert not together(Inventory({SERVICE.name: ()}, within=within), Inventory({})).has_in(SERVICE, "b")
