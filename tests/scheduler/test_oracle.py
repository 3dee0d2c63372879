"""What the situations want is what kube-scheduler itself decides."""

from __future__ import annotations

import pytest

from tests.scheduler.situations import PLUGINS, disagreements, situations


@pytest.mark.e2e
@pytest.mark.parametrize("plugin", PLUGINS)
def test_kube_scheduler_agrees(plugin: str, pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs kube-scheduler itself: make e2e")
    asked = situations(plugin)
    assert asked
    assert disagreements(asked) == []
