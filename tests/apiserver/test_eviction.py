"""Whether the API server lets a Pod be evicted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.apiserver.eviction import refusal
from tests.build import Object, app, namespace, object_of, pod, snapshot, typed_pod

READY = {"type": "Ready", "status": "True"}
RUNNING = {"phase": "Running", "conditions": [READY]}
USED_UP = "The disruption budget web does not allow evicting pods currently"
TWO = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def budget(name: str, *, allowed: int, selector: Object | None, namespace: str = "default") -> Object:
    return object_of(
        "PodDisruptionBudget",
        name,
        namespace=namespace,
        spec={"selector": selector},
        status={"disruptionsAllowed": allowed},
    )


@pytest.mark.parametrize(
    ("budgets", "refused"),
    [
        ([], ""),
        ([budget("web", allowed=1, selector=app("web"))], ""),
        ([budget("web", allowed=0, selector=app("web"))], USED_UP),
        ([budget("web", allowed=0, selector={})], USED_UP),
        ([budget("web", allowed=0, selector=None)], ""),
        ([budget("web", allowed=0, selector=app("api"))], ""),
        ([budget("web", allowed=0, selector=app("web"), namespace="other")], ""),
        ([budget("web", allowed=0, selector={"matchExpressions": [{"key": "a", "operator": "Like"}]})], ""),
        ([budget("web", allowed=1, selector=app("web")), budget("all", allowed=1, selector={})], TWO),
    ],
    ids=["none", "allows", "used up", "empty selector", "no selector", "others", "elsewhere", "unreadable", "two"],
)
def test_budgets_that_select_the_pod_decide(budgets: Sequence[Object], refused: str) -> None:
    evicted = typed_pod(pod("p", on="n", labels={"app": "web"}, status=RUNNING))
    assert refusal(evicted, snapshot(budgets)) == refused


@pytest.mark.parametrize(
    ("phase", "going", "refused"), [("Active", 0, 0), ("Terminating", 0, 1), ("Terminating", 1, 0)]
)
def test_nothing_is_evicted_from_a_namespace_that_is_terminating(phase: str, going: int, refused: int) -> None:
    found = snapshot([namespace("default") | {"status": {"phase": phase}}])
    assert ("is being terminated" in refusal(typed_pod(pod("p", on="n", terminating=bool(going))), found)) == refused


@pytest.mark.parametrize(
    "described",
    [
        pod("p", on="n", status={"phase": "Pending"}),
        pod("p", on="n", status={"phase": "Succeeded"}),
        pod("p", on="n", status={"phase": "Failed"}),
        pod("p", on="n", status=RUNNING, terminating=True),
    ],
    ids=["not started", "succeeded", "failed", "going"],
)
def test_no_budget_protects_a_pod_that_does_not_run(described: Object) -> None:
    assert refusal(typed_pod(described), snapshot([budget("all", allowed=0, selector={})])) == ""


@pytest.mark.parametrize(
    ("policy", "healthy", "refused"),
    [("", 2, ""), ("", 1, USED_UP), ("IfHealthyBudget", 1, USED_UP), ("AlwaysAllow", 1, "")],
)
def test_a_pod_that_is_not_ready_may_go_though_the_budget_is_used_up(policy: str, healthy: int, refused: str) -> None:
    used_up = budget("web", allowed=0, selector=app("web"))
    used_up["spec"] |= {"unhealthyPodEvictionPolicy": policy} if policy else {}
    used_up["status"] |= {"currentHealthy": healthy, "desiredHealthy": 2}
    unready = {"phase": "Running", "conditions": [{**READY, "status": "False"}]}
    evicted = typed_pod(pod("p", on="n", labels={"app": "web"}, status=unready))
    assert refusal(evicted, snapshot([used_up])) == refused
