"""What is said of a constraint's domains and of the nodes that it passes over."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis.domains import BypassedNode
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


@pytest.mark.parametrize(
    ("details", "told"),
    [
        (["1 cpu requested, 0 free"], "1 cpu requested, 0 free"),
        (["1 cpu requested, 0 free", "1 cpu requested, 500m free"], "1 cpu requested, too little free"),
        (
            ["1 cpu requested, 0 free", "2Gi memory requested, 1Gi free"],
            "too little cpu or memory free (1 cpu and 2Gi memory requested)",
        ),
        (["taint a", "taint b, a", "taint c, a"], "taint a"),
        (["taint a", "taint b"], "taint a or taint b"),
        (["label a=1, not 2", "label a=3, not 2", "no label a=2"], "no label a=2"),
        (["w", "x", "y"], "w or x or y"),
        (["v", "w", "x", "y"], "v or w or other reasons"),
        (["taint a", "taint b, a", "cordoned"], "taint a or cordoned"),
    ],
)
def test_reasons_of_several_nodes_name_no_reason_of_one_alone(details: list[str], told: str) -> None:
    assert constraints.of_several_nodes(details) == told


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
