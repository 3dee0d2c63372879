"""Cells and tables: what others wrote cannot move the cursor, reorder the line or forge another."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.render.cells import EMPTY, NONE, Color, Column, cell, clean, listed, paint, table

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        ("plain text", "plain text"),
        ("zürich 東京 🎉", "zürich 東京 🎉"),
        ("\x1b[31mred\x1b[0m", "^[[31mred^[[0m"),
        ("a\rb\nc\td", "a\\rb\\nc\\td"),
        ("bell\x07 back\x08 null\x00", "bell\\x07 back\\x08 null\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\u2066inside\u2069", "\\u2066inside\\u2069"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("line\u2028break", "line\\u2028break"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_a_terminal_would_act_on_becomes_visible(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text())
def test_nothing_that_acts_is_left_in_any_text(text: str) -> None:
    assert not {unicodedata.category(character) for character in clean(text)} & ACTING


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_text_that_only_draws_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", NONE),
        ("one", "one"),
        ("one\ntwo", "one..."),
        ("one\n", "one"),
        ("one\n\n", "one"),
        ("\ntwo", "..."),
        ("one\rtwo", "one..."),
        ("one\u2029two", "one..."),
    ],
)
def test_a_cell_is_one_line(text: str, shown: str) -> None:
    assert cell(text) == shown


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_table_has_a_line_for_each_row(names: list[str]) -> None:
    columns = [Column("NAME", str), Column("LENGTH", lambda name: str(len(name)))]
    assert len(table(columns, names).split("\n")) == len(names) + 2


ROWS = [("a", "1"), ("longer", ""), ("c", "007")]
COLUMNS: list[Column[tuple[str, str]]] = [
    Column("NAME", lambda row: row[0]),
    Column("COUNT", lambda row: row[1], color=lambda row: Color.RED if row[1] else Color.GREEN),
]


def test_a_table_looks_like_kubectls() -> None:
    assert table(COLUMNS, ROWS) == ("NAME     COUNT\na        1\nlonger   <none>\nc        007\n")


def test_headers_may_be_left_out() -> None:
    assert table(COLUMNS, ROWS, headers=False) == "a        1\nlonger   <none>\nc        007\n"


def test_no_rows_are_no_table() -> None:
    assert table(COLUMNS, []) == ""


def test_colours_surround_cells_and_move_nothing() -> None:
    painted = table(COLUMNS, ROWS, colors=True)
    assert painted.splitlines()[1:3] == ["a        \x1b[31m1\x1b[0m", "longer   \x1b[32m<none>\x1b[0m"]
    assert re.sub(r"\x1b\[[0-9]+m", "", painted) == table(COLUMNS, ROWS)


@pytest.mark.parametrize("color", Color)
def test_paint_begins_and_ends(color: Color) -> None:
    assert paint("text", color, wanted=True) == f"\x1b[{color.value}mtext\x1b[0m"
    assert paint("text", color, wanted=False) == "text"


@pytest.mark.parametrize(
    ("names", "most", "text"),
    [
        ([], 4, NONE),
        (["a"], 4, "a"),
        (["a", "b", "c"], 2, "a, b, c"),
        (["a", "b", "c", "d"], 2, "a, b and 2 more"),
        (list("abcdef"), 4, "a, b, c, d and 2 more"),
        (["a", "b"], 10**9, "a, b"),
    ],
)
def test_long_lists_are_cut(names: list[str], most: int, text: str) -> None:
    assert listed(names, most) == text


def test_an_empty_value_is_not_nothing() -> None:
    assert EMPTY != NONE
