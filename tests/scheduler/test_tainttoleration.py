"""TaintToleration decides and scores as kube-scheduler does in every situation of tests/testdata/tainttoleration."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import tainttoleration
from tests.scheduler.situations import Situation, filtered, situations


@pytest.mark.parametrize("situation", filtered("tainttoleration"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(tainttoleration.pre_filter) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", situations("tainttoleration", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(tainttoleration.pre_score) == situation.want["scores"], situation.about
