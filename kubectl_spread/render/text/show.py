"""What ``show`` prints: a table of all workloads, or each in full."""

from __future__ import annotations

from collections.abc import Collection

from kubectl_spread.contract.report import Incomplete
from kubectl_spread.contract.skew import SkewReport, SkewTable
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.render.outline import Extent, Gaps, table_of
from kubectl_spread.render.outline.access import header
from kubectl_spread.render.outline.skew import SKEW_COLUMNS, skew_outline
from kubectl_spread.render.text import block_lines, header_lines, outline_text, shortened, suffix_line, table_text
from kubectl_spread.render.text.screen import PIPE, Screen
from kubectl_spread.wording import words as wording
from kubectl_spread.wording.words import count_of


def show_table(
    report: SkewReport | SkewTable,
    screen: Screen = PIPE,
    *,
    wide: bool,
    headers: bool,
    nodes: Collection[str] = (),
    totals: bool = False,
) -> str:
    """Return a row for each workload and constraint, and, if wanted, a line of totals.

    Where there is little room, the names of these nodes are short.
    """
    table = table_of(SKEW_COLUMNS, report.items, wide=wide)
    told, suffix = shortened(table, (table,), screen, nodes=nodes)
    top = header_lines(header(report.metadata), screen) if headers else ""
    text = top + table_text(told, screen, headers=headers) + gap_lines(report.incomplete, screen)
    return text + suffix_line(suffix, screen) + (_totals(report, screen) if totals and report.items else "")


def _totals(report: SkewReport | SkewTable, screen: Screen) -> str:
    items = report.items
    workloads = len({(item.namespace, item.workload) for item in items})
    what = f"{count_of(len(items), 'constraint')} of {count_of(workloads, 'workload')}"
    by_status = sorted((item.status for item in items), key=tuple(SpreadStatus).index)
    return "".join(f"{line}\n" for line in screen.wrapped(wording.totals(what, by_status)))


def gap_lines(gaps: tuple[Incomplete, ...], screen: Screen = PIPE) -> str:
    """Return a line for everything the answer does not rest on."""
    return "".join(f"{line}\n" for line in block_lines(Gaps(gaps=gaps), screen))


def show_details(report: SkewReport, screen: Screen = PIPE, *, wide: bool, by_node: bool) -> str:
    """Return, for each row, the domain table, ghosts, and where the next replica may go."""
    return outline_text(skew_outline(report, Extent(wide=wide, by_node=by_node)), screen)
