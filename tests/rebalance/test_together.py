"""Evictions at the same time, where one after another does not help.

``python -m tests.soak together`` asks kube-scheduler about many more clusters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import pytest

from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict, verdict_of
from kubectl_spread.rebalance import plan as planning
from kubectl_spread.rebalance.checkpoints import checkpoints
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, snapshot, spread
from tests.rebalance.brute_force import cluster, excess, restoring_at_once
from tests.rebalance.lying import after, gone, planned, web, zones
from tests.simulation.test_steps import deployment

BY_BOTH = spread(ZONE, selector=app("web"), maxSkew=2), spread(HOSTNAME, selector=app("web"))
TWO = [*zones("a"), *zones("b", each=3), *web({"a1": 1, "b1": 3, "b2": 1}, *BY_BOTH)]
"""No node of zone b takes a Pod while b1 has three, and b3 none; zone a takes none while a1 has more than b3."""
EACH_ONE = [
    *zones("a", each=2),
    *zones("b"),
    *web({"a1": 4}, spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web"))),
]


def budget(allowed: int) -> Object:
    """Return a PodDisruptionBudget that allows so many evictions at once."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": app("web"), "maxUnavailable": allowed},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 5, "desiredHealthy": 5 - allowed},
    }


def test_two_leave_at_once_where_the_first_waits_for_the_second() -> None:
    found = planned(TWO)
    assert (gone(found), [each.step for each in found.evictions]) == (["web-3", "web-2"], [1, 1])
    assert after(found) == [(2, 3), (1, 1, 2, 1)] or after(found) == [(2, 3), (2, 1, 1, 1)]
    assert [outcome.skew for outcome in found.outcomes] == [1, 1]


def test_single_evictions_come_first_so_that_fewer_are_missing_at_once() -> None:
    found = planned(EACH_ONE)
    assert [each.step for each in found.evictions] == [0, 1, 1]
    assert after(found) == [(2, 2), (1, 1, 2)]


@pytest.mark.parametrize(("allowed", "evictions"), [(1, 0), (2, 2)])
def test_budgets_must_allow_all_at_once(allowed: int, evictions: int) -> None:
    found = planned([*TWO, budget(allowed)])
    assert len(found.evictions) == evictions
    verdict = RebalanceVerdict.PLANNED if evictions else RebalanceVerdict.IMPOSSIBLE
    assert {verdict_of(outcome) for outcome in found.outcomes} == {verdict}


@pytest.mark.parametrize(("policy", "evictions"), [("Parallel", 2), ("OrderedReady", 2)])
def test_a_stateful_set_makes_its_pods_again_in_its_order(policy: str, evictions: int) -> None:
    owner, *pods = web({"a1": 1, "b1": 3, "b2": 1}, *BY_BOTH, kind="StatefulSet")
    owner["spec"]["podManagementPolicy"] = policy
    assert len(planned([*zones("a"), *zones("b", each=3), owner, *pods]).evictions) == evictions


@pytest.mark.parametrize(("most", "verdict"), [(0, "Partial"), (1, "Partial"), (2, "Planned")])
def test_a_limit_is_never_why_nothing_helps(most: int, verdict: str) -> None:
    found = planned(TWO, most=most)
    assert {verdict_of(outcome).value for outcome in found.outcomes} == {verdict}
    assert len(found.evictions) <= most


def test_a_search_that_ends_early_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "MOST_WORK", 1)
    assert {verdict_of(outcome) for outcome in planned(TWO).outcomes} == {RebalanceVerdict.INCOMPLETE}


def test_the_counts_between_the_evictions_of_a_step_are_not_checked() -> None:
    by_zone, by_host = checkpoints(planned(TWO), snapshot(TWO)).counted
    assert [*by_zone.ends] == [{}, {"a": (2, 2), "b": (3, 3)}]
    assert by_host.ends[0] == {}
    assert by_host.ends[1]["b1"] == (1, 1)


FULL = node("b3", zone="b", allocatable={"cpu": "1"})
BUSY = web({"b3": 1}, name="api", labels={"app": "api"}, requests={"cpu": "1"})


@pytest.mark.parametrize(
    "objects",
    [
        [*TWO[:3], node("b3", zone="b", taints=["dedicated=gpu:NoSchedule"]), *TWO[4:]],
        [*TWO[:3], FULL, *BUSY, *web({"a1": 1, "b1": 3, "b2": 1}, *BY_BOTH, requests={"cpu": "1"})],
    ],
    ids=["tainted", "full"],
)
def test_what_the_counts_rule_out_is_impossible_at_once(objects: Sequence[Object], monkeypatch: Any) -> None:  # noqa: ANN401
    monkeypatch.setattr("kubectl_spread.rebalance.together.evict", None)
    by_host = next(each for each in planned(objects).outcomes if each.goal.constraint.topology_key == HOSTNAME)
    assert verdict_of(by_host) in {RebalanceVerdict.IMPOSSIBLE, RebalanceVerdict.PARTIAL}


def test_alike_pods_of_a_stateful_set_are_tried_once() -> None:
    on: Mapping[str, int] = {"a1": 4, "c1": 1, "c2": 1, "c3": 1, "c4": 1, "d1": 4}
    nodes = [*zones("a", "b", "d"), *zones("c", each=5)]
    found = planned([*nodes, *web(on, *BY_BOTH, kind="StatefulSet")])
    assert not {outcome.ended for outcome in found.outcomes} & planning.CUT_SHORT


def test_a_deployment_makes_them_again() -> None:
    objects = [*zones("a"), *zones("b", each=3), *deployment(["a1", "b1", "b1", "b1", "b2"], *BY_BOTH)]
    assert len(planned(objects).evictions) == 2


@pytest.mark.parametrize("seed", range(1, 9))
def test_no_set_of_three_restores_what_is_called_impossible(seed: int) -> None:
    drawn = (cluster(at, most_pods=4, keys=[(ZONE, HOSTNAME)]) for at in range(seed * 100, seed * 100 + 100))
    broken = (objects for objects in drawn if any(excess(handle(objects)).values()))
    for objects in islice(broken, 3):
        if any(verdict_of(outcome) is RebalanceVerdict.IMPOSSIBLE for outcome in planned(objects).outcomes):
            assert [*restoring_at_once(handle(objects), most=3)] == []
