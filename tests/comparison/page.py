"""The table of ``docs/comparison.md``, between two comments: written from what was measured, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.comparison.asking import Row
from tests.comparison.judging import cell

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
_BEGIN = "<!-- measured: begin -->"
_END = "<!-- measured: end -->"
_SITUATION, _SCHEDULER = "situation", "kube-scheduler"


def table(rows: Sequence[Row]) -> str:
    """Return the table: a row for each situation, a column for each tool."""
    tools = [*rows[0].held]
    lines = [[_SITUATION, _SCHEDULER, *tools], ["---"] * (len(tools) + 2)]
    lines += [[row.situation, row.decision, *(cell(row.held[tool]) for tool in tools)] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_table(text: str, written: str) -> str:
    """Return the page with another table in its place."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{written}{_END}{after}"


def cells(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return what the page's table says: situation → heading → cell."""
    lines = text.partition(_BEGIN)[2].partition(_END)[0].strip().splitlines()
    headings, _, *rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(headings[1:], row[1:], strict=True)) for row in rows}
