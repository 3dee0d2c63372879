"""A report as one page that needs nothing else: no network, and no script for reading it.

The page lets in nothing but its own style and script, named by their digests, so that neither a name that got past
the escaping nor a careless change could make it run or load anything. For that reason bars are drawn as SVG: a style
attribute would have to be let in.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate

from kubectl_spread.contract.any_report import AnyReport, ClustersReport
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.render.cells import NONE
from kubectl_spread.render.html.bars import mini_bars
from kubectl_spread.render.html.cards import EXTENT, Card, anchor, card_markup, cards_of, status_badge
from kubectl_spread.render.html.markup import NOTHING, Markup, Short, block, each, element, joined, path_text, text
from kubectl_spread.render.html.node_map import Drawing, Style
from kubectl_spread.render.html.sections import callout, words_markup
from kubectl_spread.render.outline import STATUSES, Gaps
from kubectl_spread.render.outline.access import rewritten
from kubectl_spread.render.outline.any_report import outline_of
from kubectl_spread.wording import pages
from kubectl_spread.wording.words import count_of, listed, shortening

# Nodes (count) that the maps of one page draw, those of the worst items first: at most 10 MB of them.
MOST_CELLS = 80_000
# Nodes (count) of one page that are elements from the start; those of the cards after them are lines.
MOST_ELEMENTS = 2_000
# Cards (count) that are unfolded from the start, unless all is well with them; above stands what the others say.
MOST_OPEN = 1
MANY = 50  # Cards (count) from which a browser need not lay out those out of sight
MOST_ROWS = 300  # Cards (count) that have a row; those after them say themselves what they hold
# Heading of a column of the overview → what the page's style calls its cells.
HEADS = {"Status": "", "What": "", "Constraint": "key", "Domains": "mini", "Skew": "n", "In short": "said"}
SHOWN_NAMES = 6
WELL = ("OK", "Schedulable", "Safe")


def to_html(report: AnyReport, *, links: Mapping[str, str] = {}) -> str:
    """Return the report as one HTML page; ``links``: name → path of the pages that are served with it."""
    style, script = _resource("page.css"), _resource("page.js")
    command, title = pages.TITLES[report.kind]
    source = f": {report.metadata.source}" if report.metadata.source else ""
    outline = outline_of(report, EXTENT)
    suffix, short = shortening(outline.nodes)
    cards = cards_of(report, rewritten(outline, short).items)
    page = _resource("page.html")
    for name, markup in {
        "policy": text(_policy(style, script)),
        "title": text(f"kubectl spread {command}{source}"),
        "style": Markup(style),
        "links": block("nav", joined(element("a", text(f"{name} "), href=path) for name, path in links.items())),
        "heading": text(title),
        "facts": joined((block("p", text(outline.header), class_="hint"), _facts(report, suffix))),
        "counts": _counts(cards),
        "incomplete": callout(Gaps.of(report.incomplete)),
        "overview": joined(
            (block("ul", each("li", (text(it.text) for it in outline.causes)), class_="causes"), _overview(cards))
        ),
        "size": text("many" if len(cards) > MANY else ""),
        "suffix": text(suffix),
        "cards": joined(_drawn(cards, short)) or element("p", text(pages.NOTHING_FOUND), class_="hint"),
        "version": text(f"kubectl spread {report.metadata.version}"),
        "script": Markup(script),
    }.items():
        page = page.replace(f"<!--{name}-->", markup, 1)
    return page


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy that lets in this style and this script, and nothing else."""
    of_style, of_script = (b64encode(sha256(each.encode()).digest()).decode() for each in (style, script))
    allowed = f"style-src 'sha256-{of_style}'; script-src 'sha256-{of_script}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _facts(report: AnyReport, suffix: str) -> Markup:
    metadata = report.metadata
    if report.kind == "SimulateReport":
        namespaces = sorted({item.namespace for step in report.steps for item in step.items})
    else:
        not_created = report.not_created if report.kind == "PendingReport" else ()
        namespaces = sorted({item.namespace for item in (*report.items, *not_created)})
    read = report.clusters if isinstance(report, ClustersReport) and report.clusters else (metadata,)
    versions = sorted({each.kube_version for each in read})
    facts = {
        "Read from": metadata.source,
        "Server": metadata.server,
        "Read at": metadata.as_of,
        "Rules": f"kube-scheduler {', '.join(filter(None, versions))} ({pages.RULES_FROM[metadata.kube_version_from]})",
        "Namespace" if len(namespaces) == 1 else "Namespaces": listed(namespaces, SHOWN_NAMES) or NONE,
        "Node names end in": suffix,
    }
    written = (joined((element("dt", text(k)), element("dd", text(v)))) for k, v in facts.items() if v)
    told = element("dl", each("div", written), class_="facts")
    versions_of = ", ".join(f"{kind} {at}" for kind, at in metadata.resource_versions.items())
    folded = (element("summary", text("Resource versions")), element("p", text(versions_of)))
    return joined((told, block("details", joined(folded), class_="versions") if versions_of else Markup("")))


