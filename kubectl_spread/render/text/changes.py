"""What has changed from one answer of ``show`` to the next, as text for those who watch."""

from __future__ import annotations

from itertools import islice
from typing import TypeAlias

import msgspec

from kubectl_spread.contract.skew import SkewItem, SkewReport
from kubectl_spread.render.cells import clean
from kubectl_spread.render.outline import table_of
from kubectl_spread.render.outline.shortening import node_names
from kubectl_spread.render.outline.skew import SKEW_COLUMNS
from kubectl_spread.render.text import shortened, suffix_line
from kubectl_spread.render.text.screen import PIPE, Screen, table_rows
from kubectl_spread.render.text.show import gap_lines
from kubectl_spread.wording.words import listed

GONE = "Gone"
"""The status of a row that is no longer there."""
NAMED = 3
"""Workloads (count) up to which each is named."""

RowKey: TypeAlias = tuple[str, str, str, bool, int]


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


def summary(before: SkewReport, now: SkewReport) -> str:
    """Return which workloads have changed, come and gone, in one line."""
    was, there = ({_key(item): item for item in report.items} for report in (before, now))
    parts = (
        ("changed", (item for key, item in there.items() if key in was and was[key] != item)),
        ("new", (item for key, item in there.items() if key not in was)),
        ("gone", (item for key, item in was.items() if key not in there)),
    )
    named = [
        (word, list(dict.fromkeys(f"{each.namespace}/{each.workload}" for each in items))) for word, items in parts
    ]
    changes = "; ".join(f"{word}: {listed(names, NAMED)}" for word, names in named if names)
    return clean(changes) or "what could be read has changed"


def _key(item: SkewItem) -> RowKey:
    """Return what a row is about, whatever it says."""
    return item.namespace, str(item.workload), item.revision, item.default, item.constraint.index
