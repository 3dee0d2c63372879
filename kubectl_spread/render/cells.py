"""Cells and plain tables as kubectl prints them.

Labels, names and messages are written by others: nothing in them may move the cursor or forge a line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

RowT = TypeVar("RowT")

NONE = "<none>"
EMPTY = '""'
"""A value that is there and empty."""

# Categories that draw nothing or reorder what is drawn: control, format (bidi marks among them), surrogate, separators.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


class Color(StrEnum):
    """The colours in use, by their codes (ECMA-48 SGR)."""

    RED = "31"
    GREEN = "32"
    YELLOW = "33"
    CYAN = "36"


def paint(text: str, color: Color, *, wanted: bool) -> str:
    """Return the text in the colour, or as it is where no colours are wanted."""
    return f"\x1b[{color}m{text}\x1b[0m" if wanted else text


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """One column of a table.

    Attributes:
        header: in capitals, without spaces.
        cell: the row's text in this column.
        wide: whether it is shown by ``-o wide`` only.
        color: the row's colour in this column, where colours are wanted; None for plain columns.
    """

    header: str
    cell: Callable[[RowT], str]
    wide: bool = False
    color: Callable[[RowT], Color] | None = None


def clean(text: str) -> str:
    """Return the text with everything a terminal would act on made visible."""
    if text.isprintable():
        return text
    return "".join(escape(character) for character in text)


def invisible(character: str) -> bool:
    """Whether a character draws nothing of its own, and may act on the terminal or on its neighbours instead."""
    return unicodedata.category(character) in _INVISIBLE


def escape(character: str) -> str:
    """Return the character, or its code where it draws nothing of its own."""
    if not invisible(character):
        return character
    if character == "\x1b":
        return "^["
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def cell(text: str) -> str:
    """Return the text as one cell: its first line, cleaned; ``<none>`` where it is empty."""
    first, *rest = text.splitlines() or [""]
    return clean(first) + ("..." if any(rest) else "") or NONE


def table(columns: Sequence[Column[RowT]], rows: Iterable[RowT], *, headers: bool = True, colors: bool = False) -> str:
    """Return a table with three spaces between columns, as kubectl prints it; empty without rows."""
    from tabulate import tabulate

    cells = [[_painted(column, row, colors=colors) for column in columns] for row in rows]
    if not cells:
        return ""
    if headers:
        cells.insert(0, [column.header for column in columns])
    # tabulate puts two spaces between columns; a space at the end of each cell makes the third.
    padded = [[text + " " for text in row[:-1]] + row[-1:] for row in cells]
    text = tabulate(padded, tablefmt="plain", disable_numparse=True, preserve_whitespace=True)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _painted(column: Column[RowT], row: RowT, *, colors: bool) -> str:
    """Return the row's cell of the column."""
    text = cell(column.cell(row))
    return paint(text, column.color(row), wanted=colors) if column.color else text


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return the names, or the first of them and how many there are besides; ``<none>`` without any."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return ", ".join(names) or NONE
