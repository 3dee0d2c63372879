"""What ``show`` prints: a table of all workloads, or each in full."""

from __future__ import annotations

from kubectl_spread.render.outline import Extent, Gaps, table_of
from kubectl_spread.render.outline.skew import SKEW_COLUMNS, rows_of, skew_outline
from kubectl_spread.render.text import block_lines, outline_text, table_text
from kubectl_spread.report import Incomplete, SkewReport, SkewTable


def show_table(report: SkewReport | SkewTable, *, wide: bool, headers: bool, colors: bool = False) -> str:
    """Return a row for each workload and constraint."""
    table = table_of(SKEW_COLUMNS, rows_of(report), wide=wide)
    return table_text(table, headers=headers, colors=colors) + gap_lines(report.incomplete)


def gap_lines(gaps: tuple[Incomplete, ...]) -> str:
    """Return a line for everything the answer does not rest on."""
    return "".join(f"{line}\n" for line in block_lines(Gaps(gaps=gaps)))


def show_details(report: SkewReport, *, wide: bool, by_node: bool, colors: bool = False) -> str:
    """Return, for each row, the domain table, ghosts, and where the next replica may go."""
    return outline_text(skew_outline(report, Extent(wide=wide, by_node=by_node)), colors=colors)
