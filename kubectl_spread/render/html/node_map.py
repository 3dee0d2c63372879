"""The map of one constraint: domains as boxes, nodes as cells with what became of each, the counted Pods as dots."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.evaluation import EvaluationReport, NodeReport
from kubectl_spread.diagnosis.domains import BypassedNode, ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.objects import meta
from kubectl_spread.render.cells import clean
from kubectl_spread.render.html.markup import Markup, Short, block, element, joined, text, text_lines
from kubectl_spread.render.outline.domains import next_text
from kubectl_spread.wording import pages
from kubectl_spread.wording.constraints import REASONS, bypassed_because, pin_text, skew_text
from kubectl_spread.wording.words import count_of, seen

MOST_BOXES = 60  # Domains (count) up to which each has a box of its own
FEW_BOXES = 12  # The same where a domain is one node
MOST_GROUPS = 6  # Reasons (count) up to which a box tells each apart
FEW_LETTERS = 150  # Letters of its nodes' names (count) up to which a group prints them however narrow its box is
MOST_NAMED = 48  # Cells (count) up to which it does so where its box is wide; of more, names show on hover and focus
MOST_NUMBERED = 300  # The same for the numbers of Pods
MOST_DOTS = 6  # Pods (count) up to which a cell draws each


class Fate(StrEnum):
    """How a node stands to the next Pod."""

    FEASIBLE = "feasible"
    REJECTED = "rejected"
    BYPASSED = "bypassed"
    COUNTED = "counted"


class NodeFate(msgspec.Struct, frozen=True):
    """What became of one node."""

    fate: Fate
    by: str = ""  # what rejects it, in short; empty where nothing does
    why: str = ""  # the same in full
    note: str = ""  # what else there is to know of this node alone


Fates: TypeAlias = Mapping[str, NodeFate]  # Node's name → what became of it

OPEN = NodeFate(Fate.FEASIBLE)
COUNTED = NodeFate(Fate.COUNTED)
ELSEWHERE = NodeFate(Fate.REJECTED, "something else", pages.ELSEWHERE)


def fates_of(item: EvaluationReport) -> Fates:
    """Return what the filters decide about every node, with the score of those they let through.

    Beside what becomes of all replicas, that is said of the first alone: the others change what is feasible.
    """
    whom = "for the first replica" if isinstance(item, CheckItem) and item.placements else ""
    return {node.name: _judged(node, whom) for node in item.nodes}


def _judged(node: NodeReport, whom: str) -> NodeFate:
    if node.feasible:
        score = f"score {node.scores['total']}" if isinstance(node.scores, dict) and "total" in node.scores else ""
        return NodeFate(Fate.FEASIBLE, whom, whom, score)
    plugins = ", ".join(rejection.plugin for rejection in node.rejections) or str(node.plugin)
    why = "; ".join(f"{each.plugin}: {each.detail or ', '.join(each.reasons)}" for each in node.rejections)
    return NodeFate(Fate.REJECTED, plugins, why or plugins)


def of_next_replica(item: SkewItem) -> Fates:
    """Return which counted nodes may take the workload's next replica, and what is known of the others."""
    return {name: fate for domain in item.constraint.domains for name, fate in _in_domain(domain, item)}


def _in_domain(domain: Domain, item: SkewItem) -> Iterator[tuple[str, NodeFate]]:
    following = set(item.next)
    pins = {pin.node: pin_text(pin) for pin in domain.pinned_by}
    closed = _closed(domain, item)
    for name in domain.nodes:
        if name in following:
            yield name, OPEN
        elif name in pins:
            yield name, NodeFate(Fate.REJECTED, "something else", pins[name])
        else:
            yield name, closed


def _closed(domain: Domain, item: SkewItem) -> NodeFate:
    constraint = item.constraint
    if constraint.hard and domain.eligible and not domain.allowed:
        why = f"{skew_text(domain.skew_if_placed, domain.skew)}, maxSkew is {constraint.max_skew}"
        return NodeFate(Fate.REJECTED, "skew", why)
    return ELSEWHERE if item.next or item.status is SpreadStatus.BLOCKED else COUNTED


class Style(Enum):
    """How a page writes the nodes of a card: a browser reads a line of text far sooner than elements."""

    CELLS = "cells"
    # One node a line: its name, its Pods, its replicas and its note, of which the script makes cells once in sight.
    LINES = "lines"
    NOTHING = "nothing"


