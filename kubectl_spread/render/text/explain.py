"""What ``explain`` prints: a list, or one thing in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from kubectl_spread.contract.report import API_VERSION
from kubectl_spread.render.outline import Column, table_of
from kubectl_spread.render.text import table_text
from kubectl_spread.render.text.screen import PIPE, Screen
from kubectl_spread.wording.reference import Entry, EntryKind

if TYPE_CHECKING:
    from kubectl_spread.render.json_fields import JsonField

WIDTH = 100  # Characters to a line, at most
LABELS = {EntryKind.FIX: "Offered", EntryKind.FIELD: "Allowed", EntryKind.COLUMN: "Printed"}
COLUMNS: Sequence[Column[Entry]] = (
    Column("NAME", lambda entry: entry.name),
    Column("KIND", lambda entry: entry.kind.value),
    Column("WHAT", lambda entry: entry.summary),
)


def listed_text(entries: Sequence[Entry], screen: Screen = PIPE) -> str:
    """Return a line for each entry, fit to the screen."""
    return table_text(table_of(COLUMNS, entries), screen)


def entries_text(entries: Sequence[Entry], screen: Screen = PIPE) -> str:
    """Return entries of one name in full, a blank line between them."""
    readable, texts = Screen(width=min(screen.width or WIDTH, WIDTH)), []
    for entry in entries:
        when = f"{LABELS.get(entry.kind, 'Reported')}: {entry.when}"
        title = screen.wrapped(f"{entry.name} ({entry.kind}): {entry.summary}")
        told = (
            line for text in (entry.meaning, when, f"What to do: {entry.action}") for line in readable.wrapped(text)
        )
        texts.append("\n".join([*title, "", *told, "", f"See {entry.link}", ""]))
    return "\n".join(texts)


def fields_text(fields: Sequence[JsonField], screen: Screen = PIPE) -> str:
    """Return a line for each field of ``-o json``."""
    where = ("" if field.of.isupper() else "JSON, " for field in fields)
    lines = (f"{field.name} ({json}in {field.of}): {field.meaning}" for field, json in zip(fields, where, strict=True))
    return "".join(f"{line}\n" for text in lines for line in screen.wrapped(text, under=2))


def values_of(entries: Sequence[Entry], fields: Sequence[JsonField] = ()) -> dict[str, object]:
    """Return entries and fields of ``-o json`` as programs read them."""
    items = [
        *map(msgspec.structs.asdict, entries),
        *({"kind": "json", **msgspec.structs.asdict(field)} for field in fields),
    ]
    return {"apiVersion": API_VERSION, "kind": "Reference", "items": items}
