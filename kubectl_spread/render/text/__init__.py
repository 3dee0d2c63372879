"""Reports as text for people: a line for each sentence, a blank line between paragraphs, kubectl's kind of tables."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import assert_never

import msgspec

from kubectl_spread.render import outline
from kubectl_spread.render.cells import cell, clean
from kubectl_spread.render.outline import Extent, Outline, Table
from kubectl_spread.render.outline.access import PartT, rewritten
from kubectl_spread.render.text.screen import PIPE, Screen, table_lines, unbroken
from kubectl_spread.wording.words import SHORT_KEYS, shortening

NUMBERED = 5  # Characters before the words of a fix that has a number, and before all that belongs to it


def text_on(screen: Screen, outlined: Callable[[Extent], Outline], extent: Extent) -> str:
    """Return an outline as text; one explanation that is longer than a terminal is folded there."""
    whole, plain = outlined(extent), msgspec.structs.replace(screen, colors=False)
    for bare in (False, True) if extent.brief and len(whole.items) == 1 else ():
        if not screen.fits(outline_text(whole, plain)):
            whole = outlined(msgspec.structs.replace(extent, folded=True, bare=bare))
    return outline_text(whole, screen)


def outline_text(whole: Outline, screen: Screen = PIPE) -> str:
    """Return the outline as text, fit to the screen; on one, node names go without the suffix that all share."""
    blocks = [block for item in whole.items for block in item.blocks]
    tables = [block.domains if isinstance(block, outline.ConstraintBlock) else block for block in blocks]
    told, suffix = shortened(whole, (it for it in tables if isinstance(it, Table)), screen, nodes=whole.nodes)
    items = "\n".join(_item(item, screen) for item in told.items)
    header = header_lines(told.header, screen)
    gaps = "".join(f"{line}\n" for line in block_lines(told.gaps, screen))
    end = "".join(f"{line}\n" for line in screen.wrapped(told.totals)) if told.totals else ""
    texts = [(text, 2) for cause in told.causes for text in (cause.line, f"  {cause.workloads}".rstrip()) if text]
    lines = [line for text, under in (*texts, (told.more, 0)) if text for line in screen.wrapped(text, under=under)]
    causes = "".join(f"{line}\n" for line in (*lines, "")) if lines else ""
    return header + causes + items + gaps + suffix_line(suffix, screen) + end


def header_lines(header: str, screen: Screen) -> str:
    """Return which cluster was read, and a blank line; empty where that goes without saying."""
    return "".join(f"{line}\n" for line in (*screen.wrapped(header), "")) if header else ""


def shortened(part: PartT, tables: Iterable[Table], screen: Screen, *, nodes: Collection[str]) -> tuple[PartT, str]:
    """Return a part of an outline with node names as short as the screen asks for, and the suffix they go without."""
    suffix, short = shortening(nodes) if screen.width else ("", str)
    if not suffix or (screen.whole and all(unbroken(table, screen) for table in tables)):
        return part, ""
    told = rewritten(part, short)
    return told, suffix if told != part else ""


def suffix_line(suffix: str, screen: Screen) -> str:
    """Return what is left out of node names; empty where that is nothing."""
    return "".join(f"{line}\n" for line in screen.wrapped(f"All node names end in {suffix}")) if suffix else ""


def _item(item: outline.Item, screen: Screen) -> str:
    first, *rest = ([line for block in blocks for line in block_lines(block, screen)] for blocks in item.paragraphs)
    paragraphs = [[*_headline(item.headline, screen), *first], *rest]
    return "\n\n".join("\n".join(lines) for lines in paragraphs) + "\n"


def _headline(headline: outline.Headline, screen: Screen) -> Iterator[str]:
    """Yield the sentence on top; its color is that of its tone, but for what leads to it."""
    lead = clean(headline.lead)
    first, *rest = screen.wrapped(lead + headline.line)
    begins = len(lead) if first.startswith(lead) else 0
    yield first[:begins] + screen.paint(first[begins:], headline.tone)
    yield from (screen.paint(line, headline.tone) for line in rest)


def block_lines(block: outline.Block, screen: Screen = PIPE) -> Iterator[str]:
    """Yield the lines of one block, fit to the screen; what is to be copied stays as it is."""
    match block:
        case Table():
            yield from table_lines(block, screen)
        case outline.ConstraintBlock():
            yield from _constraint(block, screen)
        case outline.Steps():
            yield from _steps(block, screen)
        case outline.Commands():
            yield from (clean(f"  {command}") for command in block.commands)
        case _:
            for line in _sentences(block):
                yield from screen.wrapped(line)


def _sentences(block: outline.Sentences) -> Iterator[str]:
    match block:
        case outline.Note():
            yield block.line
        case outline.Review():
            yield from (f"invalid: {error}" for error in block.errors)
            yield from (f"Warning: {warning}" for warning in block.warnings)
        case outline.Findings():
            yield from (f"{found.id} ({found.severity}): {cell(found.message)}" for found in block.findings)
        case outline.Gaps():
            yield from map(str, block.entries)
        case outline.Messages():
            yield from _messages(block)
        case _:
            assert_never(block)


def _constraint(constraint: outline.ConstraintBlock, screen: Screen) -> Iterator[str]:
    line = constraint.line
    if screen.rows(constraint.line) > 1:
        key = constraint.topology_key
        constraint = msgspec.structs.replace(constraint, topology_key=SHORT_KEYS.get(key, key))
    yield from screen.wrapped(constraint.line)
    yield from table_lines(constraint.domains, screen)
    for line in filter(None, (constraint.minimum, *constraint.bypassed)):
        yield from screen.wrapped(line)


def _steps(steps: outline.Steps, screen: Screen) -> Iterator[str]:
    if steps.steps:
        yield from screen.wrapped(f"{steps.title}:")
    for number, step in enumerate(steps.steps, start=1):
        yield from _step(number, step, screen)
    under = 2 * bool(steps.steps)
    for line in steps.notes:
        yield from screen.wrapped(f"{' ' * under}{line}", under=under)


def _step(number: int, step: outline.Step, screen: Screen) -> Iterator[str]:
    indent, name = " " * NUMBERED, f"{step.id}: " * bool(step.id)
    sentences = filter(None, (f"{step.summary}.", step.starts, *step.notes))
    yield from screen.wrapped(f"  {number}. {name}{' '.join(sentences)}", under=NUMBERED)
    for edit in step.edits:
        yield from screen.wrapped(f"{indent}{edit.place}:", under=NUMBERED)
        yield from (clean(indent + line) for line in edit.lines)
    yield from (clean(indent + line) for line in (*step.yaml, *step.commands))


def _messages(messages: outline.Messages) -> Iterator[str]:
    if messages.ours:
        yield f"{messages.lead}: {cell(messages.ours)}"
    if messages.remark:
        yield messages.remark + (f" {cell(messages.theirs)}" if messages.differs else "")
    if messages.differs:
        yield messages.differs


def table_text(table: Table, screen: Screen = PIPE, *, headers: bool = True) -> str:
    """Return the table as kubectl prints it, fit to the screen; empty without rows."""
    return "".join(f"{line}\n" for line in table_lines(table, screen, headers=headers))
