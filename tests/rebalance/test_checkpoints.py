"""What has to hold between the evictions of a plan."""

from __future__ import annotations

from kubectl_spread.rebalance.checkpoints import Checkpoints, checkpoints
from tests.build import ZONE, Object, app, handle, node, spread
from tests.rebalance.lying import planned, web, zones


def of(cluster: list[Object]) -> Checkpoints:
    """Return what has to hold while a cluster is balanced."""
    return checkpoints(planned(cluster), handle(cluster).snapshot)


def test_the_counts_after_each_eviction_where_they_differ_from_the_start() -> None:
    (counted,) = of([*zones("a", "b", "c"), *web({"a1": 3, "b1": 3})]).counted
    assert (counted.start, counted.place) == ({"a": 3, "b": 3, "c": 0}, {"a1": "a", "b1": "b", "c1": "c"})
    assert counted.ends == ({"b": (2, 2), "c": (1, 1)}, {"a": (2, 2), "b": (2, 2), "c": (2, 2)})


def test_a_pod_that_may_land_in_several_domains_is_counted_in_one_of_them() -> None:
    (counted,) = of(
        [*zones("a", "b", "c"), *web({"a1": 3, "b1": 1, "c1": 1}, spread(ZONE, selector=app("web")))]
    ).counted
    assert counted.ends == ({"a": (2, 2), "b": (1, 2), "c": (1, 2)},)


def test_a_constraint_that_the_plan_does_not_change_is_not_counted() -> None:
    other = web({"a1": 1, "b1": 1}, spread(ZONE, selector=app("api")), name="api", labels={"app": "api"})
    found = of([*zones("a", "b"), *web({"a1": 2}), *other])
    assert [str(each.selector) for each in found.counted] == ["app=web"]


def test_workloads_that_count_the_same_are_counted_once() -> None:
    shared = spread(ZONE, selector=app("web"))
    found = of([*zones("a", "b"), *web({"a1": 2}, shared), *web({"a1": 1}, shared, name="api")])
    assert len(found.counted) == 1


def test_as_many_pods_of_the_controller_are_ready_as_before_and_those_that_replace_others() -> None:
    owner, first, second, *others = web({"a1": 4})
    unready = [{**each, "status": {"phase": "Running"}} for each in (first, second)]
    found = of([*zones("a", "b"), node("c1", zone="c"), owner, *unready, *others]).awaited
    assert [(each.controller, each.ready) for each in found] == [(("ReplicaSet", "web"), 3), (("ReplicaSet", "web"), 4)]
    assert {each.apart_from for each in found} == {("default/web-0", "default/web-1")}
