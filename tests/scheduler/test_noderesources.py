"""NodeResourcesFit decides and scores as kube-scheduler does in every situation of tests/testdata/noderesources."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import noderesources
from tests.scheduler.situations import Situation, filtered, situations


@pytest.mark.parametrize("situation", filtered("noderesources"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(noderesources.pre_filter) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", situations("noderesources", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(noderesources.pre_score) == situation.want["scores"], situation.about
