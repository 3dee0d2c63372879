"""InterPodAffinity decides and scores as kube-scheduler does in every situation of tests/testdata/interpodaffinity."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import interpodaffinity
from tests.scheduler.situations import Situation, filtered, situations


@pytest.mark.parametrize("situation", filtered("interpodaffinity"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(interpodaffinity.pre_filter) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", situations("interpodaffinity", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(interpodaffinity.pre_score) == situation.want["scores"], situation.about
