"""The domains of constraints as bars that are held against maxSkew."""

from collections.abc import Iterator
from typing import TypeAlias

from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.render.html.markup import NOTHING, Markup, Short, block, each, element, joined, text
from kubectl_spread.render.outline import ConstraintBlock
from kubectl_spread.render.outline.domains import DomainRow, Ranges, domain_rows
from kubectl_spread.wording.words import listed

Part: TypeAlias = tuple[str, int, int]  # What a part of a bar is, and from which number of Pods to which
SHOWN_NAMES = 1
MOST_COLUMNS = 24  # Domains (count) up to which each has a column where there is little room
HEIGHT = 10  # Of a bar (units of its own); how wide it is drawn is the page's choice


def constraint_table(constraint: ConstraintDiagnosis, ranges: Ranges, short: Short = str) -> Markup:
    """Return the domain table of a constraint with the line that no count may pass; nothing without domains."""
    rows = domain_rows(constraint, ranges)
    if not rows:
        return NOTHING
    if len(rows) < len(constraint.domains):
        rows = sorted(rows, key=lambda row: (row.first.eligible, row.most, row.fewest), reverse=True)
    scale = max(_limit(constraint), *(row.most for row in rows)) + 1
    heads = ("Domain", "Nodes", "Pods", "", "Skew", "Next Pod")
    header = element("tr", *(_head(head, constraint) for head in heads))
    body = (_row(row, constraint, scale=scale, short=short) for row in rows)
    table = element("table", element("thead", header), element("tbody", *body), class_="domains")
    return element("div", table, class_="wide")


def _head(name: str, constraint: ConstraintDiagnosis) -> Markup:
    """Return a column's heading; that of the bars says where the line is."""
    if name:
        return element("th", text(name), scope="col", class_="n" if name in {"Nodes", "Pods", "Skew"} else "")
    limit = f"at most {_limit(constraint)} = minimum {constraint.global_minimum} + maxSkew {constraint.max_skew}"
    preferred = "" if constraint.hard else ", preferred"
    return element("th", element("span", text(limit + preferred), class_="limit"), scope="col")


def _limit(constraint: ConstraintDiagnosis) -> int:
    """Return how many Pods a domain may hold, the next one included."""
    return constraint.global_minimum + constraint.max_skew


def _row(row: DomainRow, constraint: ConstraintDiagnosis, *, scale: int, short: Short) -> Markup:
    count = f"{len(row.values)} domains: " if len(row.values) > 1 else ""
    is_closed = constraint.hard and (row.first.pinned or not row.first.allowed)
    names = element("span", text(short(listed(row.values, SHOWN_NAMES))), class_="value")
    return element(
        "tr",
        element("th", text(count), names, scope="row"),
        element("td", text(str(len(row.nodes))), class_="n", data_label="nodes"),
        element("td", element("b", text(row.pods)), class_="n", data_label="Pods"),
        element("td", _bar(row, constraint, scale=scale), class_="bars"),
        element("td", text(row.skew), class_="n", data_label="skew"),
        element("td", text(short(row.next)), class_="next"),
        class_="uncounted" if not row.first.eligible else "closed" if is_closed else "",
    )


def _bar(row: DomainRow, constraint: ConstraintDiagnosis, *, scale: int) -> Markup:
    """Return the bar of a row: up to the minimum, the skew above it, the next Pod in outline, and the limit.

    ``scale``: how many Pods the whole width stands for.
    """
    if not row.first.eligible:
        return NOTHING
    limit, following = _limit(constraint), row.most + (1 if constraint.self_match else 0)
    beyond = (("maybe", row.fewest, row.most), ("next", row.most, following))
    bars = joined(
        element("rect", class_=kind, x=str(start), y="2", width=str(end - start), height=str(HEIGHT - 4))
        for kind, start, end in _parts(row.fewest, constraint.global_minimum, limit, *beyond)
    )
    line = element("line", x1=str(limit), x2=str(limit), y1="0", y2=str(HEIGHT), class_="limit")
    return _drawing(bars, line, width=scale, height=HEIGHT)


def mini_bars(constraint: ConstraintDiagnosis) -> Markup:
    """Return a column for each counted domain, in order; of many the fullest and the emptiest, and some between."""
    counts = [domain.matching for domain in constraint.domains if domain.eligible]
    if len(counts) > MOST_COLUMNS:
        counts.sort(reverse=True)
        counts = [counts[at * (len(counts) - 1) // (MOST_COLUMNS - 1)] for at in range(MOST_COLUMNS)]
    if not counts:
        return NOTHING
    limit = _limit(constraint)
    top = max(limit, *counts)
    columns = joined(
        element("path", d=f"M{at}.1 {top - end}h.8v{end - start}h-.8z", class_=kind)
        for at, pods in enumerate(counts)
        for kind, start, end in _parts(pods, constraint.global_minimum, limit)
    )
    line = element("path", d=f"M0 {top - limit}H{len(counts)}", class_="limit")
    return _drawing(columns, line, width=len(counts), height=top)


def _parts(pods: int, minimum: int, limit: int, *beyond: Part) -> Iterator[Part]:
    """Yield the parts of a bar that are not empty: up to the minimum, up to the limit, above it, and those beyond."""
    base, within = min(pods, minimum), min(pods, limit)
    parts = (("minimum", 0, base), ("skew", base, within), ("over", within, pods), *beyond)
    return ((kind, start, end) for kind, start, end in parts if end > start)


def _drawing(*content: Markup, width: int, height: int) -> Markup:
    box = f"0 0 {width} {height}"
    return element("svg", *content, viewBox=box, preserveAspectRatio="none", aria_hidden="true", focusable="false")


def constraint_facts(constraint: ConstraintBlock, skew: int) -> Markup:
    """Return the constraint itself: its numbers as name and value."""
    facts = (*constraint.terms, ("skew now", str(skew)))
    written = (joined((element("dt", text(k)), element("dd", text(v)))) for k, v in facts)
    warning = text(f"The selector {constraint.unmatched}: it is not counted." if constraint.unmatched else "")
    return joined((element("dl", each("div", written), class_="facts"), block("p", warning, class_="hint")))
