"""A sample of clusters put to the descheduler too; ``python -m tests.comparison`` asks about more."""

from __future__ import annotations

import pytest

from tests.comparison.descheduler import Compared, compare
from tests.comparison.imbalances import drawn, of_its_tests

pytestmark = pytest.mark.e2e

LARGE = "0, 1 and 100 Pods"
"""A situation of which the replays take as long as those of all others."""
DRAWN = range(1, 31)


@pytest.fixture(scope="module")
def found() -> list[Compared]:
    """What came of each cluster."""
    return list(compare([*(each for each in of_its_tests() if each.name != LARGE), *drawn(DRAWN)]))


def test_no_plan_is_worse_than_what_the_descheduler_does(found: list[Compared]) -> None:
    assert [flaw for each in found for flaw in each.flaws()] == []


def test_the_descheduler_was_asked(found: list[Compared]) -> None:
    assert sum(each.theirs.evictions > 0 for each in found) > len(found) // 3
