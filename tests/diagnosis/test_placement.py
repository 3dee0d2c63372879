"""Replicas placed one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.diagnosis.placement import Placed, place, place_daemon
from kubectl_spread.report import Jam
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, pod, spread, typed_pod
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, web


def placed(described: Object, objects: Sequence[Object], replicas: int) -> Placed:
    """Return where the replicas go."""
    return place(typed_pod(described), handle(objects), replicas=replicas)


def nodes_of(found: Placed) -> list[str]:
    """Return where each replica went."""
    return [placement.node for placement in found.placements]


def test_each_replica_is_counted_before_the_next() -> None:
    found = placed(incoming(spread(HOSTNAME, selector=app("web"))), ABC, 4)
    assert Counter(nodes_of(found)) == Counter(("a1", "a2", "b1", "c1"))
    assert found.jam is None
    assert [placement.replica for placement in found.placements] == [1, 2, 3, 4]


def test_ties_are_told_and_broken_by_name() -> None:
    first, second = placed(incoming(spread(HOSTNAME, selector=app("web"))), ABC[:3], 2).placements
    assert (first.node, first.ties) == ("a1", ("a2", "b1"))
    assert (second.node, second.ties) == ("a2", ("b1",))


def test_a_better_node_has_no_ties() -> None:
    objects = [node("a"), node("b"), pod("big", on="a", requests={"cpu": "4"})]
    (only,) = placed(pod("p", requests={"cpu": "1"}), objects, 1).placements
    assert (only.node, only.ties) == ("b", ())


def test_the_first_replica_that_finds_no_node_ends_it() -> None:
    found = placed(incoming(), [*TAINTED], 5)
    assert len(found.placements) == 2
    assert found.jam == Jam(
        replica=3,
        message=(
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match pod topology spread"
            " constraints."
        ),
    )


def test_room_runs_out() -> None:
    found = placed(pod("p", requests={"cpu": "3"}), [node("a"), node("b")], 5)
    assert Counter(nodes_of(found)) == {"a": 2, "b": 2}
    assert found.jam is not None
    assert found.jam.message == "0/2 nodes are available: 2 Insufficient cpu."


def test_none_is_asked_for() -> None:
    assert placed(incoming(), ABC, 0).placements == ()


def test_the_cluster_afterwards_holds_every_replica_under_its_own_name() -> None:
    found = placed(incoming(), ABC, 3)
    held = {pod.metadata.name for pods in found.handle.snapshot.assigned.values() for pod in pods}
    assert held == {"new-1", "new-2", "new-3"}


@given(st.lists(st.sampled_from(["a1", "a2", "b1", "c1"]), max_size=4), st.integers(1, 3), st.integers(0, 6))
def test_a_hard_constraint_is_never_broken_by_what_is_placed(where: list[str], max_skew: int, replicas: int) -> None:
    zones = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
    counts = Counter(dict.fromkeys("abc", 0)) + Counter()
    counts.update(zones[on] for on in where)
    found = placed(incoming(spread(ZONE, selector=app("web"), maxSkew=max_skew)), [*ABC, *web(*where)], replicas)
    for on in nodes_of(found):
        counts[zones[on]] += 1
        assert counts[zones[on]] - min(counts[zone] for zone in "abc") <= max_skew
    assert found.jam is None


def test_a_daemon_goes_to_every_node_its_affinity_name_and_taints_allow() -> None:
    nodes = [node("a"), node("b", taints=[GPU]), node("c", unschedulable=True), node("d", labels={"os": "windows"})]
    found = place_daemon(typed_pod(pod("agent", nodeSelector={HOSTNAME: "a"})), handle(nodes))
    assert nodes_of(found) == ["a"]
    tolerant = [{"operator": "Exists"}]
    everywhere = place_daemon(typed_pod(pod("agent", tolerations=tolerant)), handle(nodes))
    assert sorted(nodes_of(everywhere)) == ["a", "b", "c", "d"]


def test_a_daemon_jams_on_a_node_without_room() -> None:
    objects = [node("a"), node("b"), pod("hog", on="b", requests={"cpu": "8"})]
    found = place_daemon(typed_pod(pod("agent", requests={"cpu": "1"})), handle(objects))
    assert nodes_of(found) == ["a"]
    assert found.jam is not None
    assert (found.jam.replica, "Insufficient cpu" in found.jam.message) == (2, True)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_pod_that_excludes_its_like_goes_once(replicas: int) -> None:
    anti = {"topologyKey": HOSTNAME, "labelSelector": app("web")}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}}
    found = placed(pod("p", labels={"app": "web"}, affinity=affinity), [node("a")], replicas)
    assert nodes_of(found) == ["a"]
    assert (found.jam is None) == (replicas == 1)
