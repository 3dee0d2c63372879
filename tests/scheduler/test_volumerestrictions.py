"""VolumeRestrictions decides as kube-scheduler does in every situation of tests/testdata/volumerestrictions."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import volumerestrictions
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("volumerestrictions"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(volumerestrictions.pre_filter) == situation.verdict, situation.about
