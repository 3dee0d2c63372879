"""Where the Pods of manifests go once these are applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from kubectl_spread.controllers.replicas import first_pod, replicas_of
from kubectl_spread.controllers.rollout_plan import DesiredWorkload
from kubectl_spread.controllers.workloads import PodName, WorkloadRef
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.applied import AppliedOutcomes, AppliedWorkload, applied
from kubectl_spread.simulation.chance import ORDERS
from kubectl_spread.simulation.placement import DomainRange, Jam
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, pod, spread, typed_pod
from tests.build_storage import storage_class
from tests.build_workloads import owned, template, workload
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, web
from tests.naming import in_order

SIX = tuple(node(f"{zone}{number}", zone=zone) for zone in "abc" for number in "12")  # Six nodes in three zones


def outcomes(described: Object, objects: Sequence[Object], replicas: int) -> AppliedOutcomes:
    """Return where replicas of a Pod go in each order of chance."""
    made = typed_pod(described)
    wanted = DesiredWorkload(WorkloadRef(kind="Pod", name=made.metadata.name), None, made, replicas)
    pods = [wanted.replica(number) for number in range(1, replicas + 1)]
    (found,) = applied([wanted], pods, Handles(handle(objects)), stored={})
    return found


def placed(described: Object, objects: Sequence[Object], replicas: int) -> AppliedWorkload:
    """Return where the replicas go in the order of names."""
    return outcomes(described, objects, replicas).first


def daemons(pods: Object, objects: Sequence[Object]) -> AppliedOutcomes:
    cluster = handle(objects)
    owner = convert(workload("DaemonSet", "agent", pods=pods), DaemonSet)
    ref = WorkloadRef(kind="DaemonSet", name="agent")
    wanted = DesiredWorkload(ref, owner, first_pod(owner, cluster.snapshot), replicas_of(owner))
    (found,) = applied([wanted], [owner], Handles(cluster), stored={})
    return found


@pytest.mark.parametrize(("app_of_other", "found"), [("cache", ["a1"]), ("other", [])])
def test_a_waiting_pod_that_affinity_requires_is_tried_too(app_of_other: str, found: list[str]) -> None:
    term = {"labelSelector": app("cache"), "topologyKey": ZONE}
    described = pod("web", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    waiting = pod("w", labels={"app": app_of_other}, status={"phase": "Pending"})
    assert nodes_of(placed(described, [node("a1", zone="a"), waiting], 1)) == found


@pytest.mark.parametrize(("cpu", "beside"), [("5", False), ("3", True)])
def test_what_has_to_end_first_is_known(cpu: str, *, beside: bool) -> None:
    ending = pod("old", on="a1", requests={"cpu": "5"})
    ending["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30}
    (found,) = placed(pod("web", requests={"cpu": cpu}), [node("a1", allocatable={"cpu": "8"}), ending], 1).placements
    assert found.once_gone == (UNSET if beside else (PodName(namespace="default", name="old"),))


def nodes_of(found: AppliedWorkload) -> list[str]:
    """Return where each replica went."""
    return [placement.node for placement in found.placements]


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


def test_a_daemon_goes_to_every_node_its_affinity_name_and_taints_allow() -> None:
    nodes = [node("a"), node("b", taints=[GPU]), node("c", unschedulable=True), node("d", labels={"os": "windows"})]
    found = daemons(template(nodeSelector={HOSTNAME: "a"}), nodes).first
    assert nodes_of(found) == ["a"]
    everywhere = daemons(template(tolerations=[{"operator": "Exists"}]), nodes).first
    assert sorted(nodes_of(everywhere)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("fields", UNLIKE, ids=in_order)
def test_a_daemon_without_room_on_a_node_goes_to_all_others(fields: Object) -> None:
    hogs = [pod(f"hog-{name}", on=name, requests={"cpu": "8"}) for name in "bd"]
    pods = template(requests={"cpu": "1"})
    pods["spec"] |= fields
    found = daemons(pods, [*map(node, "abcd"), *hogs]).first
    assert sorted(nodes_of(found)) == ["a", "c"]
    assert found.jam is not None
    assert (found.jam.replica, sorted(found.jam.nodes)) == (3, ["b", "d"])
    assert "1 Insufficient cpu" in (found.jam.message or "")


def test_daemons_that_affect_each_other_are_placed_one_after_another() -> None:
    zones = [node(name, zone="z") for name in "ab"]
    near = {"topologyKey": ZONE, "labelSelector": app("web")}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    found = daemons(template(affinity=apart), zones).first
    assert nodes_of(found) == ["a"]
    assert found.jam is not None
    assert found.jam.nodes == ("b",)


def test_a_node_whose_pod_stays_gets_no_other() -> None:
    live = [workload("DaemonSet", "agent"), owned("there", "DaemonSet", "agent", on="a")]
    assert nodes_of(daemons(template(), [node("a"), node("b"), *live]).first) == ["b"]


def test_daemons_have_claims_of_their_own() -> None:
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "made"}}}}
    found = daemons(template(volumes=[scratch]), [node("a"), node("b"), storage_class("made")]).first
    assert sorted(nodes_of(found)) == ["a", "b"]
    assert len(list(found.handle.snapshot.all(PersistentVolumeClaim))) == 2


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


def test_one_order_is_enough_where_nothing_ties() -> None:
    objects = [node("a"), node("b"), pod("big", on="a", requests={"cpu": "4"})]
    found = outcomes(pod("p", requests={"cpu": "1"}), objects, 1)
    assert len(found.orders) == 1
    assert not [*found.ranges(typed_pod(pod("p")))]


def test_ties_are_broken_in_further_orders() -> None:
    found = outcomes(incoming(), SIX, 2)
    assert len(found.orders) == ORDERS
    assert len({tuple(nodes_of(each)) for each in found.orders}) > 1
    assert [each.placements for each in found.orders] == [
        each.placements for each in outcomes(incoming(), SIX, 2).orders
    ]


def test_what_depends_on_luck_is_told_as_a_range() -> None:
    """Zones are even in every order; which of its nodes a zone uses is chance."""
    web_on_zones = incoming(spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web"), soft=True))
    found = outcomes(web_on_zones, SIX, 3)
    assert found.jam is None
    ranges = [*found.ranges(typed_pod(web_on_zones))]
    assert {each.constraint for each in ranges} == {1}
    assert all((each.minimum, each.maximum) == (0, 1) for each in ranges)
    assert DomainRange(constraint=1, value="a1", minimum=0, maximum=1) in ranges


def test_where_it_jams_may_depend_on_luck() -> None:
    """A first replica on a1 fills zone a and rack 1 alike, and b1, the only other zone, lies in rack 1 too."""
    places = {"a1": ("a", "1"), "a2": ("a", "2"), "b1": ("b", "1")}
    nodes = [node(name, zone=zone, labels={"rack": rack}) for name, (zone, rack) in places.items()]
    found = outcomes(incoming(spread(ZONE, selector=app("web")), spread("rack", selector=app("web"))), nodes, 9)
    jams = [each.jam.replica for each in found.orders if each.jam]
    assert found.jam is not None
    assert (found.jam.replica, jams[0]) == (2, 2)
    assert len(jams) == len(found.orders)
    assert found.jam.replica_max == max(jams) > 2


def test_with_luck_there_is_no_jam_at_all() -> None:
    places = {"a1": ("a", "1"), "a2": ("a", "2"), "b1": ("b", "1")}
    nodes = [node(name, zone=zone, labels={"rack": rack}) for name, (zone, rack) in places.items()]
    found = outcomes(incoming(spread(ZONE, selector=app("web")), spread("rack", selector=app("web"))), nodes, 2)
    assert None in {each.jam for each in found.orders}
    assert found.jam is not None
    assert (found.jam.replica, found.jam.replica_max) == (2, None)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_pod_that_excludes_its_like_goes_once(replicas: int) -> None:
    found = placed(pod("p", labels={"app": "web"}, affinity=ALONE), [node("a")], replicas)
    assert nodes_of(found) == ["a"]
    assert (found.jam is None) == (replicas == 1)


def test_only_orders_in_which_a_constraint_counts_a_domain_have_a_number_for_it() -> None:
    """Default constraints need the ReplicaSet of the Pod, and some orders delete it."""
    replicas = workload("ReplicaSet", "web", pods=template())
    both = [
        AppliedWorkload(handle=handle([*SIX, owned("p", "ReplicaSet", "web", on="a1"), *sets]))
        for sets in ([replicas], [])
    ]
    assert not [*AppliedOutcomes(tuple(both)).ranges(typed_pod(owned("p2", "ReplicaSet", "web")))]
