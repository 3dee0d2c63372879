"""DynamicResources scores as kube-scheduler does in every situation of tests/testdata/dynamicresources."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import dynamicresources
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("dynamicresources", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(dynamicresources.pre_score) == situation.want["scores"], situation.about
