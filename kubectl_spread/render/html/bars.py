"""The domains of one constraint as a table, each with a bar that is held against maxSkew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kubectl_spread.render.cells import EMPTY, listed
from kubectl_spread.render.domains import HARD, MOST_ROWS, Ranges, minimum_text, next_text
from kubectl_spread.render.html.markup import NOTHING, Markup, block, each, element, joined, text
from kubectl_spread.report import ConstraintReport, Domain

SHOWN_NAMES = 1
HEIGHT = 10
"""Of a bar (units of its own); how wide it is drawn is the page's choice."""


@dataclass(frozen=True, slots=True)
class Row:
    """Domains that stand the same.

    Attributes:
        values: the domains.
        nodes: how many nodes they have together.
        fewest: the Pods counted in each.
        most: the same where ties fall otherwise.
        first: one of them.
        next: what the constraint says of one more Pod.
    """

    values: tuple[str, ...]
    nodes: int
    fewest: int
    most: int
    first: Domain
    next: str


def constraint_table(constraint: ConstraintReport, ranges: Ranges = MappingProxyType({})) -> Markup:
    """Return the domain table of a constraint with the line that no count may pass.

    Args:
        constraint: the constraint.
        ranges: domains that may hold another number of Pods than is counted.
    """
    rows = _rows(constraint, ranges)
    if not rows:
        return element("p", text(minimum_text(constraint)), class_="minimum")
    scale = max(_limit(constraint), *(row.most for row in rows)) + 1
    heads = ("Domain", "Nodes", "Pods", "", "Skew", "Next Pod")
    header = element("tr", *(_head(head, constraint) for head in heads))
    body = (element("tr", *_row(row, constraint, scale=scale), class_=_tone(row, constraint)) for row in rows)
    table = element("table", element("thead", header), element("tbody", *body), class_="domains")
    return joined(
        (element("div", table, class_="wide"), element("p", text(minimum_text(constraint)), class_="minimum"))
    )


def _head(name: str, constraint: ConstraintReport) -> Markup:
    """Return a column's heading; that of the bars says where the line is."""
    if name:
        return element("th", text(name), scope="col", class_="n" if name in {"Nodes", "Pods", "Skew"} else "")
    limit = f"at most {_limit(constraint)} = minimum {constraint.global_minimum} + maxSkew {constraint.max_skew}"
    preferred = "" if constraint.when_unsatisfiable == HARD else ", preferred"
    return element("th", element("span", text(limit + preferred), class_="limit"), scope="col")


def _limit(constraint: ConstraintReport) -> int:
    """Return how many Pods a domain may hold, the next one included."""
    return constraint.global_minimum + constraint.max_skew


def _rows(constraint: ConstraintReport, ranges: Ranges) -> list[Row]:
    """Return a row for each domain, or for all that stand the same where there are many."""
    rows = [_single(domain, constraint, ranges) for domain in constraint.domains]
    return rows if len(rows) <= MOST_ROWS else _merged(rows)


def _single(domain: Domain, constraint: ConstraintReport, ranges: Ranges) -> Row:
    """Return the row of one domain."""
    fewest, most = ranges.get(domain.value, (domain.matching, domain.matching))
    return Row((domain.value,), len(domain.nodes), fewest, most, domain, next_text(domain, constraint))


def _merged(rows: Iterable[Row]) -> list[Row]:
    """Return one row for all domains that stand the same, the fullest first."""
    alike: dict[tuple[bool, int, int, int, str], list[Row]] = {}
    for row in rows:
        key = (row.first.eligible, row.most, row.fewest, row.first.skew, row.next)
        alike.setdefault(key, []).append(row)
    return [_together(found) for _, found in sorted(alike.items(), reverse=True)]


def _together(rows: Sequence[Row]) -> Row:
    """Return one row for rows that stand the same."""
    first = rows[0]
    values = tuple(row.values[0] for row in rows)
    return Row(values, sum(row.nodes for row in rows), first.fewest, first.most, first.first, first.next)


def _tone(row: Row, constraint: ConstraintReport) -> str:
    """Return how a row is drawn: not counted, or closed to one more Pod."""
    if not row.first.eligible:
        return "uncounted"
    is_closed = constraint.when_unsatisfiable == HARD and (row.first.pinned or not row.first.allowed)
    return "closed" if is_closed else ""


def _row(row: Row, constraint: ConstraintReport, *, scale: int) -> Iterable[Markup]:
    """Yield the cells of a row."""
    count = f"{len(row.values)} domains: " if len(row.values) > 1 else ""
    names = listed([value or EMPTY for value in row.values], SHOWN_NAMES)
    yield element("th", text(count), element("span", text(names), class_="value"), scope="row")
    yield element("td", text(str(row.nodes)), class_="n", data_label="nodes")
    yield element("td", element("b", text(_count(row))), class_="n", data_label="Pods")
    yield element("td", _bar(row, constraint, scale=scale), class_="bars")
    yield element("td", text(str(row.first.skew) if row.first.eligible else "-"), class_="n", data_label="skew")
    yield element("td", text(row.next), class_="next")


def _count(row: Row) -> str:
    """Return how many Pods each domain of the row holds."""
    return str(row.fewest) if row.fewest == row.most else f"{row.fewest} to {row.most}"


def _bar(row: Row, constraint: ConstraintReport, *, scale: int) -> Markup:
    """Return the bar of a row: up to the minimum, the skew above it, the next Pod in outline, and the limit."""
    if not row.first.eligible:
        return NOTHING
    limit = _limit(constraint)
    base, within = min(row.fewest, constraint.global_minimum), min(row.fewest, limit)
    following = row.most + (1 if constraint.self_match else 0)
    parts = (
        ("minimum", 0, base),
        ("skew", base, within),
        ("over", within, row.fewest),
        ("maybe", row.fewest, row.most),
        ("next", row.most, following),
    )
    bars = joined(_rect(kind, start, end) for kind, start, end in parts if end > start)
    line = element("line", x1=str(limit), x2=str(limit), y1="0", y2=str(HEIGHT), class_="limit")
    box = f"0 0 {scale} {HEIGHT}"
    return element("svg", bars, line, viewBox=box, preserveAspectRatio="none", aria_hidden="true", focusable="false")


def _rect(kind: str, start: int, end: int) -> Markup:
    """Return one part of a bar, from one number of Pods to another."""
    edge = {"x": str(start), "y": "2", "width": str(end - start), "height": str(HEIGHT - 4)}
    return element("rect", class_=kind, **edge)


def constraint_facts(constraint: ConstraintReport) -> Markup:
    """Return the constraint itself: its numbers as name and value."""
    facts = {
        "whenUnsatisfiable": constraint.when_unsatisfiable,
        "maxSkew": str(constraint.max_skew),
        "minDomains": str(constraint.min_domains) if constraint.min_domains > 1 else "",
        "skew now": str(constraint.skew),
        "selector": constraint.selector,
    }
    written = (joined((element("dt", text(k)), element("dd", text(v)))) for k, v in facts.items() if v)
    warning = (
        NOTHING if constraint.self_match else text("The selector does not match the Pod itself: it is not counted.")
    )
    return joined((element("dl", each("div", written), class_="facts"), block("p", warning, class_="hint")))
