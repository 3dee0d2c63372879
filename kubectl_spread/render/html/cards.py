"""One card for each item of a report: its headline, and behind it everything else."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import UNSET

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.audit import AuditItem
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.step_changes import SimulatedStep
from kubectl_spread.diagnosis.upcoming_pods import NotCreated
from kubectl_spread.render import outline
from kubectl_spread.render.html import node_map
from kubectl_spread.render.html.bars import constraint_facts, constraint_table
from kubectl_spread.render.html.markup import Markup, block, element, joined, path_text, text
from kubectl_spread.render.html.sections import block_markup, folded, section, table_markup, words_markup
from kubectl_spread.render.outline import EVERY, STATUSES, Extent, Item
from kubectl_spread.render.outline.access import rewritten
from kubectl_spread.render.outline.check import check_status, ranges_of
from kubectl_spread.render.outline.domains import EXACT, Ranges, constraint_block
from kubectl_spread.render.outline.pending import at_work
from kubectl_spread.render.outline.rebalance import verdict_of
from kubectl_spread.wording import pages

EXTENT = Extent(names=8, same_for=EVERY, every_fix=True, evidence=True)
# The blocks that stand above what is drawn, in order; constraints are drawn, every other kind of block has a place.
ABOVE_MAPS = (outline.Review, outline.Note, outline.Gaps, outline.Steps)
LAST = (outline.Findings, outline.Messages)
OF_ROW = (outline.Findings, outline.Gaps)  # Of a row of ``show``: what is wrong and what to do stands first there
BELOW_ROW = (outline.Note,)
UNDRAWN = element("p", text(pages.NOT_DRAWN), class_="hint undrawn")

# Whether a step is safe, if that is known → its status.
OF_STEPS = {True: ItemStatus.SAFE, False: ItemStatus.NOT_SAFE, UNSET: ItemStatus.INCOMPLETE}


class Card(msgspec.Struct, frozen=True):
    """What there is to say of one item."""

    outlined: Item
    status: ItemStatus
    about: str  # the constraint, or the workload, in short
    cells: int  # how many nodes its maps would draw
    # that which the card is about, or the first of a Pod; None where there is none
    constraint: ConstraintDiagnosis | None = None


def anchor(number: int) -> str:
    """Return what a card is called within the page."""
    return f"item-{number + 1}"


def cards_of(report: AnyReport, items: Iterable[Item]) -> list[Card]:
    """Return a card for every item, worst first; rows of ``show`` and steps stay in their order."""
    cards, worst_first = [_card(outlined) for outlined in items], list(ItemStatus)
    if not isinstance(report, SkewReport | SimulateReport | RebalanceReport | AuditReport):
        cards.sort(key=lambda card: worst_first.index(card.status))
    return cards


def _card(outlined: Item) -> Card:
    match outlined.item:
        case SkewItem() as item:
            constraint = item.constraint
            default = " (cluster default)" if constraint.default else ""
            about = f"{constraint.topology_key}, {constraint.when_unsatisfiable}, maxSkew {constraint.max_skew}"
            return Card(outlined, ItemStatus(item.current), about + default, _count_cells([constraint]), constraint)
        case PendingItem() as item:
            about = ", ".join(filter(None, (str(item.workload) if item.workload else "", at_work(item))))
            cells = _count_cells(item.constraints) or len(item.nodes)
            status = ItemStatus.GATED if item.held_by and not item.stuck else ItemStatus(item.verdict)
            return Card(outlined, status, about, cells, _foremost(item.constraints))
        case NotCreated() as item:
            return Card(outlined, ItemStatus.FAILED_CREATE, str(item.workload), 0)
        case CheckItem() as item:
            drawn = item.after or item.constraints
            cells = _count_cells(drawn) or len(item.nodes)
            return Card(outlined, check_status(item), item.source, cells, _foremost(drawn))
        case SimulatedStep() | AuditItem() as item:
            status = ItemStatus(item.risk) if isinstance(item, AuditItem) else OF_STEPS[item.verdict.safe]
            return Card(outlined, status, "", 0)
        case RebalanceReport() as report:
            return Card(outlined, ItemStatus(verdict_of(report)), "", 0)


def _foremost(constraints: Sequence[ConstraintDiagnosis]) -> ConstraintDiagnosis | None:
    """Return the constraint that stands for all: the first that keeps a Pod from a node, else the first."""
    return next((each for each in constraints if each.hard), next(iter(constraints), None))


def _count_cells(constraints: Iterable[ConstraintDiagnosis]) -> int:
    return sum(
        len(constraint.bypassed_nodes) + sum(len(domain.nodes) for domain in constraint.domains)
        for constraint in constraints
    )


def status_badge(status: ItemStatus) -> Markup:
    """Return a status with its mark, in its tone."""
    tone, mark = STATUSES[status]
    marked = element("span", text(mark), class_="mark", aria_hidden="true")
    return element("b", marked, text(status), class_=f"badge {tone}")


def card_markup(card: Card, number: int, *, is_open: bool, drawing: node_map.Drawing) -> Markup:
    """Return a card; ``number`` is its place in the page."""
    tone, _ = STATUSES[card.status]
    head = element(
        "summary",
        status_badge(card.status),
        element("h2", path_text(card.outlined.headline.subject)),
        block("span", text(card.about), class_="about"),
        element("span", words_markup(card.outlined.headline.sentence), class_="sentence"),
    )
    body = element("div", *_body(card, drawing), class_="body")
    named = {"id": anchor(number), "data_status": card.status}
    return element("details", head, body, class_=f"card {tone}", open=is_open, **named)


def _body(card: Card, drawing: node_map.Drawing) -> Iterator[Markup]:
    item = card.outlined.item
    if isinstance(item, SkewItem):
        yield _blocks(card.outlined, OF_ROW)
        yield _constraint(item.constraint, node_map.of_next_replica(item), drawing, shown=True)
        yield block("div", _blocks(card.outlined, BELOW_ROW), class_="notes")
        return
    if isinstance(item, SimulatedStep | RebalanceReport | AuditItem):
        yield joined(map(block_markup, card.outlined.blocks))
        return
    if isinstance(item, NotCreated):
        return  # Its sentence says it all.
    yield _blocks(card.outlined, ABOVE_MAPS)
    yield _maps(item, drawing)
    # The maps say the same, node by node.
    tables = (found for found in card.outlined.blocks if isinstance(found, outline.Table))
    yield joined(folded(table.title, table_markup(table)) for table in tables)
    yield _blocks(card.outlined, LAST)


def _blocks(outlined: Item, kinds: Iterable[type[outline.Part]]) -> Markup:
    return joined(block_markup(found) for kind in kinds for found in outlined.blocks if isinstance(found, kind))


def _maps(item: PendingItem | CheckItem, drawing: node_map.Drawing) -> Markup:
    fates = {} if drawing.style is node_map.Style.NOTHING else node_map.fates_of(item)
    constraints, placed = item.constraints, Counter[str]()
    if isinstance(item, CheckItem):
        placed.update(placement.node for placement in item.placements)
        # Where replicas were placed, all of them are counted.
        constraints = constraints if item.stuck else item.after or constraints
    if not constraints:
        return section(
            "Nodes", UNDRAWN if drawing.style is node_map.Style.NOTHING else node_map.plain_map(fates, drawing)
        )
    unfolded = [each.index for each in constraints if each.hard] or [constraints[0].index]
    drawn = []
    for each in constraints:
        ranges = ranges_of(each, item) if isinstance(item, CheckItem) else EXACT
        drawn.append(_constraint(each, fates, drawing, placed=placed, ranges=ranges, shown=each.index in unfolded))
    return joined(drawn)


def _constraint(
    constraint: ConstraintDiagnosis,
    fates: node_map.Fates,
    drawing: node_map.Drawing,
    *,
    shown: bool,
    placed: node_map.Counts | None = None,
    ranges: Ranges = EXACT,
) -> Markup:
    """Return a constraint with its numbers, its bars and its map; unfolded from the start where it is shown."""
    found = rewritten(constraint_block(constraint, EXTENT, ranges), drawing.short)
    title = element("h3", text("Constraint on "), element("code", text(found.topology_key)))
    return element(
        "details",
        element("summary", title, text(f" ({found.default})" if found.default else "")),
        constraint_facts(found, constraint.skew),
        constraint_table(constraint, ranges, drawing.short),
        block_markup(found),
        UNDRAWN
        if drawing.style is node_map.Style.NOTHING
        else node_map.constraint_map(constraint, fates, placed or {}, drawing=drawing),
        class_="constraint",
        open=shown,
    )
