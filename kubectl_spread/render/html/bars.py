"""The domains of constraints as bars that are held against maxSkew: as they are, or before and after side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.contract.rebalance import RebalanceItem, RebalanceReport
from kubectl_spread.contract.simulate import SimulatedStep
from kubectl_spread.contract.skew import FEW_DOMAINS
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.render.html.markup import NOTHING, Markup, Short, block, each, element, joined, text
from kubectl_spread.render.html.sections import section
from kubectl_spread.render.outline import ConstraintBlock
from kubectl_spread.render.outline.domains import DomainRow, Ranges, domain_rows
from kubectl_spread.render.outline.simulate import status_after
from kubectl_spread.render.outline.skew import workload_text
from kubectl_spread.wording import pages
from kubectl_spread.wording.words import between, count_of, listed, seen

Part: TypeAlias = tuple[str, int, int]
"""What a part of a bar is, and from which number of Pods to which."""
SHOWN_NAMES = 1
MOST_COLUMNS = 24
"""Domains (count) up to which each has a column where there is little room."""
HEIGHT = 10
"""Of a bar (units of its own); how wide it is drawn is the page's choice."""


def constraint_table(constraint: ConstraintReport, ranges: Ranges, short: Short = str) -> Markup:
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


def _head(name: str, constraint: ConstraintReport) -> Markup:
    """Return a column's heading; that of the bars says where the line is."""
    if name:
        return element("th", text(name), scope="col", class_="n" if name in {"Nodes", "Pods", "Skew"} else "")
    limit = f"at most {_limit(constraint)} = minimum {constraint.global_minimum} + maxSkew {constraint.max_skew}"
    preferred = "" if constraint.hard else ", preferred"
    return element("th", element("span", text(limit + preferred), class_="limit"), scope="col")


def _limit(constraint: ConstraintReport) -> int:
    """Return how many Pods a domain may hold, the next one included."""
    return constraint.global_minimum + constraint.max_skew


def _row(row: DomainRow, constraint: ConstraintReport, *, scale: int, short: Short) -> Markup:
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


def _bar(row: DomainRow, constraint: ConstraintReport, *, scale: int) -> Markup:
    """Return the bar of a row: up to the minimum, the skew above it, the next Pod in outline, and the limit."""
    if not row.first.eligible:
        return NOTHING
    following = row.most + (1 if constraint.self_match else 0)
    beyond = (("maybe", row.fewest, row.most), ("next", row.most, following))
    limit = _limit(constraint)
    return bar(row.fewest, *beyond, minimum=constraint.global_minimum, limit=limit, scale=scale)


def mini_bars(constraint: ConstraintReport) -> Markup:
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


def bar(pods: int, *beyond: Part, minimum: int, limit: int, scale: int) -> Markup:
    """Return a bar: up to the minimum, the skew above it, what is beyond the limit, and the line of the limit.

    ``limit``: how many a domain may hold (Pods); ``scale``: how many the whole width stands for (Pods).
    """
    bars = joined(
        element("rect", class_=kind, x=str(start), y="2", width=str(end - start), height=str(HEIGHT - 4))
        for kind, start, end in _parts(pods, minimum, limit, *beyond)
    )
    line = element("line", x1=str(limit), x2=str(limit), y1="0", y2=str(HEIGHT), class_="limit")
    return _drawing(bars, line, width=scale, height=HEIGHT)


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


MOST_ITEMS, MOST_DOMAINS = 40, 40
"""Constraints of a page, and domains of a constraint (counts), that are drawn at most."""

Counts: TypeAlias = Mapping[str, tuple[int, int]]
"""Eligible domain → the fewest and the most Pods there."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """How Pods lie at one time, with the global minimum (Pods)."""

    label: str
    pods: Counts
    minimum: int


def plan_bars(report: RebalanceReport, short: Short) -> Markup:
    """Return the bars of each constraint that does not hold as things are."""
    changed = [item for item in report.items if item.verdict is not RebalanceVerdict.BALANCED][:MOST_ITEMS]
    return joined(_bars(item, item.verdict, _exact("after", item.after, item.skew_after), short) for item in changed)


def step_bars(step: SimulatedStep, short: Short) -> Markup:
    """Return the bars of each constraint that the step changes; of a skew that depends on chance, one outcome's."""
    drawn = []
    for item in [item for item in step.items if item.changed][:MOST_ITEMS]:
        (least, most), pods = item.skew_after, item.after.values()
        skew = least if least == most else max(pods, default=0) - min(pods, default=0)
        after = msgspec.structs.replace(_exact("after", item.after, skew), pods=item.ranges)
        drawn.append(_bars(item, status_after(item), after, short))
    return joined(drawn)


def _exact(label: str, counts: Mapping[str, int], skew: int) -> Side:
    pods = {domain: (number, number) for domain, number in counts.items()}
    # Where minDomains is not reached the minimum is 0, whatever the domains hold.
    return Side(label=label, pods=pods, minimum=max(counts.values(), default=skew) - skew)


def _bars(item: RebalanceItem | SimulatedItem, outcome: str, after: Side, short: Short) -> Markup:
    max_skew, before = item.constraint.max_skew, _exact("before", item.before, item.skew_before)
    sides, shown = (before, after), _shown(before.pods, after.pods)
    scale = max((most for side in sides for _, most in side.pods.values()), default=0) + 1
    line = f"line: minimum + maxSkew {max_skew}"
    heads = ("Domain", *(each for side in sides for each in (side.label.capitalize(), line)))
    head = element("thead", element("tr", *(element("th", text(each), scope="col") for each in heads)))
    rows = (element("tr", *_row_of_sides(domain, sides, max_skew, scale=scale, short=short)) for domain in shown)
    rest = len({**before.pods, **after.pods}) - len(shown)
    left_out = pages.LEFT_OUT.format(count_of(rest, "domain")) if rest else ""
    drawn = element("div", element("table", head, element("tbody", *rows), class_="domains"), class_="wide")
    title = f"{item.namespace}/{workload_text(item)}: {item.constraint.topology_key}, {outcome}"
    return section(title, drawn, block("p", text(left_out), class_="hint"))


def _shown(before: Counts, after: Counts) -> list[str]:
    """Return the domains that are drawn, by value: of many those that change, those that change most first."""
    every = {**before, **after}
    moved = {domain: abs(after.get(domain, (0, 0))[1] - before.get(domain, (0, 0))[1]) for domain in every}
    changed = [domain for domain in every if before.get(domain) != after.get(domain)]
    worth = changed if len(every) > FEW_DOMAINS and changed else every
    return sorted(sorted(worth, key=lambda domain: -moved[domain])[:MOST_DOMAINS])


def _row_of_sides(domain: str, sides: Sequence[Side], max_skew: int, *, scale: int, short: Short) -> Iterator[Markup]:
    """Yield name, numbers and bars of a domain; one that is not counted at a time has no number and no bar there."""
    yield element("th", element("span", text(seen(short(domain))), class_="value"), scope="row")
    for side in sides:
        counts = side.pods.get(domain)
        yield element("td", element("b", text(between(*counts) if counts else "-")), class_="n", data_label=side.label)
        drawn = NOTHING
        if counts:
            limit = side.minimum + max_skew
            drawn = bar(counts[0], ("maybe", *counts), minimum=side.minimum, limit=limit, scale=scale)
        yield element("td", drawn, class_="bars")
