"""All items at a glance, above the cards: a row each, with a bar for each domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.render.html.bars import mini_bars
from kubectl_spread.render.html.cards import Card, anchor, status_badge
from kubectl_spread.render.html.markup import NOTHING, Markup, block, element, joined, path_text, text
from kubectl_spread.wording.words import count_of

MOST_ROWS = 300
"""Cards (count) that have a row; those after them say themselves what they hold."""
HEADS = ("Status", "What", "Constraint", "Domains", "Skew", "In short")


def overview(cards: Sequence[Card]) -> Markup:
    """Return a row for each card that leads to it; nothing where there is only one."""
    if len(cards) <= 1:
        return NOTHING
    shown = list(enumerate(cards))[:MOST_ROWS]
    head = element("thead", element("tr", *(element("th", text(each), scope="col") for each in HEADS)))
    body = element("tbody", *(element("tr", *_row(number, card)) for number, card in shown))
    left_out = len(cards) - len(shown)
    more = block("p", text(f"{count_of(left_out, 'card')} more below." if left_out else ""), class_="hint")
    return joined((element("div", element("table", head, body), class_="wide overview"), more))


def _row(number: int, card: Card) -> Iterator[Markup]:
    constraint = card.constraint
    link = element("a", path_text(card.outlined.headline.subject), href=f"#{anchor(number)}")
    yield element("td", status_badge(card.status))
    yield element("th", link, scope="row")
    yield element("td", text(constraint.topology_key if constraint else card.about), class_="key")
    drawn = mini_bars(constraint) if constraint else NOTHING
    yield element("td", drawn, class_="mini")
    yield element("td", text(f"{constraint.skew} of {constraint.max_skew}" if constraint and drawn else ""), class_="n")
    yield element("td", text(card.outlined.headline.sentence), class_="said")
