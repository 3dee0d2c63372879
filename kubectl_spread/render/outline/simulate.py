"""What becomes of Pods and their spread, step by step."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.statuses import SEVERE
from kubectl_spread.diagnosis.step_changes import EvictedPod, PendingPods, SimulatedStep
from kubectl_spread.gaps import is_unread_list
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import Column, Extent, Headline, Item, Note, Outline, Tone, table_of
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.skew import moved_text, workload_text
from kubectl_spread.simulation.steps import Blocked
from kubectl_spread.wording import simulate as wording
from kubectl_spread.wording.words import between, capital_sentence, count_of, in_violation, listed, moved


def simulate_outline(report: SimulateReport, extent: Extent) -> Outline:
    """Return, for each step, what ended Pending and why, what stayed behind, and the constraints that changed."""
    unread = any(map(is_unread_list, report.incomplete))
    flags = report.metadata.connection_flags
    return outline_with([_step(step, extent, flags, unread=unread) for step in report.steps], report)


def _step(step: SimulatedStep, extent: Extent, flags: Sequence[str], *, unread: bool) -> Item:
    name, sentence = str(step.step), wording.step_sentence(step, unread=unread)
    changed = {(item.namespace, item.workload) for item in step.items if item.changed}
    shown = [item for item in step.items if extent.wide or _is_shown(item, changed)]
    table = [table_of(COLUMNS, shown, title="Constraints")] if shown else []
    by_chance = step.orders > 1 and any(low < high for item in step.items for low, high in item.ranges.values())
    ranges = [Note(line=wording.RANGES.format(step.orders))] if by_chance else []
    by_revision = [Note(line=wording.BY_REVISION)] if any(item.old for item in shown) else []
    tone = Tone.WARNING if step.lost or step.pending else Tone.GOOD
    bad = (
        step.newly_pending or step.newly_violated or step.blocked or step.never_run or step.not_replaced or step.refused
    )
    tone = Tone.BAD if bad else tone
    notes = (Note(line=line) for line in (*_lines(step, extent), *map(capital_sentence, wording.notes_of(step, flags))))
    return Item(
        item=step,
        headline=Headline(subject=name, lead=f"{name}: ", line=sentence, sentence=sentence, tone=tone),
        paragraphs=((*notes, *table, *by_revision, *ranges),),
    )


def _is_shown(item: SimulatedItem, changed: Container[tuple[str, WorkloadRef]]) -> bool:
    """Whether the item has changed, or is in trouble and another revision of the workload has changed."""
    in_trouble = bool(item.revision) and item.status_after in SEVERE
    return item.changed or (in_trouble and (item.namespace, item.workload) in changed)


def _lines(step: SimulatedStep, extent: Extent) -> Iterator[str]:
    for each in step.refused or ():
        yield wording.REFUSED.format(str(each).removesuffix("."))
    alike: dict[tuple[str, str, bool], list[PendingPods]] = {}
    news = any(pending.range[1] > pending.before for pending in step.pending)
    in_headline = bool(wording.may_add(step.pending))
    for pending in step.pending:
        low, high = pending.range
        decided = wording.decided_text(pending, in_headline=in_headline)
        reason = wording.why_pending(pending.reasons), decided, not pending.reasons and low < high
        alike.setdefault(reason, []).append(pending)
    for (_, decided, _), same in alike.items():
        yield " ".join(filter(None, (wording.pending_text(same, news=news), decided)))
    for why, blocked in grouped(step.blocked, wording.blocked_text).items():
        yield wording.BLOCKED.format(_named(blocked), why)
    if step.lost:
        yield wording.LOST.format("it" if len(step.lost) == 1 else "them", _named(step.lost))
    if step.deleted:
        fewer = [f"{count_of(each.count, 'Pod')} of {each.namespace}/{each.workload}" for each in step.deleted]
        yield wording.FEWER.format(listed(fewer, wording.SHOWN_NAMES))
    if step.preempted:
        protected = in_violation(step.pdb_violations or 0, len(step.preempted))
        yield wording.PREEMPTED.format(_named(step.preempted), protected)
    if wording.removed_pods(step):
        yield wording.removed_text(step, None if extent.wide else wording.SHOWN_EVICTED)


def _named(pods: Iterable[EvictedPod | Blocked]) -> str:
    keys = (each.pod.key if isinstance(each, Blocked) else (each.namespace, each.pod) for each in pods)
    return listed(["/".join(key) for key in keys], wording.SHOWN_NAMES)


def status_after(item: SimulatedItem) -> str:
    """Return the status after the step, from the best to the worst that was seen."""
    best, worst = item.status_range
    return worst if best is worst else f"{best} to {worst}"


def _status(item: SimulatedItem) -> str:
    after = status_after(item)
    return after if item.status_before in {item.status_range[0], None} else f"{item.status_before} → {after}"


COLUMNS: Sequence[Column[SimulatedItem]] = (
    Column("NAMESPACE", lambda item: item.namespace),
    Column("WORKLOAD", workload_text),
    Column("KEY", lambda item: item.constraint.topology_key),
    Column("MAX-SKEW", lambda item: str(item.constraint.max_skew), spare=True),
    Column("SKEW", lambda item: moved(str(item.skew_before), between(*item.skew_after))),
    Column("STATUS", _status),
    Column("DOMAINS", lambda item: moved_text(item.before, item.ranges)),
)
