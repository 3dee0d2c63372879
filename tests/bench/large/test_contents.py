"""The large cluster is of the size and the mixture that its questions are about."""

from __future__ import annotations

from collections import Counter

from tests.bench.large.contents import RACK_NODES, ZONES, Size, apps, node, node_places, placements, pod
from tests.bench.large.pending import ON_ALL_NODES, ON_FEW_NODES, pending_pods

LARGE = Size()


def test_the_nodes_are_those_of_three_zones_some_tainted_and_cordoned() -> None:
    places = node_places(LARGE)
    assert len({place.name for place in places}) == 5_000
    assert len({place.zone for place in places}) == ZONES
    assert sum(place.tainted for place in places) == 250
    assert sum(place.cordoned for place in places) == 50
    assert not any(place.tainted and place.cordoned for place in places)


def test_a_rack_is_in_one_zone_and_holds_few_nodes() -> None:
    of_rack = Counter(place.rack for place in node_places(LARGE))
    assert len(of_rack) == len({(place.rack, place.zone) for place in node_places(LARGE)})
    assert max(of_rack.values()) == RACK_NODES


def test_names_are_as_long_as_each_other() -> None:
    assert {len(place.name + place.rack + place.zone) for place in node_places(LARGE)} == {
        len("node-00000rack-000zone-0")
    }
    assert {len(app.namespace + app.pod_name(99)) for app in apps(LARGE)} == {len("team-00app-0000-1000000007-00099")}


def test_every_node_that_takes_pods_has_about_as_many() -> None:
    of_node = Counter(place.number for _, places in placements(LARGE) for place in places)
    assert of_node.total() == 50_000
    assert len(of_node) == 5_000 - 250 - 50
    assert {*of_node.values()} == {10, 11}


def test_a_team_is_of_a_size_to_ask_about() -> None:
    of_team = [app for app in apps(LARGE) if app.namespace == "team-10"]
    assert sum(app.pods for app in of_team) == 1_200
    first = node_places(LARGE)[0]
    spread = [pod(app, first, owner="u")["spec"]["topologySpreadConstraints"] for app in of_team]
    assert sum(map(len, spread)) == 28


def test_a_cordoned_node_says_so() -> None:
    cordoned = next(place for place in node_places(LARGE) if place.cordoned)
    spec = node(cordoned)["spec"]
    assert spec["unschedulable"] is True
    assert [taint["key"] for taint in spec["taints"]] == ["node.kubernetes.io/unschedulable"]


def test_twenty_pods_wait() -> None:
    waiting = pending_pods()
    assert len({(made["metadata"]["namespace"], made["metadata"]["name"]) for made in waiting}) == 20
    assert not any("nodeName" in made["spec"] for made in waiting)
    assert {ON_ALL_NODES, ON_FEW_NODES} <= {made["metadata"]["name"] for made in waiting}
