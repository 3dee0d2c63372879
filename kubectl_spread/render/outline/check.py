"""What becomes of manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET

from kubectl_spread.contract.check import CheckItem, CheckReport, Jam
from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.render.outline import (
    Block,
    Extent,
    Fixes,
    Gaps,
    Headline,
    Item,
    Messages,
    Note,
    Outline,
    Refusals,
    Tone,
    Warnings,
)
from kubectl_spread.render.outline.domains import Ranges, constraint_block
from kubectl_spread.render.outline.evaluation import (
    VERDICT_TONES,
    capital,
    evaluation_paragraphs,
    first_name,
    held_back,
    remarks,
    verdict_sentence,
)
from kubectl_spread.render.outline.shortening import node_names
from kubectl_spread.wording.words import count_of, enumerated, listed

SHOWN_NODES = 10


def check_outline(report: CheckReport, extent: Extent) -> Outline:
    """Return, for each Pod template, whether it schedules, where, and how its replicas lie."""
    return Outline(
        items=tuple(_item(item, extent) for item in report.items),
        gaps=Gaps(gaps=report.incomplete),
        nodes=node_names(report),
    )


def _item(item: CheckItem, extent: Extent) -> Item:
    """Return what becomes of one Pod template."""
    name, sentence = subject_of(item), check_sentence(item)
    tone = Tone.BAD if item.jam or item.failed_create or item.held_by else VERDICT_TONES[item.verdict]
    refusals = [Refusals(errors=item.validation)] if item.validation else []
    warnings = [Warnings(warnings=item.warnings)] if item.warnings else []
    notes = [Note(line=line) for line in _notes(item, extent)]
    fixes = _fixes(item, extent)
    # How the replicas lie goes on with where they go, unless fixes stand between.
    first, *rest = [*([(), (fixes,)] if fixes else []), *_evidence(item, extent)] or [()]
    return Item(
        item=item,
        headline=Headline(
            subject=name, line=f"{name}: {sentence}", sentence=capital(sentence, first_name(item)), tone=tone
        ),
        paragraphs=((*refusals, *warnings, *notes, *first), *rest),
    )


def _fixes(item: CheckItem, extent: Extent) -> Fixes | None:
    """Return what would let the first replica in that finds no node; None where each finds one."""
    if item.jam is None:
        return None
    from kubectl_spread.render.outline.fixes import fixes_block  # Most manifests need none.

    return fixes_block(item, extent)


def _evidence(item: CheckItem, extent: Extent) -> Iterator[tuple[Block, ...]]:
    """Yield why there is no node, or how the replicas lie, and what the scheduler says of it."""
    if item.stuck:
        yield from evaluation_paragraphs(item, extent)
    else:
        lying = (constraint_block(c, extent, ranges_of(c, item)) for c in item.after or item.constraints)
        yield (*lying, *remarks(item))
    if message := item.jam.message if item.jam else item.message:
        yield (Messages(ours=message),)


def subject_of(item: CheckItem) -> str:
    """Return the manifest, as people name it."""
    return f"{item.namespace}/{item.kind.lower()}/{item.name}"


def check_sentence(item: CheckItem) -> str:
    """Return what becomes of the manifest, as it stands or else once the API server takes it."""
    sentence = held_back(item.held_by, _placement(item)) if item.held_by else _placement(item)
    if item.verdict is not Verdict.INVALID:
        return sentence
    if not item.nodes:
        return "the API server refuses it."
    return f"the API server refuses it as it stands. Otherwise: {sentence}"


def _placement(item: CheckItem) -> str:
    """Return the verdict about all replicas, or who else decides."""
    if item.verdict is Verdict.INCOMPLETE and item.summary and item.jam is None:
        return item.summary
    if not item.placements and item.jam is None and (item.rollout or not item.replicas):
        return "no Pod is to be placed."
    if item.stuck:
        return f"not schedulable. {item.summary}"
    if item.jam is not None:
        return _jam(item.jam, item.replicas)
    return _created(item)


def _created(item: CheckItem) -> str:
    """Return the verdict about replicas of which each that comes to be finds a node."""
    if item.failed_create is not None and item.failed_create.created:
        failed = item.failed_create
        return f"Pod {failed.created + 1} of {item.replicas} is refused by the API server: {failed.message}"
    some = item.rollout is not None and len(item.placements) < item.replicas
    evicting = _evicting(item)
    if item.verdict is Verdict.INCOMPLETE or not item.placements or (item.replicas <= 1 and not some):
        return f"it can be scheduled{evicting}." if evicting else verdict_sentence(item)
    who = f"{len(item.placements)} Pods that are to come" if some else f"{item.replicas} replicas"
    return f"all {who} can be scheduled{evicting}."


def _evicting(item: CheckItem) -> str:
    """Return whom the scheduler evicts for the replicas; empty where nobody."""
    whom = [f"{pod.namespace}/{pod.name} on {each.node}" for each in item.placements for pod in each.preempts or ()]
    return f": it preempts {enumerated(whom, most=2)}" if whom else ""


def _jam(jam: Jam, replicas: int) -> str:
    """Return which replicas find no node."""
    why = jam.summary or jam.message
    if jam.nodes:
        return f"{len(jam.nodes)} of {replicas} nodes have no room for their Pod ({listed(jam.nodes)}). {why}"
    if jam.replica_max is None:
        return f"replica {jam.replica} of {replicas} may find no node, by ties. {why}"
    if isinstance(jam.replica_max, int):
        return f"replica {jam.replica} to {jam.replica_max} of {replicas} finds no node, by ties. {why}"
    return f"replica {jam.replica} of {replicas} finds no node. {why}"


def _notes(item: CheckItem, extent: Extent) -> Iterator[str]:
    """Yield where the replicas go, and what that rests on."""
    rollout = item.rollout
    if rollout is not None:
        gone = f", {rollout.replaced} of them replaced" if rollout.replaced else ""
        # Some of them may be without a node.
        there = f"{count_of(rollout.running, 'Pod')} there"
        yield f"Rollout: {rollout.strategy}, {there}{gone}. Assumed: {rollout.assumed}."
    if item.placements:
        counts = Counter(placement.node for placement in item.placements)
        nodes = [f"{node} ({count})" if count > 1 else node for node, count in counts.items()]
        yield f"Replicas: {listed(nodes, extent.most(SHOWN_NODES))}"
    if item.ranges or (item.jam is not None and item.jam.replica_max is not UNSET):
        yield f"The scheduler breaks ties at random: {item.orders} orders were tried, by name first."
    elif item.orders == 1 and any(placement.ties for placement in item.placements):
        yield "Ties were broken by name alone: in so large a cluster no other order was tried."
    if extent.wide and item.feasible:
        yield f"Ranked for the first replica: {_ranking(item)}"
    if item.sampled:
        yield f"Among {len(item.nodes)} nodes the scheduler may look at some only; here all were scored."


def _ranking(item: CheckItem) -> str:
    """Return the nodes that can take the first replica, each with its score."""
    totals = {node.name: node.scores.get("total", 0) for node in item.nodes if isinstance(node.scores, dict)}
    return ", ".join(f"{name} ({totals.get(name, 0)})" for name in item.feasible)


def ranges_of(constraint: ConstraintReport, item: CheckItem) -> Ranges:
    """Return the domains of a constraint whose counts depend on ties."""
    own = (each for each in item.ranges if each.constraint == constraint.index)
    return {each.value: (each.minimum, each.maximum) for each in own}
