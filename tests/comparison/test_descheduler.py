"""What is said of the descheduler beside plans; the program itself is run with ``make e2e``."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.comparison.descheduler import NAME, VERSION, Compared, End, figures, table

WELL = End(evictions=2, waited=0, unplaced=0, beyond=0)
BESIDE = Compared(name="web", beyond=3, ours=WELL, theirs=WELL)


def test_the_version_is_the_one_that_is_built() -> None:
    module = Path(__file__).parent / "go" / NAME / "go.mod"
    assert f"require sigs.k8s.io/descheduler {VERSION}\n" in module.read_text()


def test_the_page_has_what_is_counted() -> None:
    page = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text()
    assert all(f"| {what} | " in page for what in figures([BESIDE]))


@pytest.mark.parametrize(
    ("compared", "flaws"),
    [
        (BESIDE, []),
        (replace(BESIDE, ours=replace(WELL, waited=1)), ["web: 1 Pods of the plan find no node"]),
        (replace(BESIDE, ours=replace(WELL, evictions=3)), ["web: 3 evictions to 0, 2 to 0"]),
        (replace(BESIDE, ours=replace(WELL, evictions=3), theirs=replace(WELL, waited=1)), []),
        (replace(BESIDE, ours=replace(WELL, evictions=3), theirs=replace(WELL, beyond=1)), []),
        (
            replace(BESIDE, ours=replace(WELL, beyond=1, evictions=1)),
            ["web: the plan ends 1 beyond maxSkew, the descheduler 0"],
        ),
        (
            replace(BESIDE, ours=replace(WELL, beyond=3), theirs=replace(WELL, beyond=4)),
            ["web: 2 evictions for nothing"],
        ),
    ],
    ids=["as good", "no node", "more evictions", "theirs wait", "theirs leave more", "leaves more", "for nothing"],
)
def test_what_is_wrong_with_a_plan(compared: Compared, flaws: list[str]) -> None:
    assert [*compared.flaws()] == flaws


def test_each_side_is_counted_by_the_same_rules() -> None:
    found = [BESIDE, replace(BESIDE, theirs=End(evictions=4, waited=2, unplaced=1, beyond=1))]
    assert [*figures(found).values()] == [(6, 4), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (0, 0)]


def test_a_column_a_side_and_a_sort_of_clusters() -> None:
    lines = table({"one": [BESIDE]}).splitlines()
    assert lines[0] == f"|  | descheduler {VERSION}, one | `kubectl spread`, one |"
    assert lines[2] == "| Pods evicted | 2 | 2 |"
