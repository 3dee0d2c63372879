"""The fewest evictions after which constraints hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kubectl_spread.rebalance.plan import MOST_IN_ALL
from kubectl_spread.rebalance.search import Ended
from tests.build import HOSTNAME, ZONE, Object, app, node, spread
from tests.build_storage import claim, volume
from tests.build_workloads import owned, revision, template, workload
from tests.rebalance.lying import BY_ZONE, after, gone, planned, web, zones
from tests.simulation.test_steps import LINUX, two_revisions

BY_HOST = spread(HOSTNAME, selector=app("web"))


@pytest.mark.parametrize(
    ("on", "evicted", "ends"),
    [
        ({"a1": 2, "b1": 1, "c1": 1}, 0, (2, 1, 1)),
        ({"a1": 3, "b1": 1, "c1": 2}, 1, (2, 2, 2)),
        ({"c1": 4}, 2, (1, 1, 2)),
        ({"b1": 1, "c1": 5}, 3, (2, 2, 2)),
    ],
    ids=["as it is", "one", "of one zone alone", "three"],
)
def test_as_few_as_the_counts_ask_for(on: Mapping[str, int], evicted: int, ends: tuple[int, ...]) -> None:
    found = planned([*zones("a", "b", "c"), *web(on)])
    assert len(found.evictions) == evicted
    assert after(found) == [ends]
    assert {each.ended for each in found.outcomes} == {Ended.FOUND_ALL}


def test_a_skew_of_one_more_than_is_allowed_lets_two_domains_share() -> None:
    found = planned([*zones("a", "b", "c", "d"), *web({"b1": 1, "c1": 3, "d1": 3})])
    assert gone(found) == ["web-6", "web-3"]
    assert [outcome.skew for outcome in found.outcomes] == [1]


def test_one_move_serves_two_constraints() -> None:
    found = planned([*zones("a", "b", each=2), *web({"a1": 2}, BY_ZONE, BY_HOST)])
    assert gone(found) == ["web-1"]
    assert after(found) == [(1, 1), (1, 0, 1, 0)]


def test_the_pod_goes_to_any_node_of_the_highest_score() -> None:
    found = planned([*zones("a", "b", each=3), *web({"a1": 2})])
    assert [each.lands for each in found.evictions] == [("b1", "b2", "b3")]


def test_workloads_that_count_each_other_are_balanced_together() -> None:
    found = planned([*zones("a", "b"), *web({"a1": 2}), *web({"a1": 2}, name="api")])
    assert len(found.evictions) == 2
    assert after(found) == [(2, 2), (2, 2)]


@pytest.mark.parametrize(
    ("other", "lands"),
    [(node("a2", zone="a"), ("a2",)), (node("b2", zone="b", taints=["dedicated=api:NoSchedule"]), ("b2",))],
    ids=["in another zone", "in its own"],
)
def test_workloads_that_do_not_count_each_other_make_room_for_one_another(other: Object, lands: Sequence[str]) -> None:
    full = [node(name, zone=name[0], allocatable={"cpu": cpu}) for name, cpu in (("a1", "2"), ("b1", "1"))]
    tolerated = [{"key": "dedicated", "value": "api", "effect": "NoSchedule"}]
    api: Object = {"name": "api", "labels": {"app": "api"}, "tolerations": tolerated, "requests": {"cpu": "1"}}
    bound = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["a1", "b1"]}]}
    web_only = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [bound]}}}
    found = planned(
        [
            *full,
            other,
            *web({"a1": 2}, requests={"cpu": "1"}, affinity=web_only),
            *web({"b1": 1}, spread(ZONE, selector=app("api")), **api),
        ]
    )
    assert gone(found) == ["api-0", "web-1"]
    assert found.evictions[0].lands == lands
    assert [outcome.skew for outcome in found.outcomes] == [1, 0]


@pytest.mark.parametrize(("most_work", "ended"), [(MOST_IN_ALL, Ended.FOUND_ALL), (1, Ended.PLACEMENTS)])
def test_what_others_might_make_room_for_is_known_or_said_not_to_be(most_work: int, ended: Ended) -> None:
    full = node("b1", zone="b", allocatable={"cpu": "1"})
    lonely = web({"b1": 1}, spread(ZONE, selector=app("api")), name="api", labels={"app": "api"})
    found = planned([*zones("a"), full, *lonely, *web({"a1": 2}, requests={"cpu": "2"})], most_work=most_work)
    assert [outcome.ended for outcome in found.outcomes] == [ended, ended]
    assert gone(found) == []


ONE_CPU: dict[str, Any] = {"requests": {"cpu": "1"}}
FULL_A, FULL_B = (node(f"{zone}1", zone=zone, allocatable={"cpu": cpu}) for zone, cpu in (("a", "2"), ("b", "1")))


def waiting(name: str, owner: str, *constraints: Object, **fields: Any) -> Object:  # noqa: ANN401 - as for ``web``
    """Return a Pending Pod of the application that its owner is named for."""
    asked = [*(constraints or (BY_ZONE,))]
    return owned(name, "ReplicaSet", owner, labels={"app": owner}, topologySpreadConstraints=asked, **fields)


def wanting(replicas: int, made: list[Object]) -> list[Object]:
    """Return a workload that wants so many Pods, and its Pods."""
    made[0]["spec"]["replicas"] = replicas
    return made


@pytest.mark.parametrize("owner", ["web", "api"])
def test_no_eviction_takes_the_only_place_of_a_pod_that_waits(owner: str) -> None:
    """The plan begins once that Pod is on its node."""
    bound: Object = {"nodeSelector": {ZONE: "b"}} if owner == "api" else {}
    seat = waiting("seat", owner, spread(ZONE, selector=app(owner)), **ONE_CPU, **bound)
    found = planned([FULL_A, FULL_B, *wanting(3, web({"a1": 2}, **ONE_CPU)), seat])
    assert gone(found) == []
    assert [(pod.metadata.name, on) for pod, on in found.scheduled] == [("seat", "b1")]
    assert after(found) == ([(2, 1)] if owner == "web" else [(1,), (2, 0)])


def test_pods_that_wait_are_placed_before_any_is_evicted() -> None:
    late = [waiting(name, "web") for name in ("first", "second")]
    found = planned([*zones("a", "b"), *wanting(7, web({"a1": 5})), *late])
    assert (gone(found), after(found)) == (["web-4"], [(4, 3)])
    assert [outcome.goal.now for outcome in found.outcomes] == [(5, 0)]


def test_pods_that_wait_are_not_placed_where_nothing_is_violated() -> None:
    assert planned([*zones("a", "b"), *web({"a1": 1}), waiting("first", "web")]).scheduled == ()


@pytest.mark.parametrize(("cpu", "evicted"), [("1", []), ("9", ["api-0", "web-1"])])
def test_no_room_is_made_that_a_pod_that_waits_may_take_first(cpu: str, evicted: Sequence[str]) -> None:
    tolerated = [{"key": "dedicated", "value": "api", "effect": "NoSchedule"}]
    api = web(
        {"b1": 1},
        spread(ZONE, selector=app("api")),
        name="api",
        labels={"app": "api"},
        tolerations=tolerated,
        **ONE_CPU,
    )
    other = node("b2", zone="b", taints=["dedicated=api:NoSchedule"])
    late = waiting("late", "late", nodeSelector={HOSTNAME: "b1"}, requests={"cpu": cpu})
    assert gone(planned([FULL_A, FULL_B, other, *web({"a1": 2}, **ONE_CPU), *api, late])) == evicted


def test_soft_constraints_only_where_they_are_asked_for() -> None:
    objects = [*zones("a", "b"), *web({"a1": 2}, spread(ZONE, selector=app("web"), soft=True))]
    assert planned(objects).outcomes == ()
    assert gone(planned(objects, soft=True)) == ["web-1"]


def test_no_more_than_may_be() -> None:
    found = planned([*zones("a", "b"), *web({"a1": 5})], most=1)
    assert after(found) == [(4, 1)]
    assert found.outcomes[0].ended is Ended.EVICTIONS


def test_where_no_node_is_open_nothing_is_evicted() -> None:
    shut = node("b1", zone="b", taints=["dedicated=gpu:NoSchedule"])
    found = planned([*zones("a"), shut, *web({"a1": 3})])
    assert (gone(found), after(found)) == ([], [(3, 0)])


def test_what_can_be_balanced_in_part_is() -> None:
    shut = node("c1", zone="c", taints=["dedicated=gpu:NoSchedule"])
    found = planned([*zones("a", "b"), shut, *web({"a1": 3})])
    assert (gone(found), after(found)) == (["web-2"], [(2, 1, 0)])


def test_a_pod_that_would_be_left_without_a_node_stays() -> None:
    full = node("b1", zone="b", allocatable={"cpu": "1"})
    found = planned([*zones("a"), full, *web({"a1": 2}, requests={"cpu": "2"})])
    assert gone(found) == []


def test_constraints_that_exclude_each_other_cost_nothing() -> None:
    nodes = [*zones("a"), *zones("b", each=8)]
    found = planned([*nodes, *web({"a1": 2, "b1": 1, "b2": 1}, BY_ZONE, BY_HOST)])
    assert (gone(found), [outcome.skew for outcome in found.outcomes]) == ([], [0, 2])


@pytest.mark.parametrize("owner", ["Job", "DaemonSet"])
def test_pods_of_what_makes_them_differently_stay(owner: str) -> None:
    found = planned([*zones("a", "b"), *web({"a1": 3}, kind=owner)])
    assert gone(found) == []


def test_pods_whose_owner_wants_fewer_stay() -> None:
    _, *pods = web({"a1": 3})
    found = planned([*zones("a", "b"), workload("ReplicaSet", "web", replicas=1), *pods])
    assert gone(found) == []


@pytest.mark.parametrize(("there", "evicted"), [((), ["web-1"]), (("other",), [])], ids=["no kind", "not this one"])
def test_pods_whose_owner_is_gone_stay(there: Sequence[str], evicted: list[str]) -> None:
    """A file without any ReplicaSet may have left them out; one with others has not."""
    _, *pods = web({"a1": 2})
    found = planned([*zones("a", "b"), *(workload("ReplicaSet", name, replicas=1) for name in there), *pods])
    assert gone(found) == evicted


def test_only_the_pods_that_are_asked_about_go() -> None:
    objects = [*zones("a", "b"), *web({"a1": 2}), *web({"a1": 2}, name="api")]
    found = planned(objects, may_go=lambda pod: pod.metadata.name.startswith("api"))
    assert gone(found) == ["api-1", "api-0"]


def test_unready_pods_of_low_priority_go_first() -> None:
    owner, first, *others = web({"a1": 3})
    unready = {**first, "status": {"phase": "Running"}}
    assert gone(planned([*zones("a", "b"), owner, unready, *others])) == ["web-0"]


@pytest.mark.parametrize(("policy", "evicted"), [("OrderedReady", []), ("Parallel", ["web-3"])])
def test_a_stateful_set_that_waits_for_one_of_its_pods_loses_no_other(policy: str, evicted: list[str]) -> None:
    owner, first, *others = web({"b1": 1, "a1": 3}, kind="StatefulSet")
    owner["spec"]["podManagementPolicy"] = policy
    unready = {**first, "status": {"phase": "Running"}}
    assert gone(planned([*zones("a", "b"), owner, unready, *others])) == evicted


@pytest.mark.parametrize(("kind", "evicted"), [("StatefulSet", 0), ("ReplicaSet", 1)])
def test_a_node_that_does_not_answer_keeps_its_pods_of_a_stateful_set(kind: str, evicted: int) -> None:
    """They stay, being deleted, and only then does another of their name come."""
    nodes = zones("a", "b")
    nodes[0]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    nodes[0]["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    assert len(planned([*nodes, *web({"a1": 2}, kind=kind)]).evictions) == evicted


@pytest.mark.parametrize(("modes", "evicted"), [(["ReadWriteOnce"], []), (["ReadWriteMany"], ["web-1"])])
def test_pods_that_share_a_volume_of_one_node_stay(modes: Sequence[str], evicted: list[str]) -> None:
    """Elsewhere the Pod would wait until the last of the others lets the volume go."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = [
        *zones("a", "b"),
        claim("data", modes=modes, bound_to="disk"),
        volume("disk", kept_for={"name": "data"}, modes=modes),
    ]
    assert gone(planned([*objects, *web({"a1": 2}, volumes=volumes)])) == evicted


