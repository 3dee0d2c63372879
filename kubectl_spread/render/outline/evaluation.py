"""What the scheduler decides about one Pod: the nodes by what rejects them, the constraints, the findings, the gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.evaluation import EvaluationReport, NodeReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.render.outline import Block, Column, Extent, Findings, Gaps, Part, Tone, table_of
from kubectl_spread.render.outline.domains import constraint_block
from kubectl_spread.wording.pending import schedulable
from kubectl_spread.wording.words import listed

MOST_GROUPS = 12
"""Groups of nodes (count) up to which each detail has a line of its own."""
VERDICT_TONES = {
    Verdict.UNSCHEDULABLE: Tone.BAD,
    Verdict.INVALID: Tone.BAD,
    Verdict.FAILED_CREATE: Tone.BAD,
    Verdict.INCOMPLETE: Tone.WARNING,
    Verdict.SCHEDULABLE: Tone.GOOD,
}


def verdict_sentence(item: EvaluationReport) -> str:
    """Return the verdict in words."""
    if item.stuck or item.summary:
        return item.summary
    undecided = item.verdict is not Verdict.SCHEDULABLE and bool(item.incomplete)
    return schedulable(item.feasible, undecided=undecided)


def capital(sentence: str, names: Collection[str] = ()) -> str:
    """Return our own sentence as it begins a line.

    Args:
        sentence: what is told.
        names: words of the cluster, which keep their case; so does a word with more than letters in it.
    """
    first, _, rest = sentence.partition(" ")
    ours = first.isalpha() and first.islower() and first not in names
    return f"{first.capitalize()} {rest}" if ours else sentence


def first_name(item: EvaluationReport) -> tuple[str, ...]:
    """Return the word that the item's summary begins with: where that is our own, it has a capital already."""
    return (item.summary.partition(" ")[0],)


def evaluation_paragraphs(item: EvaluationReport, extent: Extent) -> Iterator[tuple[Block, ...]]:
    """Yield the rejected nodes, the hard constraints, the findings and the gaps; nothing of what there is none of."""
    groups = node_groups(item.nodes)
    if groups:
        yield (table_of(_columns(extent), groups, wide=extent.wide, title="What rejects the nodes"),)
    for constraint in item.constraints:
        if constraint.hard:
            yield (constraint_block(constraint, extent),)
    yield from ((block,) for block in remarks(item))


def common_gaps(report: PendingReport | CheckReport) -> Gaps:
    """Return what the report does not rest on, without what an item of it names itself."""
    named = {gap for item in report.items for gap in item.incomplete}
    return Gaps(gaps=tuple(gap for gap in report.incomplete if gap not in named))


def remarks(item: EvaluationReport) -> Iterator[Block]:
    """Yield the findings and the gaps, where there are any."""
    # The sentence on top says who pins the minimum.
    told = (finding for finding in item.findings if finding.id != "PinnedMinimum" or not item.summary)
    # Two constraints may both give rise to one.
    findings = tuple({(finding.id, finding.message): finding for finding in told}.values())
    if findings:
        yield Findings(findings=findings)
    if item.incomplete:
        yield Gaps(gaps=item.incomplete)


class NodeGroup(Part, frozen=True, kw_only=True):
    """Nodes that the scheduler rejects for the same reason."""

    names: tuple[str, ...]
    plugin: str
    reasons: str
    detail: str


def _columns(extent: Extent) -> tuple[Column[NodeGroup], ...]:
    return (
        Column("NODES", lambda group: f"{len(group.names)}: {listed(group.names, extent.most())}"),
        Column("REJECTED-BY", lambda group: group.plugin),
        Column("WHY", lambda group: group.detail or group.reasons),
        Column("REASON", lambda group: group.reasons, wide=True),
    )


def node_groups(nodes: Iterable[NodeReport]) -> list[NodeGroup]:
    """Return the rejected nodes by plugin, reasons and detail, largest group first."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for node in nodes:
        if node.feasible:
            continue
        plugin = str(node.plugin)
        detail = next((rejection.detail for rejection in node.rejections if rejection.plugin == plugin), "")
        groups.setdefault((plugin, ", ".join(node.reasons or ()), detail), []).append(node.name)
    found = [
        NodeGroup(names=tuple(names), plugin=plugin, reasons=reasons, detail=detail)
        for (plugin, reasons, detail), names in groups.items()
    ]
    if len(found) > MOST_GROUPS:
        found = _without_details(found)
    return sorted(found, key=lambda group: (-len(group.names), group.plugin, group.detail))


def _without_details(groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    """Return the groups merged by plugin and reasons; one detail stands for all of them."""
    merged: dict[tuple[str, str], NodeGroup] = {}
    for group in groups:
        first = merged.get((group.plugin, group.reasons))
        detail = group.detail if first is None else f"{first.detail.removesuffix(', ...')}, ..."
        names = (*first.names, *group.names) if first else group.names
        merged[group.plugin, group.reasons] = NodeGroup(
            names=names, plugin=group.plugin, reasons=group.reasons, detail=detail
        )
    return list(merged.values())
