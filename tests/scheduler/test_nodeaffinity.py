"""NodeAffinity decides and scores as kube-scheduler does in every situation of tests/testdata/nodeaffinity."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import nodeaffinity
from tests.scheduler.situations import Situation, filtered, situations


@pytest.mark.parametrize("situation", filtered("nodeaffinity"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(nodeaffinity.pre_filter) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", situations("nodeaffinity", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(nodeaffinity.pre_score) == situation.want["scores"], situation.about
