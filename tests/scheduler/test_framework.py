"""What the plugins share: verdicts, rounding, and nodes with their Pods."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.labels import EVERYTHING
from kubectl_spread.objects.core import Node, Service
from kubectl_spread.objects.decoding import convert
from kubectl_spread.scheduler.framework import (
    SKIP,
    SUCCESS,
    Code,
    Handle,
    Status,
    go_round,
    normalize,
    score_each,
    unresolvable,
    unschedulable,
)
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.scheduler.nodeinfo import HostPort
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, object_of, pod, snapshot, typed_pod


@pytest.mark.parametrize(
    ("status", "rejected"),
    [(SUCCESS, False), (SKIP, False), (unschedulable("r"), True), (unresolvable(), True), (Status(Code.ERROR), True)],
)
def test_what_keeps_a_pod_off(status: Status, *, rejected: bool) -> None:
    assert status.rejected is rejected


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        (0.0, 0),
        (0.5, 1),
        (1.5, 2),
        (2.5, 3),
        (-0.5, -1),
        (-2.5, -3),
        (2.4999, 2),
        (-2.4999, -2),
        (0.49999999999999994, 0),
    ],
)
def test_halves_are_rounded_away_from_zero(number: float, rounded: int) -> None:
    assert go_round(number) == rounded


@given(st.integers(-(10**9), 10**9), st.floats(0, 0.499))
def test_a_number_is_rounded_to_the_nearest(whole: int, rest: float) -> None:
    assert go_round(whole + rest) == go_round(whole - rest) == whole


def test_a_node_is_scored_once_until_a_pod_comes_or_goes() -> None:
    cluster = handle([node("a"), node("b")])
    looked = Mock(side_effect=lambda info: len(info.pods))

    def scores(cluster: Handle, asked: str) -> dict[str, int]:
        return score_each(cluster.node_infos.values(), asked, looked)

    assert scores(cluster, "one") == scores(cluster, "one") == {"a": 0, "b": 0}
    assert looked.call_count == 2
    assert scores(cluster.with_assigned(typed_pod(pod("p")), "b"), "one") == {"a": 0, "b": 1}
    assert looked.call_count == 3
    assert scores(cluster, "other") == {"a": 0, "b": 0}
    assert looked.call_count == 5


def test_scores_are_in_proportion_to_the_highest() -> None:
    assert normalize({"a": 3, "b": 1, "c": 0}) == {"a": 100, "b": 33, "c": 0}
    assert normalize({"a": 3, "b": 1, "c": 0}, lowest_is_best=True) == {"a": 0, "b": 67, "c": 100}


def test_where_all_score_nothing_all_are_alike() -> None:
    assert normalize({"a": 0, "b": 0}) == {"a": 0, "b": 0}
    assert normalize({"a": 0, "b": 0}, lowest_is_best=True) == {"a": 100, "b": 100}
    assert normalize({}) == {}


NEAR: Object = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": app("web")}]}
"""Affinity to the Pods of the application web."""


def cluster() -> Handle:
    """Return two nodes, one of them with a Pod of everything."""
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": app("web")}]}
    full = pod("p", on="a", requests={"cpu": "1"}, host_ports=["80"], affinity={"podAntiAffinity": apart})
    return handle([node("a", zone="z1"), node("b"), full, pod("ended", on="a", status={"phase": "Failed"})])


def test_a_node_knows_what_its_pods_take() -> None:
    info = cluster().node_infos["a"]
    assert [found.metadata.name for found in info.pods] == ["p"]
    assert info.requested == {"cpu": 1000}
    assert info.non_zero_requested == {"cpu": 1000, "memory": 200 * 2**20}
    assert info.used_ports == {HostPort("0.0.0.0", "TCP", 80)}  # noqa: S104 - all addresses
    assert info.allocatable == {"cpu": 8000, "memory": 32 * 2**30, "pods": 110}


@pytest.mark.parametrize("asked", [(), ("requested",), ("requested", "non_zero_requested", "used_ports")])
def test_what_is_known_of_a_node_is_the_same_once_a_pod_is_placed_there(asked: tuple[str, ...]) -> None:
    sums = ("requested", "non_zero_requested", "used_ports")
    there = pod("there", on="a", requests={"cpu": "1", "example.com/disk": "2"}, host_ports=["80"])
    before = handle([node("a"), there])
    for name in asked:
        getattr(before.node_infos["a"], name)
    after = before.with_assigned(typed_pod(pod("p", requests={"memory": "1Gi"}, host_ports=["81"])), "a")
    known = {name for name in sums if name in vars(after.node_infos["a"])}
    assert known == set(asked)
    anew = Handle.build(after.snapshot, after.profile).node_infos["a"]
    assert [getattr(after.node_infos["a"], name) for name in sums] == [getattr(anew, name) for name in sums]


def test_what_a_node_has_stands_for_what_it_offers() -> None:
    described = node("a")
    described["status"] = {"capacity": {"cpu": "3"}}
    assert handle([described]).node_infos["a"].allocatable == {"cpu": 3000}


def test_a_pod_that_is_placed_counts_everywhere() -> None:
    before = cluster()
    placed = typed_pod(pod("q", labels={"app": "web"}, requests={"cpu": "2"}))
    after = before.with_assigned(placed, "a")
    assert after.node_infos["a"].requested == {"cpu": 3000}
    assert after.node_infos["b"] is before.node_infos["b"]
    assert [found.spec.node_name for found in after.snapshot.matching_pods("default", EVERYTHING)] == ["a", "a"]
    assert before.node_infos["a"].requested == {"cpu": 1000}
    assert after.existing_terms is before.existing_terms


def test_what_is_gathered_of_nodes_holds_where_more_pods_are_read() -> None:
    before, further = handle([node("a"), node("b")]), pod("p", on="a", requests={"cpu": "1"})
    after = before.with_more_read(snapshot([node("a"), node("b"), further]))
    assert after.index is before.index
    assert after.node_infos["a"].requested == {"cpu": 1000}
    grown = before.with_more_read(snapshot([node("a"), node("b"), node("c")]))
    assert grown.index.names == {"a", "b", "c"}


@pytest.mark.parametrize("affinity", [None, {"podAffinity": NEAR}])
def test_a_pod_that_is_gone_counts_nowhere(affinity: Object | None) -> None:
    before = cluster()
    placed = typed_pod(pod("q", labels={"app": "web"}, requests={"cpu": "2"}, affinity=affinity))
    there = before.with_assigned(placed, "a")
    after = there.without_pod(there.node_infos["a"].pods[-1])
    assert (after.snapshot, after.existing_terms) == (before.snapshot, before.existing_terms)
    assert after.node_infos["a"].requested == {"cpu": 1000}


@pytest.mark.parametrize(
    "changed",
    [node("a", zone="z9"), node("aa", zone="z1"), node("a", zone="z1", taints=["x:NoSchedule"], unschedulable=True)],
    ids=["labelled", "new", "tainted and cordoned"],
)
def test_a_node_that_is_changed_or_new_counts_as_if_it_had_been_there(changed: Object) -> None:
    objects = [node("a", zone="z1"), node("b"), pod("p", on="a", requests={"cpu": "1"})]
    before = handle(objects)
    seen_in(before)
    after = before.with_nodes((convert(changed, Node),))
    name = changed["metadata"]["name"]
    anew = handle([changed, *(each for each in objects if each["metadata"]["name"] != name)])
    assert [*after.node_infos] == [*anew.node_infos] == sorted(anew.node_infos)
    assert after.node_infos[name].pods == anew.node_infos[name].pods
    assert seen_in(after) == seen_in(anew)


def seen_in(cluster: Handle) -> list[object]:
    """Return what the index of the nodes says of them."""
    index, in_z1 = cluster.index, RequiredNodeAffinity.of(typed_pod(pod("p", nodeSelector={ZONE: "z1"})))
    of_labels = [index.values(ZONE), index.domains(ZONE), index.carrying(frozenset((ZONE,))), index.lacking(ZONE)]
    found = [index.names, index.matching(in_z1), index.values_on(ZONE, index.names)]
    return [*of_labels, *found, index.tainted, index.cordoned]


def test_further_objects_are_in_the_snapshot() -> None:
    described: Object = object_of("Service", "web")
    after = cluster().with_others([convert(described, Service)])
    assert after.snapshot.get(Service, "default", "web") is not None


def test_the_terms_of_a_pod_that_is_placed_count_too() -> None:
    before = cluster()
    near = {"topologyKey": HOSTNAME, "labelSelector": app("web")}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": near}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [near]}
    placed = typed_pod(pod("q", affinity={"podAffinity": {**preferred, **required}}))
    after = before.with_assigned(placed, "b").with_assigned(placed, "b").existing_terms
    assert [dict(nodes) for nodes in after.affinity.values()] == [{"b": 2}]
    assert [dict(nodes) for nodes in after.preferred.values()] == [{"b": 6}]
    assert [dict(nodes) for nodes in after.anti_affinity.values()] == [{"a": 1}]
