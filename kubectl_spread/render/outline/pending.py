"""Why Pods are Pending."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.upcoming_pods import NotCreated
from kubectl_spread.objects.kinds import POD
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render import outline
from kubectl_spread.render.outline import Block, Extent, Headline, Item, Note, Outline, Step, Steps, Tone, evaluation
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.evaluation import verdict_sentence
from kubectl_spread.render.outline.fixes import steps_block
from kubectl_spread.wording import pending as wording
from kubectl_spread.wording.causes import shared_line
from kubectl_spread.wording.pending import may_preempt, nominated
from kubectl_spread.wording.words import capital, held_back, held_by_gates, in_cluster, listed, scores_few

MOST_WORKLOADS = 6  # Workloads (count) of one cause that are named
# What is told of Pods after the causes for which others find no node.
NO_PROBLEM = frozenset((wording.NODE_CHOSEN, wording.SCHEDULABLE))

# What one explanation is about: Pods, at least one, or a workload that lacks some.
Explained: TypeAlias = tuple[PendingItem, ...] | NotCreated


def pending_outline(report: PendingReport, extent: Extent) -> Outline:
    """Return why each Pod is Pending; Pods of one workload with one cause share an explanation.

    Where there are several explanations, each cause is on top with the workloads that have it.
    """
    alike = grouped(
        report.items,
        lambda it: (*(_whose(it), it.verdict, it.cause, it.held_by, it.feasible, it.nomination, it.preemption),),
    )
    explained: list[Explained] = [*map(tuple, alike.values()), *report.not_created]
    causes = grouped(explained, lambda each: (_cause(each), _cluster(each)))
    several = len(explained) > 1
    brief = extent.brief and several
    having = sorted(causes, key=lambda cause: (cause[0] in NO_PROBLEM, -sum(map(_count_pods, causes[cause]))))
    shown = [causes[cause] for cause in having] if brief else [[each] for each in explained]
    flags = report.metadata.flags_for
    items = _each_change_once(_item(each, extent, flags(_cluster(each[0])), brief=brief) for each in shown)
    whole = outline_with(items, report, evaluation.common_gaps(report))
    if not several:
        return whole
    shared = tuple(_shared_cause(cause[0], causes[cause]) for cause in having)
    return replace(whole, causes=shared, more=wording.ONE_OF_EACH_CAUSE if brief else "")


def _each_change_once(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items; a step whose commands an earlier item has refers to that one: it need not run twice."""
    seen: dict[tuple[str, ...], str] = {}

    def once(step: Step, subject: str) -> Step:
        first = seen.setdefault(step.commands, subject) if step.commands else subject
        if first == subject:
            return step
        as_for = wording.AS_FOR.format(summary=step.summary, subject=first)
        return Step(id=step.id, summary=as_for, notes=step.notes[:1])

    for item in items:
        subject = item.headline.subject
        paragraphs = (
            tuple(
                replace(block, steps=tuple(once(step, subject) for step in block.steps))
                if isinstance(block, Steps)
                else block
                for block in blocks
            )
            for blocks in item.paragraphs
        )
        yield replace(item, paragraphs=tuple(paragraphs))


def _whose(item: PendingItem | NotCreated) -> str:
    name = item.name if isinstance(item, PendingItem) and isinstance(item.workload, UnsetType) else item.workload
    return in_cluster(f"{item.namespace}/{name}", item.cluster)


def _cluster(explained: Explained) -> str | UnsetType:
    return explained.cluster if isinstance(explained, NotCreated) else explained[0].cluster


def _cause(explained: Explained) -> str:
    if isinstance(explained, NotCreated):
        return wording.refused_in(explained.message, explained.namespace)
    item = explained[0]
    if item.held_by:
        return held_by_gates(item.held_by)
    if item.assumed:
        return wording.NODE_CHOSEN
    if not isinstance(item.cause, UnsetType):
        return shared_line(item.cause)
    if item.verdict is not Verdict.SCHEDULABLE:
        return wording.NOT_KNOWN
    return wording.SOME_SCHEDULABLE if _some_placed(item) else wording.SCHEDULABLE


