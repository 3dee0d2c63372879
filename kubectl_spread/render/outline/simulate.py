"""What becomes of Pods and their spread, step by step."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.statuses import SEVERE
from kubectl_spread.diagnosis.step_changes import PendingPods, SimulatedStep
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import Block, Column, Extent, Headline, Item, Note, Outline, Tone, table_of
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
    flags = report.metadata.connection_flags
    return outline_with([_step(step, extent, flags) for step in report.steps], report)


def _step(step: SimulatedStep, extent: Extent, flags: Sequence[str]) -> Item:
    name, sentence = str(step.step), wording.step_sentence(step)
    changed = {(item.namespace, item.workload) for item in step.items if item.changed}
    shown = [item for item in step.items if extent.wide or _is_shown(item, changed)]
    table: Sequence[Block] = [table_of(COLUMNS, shown, title="Constraints")] if shown else []
    by_chance = step.orders > 1 and any(low < high for item in step.items for low, high in item.ranges.values())
    ranges = [Note(line=wording.RANGES.format(step.orders))] if by_chance else []
    by_revision = [Note(line=wording.BY_REVISION)] if any(item.old for item in shown) else []
    constraints = (*table, *by_revision, *ranges)
    tone = Tone.WARNING if step.lost or step.verdict.safe is UNSET else Tone.GOOD
    tone = Tone.BAD if step.verdict.safe is False else tone
    rows = _rows(step, wide=extent.wide)
    pods = [table_of(_columns(step, rows), rows, title="Pods")] if rows else []
    troubles = map(capital_sentence, (*wording.trouble_notes(step), *wording.outcome_notes(step)))
    removed = wording.removed_text(step, None if extent.wide else wording.SHOWN_EVICTED)
    kept = wording.step_notes(step, flags, None if extent.wide else wording.SHOWN_NAMES)
    rest = filter(None, (removed, *map(capital_sentence, kept)))
    first, last = ([Note(line=line) for line in lines] for lines in (troubles, rest))
    return Item(
        item=step,
        headline=Headline(subject=name, lead=f"{name}: ", line=sentence, sentence=sentence, tone=tone),
        paragraphs=((*pods, *first), *filter(None, (constraints, tuple(last)))),
    )


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


def _whys(pending: Iterable[PendingPods], *, in_headline: bool, wide: bool) -> Mapping[tuple[str, WorkloadRef], str]:
    """Return workload → why its Pods are Pending, once: those that wait for the same follow the first one.

    Unless ``wide``, domains that are full for other reasons are left out where they differ between these.
    """

    def why(each: PendingPods, *, in_short: bool) -> str:
        decided = wording.decided_text(each, in_headline=in_headline)
        return " ".join(filter(None, (wording.why_pending(each.reasons, in_short=in_short), decided)))

    found = dict[tuple[str, WorkloadRef], str]()
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


def _is_shown(item: SimulatedItem, changed: Container[tuple[str, WorkloadRef]]) -> bool:
    """Whether it counts Pods and has changed, or is in trouble and another revision of the workload has changed."""
    if not (any(item.before.values()) or any(most for _, most in item.ranges.values())):
        return False
    in_trouble = bool(item.revision) and item.status_after in SEVERE
    return item.changed or (in_trouble and (item.namespace, item.workload) in changed)


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
