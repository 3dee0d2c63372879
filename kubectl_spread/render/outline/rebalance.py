"""The evictions of a plan, and how Pods lie before and after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.contract.rebalance import PlannedEviction, RebalanceItem, RebalanceReport, RebalanceVerdict
from kubectl_spread.render.outline import (
    Block,
    Column,
    Commands,
    Extent,
    Headline,
    Item,
    Note,
    Outline,
    Tone,
    table_of,
)
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.skew import moved_text
from kubectl_spread.wording.words import count_of, enumerated, listed, moved

TONES = {
    RebalanceVerdict.IMPOSSIBLE: Tone.BAD,
    RebalanceVerdict.PARTIAL: Tone.WARNING,
    RebalanceVerdict.INCOMPLETE: Tone.WARNING,
    RebalanceVerdict.PLANNED: Tone.INFO,
    RebalanceVerdict.BALANCED: Tone.GOOD,
}
"""Verdict → how good that is, the worst first."""
BETWEEN_WAVES = (
    "Before each wave, wait until evicted Pods are gone and their replacements are Ready: a budget, a StatefulSet,"
    " anti-affinity or room requires it."
)


def rebalanced_outline(report: RebalanceReport, extent: Extent) -> Outline:
    """Return the plan in a sentence, its evictions, what comes of each constraint, and the commands."""
    sentence = _sentence(report)
    shown = [item for item in report.items if item.verdict is not RebalanceVerdict.BALANCED or extent.wide]
    paragraphs = (
        tuple(_evictions(report, extent)),
        tuple(_constraints(shown)),
        tuple(_commands(report)),
    )
    verdicts = {item.verdict for item in report.items}
    tone = next((tone for verdict, tone in TONES.items() if verdict in verdicts), Tone.GOOD)
    item = Item(
        item=report,
        headline=Headline(subject="rebalance", line=sentence, sentence=sentence, tone=tone),
        paragraphs=(paragraphs[0], *filter(None, paragraphs[1:])),
    )
    return outline_with((item,), report)


def _sentence(report: RebalanceReport) -> str:
    if not report.items:
        return "No constraints found to balance."
    broken = [item for item in report.items if item.skew_before > item.constraint.max_skew]
    if not broken and any(item.verdict is RebalanceVerdict.INCOMPLETE for item in report.items):
        return "Whether the constraints hold is not known: nothing is planned."
    if not broken:
        hold = f"All of {len(report.items)} constraints hold" if len(report.items) > 1 else "The constraint holds"
        return f"{hold}: nothing is to be evicted."
    planned = sum(item.verdict is RebalanceVerdict.PLANNED for item in broken)
    number, them = count_of(len(report.evictions), "eviction"), count_of(len(broken), "violated constraint")
    if not report.evictions:
        return f"No eviction helps: {them}."
    balance = "balances" if len(report.evictions) == 1 else "balance"
    if planned == len(broken):
        return f"{number} {balance} {them}."
    helped = sum(item.verdict is RebalanceVerdict.PARTIAL for item in broken)
    return f"{number} {balance} {planned} of {them}, and {helped} in part."


def _evictions(report: RebalanceReport, extent: Extent) -> Iterator[Block]:
    if report.evictions:
        yield table_of(_columns(extent), report.evictions, title="Evictions")
        if any(each.wave > 1 for each in report.evictions):
            yield Note(line=BETWEEN_WAVES)
    if report.orders == "sampled":
        yield Note(line="There are more ways to choose among equal nodes than were followed.")
    if report.search == "bounded":
        yield Note(line="The search was cut short: there may be a better plan.")
    if report.pending:
        whose = enumerated([f"{each.namespace}/{each.workload}" for each in report.waiting])
        wait = f"{count_of(report.pending, 'Pod')} of {whose} {'waits' if report.pending == 1 else 'wait'}"
        yield Note(line=f"{wait} for a node: kubectl spread why-pending says why.")


def _columns(extent: Extent) -> Sequence[Column[PlannedEviction]]:
    return (
        Column("ORDER", lambda each: str(each.order)),
        Column("WAVE", lambda each: str(each.wave)),
        Column("NAMESPACE", lambda each: each.namespace),
        Column("POD", lambda each: each.pod),
        Column("NODE", lambda each: each.node),
        Column("LANDS", lambda each: listed(each.lands, extent.most())),
    )


def _constraints(items: Sequence[RebalanceItem]) -> Iterator[Block]:
    if items:
        yield table_of(COLUMNS, items, title="Constraints")
    for item in items:
        if item.reason:
            about = f"{item.namespace}/{item.workload}, {item.constraint.topology_key}"
            yield Note(line=f"{item.verdict}: {about}: {item.reason}.")
    for fix in {item.fixes[0].summary: item.fixes[0] for item in items if item.fixes}.values():
        yield Note(line=f"To fix first, and plan again: {fix.summary}{f' ({fix.starts})' if fix.starts else ''}.")
        if fix.commands:
            yield Commands(commands=fix.commands)


def _commands(report: RebalanceReport) -> Iterator[Block]:
    if report.evictions:
        yield Note(line="Run in this order, each once the Pod in place of the one before has a node:")
        yield Commands(commands=tuple(each.command for each in report.evictions))


COLUMNS: Sequence[Column[RebalanceItem]] = (
    Column("NAMESPACE", lambda item: item.namespace),
    Column("WORKLOAD", lambda item: str(item.workload)),
    Column("KEY", lambda item: item.constraint.topology_key),
    Column("WHEN", lambda item: item.constraint.when_unsatisfiable, spare=True),
    Column("MAX-SKEW", lambda item: str(item.constraint.max_skew), spare=True),
    Column("SKEW", lambda item: moved(str(item.skew_before), str(item.skew_after))),
    Column("VERDICT", lambda item: item.verdict.value, tone=lambda item: TONES[item.verdict]),
    Column("DOMAINS", lambda item: moved_text(item.before, {each: (pods, pods) for each, pods in item.after.items()})),
)
