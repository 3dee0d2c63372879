"""The sentence on top: what is to blame, with the names and numbers that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, report_of, web

BIG: Object = {"nodeSelector": {"disk": "ssd"}}

PINNED = f"{ZONE} c holds the minimum (0 Pods) but this Pod cannot land there: c1:"
OTHERS = "a and b are at 1, maxSkew 1."


def zoned(**fields: Any) -> Object:  # noqa: ANN401 - any field of a constraint
    """Return a constraint on zones that counts the application web."""
    return spread(ZONE, **({"selector": app("web")} | fields))


@pytest.mark.parametrize(
    ("described", "objects", "summary"),
    [
        (incoming(), [*ABC], ""),
        (incoming(), [], "The cluster has no nodes."),
        (
            incoming(),
            [*TAINTED, *web("a1", "b1")],
            f"{PINNED} taint {GPU}. {OTHERS}",
        ),
        (
            incoming(**BIG),
            [*ABC],
            "No constraint is to blame: a1, a2, b1 and c1 (NodeAffinity: wants disk=ssd, has no disk).",
        ),
        (
            incoming(),
            [node("x", zone="a", taints=[GPU]), node("y", zone="a", unschedulable=True)],
            f"No constraint is to blame: y (NodeUnschedulable: cordoned); x (TaintToleration: taint {GPU}).",
        ),
        (
            incoming(requests={"cpu": "9"}),
            [node(f"n{i}", zone="a", allocatable={"cpu": str(i)}) for i in range(5)],
            "No constraint is to blame: NodeResourcesFit rejects n0, n1, n2 and 2 more.",
        ),
        (
            incoming(spread("rack", selector=app("web"))),
            [*ABC],
            "No node carries the label rack that the constraint names.",
        ),
        (
            incoming(zoned(minDomains=4)),
            [*ABC, *web("a1", "b1", "c1")],
            (
                f"There are 3 domains of {ZONE} (a, b and c) where minDomains asks for 4, so the minimum counts as 0"
                " and none may exceed maxSkew 1."
            ),
        ),
        (
            incoming(zoned(), spread(HOSTNAME, selector=app("web"))),
            [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), *web("a1", "a1", "a2", "b1", "b1")],
            (
                f"Each leaves room, together they leave none: the constraint on {ZONE} leaves b1; the constraint on"
                f" {HOSTNAME} leaves a2."
            ),
        ),
        (
            incoming(zoned(), requests={"cpu": "3"}),
            [*ABC, *web("a1", "b1"), pod("hog", on="c1", requests={"cpu": "6"})],
            f"{PINNED} cpu: asks 3, 2 free of 8. {OTHERS}",
        ),
    ],
    ids=range(10),
)
def test_what_is_to_blame(described: Object, objects: Sequence[Object], summary: str) -> None:
    assert report_of(described, objects).summary == summary


def test_domains_that_hold_the_minimum_together_are_told_together() -> None:
    nodes = [*ABC[:2], *(node(f"{z}1", zone=z, taints=[GPU]) for z in "bc"), node("d1", zone="d", unschedulable=True)]
    summary = report_of(incoming(), [*nodes, *web("a1", "b1", "a1", "c1", "d1")]).summary
    assert summary == (
        f"{ZONE} b, c and d hold the minimum (1 Pod) but this Pod cannot land there: b1 and c1: taint {GPU};"
        " d1: cordoned. a is at 2, maxSkew 1."
    )


def test_a_constraint_that_counts_no_node_it_could_use() -> None:
    described = incoming(zoned(), spread("rack", selector=app("web")))
    nodes = [node("a", zone="a"), node("r", labels={"rack": "r"})]
    summary = report_of(described, nodes).summary
    assert summary.startswith("Each leaves room, together they leave none: ")
    assert f"the constraint on {ZONE} leaves a" in summary
    assert "the constraint on rack leaves r" in summary


@pytest.mark.parametrize("max_skew", [0, -1])
def test_a_constraint_that_no_api_server_takes(max_skew: int) -> None:
    described = incoming(zoned(maxSkew=max_skew), **BIG)
    nodes = [node(f"{zone}1", zone=zone) for zone in "abc"]
    assert report_of(described, nodes).conflict[0].kind == "constraint"
    assert report_of(described, nodes).summary == (
        f"The constraint on {ZONE} counts none of the 3 nodes, and maxSkew {max_skew} allows none."
    )


def test_a_constraint_alone_may_close_every_domain_it_counts() -> None:
    described = incoming(zoned(nodeTaintsPolicy="Honor"), spread("rack", selector=app("web"), soft=True))
    report = report_of(described, [node("a", zone="a"), node("x")])
    assert report.summary == ""
    only_far = incoming(zoned(nodeAffinityPolicy="Honor"), nodeName="x")
    nodes = [node("x"), node("y")]
    assert report_of(only_far, nodes).summary == f"No node carries the label {ZONE} that the constraint names."


def test_no_more_than_three_names_are_given() -> None:
    nodes = [node("a1", zone="a"), *(node(f"c{i}", zone="c", taints=[GPU]) for i in range(6))]
    assert "c0, c1, c2 and 3 more: taint" in report_of(incoming(), [*nodes, *web("a1")]).summary