@pytest.mark.parametrize(("old", "new"), [("abc", "aaa"), ("aaa", "abc"), ("aaa", "aaa")])
def test_each_revision_of_a_workload_is_balanced(old: str, new: str) -> None:
    on = ([f"{zone}{at}" for zone, at in zip(each, "121", strict=True)] for each in (old, new))
    found = planned([*LINUX, *two_revisions(*on, paused=True)])
    assert sorted(each.goal.revision for each in found.outcomes) == ["h1", "h2"]
    assert after(found) == [(1, 1, 1)] * 2
    assert len(found.evictions) == 2 * (old, new).count("aaa")


@pytest.mark.parametrize(("wanted", "evicted"), [({"disk": "ssd"}, 1), ({HOSTNAME: "b1"}, 0)])
def test_the_pods_of_an_older_revision_are_balanced_if_no_node_takes_the_next_pod(
    wanted: Mapping[str, str], evicted: int
) -> None:
    both = [template(BY_ZONE), template(BY_ZONE, nodeSelector=wanted)]
    sets = [revision("web", at, pods=each) for at, each in enumerate(both)]
    sets[0]["spec"]["replicas"] = 3
    labels = {"app": "web", "pod-template-hash": "h0"}
    old = [owned(f"web-{n}", "ReplicaSet", "web-h0", on="a1", labels=labels, **both[0]["spec"]) for n in range(3)]
    found = planned([*LINUX[:4], workload("Deployment", "web", pods=both[1], replicas=3), *sets, *old])
    assert len(found.evictions) == evicted


