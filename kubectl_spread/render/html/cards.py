"""One card for each item of a report: its headline, and behind it everything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubectl_spread.render.cells import listed
from kubectl_spread.render.check import check_notes, check_sentence
from kubectl_spread.render.domains import HARD, Ranges
from kubectl_spread.render.html.bars import constraint_facts, constraint_table
from kubectl_spread.render.html.fates import Fates, evaluated, of_next_replica
from kubectl_spread.render.html.markup import NOTHING, Markup, block, each, element, joined, text
from kubectl_spread.render.html.node_map import Counts, constraint_map, plain_map
from kubectl_spread.render.html.sections import (
    callout,
    findings_section,
    fixes_section,
    messages_section,
    rejections_section,
    section,
    validation_section,
    warnings_section,
)
from kubectl_spread.render.preemption import preemption_lines
from kubectl_spread.render.table import pods_text, verdict_sentence
from kubectl_spread.report import (
    AnyReport,
    CheckItem,
    ConstraintReport,
    EvaluationReport,
    Finding,
    PendingItem,
    SkewItem,
    SkewReport,
    Verdict,
)

TOO_MANY = "The nodes are not drawn here: the page would grow too large. Ask for this one alone to see them."
SHOWN_NAMES = 10

STATUSES: Mapping[str, tuple[str, str]] = {
    "Blocked": ("bad", "✕"),
    "Unschedulable": ("bad", "✕"),
    "Invalid": ("bad", "✕"),
    "Jams": ("bad", "▲"),
    "Violated": ("bad", "▲"),
    "NoDomains": ("warn", "∅"),
    "NoEffect": ("warn", "○"),
    "Incomplete": ("warn", "?"),
    "Gated": ("warn", "‖"),
    "Uneven": ("info", "≈"),
    "OK": ("good", "✓"),
    "Schedulable": ("good", "✓"),
}
"""Status → its tone and its mark, worst first."""


@dataclass(frozen=True, slots=True)
class Card:
    """What there is to say of one item.

    Attributes:
        name: whom it is about.
        status: in a word, one of STATUSES.
        sentence: the answer.
        about: the constraint, or the workload, in short.
        pods: how many Pods the item speaks for.
        cells: how many nodes its maps would draw.
        item: the item itself.
        twins: Pods for which the same holds.
    """

    name: str
    status: str
    sentence: str
    about: str
    pods: int
    cells: int
    item: SkewItem | PendingItem | CheckItem
    twins: tuple[str, ...] = ()


def cards_of(report: AnyReport) -> list[Card]:
    """Return a card for every item, worst first; rows of ``show`` stay as they were sorted."""
    if isinstance(report, SkewReport):
        return [_skew_card(item) for item in report.items]
    items = report.items
    cards = [_check_card(i) if isinstance(i, CheckItem) else _pending_card(i, items) for i in items if not _is_twin(i)]
    worst_first = list(STATUSES)
    return sorted(cards, key=lambda card: worst_first.index(card.status))


def _is_twin(item: EvaluationReport) -> bool:
    """Whether another Pod's explanation stands for this one's too."""
    return isinstance(item, PendingItem) and isinstance(item.same_as, str)


def _skew_card(item: SkewItem) -> Card:
    """Return the card of a workload and one of its constraints."""
    c = item.constraint
    revision = f" revision {item.revision}" if item.revision else ""
    return Card(
        name=f"{item.namespace}/{item.workload}{revision}",
        status=item.status.value,
        sentence=_capital(item.status_reason) or f"Skew {c.skew}, maxSkew {c.max_skew}",
        about=_constraint_title(c),
        pods=1,
        cells=_count_cells([c]),
        item=item,
    )


def _pending_card(item: PendingItem, items: Iterable[EvaluationReport]) -> Card:
    """Return the card of a Pending Pod and its twins."""
    twins = tuple(
        other.name
        for other in items
        if isinstance(other, PendingItem) and (other.same_as, other.namespace) == (item.name, item.namespace)
    )
    return Card(
        name=f"{item.namespace}/{item.name}",
        status="Gated" if item.held_by and not item.stuck else item.verdict.value,
        sentence=_pending_sentence(item),
        about=str(item.workload) if item.workload else "",
        pods=1 + len(twins),
        cells=_count_cells(item.constraints) or len(item.nodes),
        item=item,
        twins=twins,
    )


def _pending_sentence(item: PendingItem) -> str:
    """Return why the Pod waits."""
    verdict = verdict_sentence(item)
    if item.held_by:
        return f"Held by the scheduling gate {', '.join(item.held_by)}. Without it: {verdict}"
    if item.verdict is Verdict.INCOMPLETE and item.summary:
        return item.summary
    return _capital(verdict)


def _check_card(item: CheckItem) -> Card:
    """Return the card of one Pod template."""
    return Card(
        name=f"{item.namespace}/{item.kind.lower()}/{item.name}",
        status=_check_status(item),
        sentence=_capital(check_sentence(item)),
        about=item.source,
        pods=1,
        cells=_count_cells(item.after or item.constraints) or len(item.nodes),
        item=item,
    )


def _check_status(item: CheckItem) -> str:
    """Return what becomes of a Pod template in a word."""
    if item.validation:
        return "Invalid"
    return "Jams" if item.jam and not item.stuck else item.verdict.value


def _capital(sentence: str) -> str:
    """Return our own sentence as it begins a line; a word with more than letters in it is a name."""
    first, _, rest = sentence.partition(" ")
    return f"{first.capitalize()} {rest}" if first.isalpha() and first.islower() else sentence


def _count_cells(constraints: Iterable[ConstraintReport]) -> int:
    """Return how many nodes the maps of these constraints draw."""
    return sum(
        len(constraint.bypassed_nodes) + sum(len(domain.nodes) for domain in constraint.domains)
        for constraint in constraints
    )


def _constraint_title(constraint: ConstraintReport) -> str:
    """Return a constraint in short."""
    default = " (cluster default)" if constraint.default else ""
    return f"{constraint.topology_key}, {constraint.when_unsatisfiable}, maxSkew {constraint.max_skew}{default}"


def card_markup(card: Card, *, is_open: bool, drawn: bool) -> Markup:
    """Return a card.

    Args:
        card: what it says.
        is_open: whether it is unfolded from the start.
        drawn: whether its maps are drawn.
    """
    tone, mark = STATUSES[card.status]
    marked = element("span", text(mark), class_="mark", aria_hidden="true")
    head = element(
        "summary",
        element("b", marked, text(card.status), class_=f"badge {tone}"),
        element("h2", text(card.name)),
        block("span", text(card.about), class_="about"),
        element("span", text(card.sentence), class_="sentence"),
    )
    body = element("div", *_body(card, drawn=drawn), class_="body")
    return element("details", head, body, class_=f"card {tone}", data_status=card.status, open=is_open)


def _body(card: Card, *, drawn: bool) -> Iterator[Markup]:
    """Yield what stands behind the headline, most important first."""
    if card.twins:
        also = f"The same holds for {len(card.twins)} more: {', '.join(card.twins)}."
        yield element("p", text(also), class_="hint twins")
    match card.item:
        case SkewItem():
            yield from _skew_body(card.item, drawn=drawn)
        case PendingItem():
            yield from _pending_body(card.item, drawn=drawn)
        case CheckItem():
            yield from _check_body(card.item, drawn=drawn)


def _skew_body(item: SkewItem, *, drawn: bool) -> Iterator[Markup]:
    """Yield how a workload lies."""
    yield _constraint(item.constraint, of_next_replica(item) if drawn else None, shown=True)
    notes = [f"Pods counted: {pods_text(item)}."]
    if item.ghosts:
        notes.append(f"Ghost Pods, which their own constraint does not count: {listed(item.ghosts, SHOWN_NAMES)}.")
    if not item.revision or item.next:
        notes.append(f"Next replica: {listed(item.next, SHOWN_NAMES) if item.next else 'no node'}.")
    if item.evaluated_filters:
        notes.append(f"Decided by {', '.join(item.evaluated_filters)}.")
    yield _notes(notes)
    yield findings_section(item.findings)


def _pending_body(item: PendingItem, *, drawn: bool) -> Iterator[Markup]:
    """Yield why a Pod waits and what would let it in."""
    yield _notes(preemption_lines(item))
    yield callout(item.incomplete)
    yield _maps(item, item.constraints, drawn=drawn)
    yield fixes_section(item)
    yield rejections_section(item)
    yield findings_section(_untold(item))
    yield messages_section(item)


def _check_body(item: CheckItem, *, drawn: bool) -> Iterator[Markup]:
    """Yield what becomes of a Pod template and its replicas."""
    yield validation_section(item.validation)
    yield warnings_section(item.warnings)
    yield _notes(check_notes(item, wide=False))
    yield callout(item.incomplete)
    stuck = item.stuck
    yield _maps(item, item.constraints if stuck else item.after or item.constraints, drawn=drawn)
    yield fixes_section(item)
    yield rejections_section(item)
    yield findings_section(_untold(item))
    yield messages_section(item)


def _untold(item: EvaluationReport) -> Iterator[Finding]:
    """Yield the findings that the sentence on top does not tell: it says who pins the minimum."""
    return (finding for finding in item.findings if finding.id != "PinnedMinimum" or not item.summary)


def _notes(lines: Iterable[str]) -> Markup:
    """Return sentences, a line each."""
    return block("div", each("p", map(text, lines)), class_="hint")


def _maps(item: PendingItem | CheckItem, constraints: Sequence[ConstraintReport], *, drawn: bool) -> Markup:
    """Return every constraint with its map, or one map where there is none."""
    fates = evaluated(item) if drawn else None
    placed, ranges = _placed(item), _ranges(item)
    if not constraints:
        return section(
            "Nodes", plain_map(fates) if fates is not None else element("p", text(TOO_MANY), class_="hint undrawn")
        )
    hard = [constraint.index for constraint in constraints if constraint.when_unsatisfiable == HARD]
    return joined(
        _constraint(c, fates, placed=placed, ranges=ranges.get(c.index, {}), shown=not hard or c.index in hard)
        for c in constraints
    )


def _placed(item: PendingItem | CheckItem) -> Counts:
    """Return node → the replicas that go there."""
    return Counter(placement.node for placement in item.placements) if isinstance(item, CheckItem) else {}


def _ranges(item: PendingItem | CheckItem) -> Mapping[int, Ranges]:
    """Return constraint's index → the domains whose counts depend on luck."""
    found: dict[int, dict[str, tuple[int, int]]] = {}
    for own in item.ranges if isinstance(item, CheckItem) else ():
        found.setdefault(own.constraint, {})[own.value] = (own.minimum, own.maximum)
    return found


def _constraint(
    constraint: ConstraintReport,
    fates: Fates | None,
    *,
    shown: bool,
    placed: Counts | None = None,
    ranges: Ranges | None = None,
) -> Markup:
    """Return a constraint with its numbers, its bars and its map.

    Args:
        constraint: the constraint.
        fates: what became of the nodes; None where they are not drawn.
        shown: whether it is unfolded from the start.
        placed: the replicas placed on each node.
        ranges: domains that may hold another number of Pods than is counted.
    """
    title = element("h3", text("Constraint on "), element("code", text(constraint.topology_key)))
    drawn = constraint_map(constraint, fates, placed or {}) if fates is not None else NOTHING
    return element(
        "details",
        element("summary", title, text(" (cluster default)" if constraint.default else "")),
        constraint_facts(constraint),
        constraint_table(constraint, ranges or {}),
        drawn if fates is not None else element("p", text(TOO_MANY), class_="hint undrawn"),
        class_="constraint",
        open=shown,
    )
