"""What becomes of Pods and their spread, step by step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.observer import Key
from kubectl_spread.diagnosis.statuses import SEVERE
from kubectl_spread.diagnosis.step_changes import PendingPods, SimulatedStep
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import (
    EVERY,
    Block,
    Column,
    Extent,
    Headline,
    Item,
    Note,
    Outline,
    Table,
    Tone,
    table_of,
)
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.skew import moved_text, workload_text
from kubectl_spread.simulation.steps import NotReplaced
from kubectl_spread.wording import simulate as wording
from kubectl_spread.wording.words import between, capital_sentence, moved


class PodsRow(NamedTuple):
    """The Pods of a workload that a step removes, how many of them stay ``stuck``, and those Pending after it."""

    namespace: str
    workload: WorkloadRef
    removed: int
    stuck: int
    pending: PendingPods | None
    why: str  # why they are Pending; empty if none is, or not in the reported order


def simulate_outline(report: SimulateReport, extent: Extent) -> Outline:
    """Return, for each step, whether it is safe, the Pods that it moves, and the constraints that changed."""
    return outline_with([_step(step, extent, report.metadata.connection_flags) for step in report.steps], report)


def _step(step: SimulatedStep, extent: Extent, flags: Sequence[str]) -> Item:
    name, sentence = str(step.step), wording.step_sentence(step)
    items, rows = _items(step, wide=extent.wide), _rows(step, wide=extent.wide)
    shown, waiting, names = items, rows, EVERY if extent.wide else wording.SHOWN_EVICTED
    if extent.folded:  # What is in trouble stays; where that is too much, the first Pods.
        shown = [] if extent.bare else [it for it in items if {it.status_before, *it.status_range} & SEVERE]
        waiting = [row for row in rows if row.pending or row.stuck][: wording.SHOWN_NAMES if extent.bare else None]
        names = 0 if extent.bare else wording.SHOWN_NAMES
    by_chance = step.orders > 1 and any(low < high for item in shown for low, high in item.ranges.values())
    tone = Tone.WARNING if step.lost or step.verdict.safe is UNSET else Tone.GOOD
    tone = Tone.BAD if step.verdict.safe is False else tone
    by_revision, ranges = wording.BY_REVISION * any(item.old for item in shown), wording.RANGES.format(step.orders)
    more = wording.left_out(len(rows) - len(waiting), len(items) - len(shown))
    first, *rest = (
        _part(table_of(_columns(step, waiting), waiting, title="Pods"), *wording.trouble_notes(step)),
        _part(table_of(COLUMNS, shown, title="Constraints"), by_revision, ranges * by_chance),
        _part(wording.removed_text(step, names), *wording.step_notes(step, flags, names), more),
    )
    return Item(
        item=step,
        headline=Headline(subject=name, lead=f"{name}: ", line=sentence, sentence=sentence, tone=tone),
        paragraphs=(first, *filter(None, rest)),
    )


def _part(*parts: Table | str) -> tuple[Block, ...]:
    """Return the tables and sentences that are not empty."""
    blocks = (Note(line=capital_sentence(part)) if isinstance(part, str) and part else part for part in parts)
    return tuple(it for it in blocks if not isinstance(it, str) and (isinstance(it, Note) or it.rows))


def _items(step: SimulatedStep, *, wide: bool) -> Sequence[SimulatedItem]:
    """Return the constraints that change, and those in trouble beside another revision that does; with ``wide`` all."""
    changed = {(item.namespace, item.workload) for item in step.items if item.changed}
    removed = {(pod.namespace, pod.workload) for pod in wording.removed_pods(step)}

    def is_shown(item: SimulatedItem) -> bool:
        key, in_trouble = (item.namespace, item.workload), item.status_after in SEVERE
        if key in removed and not in_trouble:  # That domains have fewer Pods is no news.
            more = any(most > item.before.get(domain, 0) for domain, (_, most) in item.ranges.items())
            return more or {item.status_before, item.skew_before} != {*item.status_range, *item.skew_after}
        return item.changed or (bool(item.revision) and in_trouble and key in changed)

    counting = (it for it in step.items if any(it.before.values()) or any(most for _, most in it.ranges.values()))
    return step.items if wide else [item for item in counting if is_shown(item)]


def _rows(step: SimulatedStep, *, wide: bool) -> Sequence[PodsRow]:
    """Return the workloads whose Pods are removed or newly Pending; with ``wide``, also those Pending as before."""
    removed = Counter((pod.namespace, pod.workload) for pod in wording.removed_pods(step))
    pending = {(each.namespace, each.workload): each for each in step.pending if wide or each.new[1]}
    stuck = {(each.pods[0][0], each.ref): len(each.pods) for each in step.done if isinstance(each, NotReplaced)}
    whys = _whys(pending.values(), in_headline=bool(wording.may_add(step.pending)), wide=wide)
    others = sorted(removed.keys() - whys.keys(), key=lambda key: (key not in stuck, key[0], str(key[1])))
    return [
        PodsRow(*key, removed[key], stuck.get(key, 0), pending.get(key), whys.get(key, "")) for key in (*whys, *others)
    ]


def _whys(pending: Iterable[PendingPods], *, in_headline: bool, wide: bool) -> Mapping[Key, str]:
    """Return workload → why its Pods are Pending, once; unless ``wide``, without full domains in which that differs."""

    def why(each: PendingPods, *, in_short: bool) -> str:
        decided = wording.decided_text(each, in_headline=in_headline)
        return " ".join(filter(None, (wording.why_pending(each.reasons, in_short=in_short), decided)))

    found = dict[Key, str]()
    for shared, alike in grouped(pending, lambda each: why(each, in_short=not wide)).items():
        first, *differ = dict.fromkeys(why(each, in_short=False) for each in alike)
        keys = [(each.namespace, each.workload) for each in alike]
        found |= dict.fromkeys(keys, wording.AS_ABOVE * bool(shared)) | {keys[0]: shared if differ else first}
    return found


def _columns(step: SimulatedStep, rows: Sequence[PodsRow]) -> Iterator[Column[PodsRow]]:
    yield Column("NAMESPACE", lambda row: row.namespace)
    yield Column("WORKLOAD", lambda row: str(row.workload))
    if any(row.removed for row in rows):
        yield Column(wording.removed(step).upper(), lambda row: str(row.removed))
    if any(row.stuck for row in rows):
        yield Column("NOT-REPLACED", lambda row: str(row.stuck))
    if any(row.pending for row in rows):
        yield Column("PENDING", lambda row: wording.pending_text(row.pending) if row.pending else "0")
        yield Column("WHY", lambda row: row.why, below=True)


def _status(item: SimulatedItem) -> str:
    best, worst = item.status_range
    after = worst if best is worst else f"{best} to {worst}"
    return after if item.status_before in {best, None} else f"{item.status_before} → {after}"


COLUMNS: Sequence[Column[SimulatedItem]] = (
    Column("NAMESPACE", lambda item: item.namespace),
    Column("WORKLOAD", workload_text),
    Column("KEY", lambda item: item.constraint.topology_key),
    Column("MAX-SKEW", lambda item: str(item.constraint.max_skew), spare=True),
    Column("SKEW", lambda item: moved(str(item.skew_before), between(*item.skew_after))),
    Column("STATUS", _status),
    Column("DOMAINS", lambda item: moved_text(item.before, item.ranges, item.constraint.topology_key)),
)