@pytest.mark.parametrize(("newest", "evicted"), [("web-1", 1), ("web-2", 0)])
def test_no_pod_is_evicted_while_a_rollout_goes_on(newest: str, evicted: int) -> None:
    """It deletes the Pods of the older revision, and the scheduler places the new ones where there are few."""
    made, *living = web({"a1": 3}, kind="StatefulSet")
    for each in living:
        each["metadata"]["labels"] = {"app": "web", "controller-revision-hash": "web-1"}
    made["status"] = {"currentRevision": "web-1", "updateRevision": newest}
    found = planned([*zones("a", "b"), made, *living])
    assert len(found.evictions) == evicted


def test_a_revision_below_the_partition_is_balanced() -> None:
    by_revision = spread(ZONE, selector=app("web"), matchLabelKeys=["controller-revision-hash"])
    made, *living = web({"a1": 3, "b1": 1, "c1": 1, "a2": 1}, by_revision, kind="StatefulSet")
    for at, each in enumerate(living):
        each["metadata"]["labels"] = {"app": "web", "controller-revision-hash": "web-1" if at < 3 else "web-2"}
    made["spec"]["updateStrategy"] = {"rollingUpdate": {"partition": 3}}
    made["status"] = {"currentRevision": "web-1", "updateRevision": "web-2"}
    found = planned([*zones("a", "b", "c", each=2), made, *living])
    assert {each.goal.revision: each.after for each in found.outcomes} == {"web-1": (1, 1, 1), "web-2": (1, 1, 1)}
    assert gone(found) == ["web-2", "web-1"]
