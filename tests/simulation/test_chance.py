"""What is left to chance, in one order after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from kubectl_spread.objects.meta import Plain
from kubectl_spread.objects.well_known_labels import BETA_ZONE
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.chance import ORDERS, Chance, seeded
from tests.build import HOSTNAME, Object, app, configured_profile, handle, node, pod, spread, typed_pod


def cluster(configuration: Plain = None, **zones: int) -> Handle:
    """Return empty nodes, so many in each zone, as a scheduler of that configuration sees them."""
    nodes = [node(f"{zone}-{number:03}", zone=zone) for zone, most in zones.items() for number in range(most)]
    return handle(nodes, configured_profile(configuration))


def scored(seed: int, nodes: Handle, described: Object | None = None) -> Sequence[str]:
    """Return the nodes that are scored for a Pod; all look the same to it unless it is described."""
    return tuple(cycle.total_scores(typed_pod(described or pod("p")), nodes, Chance(seed).sample))


def zones(names: Sequence[str]) -> Counter[str]:
    """Return zone → how many of the nodes are in it."""
    return Counter(name[0] for name in names)


def test_each_seed_has_an_order_of_its_own_and_the_same_each_time() -> None:
    names = [f"{zone}{number}" for zone in "abc" for number in "12"]
    orders = [sorted(names, key=seeded(seed)) for seed in range(1, ORDERS)]
    assert orders == [sorted(names, key=seeded(seed)) for seed in range(1, ORDERS)]
    assert len({tuple(order) for order in orders}) == ORDERS - 1


@pytest.mark.parametrize("number", range(2, ORDERS + 1))
def test_each_of_k_equal_nodes_is_taken_in_one_of_the_first_k_orders(number: int) -> None:
    nodes = cluster(a=9, b=9).snapshot.nodes
    names = tuple(nodes)[:number]
    assert {Chance(seed).choose(names, nodes) for seed in range(number)} == set(names)
    assert Chance(0).choose(names, nodes) == names[0]


def test_the_first_orders_take_a_node_of_each_zone() -> None:
    nodes = cluster(a=40, b=40, c=40).snapshot.nodes
    assert zones([Chance(seed).choose(tuple(nodes), nodes) for seed in range(3)]) == {"a": 1, "b": 1, "c": 1}


def test_only_a_choice_leaves_something_to_chance() -> None:
    nodes, chance = cluster(a=2).snapshot.nodes, Chance(0)
    assert (chance.choose(("a-001",), nodes), chance.free) == ("a-001", False)
    assert (chance.choose(tuple(nodes), nodes), chance.free) == ("a-000", True)


@pytest.mark.parametrize(
    ("nodes", "configuration", "wanted"),
    [
        (100, None, 100),
        (101, None, 100),
        (121, None, 100),
        (301, None, 144),
        (6_000, None, 300),
        (301, {"percentageOfNodesToScore": 100}, 301),
        (301, {"percentageOfNodesToScore": 1}, 100),
        (301, {"percentageOfNodesToScore": 100, "profiles": [{"percentageOfNodesToScore": 50}]}, 150),
        (301, {"percentageOfNodesToScore": 100, "profiles": [{"percentageOfNodesToScore": 0}]}, 144),
        (301, {"percentageOfNodesToScore": 50, "profiles": [{"schedulerName": "x"}]}, 150),
        (3, {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "*"}]}}}]}, 1),
    ],
)
def test_so_many_nodes_are_scored(nodes: int, configuration: Plain, wanted: int) -> None:
    """Source: kube-scheduler schedule_one.go numFeasibleNodesToFind, read from v1.33 to v1.37."""
    for seed in range(4):
        assert len(scored(seed, cluster(configuration, a=nodes))) == wanted


def test_in_every_order_even_zones_are_all_seen() -> None:
    nodes = cluster(a=101, b=100, c=100)
    for seed in range(ORDERS):
        assert min(zones(scored(seed, nodes)).values()) >= 40


def test_in_some_orders_small_zones_are_not_seen() -> None:
    """The scheduler lists one node of each zone, then the next of each: the last ones are all of the largest zone."""
    seen = [zones(scored(seed, cluster(a=281, b=10, c=10))) for seed in range(ORDERS)]
    assert {"a": 144} in seen
    assert any(len(each) == 3 for each in seen)


def test_the_next_pod_is_tried_where_the_search_for_the_one_before_ended() -> None:
    nodes, chance = cluster(a=200), Chance(0)
    first, second = (set(cycle.total_scores(typed_pod(pod("p")), nodes, chance.sample)) for _ in range(2))
    assert (len(first), len(second), first & second) == (100, 100, set())


def test_nodes_that_the_filters_reject_are_looked_at_and_not_scored() -> None:
    nodes = handle([node(f"n-{number:03}", unschedulable=number % 2 == 0) for number in range(260)])
    chance = Chance(0)
    found = cycle.total_scores(typed_pod(pod("p")), nodes, chance.sample)
    assert (len(found), chance.looked) == (124, 248)


def test_where_few_nodes_fit_all_are_scored() -> None:
    nodes, chance = handle([node(f"n-{number:03}", unschedulable=number > 60) for number in range(260)]), Chance(0)
    assert len(cycle.total_scores(typed_pod(pod("p")), nodes, chance.sample)) == 61
    assert (chance.free, chance.sampled) == (False, False)


def test_the_node_where_room_was_made_is_tried_first() -> None:
    waits = pod("p", nodeName="", status={"nominatedNodeName": "a-299"})
    assert scored(0, cluster(a=300), waits) == ("a-299",)


def test_constraints_are_scored_among_the_nodes_that_were_looked_at() -> None:
    """All Pods are on nodes that a scheduler may not come upon: then it sees no difference between the others."""
    full = [pod(f"w-{number}", on=f"n-{number:03}", labels={"app": "web"}) for number in range(30)]
    nodes = handle([*(node(f"n-{number:03}") for number in range(301)), *full])
    web = typed_pod(
        pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread(HOSTNAME, selector=app("web"), soft=True)])
    )
    best = {seed: set(cycle.best_nodes(web, nodes, Chance(seed).sample)) for seed in range(ORDERS)}
    assert len({frozenset(each) for each in best.values()}) > 4
    assert all(int(name[2:]) >= 30 for each in best.values() for name in each)


def test_zones_go_by_their_deprecated_labels_first() -> None:
    old = [node(f"n-{number}", zone="a", labels={BETA_ZONE: f"z{number % 3}"}) for number in range(9)]
    nodes = handle(old).snapshot.nodes
    assert [Chance(seed).choose(tuple(nodes), nodes) for seed in range(4)] == ["n-0", "n-1", "n-2", "n-3"]
    back = handle([node(f"n-{number}", zone="a", labels={BETA_ZONE: f"z{number // 3}"}) for number in range(9)])
    assert [Chance(seed).choose(tuple(nodes), back.snapshot.nodes) for seed in range(4)] == ["n-0", "n-3", "n-6", "n-1"]