class Drawing(msgspec.Struct, frozen=True):
    """How nodes are written; ``short`` leaves out of names what all nodes' names end in."""

    style: Style
    short: Short = str


# Fate → its mark and its word.
FATES = {
    Fate.FEASIBLE: ("✓", "feasible"),
    Fate.REJECTED: ("✕", "rejected"),
    Fate.BYPASSED: ("⌀", "not counted"),
    Fate.COUNTED: ("•", "counted"),
}

Counts = Mapping[str, int]  # Node's name → Pods (count)


class Cell(msgspec.Struct, frozen=True):
    """One node, with the matching Pods on it and the replicas that were placed there (counts)."""

    name: str
    pods: int
    placed: int
    fate: NodeFate


class Box(msgspec.Struct, frozen=True):
    """A domain, several that stand the same, or what is in none."""

    label: str  # the domain's value, or what the nodes have in common
    pods: str  # how many Pods are counted, in words
    note: str  # why no Pod of it is counted; empty where they are
    kind: str  # how it is drawn: ``domain``, ``holds-minimum`` or ``outside``
    cells: tuple[Cell, ...]


def constraint_map(
    constraint: ConstraintDiagnosis, fates: Fates, placed: Counts = MappingProxyType({}), *, drawing: Drawing
) -> Markup:
    """Return the map of a constraint; nodes that ``fates`` does not name are only counted."""
    # Boxes stand for several domains where these are single nodes, or very many.
    single = all(len(domain.nodes) <= 1 for domain in constraint.domains)
    named = all(domain.nodes in {(), (domain.value,)} for domain in constraint.domains)
    many = named or len(constraint.domains) > (FEW_BOXES if single else MOST_BOXES)
    domains = _merged(constraint, fates, placed) if many else _each(constraint, fates, placed)
    boxes = [*domains, *_outside(constraint, fates)]
    return _map(boxes, of=f"the domains of {constraint.topology_key}", drawing=drawing)


def plain_map(fates: Fates, drawing: Drawing) -> Markup:
    """Return the map of nodes that no constraint divides."""
    cells = tuple(Cell(name, 0, 0, fate) for name, fate in fates.items())
    return _map([Box("All nodes", "", "", "domain", cells)] if cells else [], of="all nodes", drawing=drawing)


def _each(constraint: ConstraintDiagnosis, fates: Fates, placed: Counts) -> Iterator[Box]:
    """Yield a box for each domain; of many domains, those with the fewest Pods come first."""
    domains: Sequence[Domain] = constraint.domains
    if len(domains) > FEW_BOXES:
        domains = sorted(domains, key=lambda domain: domain.value not in constraint.minimum_domains)
    for domain in domains:
        label, cells = seen(domain.value), tuple(_cells(domain, fates, placed))
        if domain.eligible:
            kind = "holds-minimum" if domain.value in constraint.minimum_domains else "domain"
            yield Box(label, count_of(domain.matching, "Pod"), "", kind, cells)
        else:
            yield Box(label, "", next_text(domain), "outside", cells)


def _merged(constraint: ConstraintDiagnosis, fates: Fates, placed: Counts) -> Iterator[Box]:
    minimum = set(constraint.minimum_domains)
    eligible = (domain for domain in constraint.domains if domain.eligible)
    alike = meta.grouped(eligible, lambda domain: (domain.matching, domain.value in minimum))
    for (matching, lowest), domains in sorted(alike.items(), key=lambda group: group[0], reverse=True):
        cells = tuple(cell for domain in domains for cell in _named_cells(domain, fates, placed))
        label = count_of(len(domains), "domain")
        yield Box(label, f"{count_of(matching, 'Pod')} each", "", "holds-minimum" if lowest else "domain", cells)


def _named_cells(domain: Domain, fates: Fates, placed: Counts) -> Iterator[Cell]:
    for cell in _cells(domain, fates, placed):
        note = "" if cell.name == domain.value else f"domain {seen(domain.value)}"
        yield replace(cell, fate=_noted(cell.fate, note)) if note else cell


def _cells(domain: Domain, fates: Fates, placed: Counts) -> Iterator[Cell]:
    for name in domain.nodes:
        yield Cell(name, domain.by_node.get(name, 0), placed.get(name, 0), fates.get(name, COUNTED))