def _some_placed(item: PendingItem) -> tuple[str, ...]:
    """Return how many of the workload's Pending Pods find a node, and why no more do; empty if all do."""
    found = item.siblings
    bare = isinstance(item.workload, UnsetType) or item.workload.kind == POD.name
    whose = "" if bare else _whose(item)
    if not isinstance(item.left, UnsetType) and (found is UNSET or max(item.left) > found.pending - found.placed):
        return (wording.others_first(*item.left, whose),)
    if found is UNSET or found.placed == found.pending:
        return ()
    return (f"{wording.some_placed(found.placed, found.pending, whose)} {found.summary}",)


def _count_pods(explained: Explained) -> int:
    return explained.wanted - explained.created if isinstance(explained, NotCreated) else len(explained)


def _shared_cause(cause: str, having: Sequence[Explained]) -> outline.SharedCause:
    pods: Counter[str] = Counter()
    for each in having:
        pods[_whose(each if isinstance(each, NotCreated) else each[0])] += _count_pods(each)
    whose = [f"{workload} ({number})" for workload, number in sorted(pods.items())]
    workloads = listed(whose, MOST_WORKLOADS) if len(pods) > 1 else ""
    created = not isinstance(having[0], NotCreated)
    return outline.SharedCause(line=wording.shared_by(cause, pods, created=created), workloads=workloads)


def _item(having: Sequence[Explained], extent: Extent, flags: Sequence[str], *, brief: bool) -> Item:
    explained, *rest = having
    if isinstance(explained, NotCreated):
        name, missing = _whose(explained), explained.wanted - explained.created
        told = wording.never_created(missing, explained.wanted, refused_now=not explained.message_from)
        sentence = f"{told}: {explained.message}"
        headline = Headline(subject=name, line=f"{name}: {told}:", sentence=sentence, tone=Tone.BAD)
        create = [] if explained.missing is UNSET else [wording.CREATE.format(explained.missing)]
        paragraphs: tuple[tuple[Block, ...], ...] = (tuple(Note(line=line) for line in (explained.message, *create)),)
        return Item(item=explained, headline=headline, paragraphs=paragraphs, pods=missing)
    item, same = explained[0], [each.name for each in explained[1:]]
    # The causes on top count the others.
    most = 0 if extent.folded else extent.same_for
    placed = _some_placed(item)
    others = wording.same_for(same, most, alone=bool(placed)) if same and not brief else ""
    headline = _headline(item)
    if others and extent.folded:
        headline = replace(headline, line=f"{headline.line} {others}")
    head = [Note(line=others, names_pods=True)] if others and not extent.folded else []
    notes = [Note(line=line) for line in (*placed, *choice_lines(item))]
    first: tuple[Block, ...] = (*head, *notes)
    others_too = [each[0] for each in rest if not isinstance(each, NotCreated)]
    paragraphs = (first, *_paragraphs(item, extent, flags, others_too, brief=brief))
    # Where there is little room, nothing is between the sentence and the fixes.
    together = len(paragraphs) if brief else 2 if extent.folded else 1
    joined = tuple(block for blocks in paragraphs[:together] for block in blocks)
    paragraphs = (joined, *paragraphs[together:])
    return Item(item=item, headline=headline, paragraphs=paragraphs, pods=len(explained))


def _paragraphs(
    item: PendingItem, extent: Extent, flags: Sequence[str], others: Sequence[PendingItem], *, brief: bool
) -> Iterator[tuple[Block, ...]]:
    tables: tuple[Block, ...] = ()
    # The autoscaler waits until the scheduler finds no node.
    if item.autoscaler is not UNSET and item.verdict is not Verdict.SCHEDULABLE:
        from kubectl_spread.render.outline.autoscaler import decision_notes, pool_tables

        yield decision_notes(item.autoscaler)
        tables = pool_tables(item.autoscaler, extent)
    block = steps_block(item, extent, flags, brief=brief)
    if block is not None:
        is_fix = any(step.id for step in block.steps[:1])  # A new node may help all.
        needs = _needs_its_own if is_fix else _waits_in_vain
        own = sorted({_whose(each) for each in others if needs(item, each)} - {_whose(item)})
        yield (replace(block, notes=(*block.notes, wording.need_their_own(_whose(item), own))) if own else block,)
    if brief:
        yield from ((block,) for block in evaluation.remarks(item) if isinstance(block, outline.Gaps))
        return
    yield from (tables,) if tables else ()
    message = _messages(item, folded=extent.folded)
    yield from evaluation.with_message(evaluation.evaluation_paragraphs(item, extent), message)


