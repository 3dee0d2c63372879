"""Reports as a Mermaid flow chart, as the Kubernetes documentation draws them: domains, nodes in them, Pods on those.

What is to be placed points to where it may go; a dotted arrow says why not. A chart stays small enough to be drawn:
what is left out is counted in it.

Source: kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints, its charts.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.render.cells import clean
from kubectl_spread.render.outline.domains import next_text
from kubectl_spread.wording import pages
from kubectl_spread.wording.words import first_and_more, in_cluster, seen

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import ItemsReport

MOST_CHARTS = 6  # Items (count) that are drawn; Mermaid itself stops at 500 arrows and 50,000 characters
MOST_DOMAINS = 6
MOST_NODES = 6  # Nodes (count) of a domain that are drawn
LONGEST = 80  # Characters of a name that are drawn
# Everything else may mean something to Mermaid, or to the HTML that it makes.
_UNSAFE = re.compile(r"[^A-Za-z0-9 .,:/=()+-]")
_STYLES = (
    "classDef host fill:#326ce5,stroke:#fff,stroke-width:2px,color:#fff;",
    "classDef pod fill:#dbe7ff,stroke:#326ce5,color:#000;",
    "classDef new fill:#fff3c4,stroke:#b58900,color:#000;",
    "classDef more fill:none,stroke:#999,stroke-dasharray:4,color:#777;",
)


def to_mermaid(report: ItemsReport) -> str:
    """Return the report as a flow chart."""
    chart = _Chart()
    frames = [chart.draw(item) for item in report.items[:MOST_CHARTS]]
    for above, below in itertools.pairwise(frames):
        chart.line(f"{above} ~~~ {below}")
    chart.count_left_out(len(report.items) - MOST_CHARTS, "more")
    if not report.items:
        chart.box("nothing to draw", "more")
    return "\n".join(["graph TB", *chart.lines, *map("    {}".format, _STYLES), ""])


def label(text: str) -> str:
    """Return the text as a quoted label that shows it and nothing else."""
    shown = seen(clean(text))
    if len(shown) > LONGEST:
        shown = f"{shown[: LONGEST - 3]}..."
    return '"' + _UNSAFE.sub(lambda found: f"#{ord(found[0])};", shown) + '"'


class _Chart(msgspec.Struct):
    lines: list[str] = []
    depth: int = 1
    numbers: Iterator[int] = msgspec.field(default_factory=lambda: itertools.count(1))

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def box(self, text: str, style: str) -> str:
        name = f"{style[0]}{next(self.numbers)}"
        self.line(f"{name}[{label(text)}]:::{style}")
        return name

    def begin(self, title: str) -> str:
        name = f"f{next(self.numbers)}"
        self.line(f"subgraph {name}[{label(title)}]")
        self.depth += 1
        # Without it Mermaid turns every second frame.
        self.line("direction TB")
        return name

    def end(self) -> None:
        self.depth -= 1
        self.line("end")

    def count_left_out(self, number: int, what: str) -> None:
        if number > 0:
            self.box(f"and {number} {what}", "more")

    def draw(self, item: SkewItem | PendingItem | CheckItem) -> str:
        constraint = _drawn_constraint(item)
        frame = self.begin(_title(item, constraint))
        if constraint is not None:
            self._constraint(constraint, item)
        elif not isinstance(item, SkewItem):
            self._arrows(_Drawn(), item)
        self.end()
        return frame

    def _constraint(self, constraint: ConstraintDiagnosis, item: SkewItem | PendingItem | CheckItem) -> None:
        drawn = _Drawn(constraint)
        new = Counter(placement.node for placement in item.placements) if isinstance(item, CheckItem) else Counter()
        domains = sorted(constraint.domains, key=lambda domain: not domain.eligible)
        for domain in domains[:MOST_DOMAINS]:
            note = f": {domain.matching}" if domain.eligible else " (not counted)"
            drawn.frames[domain.value] = self.begin(f"{seen(domain.value)}{note}")
            self._nodes(domain, new, drawn)
            self.end()
        self.count_left_out(len(domains) - MOST_DOMAINS, "more domains")
        if constraint.bypassed_nodes:
            self.box(f"not counted: {first_and_more([node.name for node in constraint.bypassed_nodes])}", "more")
        if not isinstance(item, SkewItem):
            self._arrows(drawn, item)

    def _nodes(self, domain: Domain, new: Mapping[str, int], drawn: _Drawn) -> None:
        names = sorted(domain.nodes, key=lambda name: (-domain.by_node.get(name, 0), name))
        counts_new = drawn.constraint is not None and drawn.constraint.self_match
        for name in names[:MOST_NODES]:
            drawn.nodes[name] = self.box(name, "host")
            counted = domain.by_node.get(name, 0)
            placed = new.get(name, 0)
            self._pods(counted - (placed if counts_new else 0), drawn.nodes[name], "pod")
            self._pods(placed, drawn.nodes[name], "new")
        left_out = names[MOST_NODES:]
        pods = sum(domain.by_node.get(name, 0) for name in left_out)
        self.count_left_out(len(left_out), f"more nodes, {pods} Pods")
        if not names:
            self.box("no node is counted", "more")

    def _pods(self, number: int, node: str, style: str) -> None:
        if number > 0:
            kind = "new Pod" if style == "new" else "Pod"
            pod = self.box(kind if number == 1 else f"{number} {kind}s", style)
            self.line(f"{pod} --> {node}")

    def _arrows(self, drawn: _Drawn, item: PendingItem | CheckItem) -> None:
        """Draw what is to be placed: arrows to the nodes that take it, else dotted ones that say why not."""
        if isinstance(item, CheckItem) and item.placements:
            return
        pod = self.box(item.name, "new")
        for name in filter(drawn.nodes.get, item.feasible):
            self.line(f"{pod} --> {drawn.nodes[name]}")
        if not item.feasible and drawn.constraint is not None:
            for domain in drawn.constraint.domains:
                if domain.value in drawn.frames:
                    said = next_text(domain)
                    why = pages.REJECTED if said == "yes" else said
                    self.line(f"{pod} -. {label(why)} .-> {drawn.frames[domain.value]}")


class _Drawn(msgspec.Struct, frozen=True):
    """The constraint that is drawn: domain → id of its frame, node → id of its box."""

    constraint: ConstraintDiagnosis | None = None
    frames: dict[str, str] = {}
    nodes: dict[str, str] = {}


def _drawn_constraint(item: SkewItem | PendingItem | CheckItem) -> ConstraintDiagnosis | None:
    """Return the constraint whose domains are drawn: a hard one before a soft one, few domains before many."""
    if isinstance(item, SkewItem):
        return item.constraint
    after = item.after if isinstance(item, CheckItem) else ()
    return min(after or item.constraints, key=lambda c: (not c.hard, len(c.domains) or 10**9), default=None)


def _title(item: SkewItem | PendingItem | CheckItem, constraint: ConstraintDiagnosis | None) -> str:
    if isinstance(item, SkewItem):
        said = f"{in_cluster(f'{item.namespace}/{item.workload}', item.cluster)}: {item.current}"
    elif isinstance(item, CheckItem) and item.jam:
        said = pages.JAMMED.format(f"{item.namespace}/{item.name}", item.jam.replica, item.replicas)
    else:
        cluster = item.cluster if isinstance(item, PendingItem) else UNSET
        said = f"{in_cluster(f'{item.namespace}/{item.name}', cluster)}: {item.verdict}"
    return f"{said}, by {constraint.topology_key}" if constraint else said
