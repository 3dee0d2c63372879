"""The page's table is about the situations and the tools that the code asks about."""

from __future__ import annotations

import pytest

from tests.comparison.asking import Row
from tests.comparison.judging import Merit
from tests.comparison.page import PAGE, cells, table, with_table
from tests.comparison.rivals import RIVALS, Rival
from tests.comparison.situations import Situation, situations
from tests.comparison.tools import at_hand_everywhere

TEXT = PAGE.read_text()


def test_the_rows_are_the_situations() -> None:
    assert [*cells(TEXT)] == [situation.name for situation in situations()]


@pytest.mark.parametrize("situation", situations(), ids=lambda situation: situation.name)
def test_each_row_has_the_schedulers_decision_and_a_cell_for_each_tool(situation: Situation) -> None:
    (row,) = (row for name, row in cells(TEXT).items() if name == situation.name)
    headings = ["kube-scheduler", *(tool.name for tool in at_hand_everywhere())]
    assert [*row][: len(headings)] == headings
    assert row["kube-scheduler"] == situation.decision


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_every_plugin_that_is_looked_for_is_named_with_its_version(rival: Rival) -> None:
    assert f"| {rival.name} | {rival.version} |" in TEXT


def test_a_table_is_read_as_it_was_written() -> None:
    row = Row(situation="one", decision="1 of 1 Pending", held={"tool": (Merit.CAUSE,), "other": ()}, answers={})
    written = with_table(TEXT, table([row]))
    assert cells(written) == {"one": {"kube-scheduler": "1 of 1 Pending", "tool": "cause", "other": "none"}}
    assert with_table(written, table([row])) == written
    assert written.splitlines()[0] == TEXT.splitlines()[0]
    assert written.splitlines()[-1] == TEXT.splitlines()[-1]
