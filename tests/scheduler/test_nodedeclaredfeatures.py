"""NodeDeclaredFeatures decides as kube-scheduler does in every situation of tests/testdata/nodedeclaredfeatures."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import nodedeclaredfeatures
from tests.scheduler.situations import Situation, filtered


@pytest.mark.parametrize("situation", filtered("nodedeclaredfeatures"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(nodedeclaredfeatures.pre_filter) == situation.verdict, situation.about
