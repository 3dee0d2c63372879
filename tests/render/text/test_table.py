"""Plain tables as kubectl prints them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.render.outline import Column, Tone, table_of
from kubectl_spread.render.text import table_text
from kubectl_spread.render.text.screen import COLORS, PIPE, Screen


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_table_has_a_line_for_each_row(names: list[str]) -> None:
    columns = [Column("NAME", str), Column("LENGTH", lambda name: str(len(name)))]
    assert len(table_text(table_of(columns, names)).split("\n")) == len(names) + 2


ROWS = [("a", "1"), ("longer", ""), ("c", "007")]
COLUMNS: list[Column[tuple[str, str]]] = [
    Column("NAME", lambda row: row[0]),
    Column("COUNT", lambda row: row[1], tone=lambda row: Tone.BAD if row[1] else Tone.GOOD),
]


def text_of(rows: Sequence[tuple[str, str]], *, headers: bool = True, colors: bool = False) -> str:
    return table_text(table_of(COLUMNS, rows), Screen(colors=colors), headers=headers)


def test_a_table_looks_like_kubectls() -> None:
    assert text_of(ROWS) == ("NAME     COUNT\na        1\nlonger   <none>\nc        007\n")


def test_headers_may_be_left_out() -> None:
    assert text_of(ROWS, headers=False) == "a        1\nlonger   <none>\nc        007\n"


def test_no_rows_are_no_table() -> None:
    assert text_of([]) == ""


def test_colours_surround_cells_and_move_nothing() -> None:
    painted = text_of(ROWS, colors=True)
    assert painted.splitlines()[1:3] == ["a        \x1b[31m1\x1b[0m", "longer   \x1b[32m<none>\x1b[0m"]
    assert re.sub(r"\x1b\[[0-9]+m", "", painted) == text_of(ROWS)


@pytest.mark.parametrize("tone", Tone)
def test_paint_begins_and_ends(tone: Tone) -> None:
    assert Screen(colors=True).paint("text", tone) == f"\x1b[{COLORS[tone]}mtext\x1b[0m"
    assert PIPE.paint("text", tone) == "text"
