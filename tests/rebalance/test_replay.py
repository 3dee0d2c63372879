"""Evictions played with answers that are made up."""

from __future__ import annotations

from collections.abc import Mapping

from tests.conformance.answer import Case
from tests.rebalance.lying import web, zones
from tests.rebalance.replay import Replay, replay


def played(
    *answers: Mapping[str, int], evicted: tuple[str, ...] = ("web-0", "web-1"), kind: str = "ReplicaSet"
) -> Replay:
    """Return a replay that was given these answers: node → total score."""
    found = replay([*zones("a", "b"), *web({"a1": 3}, kind=kind)], evicted, name="test")
    for scores in answers:
        assert found.question() is not None
        found.land(_answer(scores))
    return found


def _answer(scores: Mapping[str, int]) -> Case:
    """Return what the oracle says."""
    return {"scores": {node: {"total": total} for node, total in scores.items()}}


def test_a_pod_lands_on_the_node_of_the_highest_score() -> None:
    found = played({"a1": 1, "b1": 2})
    assert found.landings == ["b1"]
    assert found.objects["Pod", "web-0-again"]["spec"]["nodeName"] == "b1"
    assert ("Pod", "web-0") not in found.objects


def test_the_pod_of_a_stateful_set_keeps_its_name() -> None:
    found = played({"b1": 2}, kind="StatefulSet")
    assert found.objects["Pod", "web-0"]["spec"]["nodeName"] == "b1"


def test_who_finds_no_node_is_tried_again_after_the_others() -> None:
    found = played({}, {"b1": 1})
    assert (found.landings, len(found.waiting)) == (["", "b1"], 1)
    again = found.question()
    assert again is not None
    assert again["pod"]["metadata"]["name"] == "web-0-again"
    found.land(_answer({}))
    assert found.question() is None
    assert len(found.waiting) == 1


def test_the_end_is_counted_as_it_is() -> None:
    before, after = played(evicted=()), played({"b1": 1}, evicted=("web-0",))
    assert [*before.ends().values()] == [2]
    assert [*after.ends().values()] == [0]
