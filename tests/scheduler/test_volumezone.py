"""VolumeZone decides as kube-scheduler does in every situation of tests/testdata/volumezone."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import volumezone
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("volumezone"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(volumezone.pre_filter) == situation.verdict, situation.about
