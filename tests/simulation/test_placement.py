"""Replicas placed one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.controllers.replicas import replica
from kubectl_spread.controllers.rollout_plan import PlannedPod, RolloutPlan
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import DaemonSet, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.simulation.placement import (
    SEEDS,
    DomainRange,
    Jam,
    Placed,
    PlacementOutcomes,
    count_placed,
    place,
    place_daemon,
    place_in_all_orders,
    seeded,
    with_claims,
    without,
)
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, pod, spread, typed_pod
from tests.build_storage import claim, storage_class, volume
from tests.build_workloads import template, workload
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, web
from tests.naming import in_order

SIX = tuple(node(f"{zone}{number}", zone=zone) for zone in "abc" for number in "12")
"""Six nodes in three zones."""


def plan(described: Object, replicas: int) -> RolloutPlan:
    """Return a plan of so many replicas, none of which is there."""
    made = typed_pod(described)
    return RolloutPlan(tuple(PlannedPod(replica(None, made, number)) for number in range(1, replicas + 1)))


def outcomes(described: Object, objects: Sequence[Object], replicas: int) -> PlacementOutcomes:
    """Return where the replicas go in each order of breaking ties."""
    return place_in_all_orders(plan(described, replicas), handle(objects))


def placed(described: Object, objects: Sequence[Object], replicas: int) -> Placed:
    """Return where the replicas go, ties broken by name."""
    return outcomes(described, objects, replicas).first


def daemon(described: Object, objects: Sequence[Object], *, old: Sequence[Object] = ()) -> Placed:
    """Return where a DaemonSet's Pods go."""
    made = RolloutPlan(old=tuple(convert(each, Pod) for each in old))
    return place_daemon(DaemonSet(), typed_pod(described), made, handle(objects))


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
    assert held == {"new-00001", "new-00002", "new-00003"}


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
    found = daemon(pod("agent", nodeSelector={HOSTNAME: "a"}), nodes)
    assert nodes_of(found) == ["a"]
    tolerant = [{"operator": "Exists"}]
    everywhere = daemon(pod("agent", tolerations=tolerant), nodes)
    assert sorted(nodes_of(everywhere)) == ["a", "b", "c", "d"]


ALONE: Object = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOSTNAME, "labelSelector": app("web")}]
    }
}
"""At most one Pod of the application web on a node."""
UNLIKE: Sequence[Object] = (
    {},
    {"affinity": ALONE},
    {"topologySpreadConstraints": [spread(HOSTNAME, selector=app("web"))]},
)
"""What makes replicas of a DaemonSet independent of each other, and what does not."""


@pytest.mark.parametrize("fields", UNLIKE, ids=in_order)
def test_a_daemon_without_room_on_a_node_goes_to_all_others(fields: Object) -> None:
    hogs = [pod(f"hog-{name}", on=name, requests={"cpu": "8"}) for name in "bd"]
    agent = pod("agent", labels={"app": "web"}, requests={"cpu": "1"}, **fields)
    found = daemon(agent, [*map(node, "abcd"), *hogs])
    assert [(each.replica, each.node) for each in found.placements] == [(1, "a"), (3, "c")]
    assert found.jam is not None
    assert (found.jam.replica, found.jam.nodes) == (2, ("b", "d"))
    assert found.jam.message
    assert "1 Insufficient cpu" in found.jam.message
    assert {name for name, pods in found.handle.snapshot.assigned.items() if len(pods) == 1} == set("abcd")


def test_daemons_that_affect_each_other_are_placed_one_after_another() -> None:
    zones = [node(name, zone="z") for name in "ab"]
    near = {"topologyKey": ZONE, "labelSelector": app("web")}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    found = daemon(pod("agent", labels={"app": "web"}, affinity=apart), zones)
    assert nodes_of(found) == ["a"]
    assert found.jam is not None
    assert found.jam.nodes == ("b",)


def test_the_cost_of_a_daemon_that_affects_no_other_is_one_look_at_each_node() -> None:
    looked = Mock(wraps=cycle.evaluate)
    nodes = handle([node(f"n{number}") for number in range(50)])
    found = place_daemon(DaemonSet(), typed_pod(pod("agent")), RolloutPlan(), nodes, evaluate=looked)
    assert (len(found.placements), looked.call_count) == (50, 1)


