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


def said(evaluation: Evaluation, name: str) -> tuple[str, ...]:
    """Return the reasons at which the scheduler stops on a node; none where it is feasible."""
    first = evaluation.nodes[name].first
    return first.status.reasons if first else ()


@pytest.mark.parametrize(("priority", "reasons"), [(5, ("Insufficient cpu",)), (4, ("Insufficient cpu",)), (3, ())])
def test_room_is_kept_for_pods_of_the_same_priority_or_a_higher_one(priority: int, reasons: tuple[str, ...]) -> None:
    objects = [node("a"), promised("waits", on="a", requests={"cpu": "6"}, priority=priority)]
    assert said(judged(objects, requests={"cpu": "4"}, priority=4), "a") == reasons


def test_no_room_is_kept_for_the_pod_itself() -> None:
    objects = [node("a"), promised("new", on="a", requests={"cpu": "6"})]
    assert judged(objects, requests={"cpu": "6"}).feasible == ("a",)


def test_no_room_is_kept_on_other_nodes() -> None:
    objects = [node("a"), node("b"), promised("waits", on="a", requests={"cpu": "6"})]
    assert judged(objects, requests={"cpu": "6"}).feasible == ("b",)


def test_nobody_can_rely_on_a_pod_that_is_still_to_come() -> None:
    objects = [node("a"), node("b"), build.pod("there", on="b", labels=WEB), promised("waits", on="a", labels=WEB)]
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term("kubernetes.io/hostname")]}}
    evaluation = judged(objects, affinity=near)
    assert evaluation.feasible == ("b",)
    assert said(evaluation, "a") == ("node(s) didn't match pod affinity rules",)


def test_a_pod_to_come_keeps_others_away_where_the_filter_looks_at_all() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term("kubernetes.io/hostname")]}}
    waits = promised("waits", on="a", affinity=apart)
    assert judged([node("a"), waits], labels=WEB).feasible == ("a",)
    there = build.pod("there", on="b", affinity=apart)
    assert judged([node("a"), node("b"), waits, there], labels=WEB).feasible == ()


def test_a_promise_counts_on_that_node_alone_not_in_its_zone() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b", zone="b")]
    constraint = spread(ZONE, selector=app("web"))
    evaluation = judged(
        [*nodes, promised("waits", on="a1", labels=WEB)], labels=WEB, topologySpreadConstraints=[constraint]
    )
    assert set(evaluation.feasible) == {"a2", "b"}
    assert said(evaluation, "a1") == ("node(s) didn't match pod topology spread constraints",)


@pytest.mark.parametrize("quirk", [{"selector": {}}, {"selector": app("web"), "terminating": True}])
def test_what_does_not_count_on_a_node_counts_while_it_is_promised_one(quirk: dict[str, Any]) -> None:
    nodes = [node("a", zone="a"), node("b", zone="b")]
    constraint = spread(ZONE, selector=quirk["selector"])
    there = build.pod("there", on="a", labels=WEB, terminating=True)
    waits = promised("waits", on="a", labels=WEB, terminating="terminating" in quirk)
    for found, feasible in ((there, {"a", "b"}), (waits, {"b"})):
        evaluation = judged([*nodes, found], labels=WEB, topologySpreadConstraints=[constraint])
        assert set(evaluation.feasible) == feasible


def test_a_promise_to_a_pod_of_another_namespace_does_not_count() -> None:
    nodes = [node("a", zone="a"), node("b", zone="b")]
    waits = promised("waits", on="a", labels=WEB, namespace="other")
    constraint = spread(ZONE, selector=app("web"))
    assert len(judged([*nodes, waits], labels=WEB, topologySpreadConstraints=[constraint]).feasible) == 2


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
