"""Where two answers part is found, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.compare import differences

SKEW = {"code": "Unschedulable", "plugin": "PodTopologySpread", "reasons": ["skew"]}
SUCCESS = {"code": "Success"}
WANT: dict[str, Any] = {
    "nodes": {"a": SUCCESS, "b": SKEW},
    "each": {"PodTopologySpread": {"b": {"code": "Unschedulable", "reasons": ["skew"]}}},
    "scores": {"a": {"PodTopologySpread": 200, "total": 500}},
}

FIRST = "b first rejection: kube-scheduler says PodTopologySpread Unschedulable (skew)"


def parted(answer: dict[str, Any]) -> list[str]:
    """Return where the answer departs from what is wanted, in words."""
    return [str(difference) for difference in differences(WANT, answer)]


def test_an_answer_agrees_with_itself() -> None:
    assert parted(WANT) == []


def test_the_order_of_reasons_and_their_repetition_say_nothing() -> None:
    one, other = ({"nodes": {"a": {"code": "Unschedulable", "reasons": list(reasons)}}} for reasons in ("xy", "yxy"))
    assert differences(one, other) == []


def test_what_is_absent_or_null_says_nothing() -> None:
    nothing = {"nodes": {"a": SUCCESS}}
    assert differences(nothing, {**nothing, "each": None, "scores": None}) == []
    assert differences(nothing, {"nodes": {"a": {"code": "Success", "reasons": None}}}) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"nodes": {"a": SUCCESS, "b": SUCCESS}},
            [f"{FIRST}, the answer says Success"],
        ),
        (
            {"nodes": {"a": SUCCESS, "b": {**SKEW, "plugin": "NodePorts"}}},
            [f"{FIRST}, the answer says NodePorts Unschedulable (skew)"],
        ),
        (
            {"nodes": {"a": SUCCESS, "b": {**SKEW, "reasons": ["room", "skew"]}}},
            [f"{FIRST}, the answer says PodTopologySpread Unschedulable (room, skew)"],
        ),
        (
            {"nodes": {"a": SUCCESS}},
            [f"{FIRST}, the answer says nothing"],
        ),
        (
            {"each": {}},
            ["b PodTopologySpread filter alone: kube-scheduler says Unschedulable (skew), the answer says nothing"],
        ),
        (
            {"each": {**WANT["each"], "NodePorts": {"a": {"code": "Unschedulable", "reasons": []}}}},
            ["a NodePorts filter alone: kube-scheduler says nothing, the answer says Unschedulable"],
        ),
        (
            {"scores": {"a": {"PodTopologySpread": 198, "total": 498}}},
            [
                "a PodTopologySpread score: kube-scheduler says 200, the answer says 198",
                "a total score: kube-scheduler says 500, the answer says 498",
            ],
        ),
        (
            {"scores": {"a": {"PodTopologySpread": 200}}},
            ["a total score: kube-scheduler says 500, the answer says nothing"],
        ),
    ],
    ids=str,
)
def test_where_answers_part(changed: dict[str, Any], said: list[str]) -> None:
    assert parted(WANT | changed) == said


DEVICES = {
    "code": "UnschedulableAndUnresolvable",
    "plugin": "DynamicResources",
    "reasons": ["cannot allocate all claims"],
}
OPEN: dict[str, Any] = {"nodes": {"a": SUCCESS, "b": SUCCESS}, "undecided": ["a", "b"], "scores": {"a": {"total": 1}}}


def test_what_an_answer_does_not_claim_to_know_may_be_otherwise() -> None:
    alone = {"DynamicResources": {"a": {key: DEVICES[key] for key in ("code", "reasons")}}}
    assert differences({"nodes": {"a": DEVICES, "b": SUCCESS}, "each": alone}, OPEN) == []


def test_no_more_than_that() -> None:
    taken = {"nodes": {"a": DEVICES, "b": SKEW}, "each": {"PodTopologySpread": {"b": {"code": "Unschedulable"}}}}
    parts = [difference.point for difference in differences(taken, OPEN)]
    assert [(point.node, point.plugin) for point in parts] == [("b", "PodTopologySpread"), ("b", "")]
    known = {**OPEN, "undecided": ["b"]}
    assert [difference.point.node for difference in differences({"nodes": {"a": DEVICES, "b": SUCCESS}}, known)] == [
        "a"
    ]
