"""How Pods lie before and after, side by side, domain by domain, as bars: what a plan does, or a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kubectl_spread.contract.rebalance import RebalanceItem, RebalanceReport
from kubectl_spread.contract.simulate import SimulatedStep
from kubectl_spread.contract.skew import FEW_DOMAINS
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.render.html.bars import bar
from kubectl_spread.render.html.markup import NOTHING, Markup, Short, block, element, joined, text
from kubectl_spread.render.html.sections import section
from kubectl_spread.render.outline.simulate import status_after
from kubectl_spread.render.outline.skew import workload_text
from kubectl_spread.wording import pages
from kubectl_spread.wording.words import between, count_of, seen

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
    rows = (element("tr", *_row(domain, sides, max_skew, scale=scale, short=short)) for domain in shown)
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


def _row(domain: str, sides: Sequence[Side], max_skew: int, *, scale: int, short: Short) -> Iterator[Markup]:
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
