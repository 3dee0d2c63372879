"""Pods that were promised room on a node: the others are judged with them there, and again without them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.scheduler.cycle import Evaluation, evaluate
from kubectl_spread.scheduler.profile import default_profile
from tests import build
from tests.build import ZONE, Object, app, node, spread

WEB = {"app": "web"}


def promised(name: str, *, on: str, labels: dict[str, str] | None = None, **fields: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return a Pod that waits for room on the node."""
    return build.pod(name, labels=labels, status={"phase": "Pending", "nominatedNodeName": on}, **fields)


def judged(objects: list[Object], minor: int = 36, **incoming: Any) -> Evaluation:  # noqa: ANN401 - any field, by the API's name
    """Return what becomes of a new Pod."""
    profile = default_profile(minor)
    return evaluate(build.typed_pod(build.pod("new", **incoming), profile), build.handle(objects, profile))


def test_a_pod_to_come_keeps_others_away_where_the_filter_looks_at_all() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term("kubernetes.io/hostname")]}}
    waits = promised("waits", on="a", affinity=apart)
    assert judged([node("a"), waits], labels=WEB).feasible == ("a",)
    there = build.pod("there", on="b", affinity=apart)
    assert judged([node("a"), node("b"), waits, there], labels=WEB).feasible == ()


@pytest.mark.parametrize("quirk", [{"selector": {}}, {"selector": app("web"), "terminating": True}])
def test_what_does_not_count_on_a_node_counts_while_it_is_promised_one(quirk: dict[str, Any]) -> None:
    nodes = [node("a", zone="a"), node("b", zone="b")]
    constraint = spread(ZONE, selector=quirk["selector"])
    there = build.pod("there", on="a", labels=WEB, terminating=True)
    waits = promised("waits", on="a", labels=WEB, terminating="terminating" in quirk)
    for found, feasible in ((there, {"a", "b"}), (waits, {"b"})):
        evaluation = judged([*nodes, found], labels=WEB, topologySpreadConstraints=[constraint])
        assert set(evaluation.feasible) == feasible


def test_a_gated_pod_holds_no_room_before_1_37() -> None:
    gates = [{"name": "example.com/quota"}]
    objects = [node("a"), promised("waits", on="a", requests={"cpu": "6"}, schedulingGates=gates)]
    assert judged(objects, requests={"cpu": "6"}).feasible == ("a",)
    assert judged(objects, minor=37, requests={"cpu": "6"}).feasible == ()


def test_a_promise_by_another_scheduler_holds_no_room() -> None:
    objects = [node("a"), promised("waits", on="a", requests={"cpu": "6"}, schedulerName="volcano")]
    assert judged(objects, requests={"cpu": "6"}).feasible == ("a",)


def test_what_rejects_with_the_promised_pods_comes_first() -> None:
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term("kubernetes.io/hostname")]}}
    objects = [node("a"), promised("waits", on="a", labels=WEB, host_ports=["80"])]
    verdict = judged([*objects, node("b"), build.pod("there", on="b", labels=WEB)], affinity=near, host_ports=["80"])
    assert [found.plugin for found in verdict.nodes["a"].rejections] == ["NodePorts", "InterPodAffinity"]


def test_a_pod_that_got_its_room_is_promised_none() -> None:
    handle = build.handle([node("a"), node("b"), promised("waits", on="a", requests={"cpu": "6"})])
    (waits,) = handle.snapshot.nominated["a"]
    placed = handle.with_assigned(waits, "b")
    assert placed.snapshot.nominated["a"] == ()
    new = build.typed_pod(build.pod("new", requests={"cpu": "6"}))
    assert evaluate(new, placed).feasible == ("a",)


def _term(key: str) -> Object:
    """Return an affinity term to the Pods of the application."""
    return {"topologyKey": key, "labelSelector": app("web")}