def test_the_old_pod_of_a_daemon_makes_room_for_the_new_one() -> None:
    old = pod("old", on="a", requests={"cpu": "8"})
    assert daemon(pod("agent", requests={"cpu": "1"}), [node("a"), old]).jam is not None
    assert daemon(pod("agent", requests={"cpu": "1"}), [node("a"), old], old=[old]).jam is None


def test_a_node_whose_pod_stays_gets_no_other() -> None:
    staying = RolloutPlan(staying=(convert(pod("there", on="a"), Pod),))
    found = place_daemon(DaemonSet(), typed_pod(pod("agent")), staying, handle([node("a"), node("b")]))
    assert nodes_of(found) == ["b"]


def test_daemons_have_claims_of_their_own() -> None:
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "made"}}}}
    found = daemon(pod("agent", volumes=[scratch]), [node("a"), node("b"), storage_class("made")])
    assert nodes_of(found) == ["a", "b"]
    assert len(list(found.handle.snapshot.all(PersistentVolumeClaim))) == 2


def test_one_order_is_enough_where_nothing_ties() -> None:
    objects = [node("a"), node("b"), pod("big", on="a", requests={"cpu": "4"})]
    found = outcomes(pod("p", requests={"cpu": "1"}), objects, 1)
    assert found.others == ()
    assert found.ranges(typed_pod(pod("p"))) == ()


def test_ties_are_broken_in_further_orders() -> None:
    found = outcomes(incoming(), SIX, 2)
    assert len(found.all) == 1 + SEEDS
    assert len({tuple(nodes_of(each)) for each in found.all}) > 1
    assert [each.placements for each in found.all] == [each.placements for each in outcomes(incoming(), SIX, 2).all]


def test_each_seed_has_an_order_of_its_own_and_the_same_each_time() -> None:
    names = [node["metadata"]["name"] for node in SIX]
    orders = [sorted(names, key=seeded(seed)) for seed in range(1, 1 + SEEDS)]
    assert orders == [sorted(names, key=seeded(seed)) for seed in range(1, 1 + SEEDS)]
    assert len({tuple(order) for order in orders}) == SEEDS
    assert len({order[0] for order in orders}) > 2


def test_what_depends_on_luck_is_told_as_a_range() -> None:
    """Zones are even in every order; which of its nodes a zone uses is chance."""
    web_on_zones = incoming(spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web"), soft=True))
    found = outcomes(web_on_zones, SIX, 3)
    assert found.jam is None
    ranges = found.ranges(typed_pod(web_on_zones))
    assert {each.constraint for each in ranges} == {1}
    assert all((each.minimum, each.maximum) == (0, 1) for each in ranges)
    assert DomainRange(constraint=1, value="a1", minimum=0, maximum=1) in ranges


def test_where_it_jams_may_depend_on_luck() -> None:
    """A first replica on a1 fills zone a and rack 1 alike, and b1, the only other zone, lies in rack 1 too."""
    places = {"a1": ("a", "1"), "a2": ("a", "2"), "b1": ("b", "1")}
    nodes = [node(name, zone=zone, labels={"rack": rack}) for name, (zone, rack) in places.items()]
    found = outcomes(incoming(spread(ZONE, selector=app("web")), spread("rack", selector=app("web"))), nodes, 9)
    jams = [each.jam.replica for each in found.all if each.jam]
    assert found.jam is not None
    assert (found.jam.replica, jams[0]) == (2, 2)
    assert len(jams) == len(found.all)
    assert found.jam.replica_max == max(jams) > 2


def test_with_luck_there_is_no_jam_at_all() -> None:
    places = {"a1": ("a", "1"), "a2": ("a", "2"), "b1": ("b", "1")}
    nodes = [node(name, zone=zone, labels={"rack": rack}) for name, (zone, rack) in places.items()]
    found = outcomes(incoming(spread(ZONE, selector=app("web")), spread("rack", selector=app("web"))), nodes, 2)
    assert None in {each.jam for each in found.all}
    assert found.jam is not None
    assert (found.jam.replica, found.jam.replica_max) == (2, None)


def test_no_further_order_is_begun_once_enough_was_looked_at() -> None:
    found = place_in_all_orders(plan(incoming(), 3), handle(SIX), most_verdicts=20)
    assert 1 < len(found.all) < 1 + SEEDS


def test_equal_states_are_judged_once() -> None:
    looked = Mock(wraps=cycle.best_nodes)
    nodes = handle([node("a", zone="a"), node("b", zone="b")])
    place_in_all_orders(plan(incoming(), 4), nodes, best=looked)
    # Before the first replica, and before the third; before the second and fourth either node may hold one more.
    assert looked.call_count == 6


def test_replicas_with_claims_of_their_own_are_no_equal_states() -> None:
    """Each takes a volume that only one node can use."""
    disk = [
        volume("disk-a", class_name="local", usable_on={HOSTNAME: ["a"]}),
        volume("disk-b", class_name="local", usable_on={HOSTNAME: ["b"]}),
    ]
    local = storage_class("local", provisioner="kubernetes.io/no-provisioner")
    owner = convert(
        workload(
            "StatefulSet",
            "db",
            pods=template(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "?"}}]),
            volumeClaimTemplates=[claim("data", class_name="local")],
        ),
        StatefulSet,
    )
    made = typed_pod(pod("db", labels={"app": "web"}))
    pods = [replica(owner, made, number) for number in (1, 2, 3)]
    cluster = with_claims(pods, owner, handle([node("a"), node("b"), *disk, local]))
    found = place_in_all_orders(RolloutPlan(tuple(PlannedPod(each) for each in pods)), cluster)
    for each in found.all:
        assert set(nodes_of(each)) == {"a", "b"}
        assert each.jam is not None
        assert (each.jam.replica, "didn't find available persistent volumes" in (each.jam.message or "")) == (3, True)


