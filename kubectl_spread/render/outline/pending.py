"""Why Pods are Pending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import RolloutMixesRevisions
from kubectl_spread.diagnosis.not_created import NotCreated
from kubectl_spread.render.outline import (
    Block,
    Extent,
    Gaps,
    Headline,
    Item,
    Messages,
    Note,
    Outline,
    SameFor,
    SharedCause,
    Tone,
)
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.evaluation import (
    VERDICT_TONES,
    capital,
    common_gaps,
    evaluation_paragraphs,
    first_name,
    remarks,
    verdict_sentence,
)
from kubectl_spread.render.outline.fixes import fixes_block
from kubectl_spread.wording import pending as wording
from kubectl_spread.wording.causes import shared_line
from kubectl_spread.wording.pending import may_preempt, nominated
from kubectl_spread.wording.words import held_by_gates, listed

MOST_WORKLOADS = 6
"""Workloads (count) of one cause that are named."""
LINE = 200
"""Characters of a first line."""

Explained: TypeAlias = tuple[PendingItem, ...] | NotCreated
"""What one explanation is about: Pods, at least one, or a workload that lacks some."""


def pending_outline(report: PendingReport, extent: Extent) -> Outline:
    """Return why each Pod is Pending; Pods of one workload with one cause share an explanation.

    Where there are several explanations, each cause stands on top with the workloads that have it.
    """
    told: dict[tuple[object, ...], list[PendingItem]] = {}
    for item in report.items:
        told.setdefault(_told_once(item), []).append(item)
    explained: list[Explained] = [*map(tuple, told.values()), *report.not_created]
    causes: dict[str, list[Explained]] = {}
    for each in explained:
        causes.setdefault(_cause(each), []).append(each)
    several = len(explained) > 1
    brief = extent.brief and several
    shown = [first for first, *_ in causes.values()] if brief else explained
    outline = outline_with((_item(each, extent, brief=brief) for each in shown), report, common_gaps(report))
    if not several:
        return outline
    shared = sorted(starmap(_shared_cause, causes.items()), key=lambda each: -each[0])
    more = wording.ONE_OF_EACH_CAUSE if brief else ""
    return replace(outline, causes=tuple(each for _, each in shared), more=more)


def _told_once(item: PendingItem) -> tuple[object, ...]:
    """Return what Pods share that are explained together: those of one workload, with one cause."""
    return _whose(item), item.verdict, item.cause, item.held_by, item.feasible, item.nomination, item.preemption


def _whose(item: PendingItem | NotCreated) -> str:
    name = item.name if isinstance(item, PendingItem) and isinstance(item.workload, UnsetType) else item.workload
    return f"{item.namespace}/{name}"


def _cause(explained: Explained) -> str:
    if isinstance(explained, NotCreated):
        return wording.refused_in(explained.message, explained.namespace)
    item = explained[0]
    if item.held_by:
        return held_by_gates(item.held_by)
    if not isinstance(item.cause, UnsetType):
        return shared_line(item.cause)
    return wording.SCHEDULABLE if item.verdict is Verdict.SCHEDULABLE else wording.NOT_KNOWN


def _shared_cause(cause: str, having: Sequence[Explained]) -> tuple[int, SharedCause]:
    """Return how many Pods (count) have the cause, and how that is told."""
    pods: Counter[str] = Counter()
    for each in having:
        first, number = (each, each.wanted - each.created) if isinstance(each, NotCreated) else (each[0], len(each))
        pods[_whose(first)] += number
    whose = [f"{workload} ({number})" for workload, number in sorted(pods.items())]
    line, total = wording.shared_by(cause, pods), pods.total()
    return total, SharedCause(line=line, workloads=listed(whose, MOST_WORKLOADS) if len(pods) > 1 else "")


def _item(explained: Explained, extent: Extent, *, brief: bool) -> Item:
    if isinstance(explained, NotCreated):
        return _not_created(explained)
    item, same = explained[0], [each.name for each in explained[1:]]
    head = [SameFor(line=wording.same_for(same, extent.same_for))] if same else []
    notes = [Note(line=line) for line in preemption_lines(item)]
    return Item(
        item=item,
        headline=_headline(item),
        paragraphs=((*head, *notes), *_paragraphs(item, extent, brief=brief)),
        pods=1 + len(same),
    )


def _not_created(item: NotCreated) -> Item:
    name, missing = f"{item.namespace}/{item.workload}", item.wanted - item.created
    told = wording.never_created(missing, item.wanted, refused_now=not item.message_from)
    headline = Headline(subject=name, line=f"{name}: {told}:", sentence=f"{told}: {item.message}", tone=Tone.BAD)
    return Item(item=item, headline=headline, paragraphs=((Note(line=item.message),),), pods=missing)


def _paragraphs(item: PendingItem, extent: Extent, *, brief: bool) -> Iterator[tuple[Block, ...]]:
    if item.autoscaler is not UNSET:
        from kubectl_spread.render.outline.autoscaler import autoscaler_blocks

        yield autoscaler_blocks(item.autoscaler, extent)
    yield from ((block,) for block in (fixes_block(item, extent, brief=brief),) if block is not None)
    if brief:
        yield from ((block,) for block in remarks(item) if isinstance(block, Gaps))
        return
    yield from evaluation_paragraphs(item, extent)
    yield from ((block,) for block in (messages_block(item),) if block is not None)


def _headline(item: PendingItem) -> Headline:
    name, verdict, tone = f"{item.namespace}/{item.name}", verdict_sentence(item), VERDICT_TONES[item.verdict]
    if item.held_by:
        held = wording.held_back(item.held_by, verdict)
        return Headline(subject=name, line=f"{name} is {held}", sentence=capital(held), tone=tone)
    if item.verdict is Verdict.INCOMPLETE and item.summary:
        return Headline(subject=name, line=item.summary, sentence=item.summary, tone=tone)
    line = f"{name}: {verdict}"
    if item.stuck:
        rolls_out = any(finding.id == RolloutMixesRevisions.__name__ for finding in item.findings)
        lines = wording.waiting_lines(name, verdict, at_work(item), rolls_out=rolls_out)
        line = next((line for line in lines if len(line) <= LINE), lines[-1])
    return Headline(subject=name, line=line, sentence=capital(verdict, first_name(item)), tone=tone)


def preemption_lines(item: PendingItem) -> Iterator[str]:
    """Yield a line about evictions begun, and one about evictions that the scheduler may make."""
    # The summary says where an assumed Pod goes, and what it waits for.
    if item.nomination is not None and (item.nomination.leaving or not item.assumed):
        yield nominated(item.nomination)
    if item.preemption is not None:
        yield may_preempt(item.preemption)


def at_work(item: PendingItem) -> str:
    """Return how many of the workload's Pods run; empty where that is not known, or it wants none."""
    return "" if isinstance(item.replicas, UnsetType) else wording.at_work(item.replicas)


def messages_block(item: EvaluationReport) -> Messages | None:
    """Return what the scheduler would say and its own last word; None where there is neither."""
    event = item.event if isinstance(item, PendingItem) else None
    if event is None:
        return Messages(ours=item.message) if item.message else None
    if item.message_from:
        return Messages(ours=event.message, remark=wording.only_the_schedulers(event.time))
    remark = wording.scheduler_said(event.time, same=not event.differs)
    if not event.differs:
        # A real message goes on about preemption.
        return Messages(ours=item.message or event.message, remark=remark)
    differs = wording.they_differ(event.differs)
    return Messages(ours=item.message or "", remark=remark, theirs=event.message, differs=differs)
