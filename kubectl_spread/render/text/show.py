"""What ``show`` prints: a table of all workloads, or each in full, and what has changed since the last answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.cells import clean
from kubectl_spread.render.outline import Extent, Gaps, Table, Tone, table_of
from kubectl_spread.render.outline.access import header, node_names
from kubectl_spread.render.outline.skew import SKEW_COLUMNS, left_behind, skew_outline
from kubectl_spread.render.text import block_lines, header_lines, outline_text, shortened, suffix_line, table_text
from kubectl_spread.render.text.screen import PIPE, Screen, table_rows
from kubectl_spread.wording import words as wording
from kubectl_spread.wording.words import count_of, in_cluster, listed

if TYPE_CHECKING:
    from kubectl_spread.contract.audit import AuditReport
    from kubectl_spread.contract.pending import PendingItem, PendingReport

GONE = "Gone"  # The status of a row that is no longer there
AS_ABOVE = "as above"
LEAST_ROWS = 2  # Rows (count) that even the shortest screen has
SHORT = 30  # Characters up to which a reason stands in each row that has it
NAMED = 3  # Workloads (count) up to which each is named

RowKey: TypeAlias = tuple[str, str, str, bool, int]


def show_table(
    report: SkewReport,
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
    table = _once(table_of(SKEW_COLUMNS, report.items, wide=wide), report.items)
    counted = "\n".join((*left_behind(report.items), *([_totals(report)] if totals and report.items else [])))
    return table_screen(report, table, screen, headers=headers, nodes=nodes, totals=counted)


def _once(table: Table, items: Sequence[SkewItem]) -> Table:
    """Return the table with a long reason once: the rows of one workload that share it refer to the row above."""
    told = [index for index, header in enumerate(table.headers) if header in {"REASON", "NEXT"}]
    rows = list(table.rows)
    for number, (before, item) in enumerate(pairwise(items), 1):
        if (before.namespace, before.workload) == (item.namespace, item.workload):
            same = {each for each in told if len(table.rows[number][each]) > SHORT}
            same = {each for each in same if table.rows[number][each] == table.rows[number - 1][each]}
            rows[number] = tuple(AS_ABOVE if each in same else cell for each, cell in enumerate(rows[number]))
    return msgspec.structs.replace(table, rows=tuple(rows))


def table_screen(
    report: SkewReport | AuditReport,
    table: Table,
    screen: Screen,
    *,
    headers: bool,
    nodes: Collection[str],
    totals: str,
) -> str:
    """Return the table of a report, with what was read above it, and gaps and totals below it.

    Of a table that is longer than the screen, rows that are OK are left out, the last ones first.
    """
    top = header_lines(header(report.metadata), screen) if headers else ""
    gaps = gap_lines(report.incomplete, screen)
    counted = "".join(f"{line}\n" for each in totals.splitlines() for line in screen.wrapped(each))

    def text(good: int, screen: Screen) -> str:
        some = _with_good(table, good)
        told, suffix = shortened(some, (some,), screen, nodes=nodes)
        return top + table_text(told, screen, headers=headers) + gaps + suffix_line(suffix, screen) + counted

    good = sum(Tone.GOOD in tones for tones in table.tones)
    if headers and screen.height:
        plain, most = msgspec.structs.replace(screen, colors=False), screen.height - len(table.rows) + good
        fitting = bisect_left(range(1, min(good, most) + 1), x=True, key=lambda n: not screen.fits(text(n, plain)))
        good = max(fitting, LEAST_ROWS + good - len(table.rows))
    return text(good, screen)


def _with_good(table: Table, number: int) -> Table:
    """Return the table with so many (count) of the rows that are OK, and all others."""
    good = [index for index, tones in enumerate(table.tones) if Tone.GOOD in tones]
    if not (left := {*good[number:]}):
        return table
    rows, tones = (tuple(it for at, it in enumerate(every) if at not in left) for every in (table.rows, table.tones))
    return msgspec.structs.replace(table, rows=rows, tones=tones, more=wording.more_rows(len(left)))


def _totals(report: SkewReport) -> str:
    lines = []
    for cluster, items in grouped(report.items, lambda item: item.cluster).items():
        workloads = len({(item.namespace, item.workload) for item in items})
        what = f"{count_of(len(items), 'constraint')} of {count_of(workloads, 'workload')}"
        by_status = sorted((item.current for item in items), key=tuple(SpreadStatus).index)
        lines.append(wording.totals(in_cluster(what, cluster), by_status))
    return "\n".join(lines)


def gap_lines(gaps: Iterable[Gap], screen: Screen = PIPE) -> str:
    """Return a line for everything the answer does not rest on."""
    return "".join(f"{line}\n" for line in block_lines(Gaps.of(gaps), screen))


def show_details(report: SkewReport, screen: Screen = PIPE, *, wide: bool, by_node: bool) -> str:
    """Return, for each row, the domain table, ghosts, and where the next replica may go."""
    return outline_text(skew_outline(report, Extent(wide=wide, by_node=by_node)), screen)


def changed_rows(before: SkewReport, now: SkewReport, screen: Screen = PIPE, *, wide: bool) -> str:
    """Return the rows that read otherwise now, as they stand in the whole table, and those that are gone."""
    earlier, rows = before.items, now.items
    there = frozenset(map(_key, rows))
    gone = tuple(row for row in earlier if _key(row) not in there)
    was = dict(zip(map(_key, earlier), table_of(SKEW_COLUMNS, earlier, wide=wide).rows, strict=True))
    table = table_of(SKEW_COLUMNS, (*rows, *gone), wide=wide)
    status = table.headers.index("STATUS")
    marked = ((*row[:status], GONE, *row[status + 1 :]) for row in table.rows[len(rows) :])
    table = msgspec.structs.replace(table, rows=(*table.rows[: len(rows)], *marked))
    told, suffix = shortened(table, (table,), screen, nodes=node_names(now) | node_names(before))
    # With headers, so that rows stand under those that were printed; what stands below them is no row.
    lines = zip(islice(table_rows(told, screen), 1, None), map(_key, (*rows, *gone)), table.rows, strict=False)
    changed = "".join(f"{line}\n" for row_lines, key, row in lines if was.get(key) != row for line in row_lines)
    gaps = gap_lines(now.incomplete, screen) if now.incomplete != before.incomplete else ""
    return changed + gaps + suffix_line(suffix if changed else "", screen)


def summary(before: SkewReport | PendingReport, now: SkewReport | PendingReport) -> str:
    """Return which workloads or Pods have changed, come and gone, in one line."""
    from kubectl_spread.contract.form import to_form

    was, there = ({_key(item): item for item in report.items} for report in (before, now))
    parts = (
        ("changed", (item for key, item in there.items() if key in was and to_form(was[key]) != to_form(item))),
        ("new", (item for key, item in there.items() if key not in was)),
        ("gone", (item for key, item in was.items() if key not in there)),
    )
    named = [(word, list(dict.fromkeys("/".join(_key(each)[:2]) for each in items))) for word, items in parts]
    changes = "; ".join(f"{word}: {listed(names, NAMED)}" for word, names in named if names)
    return clean(changes) or "what could be read has changed"


def _key(item: SkewItem | PendingItem) -> RowKey:
    """Return what a row or a Pod is about, whatever it says."""
    if isinstance(item, SkewItem):
        return item.namespace, str(item.workload), item.revision, item.default, item.state.constraint.index
    return item.namespace, item.name, "", False, 0