def _outside(constraint: ConstraintDiagnosis, fates: Fates) -> Iterator[Box]:
    cells = tuple(
        Cell(node.name, node.matching, 0, _bypassed(node, fates.get(node.name, COUNTED)))
        for node in constraint.bypassed_nodes
    )
    if cells:
        pods = sum(cell.pods for cell in cells)
        ignored = f"{count_of(pods, 'Pod')} ignored" if pods else ""
        yield Box("Not counted", ignored, pages.PASSED_OVER, "outside", cells)


def _bypassed(node: BypassedNode, judged: NodeFate) -> NodeFate:
    """Return what became of a node that the constraint does not count: it may be feasible all the same."""
    reason = REASONS[node.reason].format(key=node.key)
    because = bypassed_because(node)
    if judged.fate is Fate.FEASIBLE:
        return replace(judged, by=reason, why=because)
    return NodeFate(Fate.BYPASSED, reason, "; ".join(filter(None, (because, judged.why))), judged.note)


def _noted(fate: NodeFate, note: str) -> NodeFate:
    return replace(fate, note="; ".join(filter(None, (note, fate.note))))


def _map(boxes: Iterable[Box], *, of: str, drawing: Drawing) -> Markup:
    drawn = (_box(box, drawing) for box in boxes)
    return block("div", *drawn, class_="map", role="group", aria_label=f"Nodes in {of}")


def _box(box: Box, drawing: Drawing) -> Markup:
    head = element(
        "p",
        element("b", text(drawing.short(box.label))),
        block("span", text(box.pods), class_="pods"),
        block("span", text("minimum" if box.kind == "holds-minimum" else ""), class_="tag"),
        class_="label",
    )
    note = block("p", text(box.note), class_="note")
    groups = (_group(*group, drawing=drawing) for group in grouped(box.cells))
    return element("div", head, note, *groups, class_=f"box {box.kind}")


def grouped(cells: Iterable[Cell]) -> list[tuple[NodeFate, list[Cell]]]:
    """Return the cells by what became of them, feasible and large groups first.

    Where there are too many reasons, the filters' names stand for them, and each cell keeps its own as a note.
    """
    found = _by_fate(cells)
    if len(found) > MOST_GROUPS:
        found = _by_fate(
            replace(cell, fate=replace(_noted(cell.fate, cell.fate.why), why=cell.fate.by)) if cell.fate.why else cell
            for group in found.values()
            for cell in group
        )
    order = list(FATES)
    return sorted(found.items(), key=lambda group: (order.index(group[0].fate), -len(group[1]), group[0].why))


def _by_fate(cells: Iterable[Cell]) -> dict[NodeFate, list[Cell]]:
    return meta.grouped(cells, lambda cell: replace(cell.fate, note="") if cell.fate.note else cell.fate)


def _group(fate: NodeFate, cells: Sequence[Cell], *, drawing: Drawing) -> Markup:
    mark, word = FATES[fate.fate]
    title = element(
        "p",
        element("span", text(mark), class_="mark", aria_hidden="true"),
        element("b", text(f"{len(cells)} {word}")),
        block("span", text(drawing.short(fate.why)), class_="reason"),
        class_="why",
    )
    size = " dense" if len(cells) <= MOST_NUMBERED else " dense tiny"
    if len(cells) <= MOST_NAMED:
        size = "" if sum(len(drawing.short(cell.name)) for cell in cells) <= FEW_LETTERS else " some"
    kind = f"cells{size}"
    if drawing.style is Style.LINES:
        nodes = element("p", text_lines(_line(cell, drawing.short) for cell in cells), class_=f"lines {kind}")
    else:
        nodes = element("ul", joined(_cell(cell, drawing.short) for cell in cells), class_=kind)
    return element("div", title, nodes, class_=f"group {fate.fate}")


def _line(cell: Cell, short: Short) -> str:
    """Return one node as a line of four fields, those at its end left out where there is nothing to say."""
    placed = f"{cell.placed} new" if cell.placed else ""
    return "\t".join((clean(short(cell.name)), str(cell.pods or ""), placed, clean(short(cell.fate.note)))).rstrip("\t")


def _cell(cell: Cell, short: Short) -> Markup:
    note = f' title="{text(short(cell.fate.note))}"' if cell.fate.note else ""
    dots = f' class="d{cell.pods}"' if cell.pods <= MOST_DOTS else ""
    pods = f"<b{dots}>{cell.pods}</b>" if cell.pods else ""
    placed = f"<ins>{cell.placed} new</ins>" if cell.placed else ""
    return Markup(f"<li{note}><span>{text(short(cell.name))}</span>{pods}{placed}")
