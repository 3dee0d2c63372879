"""What becomes of Pods and their spread, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.contract.simulate import EvictedPod, SimulatedStep, SimulateReport
from kubectl_spread.diagnosis.constraint_change import SimulatedItem
from kubectl_spread.render.outline import Block, Column, Extent, Headline, Item, Note, Outline, Tone, table_of
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.skew import moved_text
from kubectl_spread.wording.words import between, listed, moved

SHOWN_NAMES = 4


def simulated_outline(report: SimulateReport, extent: Extent) -> Outline:
    """Return, for each step, what ended Pending and why, what stayed behind, and the constraints that changed."""
    return outline_with([_step(step, extent) for step in report.steps], report)


def _step(step: SimulatedStep, extent: Extent) -> Item:
    sentence = _sentence(step)
    changed = [item for item in step.items if item.changed or extent.wide]
    table = table_of(COLUMNS, changed, title="Constraints")
    return Item(
        item=step,
        headline=Headline(subject=step.step, lead=f"{step.step}: ", line=sentence, sentence=sentence, tone=_tone(step)),
        paragraphs=((*_notes(step), *((table,) if changed else ()), *_ranges(step)),),
    )


def _tone(step: SimulatedStep) -> Tone:
    if step.newly_pending or step.blocked:
        return Tone.BAD
    return Tone.WARNING if step.lost or step.pending else Tone.GOOD


def _sentence(step: SimulatedStep) -> str:
    parts = (
        (len(step.evicted), "evicted"),
        (len(step.blocked), "held back"),
        (len(step.lost), "lost"),
        (len(step.preempted), "preempted"),
    )
    said = [f"{number} Pod{'s' if number > 1 else ''} {what}" for number, what in parts if number]
    least, most = (sum(pending.range[bound] for pending in step.pending) for bound in (0, 1))
    before = sum(min(pending.before, pending.range[1]) for pending in step.pending)
    if most > before > 0:
        new = [sum(max(pending.range[bound] - pending.before, 0) for pending in step.pending) for bound in (0, 1)]
        said.append(f"{_number(*new)} newly Pending; {before} {'was' if before == 1 else 'were'} Pending before")
    elif most:
        undecided = any(pending.incomplete for pending in step.pending)
        said.append(f"{_number(least, most)} {'Pending' if step.newly_pending or undecided else 'still Pending'}")
    elif step.newly_pending:
        said.append("Pods that should come are refused")
    elif said:
        said.append("none Pending")
    return f"{', '.join(said) or 'no Pod is evicted, none is Pending'}."


def _number(least: int, most: int) -> str:
    return str(most) if least == most else f"{least} to {most}"


def _notes(step: SimulatedStep) -> Iterator[Block]:
    for pending in step.pending:
        why = f": {pending.summary}" if pending.summary else "." if pending.count else " in some orders of chance."
        yield Note(line=f"{_number(*pending.range)} of {pending.namespace}/{pending.workload} Pending{why}")
    for why in dict.fromkeys(pod.why for pod in step.blocked):
        pods = [f"{pod.namespace}/{pod.pod}" for pod in step.blocked if pod.why == why]
        yield Note(line=f"Held back: {listed(pods, SHOWN_NAMES)}: {why}")
    if step.lost:
        yield Note(line=f"Lost, for nothing makes them again: {_pods(step.lost)}.")
    if step.preempted:
        yield Note(line=f"Preempted by Pods of higher priority: {_pods(step.preempted)}.")
    yield from (Note(line=f"{note[:1].upper()}{note[1:]}.") for note in step.notes)


def _ranges(step: SimulatedStep) -> Iterator[Block]:
    """Yield what ranges rest on, where there are any."""
    if step.orders > 1 and any(low < high for item in step.items for low, high in item.ranges.values()):
        yield Note(line=f"Ranges are what was seen in {step.orders} orders of what is left to chance.")


def _pods(pods: Sequence[EvictedPod]) -> str:
    return listed([f"{pod.namespace}/{pod.pod}" for pod in pods], SHOWN_NAMES)


def status_after(item: SimulatedItem) -> str:
    """Return the status after the step, from the best to the worst that was seen."""
    best, worst = item.status_range
    return worst if best is worst else f"{best} to {worst}"


def _status(item: SimulatedItem) -> str:
    after = status_after(item)
    return after if item.status_before is item.status_range[0] else f"{item.status_before} → {after}"


COLUMNS: Sequence[Column[SimulatedItem]] = (
    Column("NAMESPACE", lambda item: item.namespace),
    Column("WORKLOAD", lambda item: str(item.workload)),
    Column("KEY", lambda item: item.constraint.topology_key),
    Column("MAX-SKEW", lambda item: str(item.constraint.max_skew), spare=True),
    Column("SKEW", lambda item: moved(str(item.skew_before), between(*item.skew_after))),
    Column("STATUS", _status),
    Column("DOMAINS", lambda item: moved_text(item.before, item.ranges)),
)
