"""Reports as GitHub's Markdown, to be pasted into an incident channel: a sentence, a table and the fixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from kubectl_spread.render.cells import NONE, Column, clean, listed
from kubectl_spread.render.check import check_notes, check_sentence, ranges_of
from kubectl_spread.render.domains import (
    HARD,
    SHOWN_NAMES,
    Ranges,
    bypassed_lines,
    domain_columns,
    domain_rows,
    headline_text,
    minimum_text,
)
from kubectl_spread.render.fixes import MOST_FIXES, new_node_lines, nothing_helps
from kubectl_spread.render.preemption import preemption_lines
from kubectl_spread.render.table import SKEW_COLUMNS, node_columns, node_groups, pending_headline
from kubectl_spread.report import (
    AnyReport,
    CheckItem,
    CheckReport,
    ConstraintReport,
    EvaluationReport,
    Finding,
    Fix,
    Incomplete,
    PendingItem,
    PendingReport,
    SkewReport,
    SpreadStatus,
)

RowT = TypeVar("RowT")

MOST_DETAILED = 3
"""Rows (count) up to which their domains are printed too."""
# Underscores within a word are letters to GitHub.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~&#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BACKTICKS = re.compile(r"`+")


def to_markdown(report: AnyReport) -> str:
    """Return the report as Markdown, which ends with what the answer does not rest on."""
    match report:
        case SkewReport():
            blocks = _skew_blocks(report)
        case PendingReport():
            blocks = (block for item in report.items if not item.same_as for block in _pending(item, report))
        case CheckReport():
            blocks = (block for item in report.items for block in _check(item))
    return "\n\n".join([*blocks, *_incomplete(report.incomplete)]) + "\n"


def escaped(text: str) -> str:
    """Return the text as Markdown that shows it and nothing else."""
    return _SPECIAL.sub(r"\\\g<0>", clean(text))


def _cell(text: str) -> str:
    """Return the text as one cell, its lines one below another."""
    return "<br>".join(map(escaped, text.splitlines())) or escaped(NONE)


def _table(columns: Sequence[Column[RowT]], rows: Sequence[RowT]) -> Iterator[str]:
    """Yield a table; nothing without rows."""
    if not rows:
        return
    head = [column.header for column in columns]
    body = [[_cell(column.cell(row)) for column in columns] for row in rows]
    yield "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *body])


def _fenced(commands: Sequence[str], *, indent: str) -> str:
    """Return commands as a block to be copied; its fence is longer than any backticks in it."""
    lines = [clean(command) for command in commands]
    longest = max((len(found) for line in lines for found in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(f"{indent}{line}" for line in (f"{fence}sh", *lines, fence))


def _skew_blocks(report: SkewReport) -> Iterator[str]:
    """Yield how the workloads lie: a sentence and a row each; of a few, their domains and where the next Pod goes."""
    problems = sum(item.status is not SpreadStatus.OK for item in report.items)
    total = len(report.items)
    yield f"**{problems} of {total} topology spread constraints {'is' if problems == 1 else 'are'} not OK.**"
    yield from _table([column for column in SKEW_COLUMNS if not column.wide], report.items)
    if total <= MOST_DETAILED:
        for item in report.items:
            yield f"**{escaped(f'{item.namespace}/{item.workload}')}**"
            yield from _constraint(item.constraint, {})
            yield escaped(f"Next replica: {listed(item.next) if item.next else 'no node'}.")
            yield from _findings(item.findings)


def _pending(item: PendingItem, report: PendingReport) -> Iterator[str]:
    """Yield why one Pod is not scheduled, with what lets it in."""
    twins = [other.name for other in report.items if (other.same_as, other.namespace) == (item.name, item.namespace)]
    yield f"**{escaped(pending_headline(item))}**"
    if twins:
        yield escaped(f"The same holds for {listed(twins)}.")
    yield from map(escaped, preemption_lines(item))
    yield from _evaluation(item)
    if item.message:
        yield f"> {escaped(item.message)}"


def _check(item: CheckItem) -> Iterator[str]:
    """Yield what becomes of one manifest."""
    yield f"**{escaped(f'{item.namespace}/{item.kind.lower()}/{item.name}: {check_sentence(item)}')}**"
    if item.validation:
        yield "\n".join(f"- {escaped(f'invalid: {error.field}: {error.message}')}" for error in item.validation)
    if item.warnings:
        yield "\n".join(f"- {escaped(f'Warning: {warning.field}: {warning.message}')}" for warning in item.warnings)
    yield from map(escaped, check_notes(item, wide=False))
    if item.stuck:
        yield from _evaluation(item)
        return
    for constraint in item.after or item.constraints:
        yield from _constraint(constraint, ranges_of(constraint, item))
    yield from _findings(item.findings)
    yield from _incomplete(item.incomplete)


def _evaluation(item: EvaluationReport) -> Iterator[str]:
    """Yield what rejects the nodes, the constraints, the findings and the fixes."""
    yield from _table(node_columns(wide=False), node_groups(item.nodes))
    for constraint in item.constraints:
        if constraint.when_unsatisfiable == HARD:
            yield from _constraint(constraint, {})
    # The sentence on top says who pins the minimum.
    yield from _findings(found for found in item.findings if found.id != "PinnedMinimum" or not item.summary)
    yield from _incomplete(item.incomplete)
    if item.stuck and item.nodes:
        yield from _fixes(item)


def _constraint(constraint: ConstraintReport, ranges: Ranges) -> Iterator[str]:
    """Yield a constraint with its domains."""
    yield escaped(headline_text(constraint))
    yield from _table(domain_columns(SHOWN_NAMES), domain_rows(constraint, SHOWN_NAMES, ranges))
    yield escaped(" ".join([minimum_text(constraint), *bypassed_lines(constraint, SHOWN_NAMES)]))


def _findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the findings as a list; nothing without any."""
    lines = [f"- **{finding.id}** ({finding.severity}): {escaped(finding.message)}" for finding in findings]
    if lines:
        yield "\n".join(lines)


def _fixes(item: EvaluationReport) -> Iterator[str]:
    """Yield the first fixes with their commands, and where a node more would help."""
    if item.fixes:
        yield "Fixes, each tried on this snapshot:"
        yield from (_fix(number, fix) for number, fix in enumerate(item.fixes[:MOST_FIXES], start=1))
    else:
        yield from map(escaped, nothing_helps(item))
    yield from (escaped(line.strip()) for line in new_node_lines(item.new_nodes))


def _fix(number: int, fix: Fix) -> str:
    """Return one fix as an item of a list, its commands within it."""
    admits = f"; lets in {fix.admits} of {fix.siblings} Pending Pods" if fix.siblings > 1 else ""
    alike = f" The same for {listed(fix.alike)}." if fix.alike else ""
    starts = f" ({fix.starts})" if fix.starts else ""
    said = escaped(f"{fix.summary}. Opens {listed(fix.feasible)}{admits}.{alike}{starts}")
    text = f"{number}. **{fix.id}**: {said}"
    return f"{text}\n\n{_fenced(fix.commands, indent='   ')}" if fix.commands else text


def _incomplete(incomplete: Iterable[Incomplete]) -> Iterator[str]:
    """Yield everything the answer does not rest on; nothing where it is whole."""
    lines = [f"- {escaped(f'incomplete: {gap.what} ({gap.why}): {gap.consequence}.')}" for gap in incomplete]
    if lines:
        yield "\n".join(lines)