def test_old_pods_go_as_the_plan_says() -> None:
    old = [convert(pod(f"old-{number}", on="a", requests={"cpu": "4"}), Pod) for number in (1, 2)]
    cluster = [node("a"), *(pod(f"old-{number}", on="a", requests={"cpu": "4"}) for number in (1, 2))]
    new = [typed_pod(pod(f"new-{number}", requests={"cpu": "4"})) for number in (1, 2)]
    stuck = RolloutPlan((PlannedPod(new[0]),), tuple(old))
    assert place_in_all_orders(stuck, handle(cluster)).jam is not None
    rolling = RolloutPlan((PlannedPod(new[0], gone=1), PlannedPod(new[1], gone=2)), tuple(old))
    found = place_in_all_orders(rolling, handle(cluster))
    assert nodes_of(found.first) == ["a", "a"]
    left = [each.metadata.name for each in found.first.handle.snapshot.assigned["a"]]
    assert left == ["new-1", "new-2"]


def test_replicas_are_numbered_behind_those_that_stay() -> None:
    staying = tuple(convert(pod(name, on=on), Pod) for name, on in (("x", "a"), ("y", "b"), ("waits", "")))
    made = RolloutPlan((PlannedPod(typed_pod(pod("new"))),), staying=staying)
    assert [each.replica for each in place_in_all_orders(made, handle(ABC)).first.placements] == [3]


def test_pods_without_a_node_are_gone_without_a_trace() -> None:
    cluster = handle(ABC)
    assert without([convert(pod("waits"), Pod), convert(pod("lost", on="nowhere"), Pod)], cluster) is cluster


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_pod_that_excludes_its_like_goes_once(replicas: int) -> None:
    found = placed(pod("p", labels={"app": "web"}, affinity=ALONE), [node("a")], replicas)
    assert nodes_of(found) == ["a"]
    assert (found.jam is None) == (replicas == 1)


def test_a_pod_goes_to_the_node_where_the_scheduler_has_made_room() -> None:
    waits: Object = pod("p")
    waits["status"] = {"phase": "Pending", "nominatedNodeName": "b1"}
    binding = place(typed_pod(waits), handle(ABC))
    assert binding is not None
    assert (binding.node, binding.ties) == ("b1", ())
    assert [each.key for each in binding.handle.snapshot.assigned["b1"]] == [("default", "p")]


def test_pods_that_share_a_claim_go_where_its_volume_is_bound_for_the_first() -> None:
    described = pod(
        "p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}], requests={"cpu": "8"}
    )
    local = [volume(f"disk-{name}", class_name="local", usable_on={HOSTNAME: [name]}) for name in "ab"]
    objects = [claim("data", class_name="local"), storage_class("local", provisioner="kubernetes.io/no-provisioner")]
    nodes = [node("a"), node("b")]
    pods = [replica(None, typed_pod(described), number) for number in (1, 2)]
    assert count_placed(pods, handle([*nodes, *objects, *local])) == 1
    assert (
        count_placed([replica(None, typed_pod(pod("p", requests={"cpu": "8"})), n) for n in (1, 2)], handle(nodes)) == 2
    )
