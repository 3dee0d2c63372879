"""The evictions of a plan, and how Pods lie before and after them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import UnsetType

from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.diagnosis.fixes.choice import is_on_purpose, is_safe
from kubectl_spread.diagnosis.fixes.nodes import AddNode
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.diagnosis.planned_evictions import PlannedEviction, RebalanceItem, eviction_command
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.diagnosis.statuses import NoEffect
from kubectl_spread.rebalance.arrangements import SAMPLES
from kubectl_spread.rebalance.plan import SoftLeftOut
from kubectl_spread.render import outline
from kubectl_spread.render.outline import STATUSES, Column, Extent, Note
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.skew import moved_text, workload_text
from kubectl_spread.wording import rebalance as wording
from kubectl_spread.wording.fixes import further_node, starts, summary
from kubectl_spread.wording.fixes.waits import wait_text
from kubectl_spread.wording.words import capital_sentence, listed, moved, scores_some, with_short_keys

SHOWN_PODS = 5  # Pods that lose data (count) that are named


def rebalance_outline(report: RebalanceReport, extent: Extent) -> outline.Outline:
    """Return the plan in a sentence, its evictions, what comes of each constraint, and the commands."""
    sentence = sentence_of(report)
    shown = [i for i in report.items if i.verdict is not RebalanceVerdict.BALANCED or i.reason or extent.wide]
    commands: tuple[outline.Block, ...] = ()
    if report.evictions:
        losing = [each.pod for each in report.evictions if each.loses_data]
        lost = (Note(line=wording.DATA_LOST.format(listed(losing, extent.most(SHOWN_PODS)))),) if losing else ()
        commands = (*lost, *_commands(report, extent))
    others = (tuple(_constraints(report, shown)), commands)
    item = outline.Item(
        item=report,
        headline=outline.Headline(
            subject="rebalance", line=sentence, sentence=sentence, tone=STATUSES[verdict_of(report)][0]
        ),
        paragraphs=(tuple(_evictions(report, extent)), *filter(None, others)),
    )
    return outline_with((item,), report)


def _commands(report: RebalanceReport, extent: Extent) -> Iterator[outline.Block]:
    if report.script and not extent.wide:
        yield Note(line=wording.AS_SCRIPT)
        yield outline.Commands(commands=(f"{report.script} > plan.sh",))
        return
    flags = report.metadata.connection_flags
    yield Note(line=wording.SCHEDULED_FIRST * isinstance(report.schedulable, int) + wording.IN_ORDER)
    yield outline.Commands(commands=tuple(eviction_command(each, flags) for each in report.evictions))


def verdict_of(report: RebalanceReport) -> RebalanceVerdict:
    """Return the verdict on the plan: that of the worst constraint, but Partial if a plan leaves any violated."""
    verdicts = {item.verdict for item in report.items}
    worst = next((verdict for verdict in RebalanceVerdict if verdict in verdicts), RebalanceVerdict.BALANCED)
    helps = report.evictions and worst in {RebalanceVerdict.IMPOSSIBLE, RebalanceVerdict.INCOMPLETE}
    return RebalanceVerdict.PARTIAL if helps else worst


def status_of(item: RebalanceItem) -> ItemStatus:
    """Return the verdict on the constraint; NoEffect, as in show, for one that is only satisfied as it has none."""
    idle = isinstance(item.reason, NoEffect) and item.verdict is RebalanceVerdict.BALANCED
    return ItemStatus.NO_EFFECT if idle else ItemStatus(item.verdict)


def sentence_of(report: RebalanceReport) -> str:
    """Return what the plan comes to."""
    broken = [item for item in report.items if item.skew_before > item.constraint.max_skew]
    return wording.plan_sentence(
        [*map(status_of, report.items)],
        broken=len(broken),
        soft=sum(item.constraint.when_unsatisfiable != "DoNotSchedule" for item in broken),
        evictions=len(report.evictions),
        soon=sum(item.verdict is RebalanceVerdict.BALANCED for item in broken),
        left_out=any(isinstance(note, SoftLeftOut) for note in report.notes),
    )


def reasons_of(report: RebalanceReport) -> Iterator[str]:
    """Yield why constraints do not hold in the end, or have no effect."""
    for item in report.items:
        if item.reason:
            subject = f"{item.namespace}/{workload_text(item)}, {item.constraint.topology_key}"
            yield f"{status_of(item)}: {subject}: {wording.reason_of_item(item.reason)}."


def _evictions(report: RebalanceReport, extent: Extent) -> Iterator[outline.Block]:
    if not isinstance(report.schedulable, UnsetType):
        yield Note(line=wording.wait_first(report.schedulable))
    if report.evictions:
        yield outline.table_of(_columns(extent), report.evictions, title="Evictions")
        if any(each.wave > 1 for each in report.evictions):
            yield Note(line=wording.BETWEEN_WAVES)
        for wave, pods in Counter(each.wave for each in report.evictions if each.together is True).items():
            yield Note(line=f"Wave {wave}: {wording.together(pods)}")
    yield from (Note(line=capital_sentence(wording.plan_note_text(note))) for note in report.notes)
    if report.scored == "some":
        yield Note(line=f"{scores_some(SAMPLES)}.")
    elif report.orders == "sampled":
        yield Note(line=wording.SAMPLED)
    if report.search == "bounded":
        yield Note(line=wording.BOUNDED)
    if report.waiting:
        whose = [f"{each.namespace}/{each.workload}" for each in report.waiting]
        namespaces, found = {each.namespace for each in report.waiting}, report.metadata
        flags = found.connection_flags if found.connection_flags or found.server else None
        yield Note(line=wording.waiting_text(report.pending, whose, namespaces, flags))


def _columns(extent: Extent) -> Sequence[Column[PlannedEviction]]:
    return (
        Column("ORDER", lambda each: str(each.order)),
        Column("WAVE", lambda each: str(each.wave)),
        Column("NAMESPACE", lambda each: each.namespace),
        Column("POD", lambda each: each.pod),
        Column("NODE", lambda each: each.node),
        Column("LANDS", lambda each: listed(each.lands, extent.most())),
    )


def _constraints(report: RebalanceReport, items: Sequence[RebalanceItem]) -> Iterator[outline.Block]:
    if items:
        yield outline.table_of(COLUMNS, items, title="Constraints")
    yield from (Note(line=line) for line in reasons_of(report))
    flags = report.metadata.connection_flags
    yield from dict.fromkeys(block for item in items for block in _to_do_first(item, flags))


def _to_do_first(item: RebalanceItem, flags: Sequence[str]) -> Iterator[outline.Block]:
    """Yield what lets a plan reach more: what ends by itself, then the first change of nothing set on purpose."""
    yield from (Note(line=wording.WAIT_FOR.format(wait_text(wait))) for wait in item.waits)
    fix = next(filter(is_safe, item.fixes), None)
    if fix is not None and fix.id != AddNode.__name__:
        yield Note(line=wording.fix_first(summary(fix), starts(fix)))
        if fix.commands:
            yield outline.Commands(commands=tuple(command_line(command, flags) for command in fix.commands))
        return
    if fix is not None:
        yield Note(line=f"{with_short_keys(further_node(fix))}.")
    if not item.waits and any(map(is_on_purpose, item.fixes)):
        yield Note(line=wording.ASK_FIRST)


COLUMNS: Sequence[Column[RebalanceItem]] = (
    Column("NAMESPACE", lambda item: item.namespace),
    Column("WORKLOAD", workload_text),
    Column("KEY", lambda item: item.constraint.topology_key),
    Column("WHEN", lambda item: item.constraint.when_unsatisfiable),
    Column("MAX-SKEW", lambda item: str(item.constraint.max_skew), spare=True),
    Column("SKEW", lambda item: moved(str(item.skew_before), str(item.skew_after))),
    Column("VERDICT", lambda item: status_of(item).value, tone=lambda item: STATUSES[status_of(item)][0]),
    Column(
        "DOMAINS", lambda i: moved_text(i.before, {d: (n, n) for d, n in i.after.items()}, i.constraint.topology_key)
    ),
)
