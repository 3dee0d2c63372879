"""NodePorts decides as kube-scheduler does in every situation of tests/testdata/nodeports."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import nodeports
from tests.scheduler.situations import Situation, filtered


@pytest.mark.parametrize("situation", filtered("nodeports"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(nodeports.pre_filter) == situation.verdict, situation.about
