"""The measured clusters are ones in which there is something to plan."""

from __future__ import annotations

from tests.bench.rebalance import Size, planned


def test_the_workloads_that_lie_unevenly_are_balanced() -> None:
    found, seconds = planned(Size(nodes=30, pods=108, workloads=12, most_seconds=1.0))
    assert len(found.outcomes) == 12
    assert [sum(outcome.goal.is_violated for outcome in found.outcomes), len(found.evictions)] == [2, 2 * 2]
    assert {outcome.skew <= 1 for outcome in found.outcomes} == {True}
    assert seconds > 0
