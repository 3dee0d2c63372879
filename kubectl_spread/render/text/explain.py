"""What ``explain`` prints: a list, or one thing in full."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from kubectl_spread.reference.entry import Entry, EntryKind
from kubectl_spread.render.outline import Column, table_of
from kubectl_spread.render.text import table_text
from kubectl_spread.report import API_VERSION

WIDTH = 100
"""Characters to a line."""
LABELS = {EntryKind.FIX: "Offered", EntryKind.FIELD: "Allowed", EntryKind.COLUMN: "Printed"}
COLUMNS: Sequence[Column[Entry]] = (
    Column("NAME", lambda entry: entry.name),
    Column("KIND", lambda entry: entry.kind.value),
    Column("WHAT", lambda entry: entry.summary),
)


def listed_text(entries: Sequence[Entry]) -> str:
    """Return a line for each entry."""
    return table_text(table_of(COLUMNS, entries))


def entries_text(entries: Sequence[Entry]) -> str:
    """Return entries of one name in full, a blank line between them."""
    return "\n".join(map(_entry_text, entries))


def values_of(entries: Sequence[Entry]) -> dict[str, object]:
    """Return the entries as programs read them."""
    return {"apiVersion": API_VERSION, "kind": "Reference", "items": [asdict(entry) for entry in entries]}


def _entry_text(entry: Entry) -> str:
    """Return one entry: what it is, what it means, when it comes, what to do, where to read on."""
    paragraphs = (
        entry.meaning,
        f"{LABELS.get(entry.kind, 'Reported')}: {entry.when}",
        f"What to do: {entry.action}",
    )
    filled = [textwrap.fill(text, WIDTH, break_on_hyphens=False) for text in paragraphs]
    return "\n".join([f"{entry.name} ({entry.kind}): {entry.summary}", "", *filled, "", f"See {entry.link}", ""])
