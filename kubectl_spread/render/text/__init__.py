"""Reports as text for people: a line for each sentence, a blank line between paragraphs, kubectl's kind of tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from types import ModuleType
from typing import assert_never

from kubectl_spread.render.cells import cell, clean
from kubectl_spread.render.outline import (
    Block,
    Commands,
    Constraint,
    Findings,
    FixBlock,
    Fixes,
    Gaps,
    Headline,
    Item,
    Messages,
    Note,
    Outline,
    Refusals,
    SameFor,
    Table,
    Tone,
    Warnings,
)

METADATA = "importlib.metadata"
COLORS = {Tone.BAD: "31", Tone.GOOD: "32", Tone.WARNING: "33", Tone.INFO: "36"}
"""Tone → the code of its colour (ECMA-48 SGR): red, green, yellow, cyan."""


def outline_text(outline: Outline, *, colors: bool = False) -> str:
    """Return the outline as text; ``colors`` says whether headlines have the colour of their tone."""
    items = "\n".join(_item(item, colors=colors) for item in outline.items)
    return items + "".join(f"{line}\n" for line in block_lines(outline.gaps))


def _item(item: Item, *, colors: bool) -> str:
    """Return one item; its headline stands on the first paragraph."""
    first, *rest = item.paragraphs
    paragraphs = [[_headline(item.headline, colors=colors), *_lines(first)], *map(list, map(_lines, rest))]
    return "\n\n".join("\n".join(lines) for lines in paragraphs) + "\n"


def _headline(headline: Headline, *, colors: bool) -> str:
    """Return the sentence on top."""
    return clean(headline.lead) + paint(clean(headline.line), headline.tone, wanted=colors)


def _lines(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the lines of the blocks."""
    for block in blocks:
        yield from block_lines(block)


def block_lines(block: Block) -> Iterator[str]:  # noqa: C901 - one for each kind of block
    """Yield the lines of one block."""
    match block:
        case SameFor() | Note():
            yield clean(block.line)
        case Refusals():
            yield from (clean(f"invalid: {error.field}: {error.message}") for error in block.errors)
        case Warnings():
            yield from (clean(f"Warning: {warning.field}: {warning.message}") for warning in block.warnings)
        case Table():
            yield from table_text(block).splitlines()
        case Constraint():
            yield from _constraint(block)
        case Findings():
            yield from (f"{found.severity}: {found.id}: {cell(found.message)}" for found in block.findings)
        case Gaps():
            yield from (clean(f"incomplete: {gap.what} ({gap.why}): {gap.consequence}.") for gap in block.gaps)
        case Fixes():
            yield from _fixes(block)
        case Messages():
            yield from _messages(block)
        case Commands():
            yield from (clean(f"  {command}") for command in block.commands)
        case _:
            assert_never(block)


def _constraint(constraint: Constraint) -> Iterator[str]:
    """Yield a constraint, its domains, its minimum and the nodes it passes over."""
    yield clean(constraint.line)
    yield from table_text(constraint.domains).splitlines()
    yield clean(constraint.minimum)
    yield from map(clean, constraint.bypassed)


def _fixes(fixes: Fixes) -> Iterator[str]:
    """Yield the fixes with what each opens and the commands that make it."""
    if fixes.fixes:
        yield "Fixes, each tried on this snapshot:"
    for number, fix in enumerate(fixes.fixes, start=1):
        yield from map(clean, _fix(number, fix))
    if fixes.more:
        yield f"  {fixes.more}"
    if fixes.nothing_helps:
        yield clean(fixes.nothing_helps)
    yield from (clean(f"  {line}") for line in (*fixes.new_nodes, *fixes.left_alone))
    if fixes.cut_short:
        yield fixes.cut_short


def _fix(number: int, fix: FixBlock) -> Iterator[str]:
    """Yield the lines of one fix."""
    yield f"  {number}. {fix.id}: {fix.summary}. {fix.effect}"
    yield from (f"     {line}" for line in fix.notes)
    for edit in fix.edits:
        yield f"     {edit.place}:"
        yield from (f"     {line}" for line in edit.lines)
    yield from (f"     {line}" for line in (*fix.yaml, *fix.commands))
    if fix.starts:
        yield f"     ({fix.starts})"


def _messages(messages: Messages) -> Iterator[str]:
    """Yield our message and the scheduler's last one, each in one line."""
    if messages.ours:
        yield f"Message{' now' if messages.differs else ''}: {cell(messages.ours)}"
    if messages.remark:
        yield clean(messages.remark) + (f" {cell(messages.theirs)}" if messages.differs else "")
    if messages.differs:
        yield clean(messages.differs)


def paint(text: str, tone: Tone | None, *, wanted: bool) -> str:
    """Return the text in the colour of its tone, or as it is where it has none or no colours are wanted."""
    return f"\x1b[{COLORS[tone]}m{text}\x1b[0m" if wanted and tone else text


def table_text(table: Table, *, headers: bool = True, colors: bool = False) -> str:
    """Return the table with three spaces between columns, as kubectl prints it; empty without rows."""
    if not table.rows:
        return ""
    cells = [
        [paint(cell(text), tone, wanted=colors) for text, tone in zip_longest(row, tones)]
        for row, tones in zip_longest(table.rows, table.tones, fillvalue=())
    ]
    if headers:
        cells.insert(0, list(table.headers))
    # tabulate puts two spaces between columns; a space at the end of each cell makes the third.
    padded = [[text + " " for text in row[:-1]] + row[-1:] for row in cells]
    text = _tabulate()(padded, tablefmt="plain", disable_numparse=True, preserve_whitespace=True)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _tabulate() -> Callable[..., str]:
    """Return tabulate's function, without what tabulate loads only to learn its own version.

    That is importlib.metadata, and with it mail, sockets and archives: forty modules, a tenth of a short command.
    Where it is loaded already nothing is kept from anybody; tabulate takes its version from a file of its own then.
    """
    stand_in = ModuleType(METADATA)
    vars(stand_in).update(version=str, PackageNotFoundError=LookupError)
    spared = METADATA not in sys.modules
    sys.modules.setdefault(METADATA, stand_in)
    try:
        from tabulate import tabulate
    finally:
        if spared:
            del sys.modules[METADATA]
    return tabulate
