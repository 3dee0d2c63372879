"""Lines and cells: what others wrote cannot move the cursor, reorder the line or forge another."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.render.cells import NONE, cell, clean
from kubectl_spread.wording.words import EMPTY

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


def test_an_empty_value_is_not_nothing() -> None:
    assert EMPTY != NONE
