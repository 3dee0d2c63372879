"""NodeVolumeLimits decides as kube-scheduler does in every situation of tests/testdata/nodevolumelimits."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import nodevolumelimits
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("nodevolumelimits"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(nodevolumelimits.pre_filter) == situation.verdict, situation.about