def _counts(cards: Sequence[Card]) -> Markup:
    """Return how many items there are of each status, worst first; of one, its status. Pressed, each shows its own."""
    counted: Counter[str] = Counter()
    for card in cards:
        counted[card.status] += card.outlined.pods
    buttons = [
        element(
            "button",
            element("span", text(mark), class_="mark", aria_hidden="true"),
            block("b", text(str(counted[status]) if counted.total() > 1 else "")),
            text(f" {status}"),
            type="button",
            class_=f"count {tone}",
            data_status=status,
            aria_pressed="false",
        )
        for status in ItemStatus
        for tone, mark in (STATUSES[status],)
        if counted[status]
    ]
    return block("ul", each("li", buttons), class_="counts")


def _overview(cards: Sequence[Card]) -> Markup:
    """Return a row for each card that leads to it; nothing where there is only one."""
    if len(cards) <= 1:
        return NOTHING
    rows = [_overview_row(number, card) for number, card in enumerate(cards[:MOST_ROWS])]
    # Columns that no row has anything in are left out.
    kept = [(at, *it) for at, it in enumerate(HEADS.items()) if any(row[at] for row in rows)]
    head = element("thead", element("tr", *(element("th", text(heading), scope="col") for _, heading, _ in kept)))
    cells = (
        joined(
            element("th", row[at], scope="row") if at == 1 else element("td", row[at], class_=name)
            for at, _, name in kept
        )
        for row in rows
    )
    left_out = len(cards) - len(rows)
    more = block("p", text(f"{count_of(left_out, 'card')} more below." if left_out else ""), class_="hint")
    table = element("table", head, element("tbody", each("tr", cells)))
    return joined((element("div", table, class_="wide overview"), more))


def _overview_row(number: int, card: Card) -> Sequence[Markup]:
    constraint = card.constraint
    drawn = mini_bars(constraint) if constraint else NOTHING
    return (
        status_badge(card.status),
        element("a", path_text(card.outlined.headline.subject), href=f"#{anchor(number)}"),
        text(constraint.topology_key if constraint else card.about),
        drawn,
        text(f"{constraint.skew} of {constraint.max_skew}" if constraint and drawn else ""),
        words_markup(card.outlined.headline.sentence),
    )


def _drawn(cards: Sequence[Card], short: Short) -> Iterable[Markup]:
    """Yield the cards, the worst unfolded, and their maps as long as the page stays handy."""
    troubled = [number for number, card in enumerate(cards) if card.status not in WELL][:MOST_OPEN] or [0]
    for number, cells in enumerate(accumulate(card.cells for card in cards)):
        style = Style.CELLS if cells <= MOST_ELEMENTS else Style.LINES if cells <= MOST_CELLS else Style.NOTHING
        yield card_markup(cards[number], number, is_open=number in troubled, drawing=Drawing(style, short))
