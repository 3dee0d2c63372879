"""DeferredPodScheduling decides as kube-scheduler does in every situation of tests/testdata/deferredpodscheduling."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import deferredpodscheduling
from tests.scheduler.situations import Situation, filtered


@pytest.mark.parametrize("situation", filtered("deferredpodscheduling"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(deferredpodscheduling.pre_filter) == situation.verdict, situation.about
