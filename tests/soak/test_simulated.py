"""What was said of a drain is compared with what came of it: whatever is wrong is found."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.controlplane.api import Object
from tests.e2e.manifests import ZONE, constraint, match, node, pod
from tests.e2e.simulated import Came, Scenario, State, compared

SCENARIO = Scenario(name="drain", nodes=[], made=[], steps=[("drain", "a1")])


def lying(name: str, on: str) -> Object:
    """Return a Pod of the shop on a node; empty where it waits for one."""
    spec = {"topologySpreadConstraints": [constraint(ZONE, selector=match(group="shop"))]}
    made = pod("shop", name, labels={"group": "shop"}, spec={**spec, **({"nodeName": on} if on else {})})
    made["metadata"] |= {
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "resourceVersion": "1",
        "ownerReferences": [{"kind": "ReplicaSet", "name": "web-1"}],
    }
    return {**made, "status": {"phase": "Running" if on else "Pending"}}


CAME = Came(
    pods=[lying("web-b", "b1"), lying("web-c", "c1"), lying("web-d", "c1"), lying("web-new", "")],
    nodes={name: node(name, labels={ZONE: name[0]}) for name in ("a1", "b1", "c1")},
    sets={"web-1": "web"},
    evicted=[[lying("web-a", "a1")]],
    blocked=[[]],
    lay=[{"web-a"}],
)
WEB = {"kind": "Deployment", "name": "web"}
STEP: Object = {
    "evicted": [{"pod": "web-a"}],
    "lost": [],
    "blocked": [],
    "pending": [{"workload": WEB, "count": 1, "range": [1, 1]}],
    "items": [
        {
            "workload": WEB,
            "constraint": {"index": 0, "topologyKey": ZONE},
            "after": {},
            "ranges": {"a": [0, 0], "b": [1, 1], "c": [2, 2]},
        }
    ],
}


def test_what_came_as_said() -> None:
    outcome = compared(SCENARIO, {"steps": [STEP]}, CAME)
    assert outcome.differences == []
    assert outcome.strict


def test_one_pod_is_given_or_taken() -> None:
    said = copy.deepcopy(STEP)
    said["items"][0]["ranges"]["b"] = [2, 2]
    outcome = compared(SCENARIO, {"steps": [said]}, CAME)
    assert outcome.differences == []
    assert not outcome.strict


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda said: said["pending"].clear(), id="none was to wait"),
        pytest.param(lambda said: said["pending"][0].update(range=[2, 3]), id="more were to wait"),
        pytest.param(lambda said: said["evicted"].clear(), id="none was to go"),
        pytest.param(lambda said: said["evicted"][0].update(pod="web-b"), id="another was to go"),
        pytest.param(lambda said: said["blocked"].append({"pod": "web-a"}), id="one was to stay"),
        pytest.param(lambda said: said["items"][0]["ranges"].update(b=[3, 3]), id="two too many"),
        pytest.param(lambda said: said["items"][0]["ranges"].update(c=[0, 0]), id="two too few"),
        pytest.param(lambda said: said["items"][0]["ranges"].pop("c"), id="a domain is not told"),
    ],
)
def test_what_is_wrong(spoil: Callable[[Object], object]) -> None:
    said = copy.deepcopy(STEP)
    spoil(said)
    assert compared(SCENARIO, {"steps": [said]}, CAME).differences


HARD = "DoNotSchedule"
SAFE: Object = {"safe": True, "withoutNode": [0, 0]}
UNSAFE: Object = {"safe": False, "withoutNode": [1, 1]}
BEFORE = State([lying("web-a", "a1"), *CAME.pods[:3]], CAME.nodes)
ELSEWHERE = [*CAME.pods[:3], lying("web-new", "b1")]
CROWDED = [*CAME.pods[1:3], lying("web-new", "c1"), lying("web-newer", "c1")]


@pytest.mark.parametrize(
    ("verdict", "after", "told"),
    [
        pytest.param(SAFE, State(CAME.pods, CAME.nodes), "1 Pending (0 before), said safe", id="a Pod waits"),
        pytest.param(SAFE, State(CAME.pods[:3], CAME.nodes), "3 on nodes (4 before), said safe", id="one is missing"),
        pytest.param(SAFE, State(ELSEWHERE, CAME.nodes, blocked=True), "is blocked, said safe", id="one has to stay"),
        pytest.param(SAFE, State(CROWDED, CAME.nodes), "skew 4 (1 before), said safe", id="a constraint is broken"),
        pytest.param(UNSAFE, State(ELSEWHERE, CAME.nodes), "is safe, said not safe", id="none waits"),
        pytest.param(UNSAFE, State(CAME.pods, CAME.nodes), "not safe", id="not safe"),
        pytest.param(SAFE, BEFORE, "safe", id="safe"),
        pytest.param({"withoutNode": [0, 0]}, BEFORE, "unknown", id="unknown"),
    ],
)
def test_verdicts(verdict: Object, after: State, told: str) -> None:
    item = {
        **STEP["items"][0],
        "constraint": {"index": 0, "topologyKey": ZONE, "maxSkew": 2, "whenUnsatisfiable": HARD},
    }
    said = {**STEP, "verdict": verdict, "orders": 1, "items": [item]}
    outcome = compared(SCENARIO, {"steps": [said]}, replace(CAME, pods=after.pods, states=[BEFORE, after]))
    assert outcome.verdicts[0].endswith(told)
    assert (outcome.verdicts[0] in outcome.differences) == ("said" in told)
