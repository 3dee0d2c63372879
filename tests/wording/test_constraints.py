"""What is said of a constraint's domains and of the nodes that it passes over."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis.domains import BypassedNode, Pin
from kubectl_spread.diagnosis.reasons import (
    AnyReason,
    Cordoned,
    InsufficientResources,
    MissingLabel,
    RejectedByPlugin,
    ShortResource,
    UntoleratedTaints,
)
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.wording import constraints


def test_who_holds_the_minimum() -> None:
    assert constraints.minimum_text(2, ("a", "b")) == "Minimum: 2 (a, b)."
    assert constraints.minimum_text(2, tuple("abcdefg")) == "Minimum: 2 (7 domains)."
    assert constraints.minimum_text(0, ()) == "Minimum: 0 (no domain is counted)."
    assert constraints.too_few_domains(2, 3) == "Minimum: 0, because minDomains requires 3 domains and only 2 count."


def test_whether_one_more_pod_may_go_there() -> None:
    assert constraints.closed(3, 2) == "no: skew would be 3"
    assert constraints.closed(2, 2) == "no: skew is 2"
    assert constraints.pinned(["taint a"]) == "no: taint a"
    assert constraints.pinned(["w", "x", "taint a.b/c"]) == "no: w; x; taint c"
    assert constraints.pinned(["w", "x", "y", "z"]) == "no: w; x; 2 more reasons"


def short(name: str, asked: str, free: str = "0", *, full: bool = False) -> InsufficientResources:
    """Return the reason of a node that lacks a resource."""
    return InsufficientResources(full=full, resources=(ShortResource(name=name, asked=asked, free=free),))


def tainted(*taints: str) -> UntoleratedTaints:
    """Return the reason of a node with these taints."""
    return UntoleratedTaints(taints=taints)


def label(has: str | None) -> MissingLabel:
    """Return the reason of a node whose label has another value."""
    return MissingLabel(key="a", value="2", has=has)


W, X, Y, Z = (RejectedByPlugin(plugin=name) for name in "wxyz")


@pytest.mark.parametrize(
    ("reasons", "text"),
    [
        ([short("cpu", "1")], "1 cpu requested, 0 free"),
        ([short("cpu", "1"), short("cpu", "1", "500m")], "1 cpu requested, too little free"),
        ([short("cpu", "1"), short("memory", "2Gi")], "too little cpu or memory free (1 cpu and 2Gi memory requested)"),
        ([W, short("cpu", "1", full=True)], "w or Pod limit reached; 1 cpu requested, 0 free"),
        ([tainted("a:X"), tainted("b:X", "a:X")], "taint a:X"),
        ([tainted("a:X"), tainted("a:X", "a:Y")], "taint a:X"),
        ([tainted("a:X"), tainted("b:X")], "taint a:X or taint b:X"),
        ([label("1")], "label a=1, not 2"),
        ([label("1"), label("3"), label(None)], "no label a=2"),
        ([None, None], "TaintToleration"),
        ([W, X, Y], "w or x or y"),
        ([W, X, Y, Z], "w or x or other reasons"),
        ([tainted("a:X"), tainted("b:X", "a:X"), Cordoned()], "taint a:X or cordoned"),
    ],
)
def test_reasons_of_several_nodes_name_no_reason_of_one_alone(reasons: list[AnyReason | None], text: str) -> None:
    by = FilterRequirement("TaintToleration")
    pins = [Pin(node=f"n{at}", requirement=by, reason=why) for at, why in enumerate(reasons)]
    assert constraints.of_several_nodes(pins) == text


@pytest.mark.parametrize(
    ("node", "because"),
    [
        (BypassedNode(name="n", reason="MissingTopologyKey", key="zone", matching=0), "without the label zone"),
        (
            BypassedNode(name="n", reason="MissingTopologyKey", key="zone", similar_keys=("zones", "az"), matching=0),
            "without the label zone (did you mean zones or az?)",
        ),
        (
            BypassedNode(name="n", reason="MissingTopologyKey", key="z", similar_keys=tuple("abcdefg"), matching=0),
            "without the label z (did you mean a, b, c, d or 3 more?)",
        ),
        (BypassedNode(name="n", reason="NodeAffinityPolicy", matching=0), "outside the Pod's node affinity"),
    ],
    ids=["no label", "a similar label", "many similar labels", "policy"],
)
def test_why_a_node_is_passed_over(node: BypassedNode, because: str) -> None:
    assert constraints.bypassed_because(node) == because
    assert constraints.bypassed_lines([node, node], most=1) == [f"Not counted: n, n, {because}."]
