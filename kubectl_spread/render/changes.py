"""What has changed from one answer of ``show`` to the next, as text for those who watch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from kubectl_spread.render.cells import Column, clean, listed, table
from kubectl_spread.render.table import SKEW_COLUMNS, incomplete_lines
from kubectl_spread.report import SkewItem, SkewReport

GONE = "Gone"
"""The status of a row that is no longer there."""
NAMED = 3
"""Workloads (count) up to which each is named."""

RowKey: TypeAlias = tuple[str, str, str, bool, int]


def changed_rows(told: SkewReport, now: SkewReport, *, wide: bool, colors: bool = False) -> str:
    """Return the rows that read otherwise now, as they stand in the whole table, and those that are gone.

    Args:
        told: the answer before.
        now: the answer.
        wide: whether all columns count.
        colors: whether colours are wanted.
    """
    gone = _gone(told, now)
    columns = [_with_gone(column, gone) for column in SKEW_COLUMNS if wide or not column.wide]
    before = {_key(item): _cells(item, columns) for item in told.items if _key(item) not in gone}
    rows = (*now.items, *gone.values())
    # With headers, so that rows stand under those that were printed.
    lines = table(columns, rows, headers=True, colors=colors).splitlines()[1:]
    changed = [line for line, item in zip(lines, rows, strict=True) if before.get(_key(item)) != _cells(item, columns)]
    missing = incomplete_lines(now.incomplete) if now.incomplete != told.incomplete else ""
    return "".join(f"{line}\n" for line in changed) + missing


def summary(told: SkewReport, now: SkewReport) -> str:
    """Return which workloads have changed, come and gone, in one line."""
    before, after = ({_key(item): item for item in report.items} for report in (told, now))
    parts = (
        ("changed", (item for key, item in after.items() if key in before and before[key] != item)),
        ("new", (item for key, item in after.items() if key not in before)),
        ("gone", (item for key, item in before.items() if key not in after)),
    )
    words = [f"{word}: {listed(names, NAMED)}" for word, items in parts if (names := _names(items))]
    return clean("; ".join(words)) or "what could be read has changed"


def _names(items: Iterable[SkewItem]) -> list[str]:
    """Return the workloads of the rows, each once."""
    return list(dict.fromkeys(f"{item.namespace}/{item.workload}" for item in items))


def _gone(told: SkewReport, now: SkewReport) -> Mapping[RowKey, SkewItem]:
    """Return the rows that are no longer there."""
    there = {_key(item) for item in now.items}
    return {_key(item): item for item in told.items if _key(item) not in there}


def _key(item: SkewItem) -> RowKey:
    """Return what a row is about, whatever it says."""
    return item.namespace, str(item.workload), item.revision, item.default, item.constraint.index


def _cells(item: SkewItem, columns: Iterable[Column[SkewItem]]) -> tuple[str, ...]:
    """Return what the row says."""
    return tuple(column.cell(item) for column in columns)


def _with_gone(column: Column[SkewItem], gone: Mapping[RowKey, SkewItem]) -> Column[SkewItem]:
    """Return the column; in that of the status, rows that are gone say so."""
    if column.header != "STATUS":
        return column
    return replace(column, cell=lambda item: GONE if _key(item) in gone else column.cell(item))
