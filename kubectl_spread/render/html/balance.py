"""How Pods lie before a plan and after it, domain by domain, as bars."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.render.html.bars import bar
from kubectl_spread.render.html.markup import Markup, element, joined, text
from kubectl_spread.render.html.sections import section
from kubectl_spread.report import RebalanceItem, RebalanceReport, RebalanceVerdict

MOST_ITEMS, MOST_DOMAINS = 40, 40
"""Constraints of a page, and domains of a constraint (counts), that are drawn: those first that change most."""


def before_and_after(report: RebalanceReport) -> Markup:
    """Return the bars of each constraint that does not hold as things are."""
    drawn = [item for item in report.items if item.verdict is not RebalanceVerdict.BALANCED]
    return joined(map(_item, drawn[:MOST_ITEMS]))


def _item(item: RebalanceItem) -> Markup:
    """Return the bars of one constraint."""
    scale = max((*item.before.values(), *item.after.values()), default=0) + 1
    limit = f"line: minimum + maxSkew {item.constraint.max_skew}"
    heads = ("Domain", "Before", limit, "After", limit)
    head = element("thead", element("tr", *(element("th", text(each), scope="col") for each in heads)))
    body = element("tbody", *(element("tr", *_row(domain, item, scale)) for domain in _shown(item)))
    title = f"{item.namespace}/{item.workload}: {item.constraint.topology_key}, {item.verdict}"
    return section(title, element("div", element("table", head, body, class_="domains"), class_="wide"))


def _shown(item: RebalanceItem) -> list[str]:
    """Return the domains that are drawn, by value: of many those that change most."""
    moved = sorted(item.before, key=lambda domain: -abs(item.after[domain] - item.before[domain]))
    return sorted(moved[:MOST_DOMAINS])


def _row(domain: str, item: RebalanceItem, scale: int) -> Iterator[Markup]:
    """Yield the cells of a domain."""
    yield element("th", element("span", text(domain), class_="value"), scope="row")
    for label, counts, skew in (("before", item.before, item.skew_before), ("after", item.after, item.skew_after)):
        # Where minDomains is not reached the minimum is 0, whatever the domains hold.
        minimum = max(counts.values(), default=skew) - skew
        limit = minimum + item.constraint.max_skew
        yield element("td", element("b", text(str(counts[domain]))), class_="n", data_label=label)
        yield element("td", bar(counts[domain], minimum=minimum, limit=limit, scale=scale), class_="bars")
