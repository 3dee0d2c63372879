"""The tables of ``docs/comparison.md``, each between two comments: written from what was measured, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isinf
from pathlib import Path

from tests.bench.large.questions import Cost
from tests.bench.measuring import Measured
from tests.comparison.asking import Row
from tests.comparison.descheduler import VERSION, Compared, figures
from tests.comparison.judging import cell
from tests.comparison.rivals import Rival

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
SITUATIONS, PLUGINS, COSTS, LARGE, EVICTIONS = "situations", "plugins", "costs", "large", "evictions"
"""Names of the tables."""


def situations_table(rows: Sequence[Row]) -> str:
    """Return a row for each situation, a column for each tool."""
    tools = [*rows[0].held]
    cells = [(row.situation, row.decision, *(cell(row.held[tool]) for tool in tools)) for row in rows]
    return _table(("situation", "kube-scheduler", *tools), cells)


def plugins_table(at_hand: Mapping[Rival, bool]) -> str:
    """Return a row for each plugin, and whether it could be built."""
    cells = [(rival.name, rival.version, "yes" if found else "no") for rival, found in at_hand.items()]
    return _table(("plugin", "version", "built"), cells)


def costs_table(measured: Sequence[Measured]) -> str:
    """Return a row for each command: its time and its memory as multiples of the first one's."""
    first = measured[0]
    cells = [
        (each.name, f"{each.seconds / first.seconds:.2f} ×", f"{each.memory / first.memory:.2f} ×") for each in measured
    ]
    return _table(("command", "time", "peak memory"), cells)


def large_table(found: Sequence[Cost]) -> str:
    """Return a row for each question to the large cluster and each plugin, its time a multiple of the bare read's."""
    return _table(("question", "time", "processor time", "peak memory", "read"), [_large_row(cost) for cost in found])


def _large_row(cost: Cost) -> tuple[str, ...]:
    """Return the cells of a row."""
    measured = cost.measured
    time = "not within five minutes" if isinf(cost.time) else f"{cost.time:.2f} R"
    read = "" if cost.read_mb is None else f"{cost.read_mb:.0f} MB"
    return measured.name, time, f"{measured.cpu_seconds:.1f} s", f"{measured.memory:.0f} MiB", read


def evictions_table(found: Mapping[str, Sequence[Compared]]) -> str:
    """Return a row for each thing that was counted, two columns for each sort of clusters.

    Args:
        found: what the clusters are → what came of each.
    """
    counted = {what: figures(clusters) for what, clusters in found.items()}
    headings = [f"{side}, {what}" for what in counted for side in (f"descheduler {VERSION}", "`kubectl spread`")]
    first = next(iter(counted.values()))
    rows = [(name, *(str(number) for each in counted.values() for number in each[name])) for name in first]
    return _table(("", *headings), rows)


def with_table(text: str, name: str, written: str) -> str:
    """Return the page with another table in the place of the one of that name."""
    begin, end = _marks(name)
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{written}{end}{rest.partition(end)[2]}"


def read_table(text: str, name: str) -> Mapping[str, Mapping[str, str]]:
    """Return what a table of the page says: first cell of the row → heading → cell."""
    begin, end = _marks(name)
    lines = text.partition(begin)[2].partition(end)[0].splitlines()
    headings, _, *rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(headings[1:], row[1:], strict=True)) for row in rows}


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _marks(name: str) -> tuple[str, str]:
    """Return the comments between which a table stands."""
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
