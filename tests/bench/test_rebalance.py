"""The measured clusters are ones in which there is something to plan."""

from __future__ import annotations

import pytest

from tests.bench.rebalance import Size, planned


def test_the_workloads_that_lie_unevenly_are_balanced() -> None:
    found, seconds = planned(Size(nodes=30, pods=108, workloads=12, most_seconds=1.0))
    assert len(found.items) == 12
    assert [sum(item.skew_before > 1 for item in found.items), len(found.evictions)] == [2, 2 * 2]
    assert {item.skew_after <= 1 for item in found.items} == {True}
    assert seconds > 0


@pytest.mark.parametrize("nodes", [30, 150])
def test_the_workloads_that_have_no_pod_where_a_zone_was_away_are_balanced(nodes: int) -> None:
    found, _ = planned(Size(nodes=nodes, pods=108, workloads=12, most_seconds=1.0, outage=True))
    assert [sum(item.skew_before > 1 for item in found.items), len(found.evictions)] == [4, 4 * 3]
    assert {item.skew_after <= 1 for item in found.items} == {True}
