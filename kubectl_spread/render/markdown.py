"""Reports as GitHub's Markdown, to be pasted into an incident channel: a sentence, a table and the fixes."""

import re
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import assert_never

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.render import outline
from kubectl_spread.render.cells import NONE, clean
from kubectl_spread.render.outline.any_report import outline_of
from kubectl_spread.render.outline.audit import AUDIT_COLUMNS, rows
from kubectl_spread.render.outline.skew import SKEW_COLUMNS

EXTENT = outline.Extent(all_fixes="-o table --all-fixes")
MOST_DETAILED = 3  # Rows of ``show`` (count) up to which their domains are printed too
# Underscores within a word are letters to GitHub.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~&#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BACKTICKS = re.compile(r"`+")


def to_markdown(report: AnyReport) -> str:
    """Return the report as Markdown, which ends with what the answer does not rest on."""
    whole = outline_of(report, EXTENT)
    blocks = [escaped(whole.header)] if whole.header else []
    detailed = whole.items
    if isinstance(report, AuditReport):
        blocks += _table(outline.table_of(AUDIT_COLUMNS, rows(report, every=False)))
        detailed = detailed if len(report.items) <= MOST_DETAILED else ()
    elif isinstance(report, SkewReport):
        problems, total = sum(item.current is not SpreadStatus.OK for item in report.items), len(report.items)
        are = "is" if problems == 1 else "are"
        blocks.append(f"**{problems} of {total} topology spread constraints {are} not OK.**")
        blocks += _table(outline.table_of(SKEW_COLUMNS, report.items, wide=False))
        detailed = detailed if total <= MOST_DETAILED else ()
    blocks += _list([cause.text for cause in whole.causes])
    for item in detailed:
        blocks.append(f"**{escaped(item.headline.lead + item.headline.line)}**")
        blocks += (text for block in item.blocks for text in _block(block))
    return "\n\n".join([*blocks, *_block(whole.gaps), *filter(None, [escaped(whole.totals)])]) + "\n"


def escaped(text: str) -> str:
    """Return the text as Markdown that shows it and nothing else."""
    return _SPECIAL.sub(r"\\\g<0>", clean(text))


def _block(block: outline.Block) -> Iterator[str]:  # noqa: C901 - one for each kind of block
    match block:
        case outline.Note():
            yield escaped(block.line)
        case outline.Review():
            yield from _list([f"invalid: {error}" for error in block.errors])
            yield from _list([f"Warning: {warning}" for warning in block.warnings])
        case outline.Table():
            yield from _table(block)
        case outline.ConstraintBlock():
            yield escaped(block.line)
            yield from _table(block.domains)
            if sentences := list(filter(None, (block.minimum, *block.bypassed))):
                yield escaped(" ".join(sentences))
        case outline.Findings():
            found = [f"**{each.id}** ({each.severity}): {escaped(each.message)}" for each in block.findings]
            yield "\n".join(f"- {each}" for each in found)
        case outline.Gaps():
            yield from _list(list(map(str, block.entries)))
        case outline.Steps():
            yield from _steps(block)
        case outline.Messages():
            yield from (f"{'> ' * quoted}{escaped(line)}" for line, quoted in block.said)
        case outline.Commands():
            yield _fenced(block.commands, "sh")
        case _:
            assert_never(block)


def _list(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join(f"- {escaped(line)}" for line in lines)


def _table(table: outline.Table) -> Iterator[str]:
    if table.rows:
        body = [["<br>".join(map(escaped, cell.splitlines())) or escaped(NONE) for cell in row] for row in table.rows]
        rows = [table.headers, ["---"] * len(table.headers), *body]
        yield "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _steps(steps: outline.Steps) -> Iterator[str]:
    if steps.steps:
        yield f"{steps.title}:"
    yield from starmap(_step, enumerate(steps.steps, start=1))
    yield from map(escaped, steps.notes)


def _step(number: int, step: outline.Step) -> str:
    sentences = " ".join(filter(None, (f"{step.summary}.", step.starts, *step.notes)))
    text = f"{number}. {f'**{step.id}**: ' if step.id else ''}{escaped(sentences)}"
    edits = (f"   {escaped(edit.place)}:\n\n{_fenced(edit.lines, 'diff', indent='   ')}" for edit in step.edits)
    fenced = (
        _fenced(lines, word, indent="   ") for word, lines in (("yaml", step.yaml), ("sh", step.commands)) if lines
    )
    return "\n\n".join((text, *edits, *fenced))


def _fenced(copied: Sequence[str], language: str, *, indent: str = "") -> str:
    """Return lines as a block to be copied; its fence is longer than any backticks in it."""
    lines = [clean(line) for line in copied]
    longest = max((len(found) for line in lines for found in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(f"{indent}{line}" for line in (f"{fence}{language}", *lines, fence))
