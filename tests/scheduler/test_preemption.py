"""Whom the scheduler would evict for a Pod that fits nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_spread.scheduler.cycle import evaluate
from kubectl_spread.scheduler.preemption import MIN_CANDIDATE_NODES, Preemption, preempt
from kubectl_spread.scheduler.profile import default_profile
from tests import build
from tests.build import Object, app, configured_profile, node, object_of

WEB = {"app": "web"}
EVICTED = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}


def there(name: str, on: str, *, priority: int = 0, cpu: str = "2", started: str = "", **fields: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return a Pod on a node."""
    status = {"startTime": f"2026-01-01T{started}Z"} if started else {}
    return build.pod(name, on=on, requests={"cpu": cpu}, priority=priority, status=status, **fields)


def budget(allowed: int, selector: Object | None = None, *, going: Sequence[str] = ()) -> Object:
    """Return a budget of the application's Pods."""
    return object_of(
        "PodDisruptionBudget",
        f"budget-{allowed}-{len(going)}",
        spec={"selector": app("web") if selector is None else selector},
        status={"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(going, "2026-01-01T00:00:00Z")},
    )


def found(
    objects: Sequence[Object],
    config: Object | None = None,
    minor: int = 36,
    **incoming: Any,  # noqa: ANN401 - any field, by the API's name
) -> Preemption | None:
    """Return what evictions would do for a Pod of priority 10 that asks for four cores."""
    profile = configured_profile(config, minor=minor) if config else default_profile(minor)
    handle = build.handle(objects, profile)
    asked: dict[str, Any] = {"requests": {"cpu": "4"}, "priority": 10, **incoming}
    return preempt(evaluate(build.typed_pod(build.pod("new", **asked), profile), handle), handle)


def victims(preemption: Preemption | None) -> list[str]:
    """Return the names of those to be evicted."""
    assert preemption is not None
    return [pod.metadata.name for pod in preemption.best[0].victims]


def chosen(preemption: Preemption | None) -> list[str]:
    """Return the nodes that are equally good."""
    assert preemption is not None
    return [candidate.node_name for candidate in preemption.best]


def test_only_as_many_go_as_must_the_least_important_and_the_youngest() -> None:
    pods = [
        there("important", "a", priority=5),
        there("old", "a", started="01:00:00"),
        there("young", "a", started="02:00:00"),
        there("newborn", "a"),
    ]
    assert victims(found([node("a"), *pods])) == ["young", "newborn"]


@pytest.mark.parametrize("point", ["multiPoint", "postFilter"])
def test_a_profile_may_evict_nobody(point: str) -> None:
    plugins = {point: {"disabled": [{"name": "DefaultPreemption"}]}}
    assert found([node("a"), there("low", "a", cpu="8")], {"profiles": [{"plugins": plugins}]}) is None


def test_nobody_is_evicted_while_earlier_victims_are_leaving() -> None:
    leaving = build.pod("leaving", on="a", requests={"cpu": "8"}, priority=0, terminating=True, status=EVICTED)
    nominated: dict[str, Any] = {"status": {"nominatedNodeName": "a"}}
    assert found([node("a"), node("b"), leaving, there("low", "b", cpu="8")], **nominated) is None
    hopeless = node("a", taints=["dedicated=batch:NoSchedule"])
    assert chosen(found([hopeless, node("b"), leaving, there("low", "b", cpu="8")], **nominated)) == ["b"]


@pytest.mark.parametrize(
    ("here", "worse"),
    [
        ([there("x", "a", cpu="8")], [there("y", "b", cpu="8", labels=WEB)]),
        ([there("x", "a", cpu="8")], [there("y", "b", cpu="8", priority=1)]),
        ([there("x", "a", cpu="8")], [there("y", "b", cpu="5"), there("z", "b", cpu="5", priority=-9)]),
        ([there("x", "a", cpu="8")], [there("y", "b", cpu="5"), there("z", "b", cpu="5", priority=-(2**31))]),
        ([there("x", "a", cpu="8", started="02:00:00")], [there("y", "b", cpu="8", started="01:00:00")]),
    ],
    ids=["budget", "highest priority", "sum of priorities", "fewer", "later start"],
)
def test_the_node_that_costs_least_is_chosen(here: list[Object], worse: list[Object]) -> None:
    preemption = found([node("a"), node("b"), budget(0), *here, *worse])
    assert chosen(preemption) == ["a"]
    assert preemption is not None
    assert len(preemption.others) <= 1


def test_equals_are_all_named() -> None:
    pods = [there("x", "a", cpu="8", started="01:00:00"), there("y", "b", cpu="8", started="01:00:00")]
    assert chosen(found([node("a"), node("b"), *pods])) == ["a", "b"]


def test_protected_pods_are_spared_before_the_important_ones() -> None:
    pods = [there("protected", "a", cpu="4", labels=WEB), there("important", "a", cpu="4", priority=5)]
    assert victims(found([node("a"), budget(0), *pods])) == ["important"]
    assert victims(found([node("a"), budget(1), *pods])) == ["protected"]
    assert victims(found([node("a"), budget(0, going=["protected"]), *pods])) == ["protected"]
    assert victims(found([node("a"), budget(0, {}), *pods])) == ["protected"]
    unreadable = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
    assert victims(found([node("a"), budget(0, unreadable), *pods])) == ["protected"]


def test_since_1_37_the_first_broken_budget_decides() -> None:
    both = {"app": "web", "tier": "front"}
    front = budget(1, {"matchLabels": {"tier": "front"}})
    pods = [
        there("both", "a", cpu="4", labels=both, started="01:00:00"),
        there("front", "a", cpu="4", labels={"tier": "front"}, started="02:00:00", priority=0),
    ]
    for minor, violations in ((36, 1), (37, 0)):
        preemption = found([node("a"), budget(0), front, *pods], minor=minor, requests={"cpu": "8"})
        assert preemption is not None
        assert preemption.best[0].violations == 1 + violations


def test_of_two_pods_bound_with_the_same_port_the_first_to_go_frees_it() -> None:
    pods = [there("high", "a", priority=10, host_ports=["80"]), there("low", "a", host_ports=["80"])]
    assert victims(found([node("a"), *pods], host_ports=["80"])) == ["low"]


def test_of_many_nodes_only_some_are_tried() -> None:
    names = [f"n{number:03}" for number in range(MIN_CANDIDATE_NODES + 5)]
    objects = [made for name in names for made in (node(name), there(f"on-{name}", name, cpu="8"))]
    preemption = found(objects)
    assert preemption is not None
    assert preemption.sampled
    assert len(preemption.best) == MIN_CANDIDATE_NODES
