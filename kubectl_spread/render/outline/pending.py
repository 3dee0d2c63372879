"""Why Pods are Pending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UnsetType

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import RolloutMixesRevisions
from kubectl_spread.diagnosis.not_created import NotCreated
from kubectl_spread.render.outline import Block, Extent, Headline, Item, Messages, Note, Outline, SameFor, Tone
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.evaluation import (
    VERDICT_TONES,
    capital,
    common_gaps,
    evaluation_paragraphs,
    first_name,
    verdict_sentence,
)
from kubectl_spread.render.outline.fixes import fixes_block
from kubectl_spread.wording import pending as wording
from kubectl_spread.wording.pending import may_preempt, nominated

LINE = 200
"""Characters of a first line."""


def pending_outline(report: PendingReport, extent: Extent) -> Outline:
    """Return why each Pod is Pending; Pods of one template share an explanation."""
    same: dict[tuple[str, str], list[str]] = {}
    for item in report.items:
        if item.same_as:
            same.setdefault((item.namespace, item.same_as), []).append(item.name)
    pending = (_item(it, same.get((it.namespace, it.name), ()), extent) for it in report.items if not it.same_as)
    return outline_with((*pending, *map(_not_created, report.not_created)), report, common_gaps(report))


def _item(item: PendingItem, same: Sequence[str], extent: Extent) -> Item:
    head = [SameFor(line=wording.same_for(same, extent.same_for))] if same else []
    notes = [Note(line=line) for line in preemption_lines(item)]
    return Item(
        item=item,
        headline=_headline(item),
        paragraphs=((*head, *notes), *_paragraphs(item, extent)),
        pods=1 + len(same),
    )


def _not_created(item: NotCreated) -> Item:
    name, missing = f"{item.namespace}/{item.workload}", item.wanted - item.created
    told = wording.never_created(missing, item.wanted, refused_now=not item.message_from)
    headline = Headline(subject=name, line=f"{name}: {told}:", sentence=f"{told}: {item.message}", tone=Tone.BAD)
    return Item(item=item, headline=headline, paragraphs=((Note(line=item.message),),), pods=missing)


def _paragraphs(item: PendingItem, extent: Extent) -> Iterator[tuple[Block, ...]]:
    yield from ((block,) for block in (fixes_block(item, extent),) if block is not None)
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
