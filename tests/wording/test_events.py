"""Why the scheduler's last message differs from ours, in words."""

from __future__ import annotations

from kubectl_spread.diagnosis.events import Difference
from kubectl_spread.wording.events import DIFFERENCES


def test_every_difference_has_a_text_of_its_own() -> None:
    assert set(DIFFERENCES) == set(Difference)
    assert len(set(DIFFERENCES.values())) == len(Difference)
