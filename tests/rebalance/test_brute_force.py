"""The search finds what trying everything finds; ``python -m tests.soak rebalance`` does it for many more clusters."""

from __future__ import annotations

import pytest

from tests.build import handle
from tests.rebalance.brute_force import cluster, fewest
from tests.rebalance.lying import planned
from tests.sampling import first


@pytest.mark.parametrize("seed", first(24, range(1, 41)))
def test_no_order_of_evictions_is_better(seed: int) -> None:
    objects = cluster(seed, most_pods=4)
    found = planned(objects)
    beyond = sum(outcome.goal.excess(outcome.after) for outcome in found.outcomes)
    assert (beyond, len(found.evictions)) == fewest(handle(objects), most_states=2_000)
