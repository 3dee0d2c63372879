"""ImageLocality scores as kube-scheduler does in every situation of tests/testdata/imagelocality."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import imagelocality
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("imagelocality", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(imagelocality.pre_score) == situation.want["scores"], situation.about
