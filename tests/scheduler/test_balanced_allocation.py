"""BalancedAllocation scores as kube-scheduler does in every situation of tests/testdata/balanced_allocation."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import balanced_allocation
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("balanced_allocation", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(balanced_allocation.pre_score) == situation.want["scores"], situation.about
