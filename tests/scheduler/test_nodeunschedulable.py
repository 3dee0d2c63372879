"""NodeUnschedulable decides as kube-scheduler does in every situation of tests/testdata/nodeunschedulable."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import nodeunschedulable
from tests.scheduler.situations import Situation, filtered


@pytest.mark.parametrize("situation", filtered("nodeunschedulable"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(nodeunschedulable.pre_filter) == situation.verdict, situation.about
