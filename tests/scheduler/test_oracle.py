"""What the situations want is what kube-scheduler itself decides; those of other releases are asked by the soak."""

from __future__ import annotations

import pytest

from tests.scheduler.situations import PLUGINS, RELEASE, disagreements, situations


@pytest.mark.e2e
def test_kube_scheduler_agrees(pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs kube-scheduler itself: make e2e")
    asked = [situation for plugin in PLUGINS for situation in situations(plugin) if situation.release == RELEASE]
    assert asked
    assert disagreements(asked) == []
