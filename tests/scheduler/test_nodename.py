"""NodeName decides as kube-scheduler does in every situation of tests/testdata/nodename."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import nodename
from tests.scheduler.situations import Situation, filtered


@pytest.mark.parametrize("situation", filtered("nodename"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(nodename.pre_filter) == situation.verdict, situation.about
