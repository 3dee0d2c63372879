"""What becomes of manifests."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.contract.check import CheckItem, CheckReport, Jam
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.diagnosis.evaluation import NOTHING, Verdict
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.objects.kinds import BY_NAME, POD, WORKLOADS
from kubectl_spread.render import outline
from kubectl_spread.render.outline import Block, Extent, Headline, Item, Note, Outline, Tone, evaluation
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.domains import Ranges, constraint_block, once_bypassed
from kubectl_spread.render.outline.evaluation import verdict_sentence
from kubectl_spread.simulation.placement import Placement
from kubectl_spread.wording import check as wording
from kubectl_spread.wording.findings import in_short, named_constraint
from kubectl_spread.wording.words import capital, capital_sentence, count_of, held_back, scores_some, totals

SHOWN_NODES = 10
COUNTED = (*map(ItemStatus, Verdict), ItemStatus.GATED, ItemStatus.STUCK)  # The statuses in the order of the totals


def check_outline(report: CheckReport, extent: Extent) -> Outline:
    """Return, for each Pod template, whether it schedules, where, and how its replicas lie."""
    items = [_item(item, extent, report.metadata.connection_flags) for item in report.items]
    whole = outline_with(items, report, evaluation.common_gaps(report))
    results = sorted(map(check_status, report.items), key=COUNTED.index)
    of_pods = all(item.kind not in BY_NAME or item.kind in {POD.name, *WORKLOADS} for item in report.items)
    what = count_of(len(results), "Pod template" if of_pods else "manifest")
    line = totals(what, results) if len(results) > 1 else ""
    return replace(whole, totals=line)


def check_status(item: CheckItem) -> ItemStatus:
    """Return the verdict, or that a gate holds the Pods back, or that some of them find no node."""
    if not (item.validation or item.failed_create or item.stuck) and (item.held_by or item.jam):
        return ItemStatus.GATED if item.held_by else ItemStatus.STUCK
    return ItemStatus(item.verdict)


def _item(item: CheckItem, extent: Extent, flags: Sequence[str]) -> Item:
    name, sentence = subject_of(item), check_sentence(item)
    warnings = [*filter(None, (*_violated(item), *dict.fromkeys(map(in_short, item.findings))))]
    tone = Tone.BAD if item.jam or item.failed_create or item.held_by else outline.STATUSES[item.verdict][0]
    if _is_placed(item) and warnings:
        sentence, tone = f"{sentence.removesuffix('.')}, but {'; '.join(warnings)}.", Tone.WARNING
    review = outline.Review(errors=item.refusals, warnings=item.warnings)
    notes = [Note(line=line) for line in _notes(item, extent)]
    tables: tuple[Block, ...] = ()
    if item.autoscaler is not UNSET:
        from kubectl_spread.render.outline.autoscaler import decision_notes, pool_tables

        notes.extend(decision_notes(item.autoscaler))
        tables = pool_tables(item.autoscaler, extent)
    steps = None
    if item.jam is not None:
        from kubectl_spread.render.outline.fixes import steps_block  # Most manifests need none.

        steps = steps_block(item, extent, flags)
    # How the replicas lie goes on with where they go, unless steps stand between.
    first, *rest = [*([(), (steps,)] if steps else []), *([tables] * bool(tables)), *_evidence(item, extent)] or [()]
    return Item(
        item=item,
        headline=Headline(
            subject=name,
            line=f"{name}: {sentence}",
            sentence=sentence if _is_undecided(item) else capital(sentence),
            tone=tone,
        ),
        paragraphs=((review, *notes, *first), *rest),
    )


def _evidence(item: CheckItem, extent: Extent) -> Iterator[tuple[Block, ...]]:
    """Yield why there is no node, or how the replicas lie, and what the scheduler says of it."""
    if item.stuck:
        paragraphs = [*evaluation.evaluation_paragraphs(item, extent)]
    else:
        lying = once_bypassed(constraint_block(c, extent, ranges_of(c, item)) for c in item.after or item.constraints)
        paragraphs = [(*lying, *evaluation.remarks(item))]
    message = item.jam.message if item.jam else item.message
    yield from evaluation.with_message(paragraphs, outline.Messages(ours=message) if message else None)


def subject_of(item: CheckItem) -> str:
    """Return the manifest, as people name it."""
    return "/".join(filter(None, (item.namespace, item.kind.lower(), item.name)))


def check_sentence(item: CheckItem) -> str:
    """Return what becomes of the manifest, as it stands or else once the API server takes it."""
    sentence = held_back(item.held_by, _placement(item), stuck=False) if item.held_by else _placement(item)
    failed = item.failed_create
    if failed and not failed.created:
        return wording.refused_pods(failed.message, sentence if item.nodes else "")
    if not item.validation and item.verdict is not Verdict.INVALID:
        return sentence
    return wording.refused((each.reason for each in item.validation), sentence if item.nodes else "")


def _is_placed(item: CheckItem) -> bool:
    """Whether every Pod finds a node, or none is needed."""
    return item.verdict is Verdict.SCHEDULABLE and not (item.jam or item.failed_create or item.held_by)


def _violated(item: CheckItem) -> Iterator[str]:
    """Yield the constraints that are violated in the end."""
    keys = {each.index: each.topology_key for each in item.constraints}
    for each in item.violations:
        named = named_constraint(each.constraint, keys[each.constraint])
        yield wording.violation_text(named, each.skew, by_chance=each.by_chance)


def _is_undecided(item: CheckItem) -> bool:
    """Whether something else decides about the Pods, or why they find no node is all that is known."""
    return item.verdict is Verdict.INCOMPLETE and item.conclusion != NOTHING and item.jam is None


def _placement(item: CheckItem) -> str:
    jam = item.jam
    if _is_undecided(item):
        return item.summary
    if not item.placements and jam is None and (item.rollout or not item.replicas):
        return wording.no_pod(item.next_summary, incomplete=item.verdict is Verdict.INCOMPLETE)
    stuck = item.stuck or (item.verdict is Verdict.INCOMPLETE and jam is not None and item.replicas == 1)
    if jam is not None and not (stuck and jam.replica_max is UNSET):
        return _jammed(jam, item.replicas)
    if stuck and item.rollout and item.rollout.unchanged and item.pending:
        return wording.stay_pending(item.pending, item.summary)
    if stuck:
        return wording.NOT_SCHEDULABLE.format(item.summary)
    return _created(item)


def _jammed(jam: Jam, replicas: int) -> str:
    return wording.jam_sentence(jam, replicas, jam.summary or str(jam.message))


def _created(item: CheckItem) -> str:
    failed, placements, every = item.failed_create, item.placements, item.all_created
    if failed is not None and failed.created:
        otherwise = ""
        if every is not None:
            everyone = wording.placed(every.placements, _everyone(item, every.placements))
            otherwise = _jammed(every.jam, item.replicas) if every.jam else everyone
        return wording.refused_pod(_staying(item) + failed.created + 1, item.replicas, failed.message, otherwise)
    some = item.rollout is not None and len(placements) < item.replicas
    if item.verdict is Verdict.INCOMPLETE or not placements or (item.replicas <= 1 and not some):
        told = any(each.preempts or each.once_gone for each in placements)
        return wording.placed(placements) if told else verdict_sentence(item)
    return wording.placed(placements, _everyone(item, placements))


def _staying(item: CheckItem) -> int:
    """Return how many Pods of the workload stay, with and without a node (count), where none is replaced."""
    rollout = item.rollout
    return rollout.running - rollout.deleted if rollout is not None and rollout.strategy == "Scale" else 0


def _everyone(item: CheckItem, placements: Sequence[Placement]) -> str:
    """Return whose placements these are: of all replicas, or of the Pods that are new or waited where others stay."""
    number = len(placements)
    if item.rollout is None or number >= item.replicas:
        return wording.everyone(item.replicas)
    return wording.everyone(number, wording.pods_to_place(item.replicas - _staying(item), number))


def _notes(item: CheckItem, extent: Extent) -> Iterator[str]:
    if item.failed_create and item.failed_create.missing:
        yield wording.missing_note(item.failed_create.missing)
    if item.rollout is not None:
        yield wording.rollout_note(item.rollout)
    if item.pending and item.jam is None and not item.stuck:
        yield wording.older_stay_pending(item.pending)
    if item.placements:
        yield wording.replicas_note(item.placements, extent.most(SHOWN_NODES))
    yield from _notes_on_chance(item)
    yield from () if _is_placed(item) else map(capital_sentence, _violated(item))
    if extent.wide and item.feasible:
        totals = {node.name: node.scores.get("total", 0) for node in item.nodes if isinstance(node.scores, dict)}
        yield wording.ranking_note({name: totals.get(name, 0) for name in item.feasible})


def _notes_on_chance(item: CheckItem) -> Iterator[str]:
    if item.sampled:
        yield f"{scores_some(item.orders)}."
        return
    if chance := wording.chance_note(item.placements):
        yield chance
    if item.placements and item.elsewhere:
        yield wording.elsewhere_note(item.elsewhere, alone=len(item.placements) == 1)
    if item.ranges or (item.jam is not None and item.jam.replica_max is not UNSET):
        yield wording.RANDOM_TIES.format(item.orders)
    elif item.orders == 1 and any(placement.ties for placement in item.placements):
        yield wording.TIES_BY_NAME


def ranges_of(constraint: ConstraintDiagnosis, item: CheckItem) -> Ranges:
    """Return the domains of a constraint whose counts depend on ties."""
    own = (each for each in item.ranges if each.constraint == constraint.index)
    return {each.value: (each.minimum, each.maximum) for each in own}
