"""Each plugin decides and scores as kube-scheduler does in every situation of its folder of tests/testdata."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler.cycle import PRE_FILTERS, PRE_SCORES
from tests.scheduler.situations import PLUGINS, RELEASE, Situation, disagreements, situations

SITUATIONS = [situation for plugin in PLUGINS for situation in situations(plugin)]


def name_of(situation: Situation) -> str:
    """Return the name under which pytest shows it."""
    return f"{situation.plugin}-{situation.name}"


@pytest.mark.parametrize("situation", [each for each in SITUATIONS if each.verdict], ids=name_of)
def test_filter(situation: Situation) -> None:
    assert situation.judged_by(PRE_FILTERS[PLUGINS[situation.plugin]]) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", [each for each in SITUATIONS if "scores" in each.want], ids=name_of)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(PRE_SCORES[PLUGINS[situation.plugin]]) == situation.want["scores"], situation.about


@pytest.mark.e2e
def test_kube_scheduler_agrees(pytestconfig: pytest.Config) -> None:
    """Other releases are asked by the soak."""
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs kube-scheduler itself: make e2e")
    asked = [situation for situation in SITUATIONS if situation.release == RELEASE]
    assert asked
    assert disagreements(asked) == []