def _needs_its_own(item: PendingItem, other: PendingItem) -> bool:
    """Whether the first fix of an item does not help another one of the same cause."""
    fix = next((each for each in item.fixes if each.offered), item.fixes[0])
    gain = {
        (each.namespace, each.workload) for each in (fix.future.others if fix.future else ()) if each.admits_at_most > 0
    }
    return (other.namespace, other.workload) not in gain and all(each.commands != fix.commands for each in other.fixes)


def _waits_in_vain(item: PendingItem, other: PendingItem) -> bool:
    """Whether what is awaited first for an item lets in none of another one of the same cause."""
    first = next((wait for wait in item.waits if wait.admits is not UNSET), None)
    return first is not None and all((type(each), each.nodes) != (type(first), first.nodes) for each in other.waits)


def _headline(item: PendingItem) -> Headline:
    name = in_cluster(f"{item.namespace}/{item.name}", item.cluster)
    verdict, tone = verdict_sentence(item), outline.STATUSES[item.verdict][0]
    if item.held_by:
        held = held_back(item.held_by, verdict, stuck=item.stuck)
        return Headline(subject=name, line=f"{name} is {held}", sentence=capital(held), tone=tone)
    if item.verdict is Verdict.INCOMPLETE and item.summary:
        return Headline(subject=name, line=item.summary, sentence=item.summary, tone=tone)
    line, sentence = f"{name}: {verdict}", verdict if item.stuck else capital(verdict)
    if item.stuck:
        rolls_out = item.replicas is not UNSET and item.replicas.rolling_out is True
        line = wording.waiting_line(name, sentence, at_work(item), rolls_out=rolls_out)
    elif _is_to_be_placed(item):
        next_try = wording.NOT_TRIED_YET if item.event is None else wording.TRIED_AGAIN
        line, sentence = f"{line} {next_try}", f"{sentence} {next_try}"
    return Headline(subject=name, line=line, sentence=sentence, tone=tone)


def _is_to_be_placed(item: PendingItem) -> bool:
    """Whether the Pod, and all Pods like it, only wait for the scheduler to try them again."""
    decided = item.assumed or item.nomination or not item.feasible or item.alone is True
    return item.verdict is Verdict.SCHEDULABLE and not (decided or _some_placed(item))


def choice_lines(item: PendingItem) -> Iterator[str]:
    """Yield lines about Pods that come only after this one, about evictions that the scheduler may make, and chance."""
    if not (isinstance(item.holds, UnsetType) or isinstance(item.workload, UnsetType)):
        yield wording.holds_text(item.workload, item.holds)
    if item.alone is True:
        yield wording.NOT_PLACED
    # The summary says where an assumed Pod goes, and what it waits for.
    if item.nomination is not None and (item.nomination.leaving or not item.assumed):
        yield nominated(item.nomination)
    if item.preemption is not None:
        yield may_preempt(item.preemption)
    if not (item.assumed or item.nomination or isinstance(item.scored, UnsetType)):
        yield scores_few(item.scored, len(item.feasible))


def at_work(item: PendingItem) -> str:
    """Return how many of the workload's Pods run; empty where that is not known, or it wants none."""
    return "" if isinstance(item.replicas, UnsetType) else wording.at_work(item.replicas)


def _messages(item: PendingItem, *, folded: bool) -> outline.Messages | None:
    """Return what the scheduler would report and what it last reported; folded, both are one if they are the same."""
    event = item.event
    if event is None or not event.message:
        return outline.Messages(ours=item.message) if item.message else None
    reported = wording.reported("" if folded else event.time)
    if item.message_from:
        return outline.Messages(lead=reported, ours=event.message, remark=wording.NOT_VERIFIED)
    if not event.differs:
        # A real message goes on about preemption.
        return outline.Messages(lead=reported, ours=item.message or event.message)
    return outline.Messages(
        lead=wording.WOULD_REPORT_NOW if item.message else "",
        ours=item.message or "",
        remark=f"{wording.reported(event.time, last=True)}:",
        theirs=event.message,
        differs=wording.DIFFERS.format(wording.DIFFERENCES[event.differs]),
    )
