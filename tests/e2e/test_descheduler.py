"""A sample of clusters put to the descheduler too; ``python -m tests.comparison`` asks about more."""

from __future__ import annotations

import pytest

from tests.comparison.descheduler import Compared, compare
from tests.comparison.imbalances import drawn

pytestmark = pytest.mark.e2e

DRAWN = range(1, 61)


@pytest.fixture(scope="module")
def found() -> list[Compared]:
    """What came of each cluster."""
    return list(compare([*drawn(DRAWN)]))


def test_no_plan_is_worse_than_what_the_descheduler_does(found: list[Compared]) -> None:
    assert [flaw for each in found for flaw in each.flaws()] == []


def test_the_descheduler_was_asked(found: list[Compared]) -> None:
    assert sum(each.theirs.evictions > 0 for each in found) > len(found) // 3
