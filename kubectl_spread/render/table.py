"""Reports as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kubectl_spread.render.cells import EMPTY, Color, Column, cell, clean, listed, paint, table
from kubectl_spread.render.domains import EVERY, HARD, SHOWN_NAMES, constraint_text
from kubectl_spread.render.fixes import fixes_text
from kubectl_spread.render.preemption import preemption_lines
from kubectl_spread.report import (
    CheckReport,
    EvaluationReport,
    Finding,
    Incomplete,
    NodeReport,
    PendingItem,
    PendingReport,
    SkewItem,
    SkewReport,
    SpreadStatus,
    Verdict,
)

STATUS_COLORS = {
    SpreadStatus.BLOCKED: Color.RED,
    SpreadStatus.VIOLATED: Color.RED,
    SpreadStatus.NO_DOMAINS: Color.YELLOW,
    SpreadStatus.NO_EFFECT: Color.YELLOW,
    SpreadStatus.INCOMPLETE: Color.YELLOW,
    SpreadStatus.UNEVEN: Color.CYAN,
    SpreadStatus.OK: Color.GREEN,
}
VERDICT_COLORS = {
    Verdict.UNSCHEDULABLE: Color.RED,
    Verdict.INVALID: Color.RED,
    Verdict.INCOMPLETE: Color.YELLOW,
    Verdict.SCHEDULABLE: Color.GREEN,
}
FEW_DOMAINS = 5
"""Domains (count) up to which the summary table prints each."""


MOST_GROUPS = 12
"""Groups of nodes (count) up to which each detail has a line of its own."""


def show_table(report: SkewReport, *, wide: bool, headers: bool, colors: bool = False) -> str:
    """Return a row for each workload and constraint."""
    columns = [column for column in SKEW_COLUMNS if wide or not column.wide]
    return table(columns, report.items, headers=headers, colors=colors) + incomplete_lines(report.incomplete)


def _status(item: SkewItem) -> str:
    """Return the status with the one thing to know about it."""
    return f"{item.status}: {item.status_reason}" if item.status_reason else item.status.value


def pods_text(item: SkewItem) -> str:
    """Return how many Pods are counted, and how many of them are the workload's where others are among them."""
    return str(item.pods) if item.pods == item.own_pods else f"{item.pods} ({item.own_pods} own)"


def _domains(item: SkewItem) -> str:
    """Return the count of each domain, or their number and range where there are many."""
    counts = {domain.value: domain.matching for domain in item.constraint.domains if domain.eligible}
    if len(counts) > FEW_DOMAINS:
        return f"{len(counts)} domains, {min(counts.values())}..{max(counts.values())}"
    return " ".join(f"{value or EMPTY}:{count}" for value, count in counts.items())


SKEW_COLUMNS: Sequence[Column[SkewItem]] = (
    Column("NAMESPACE", lambda i: i.namespace),
    Column("WORKLOAD", lambda i: str(i.workload) + (f" ({i.revision})" if i.revision else "")),
    Column("KEY", lambda i: i.constraint.topology_key + (" (default)" if i.default else "")),
    Column("WHEN", lambda i: i.constraint.when_unsatisfiable),
    Column("MAX-SKEW", lambda i: str(i.constraint.max_skew)),
    Column("SKEW", lambda i: str(i.constraint.skew)),
    Column("PODS", pods_text, wide=True),
    Column("DOMAINS", _domains),
    Column("STATUS", _status, color=lambda i: STATUS_COLORS[i.status]),
    Column("SELECTOR", lambda i: i.constraint.selector, wide=True),
    Column("NEXT", lambda i: listed(i.next), wide=True),
)
"""What a row says of a workload and one of its constraints."""


def show_details(report: SkewReport, *, wide: bool, by_node: bool, colors: bool = False) -> str:
    """Return, for each row, the domain table, ghosts, and where the next replica may go."""
    blocks = []
    for item in report.items:
        revision = f" revision {item.revision}" if item.revision else ""
        status = paint(clean(_status(item)), STATUS_COLORS[item.status], wanted=colors)
        lines = [clean(f"{item.namespace}/{item.workload}{revision}: ") + status]
        lines.append(constraint_text(item.constraint, wide=wide, by_node=by_node).rstrip("\n"))
        lines.append(f"Pods counted: {pods_text(item)}.")
        if item.ghosts:
            lines.append(clean(f"Ghost Pods, which their own constraint does not count: {listed(item.ghosts, 10)}."))
        if not item.revision or item.next:
            lines.append(clean(f"Next replica: {listed(item.next, 10) if item.next else 'no node'}."))
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) + incomplete_lines(report.incomplete)


def pending_text(report: PendingReport, *, wide: bool, all_fixes: bool = False, colors: bool = False) -> str:
    """Return, for each Pod, what is to blame and the numbers behind it; Pods of one template are told once."""
    blocks = []
    for item in report.items:
        if item.same_as:
            continue
        twins = [
            other.name for other in report.items if other.same_as == item.name and other.namespace == item.namespace
        ]
        blocks.append(_pending_item(item, twins, wide=wide, all_fixes=all_fixes, colors=colors))
    return "\n".join(blocks) + incomplete_lines(report.incomplete)


def _pending_item(item: PendingItem, twins: Sequence[str], *, wide: bool, all_fixes: bool, colors: bool) -> str:
    """Return one Pod's explanation, most important first."""
    headline = [paint(clean(pending_headline(item)), VERDICT_COLORS[item.verdict], wanted=colors)]
    if twins:
        headline.append(clean(f"The same holds for {listed(twins)}."))
    headline += map(clean, preemption_lines(item))
    blocks = (
        "\n".join(headline),
        evaluation_text(item, wide=wide),
        fixes_text(item, every=all_fixes),
        "\n".join(_messages(item)),
    )
    return "\n\n".join(block.rstrip("\n") for block in blocks if block) + "\n"


def _messages(item: PendingItem) -> list[str]:
    """Return our message and the scheduler's last one, once where they agree: a real one goes on about preemption."""
    if item.event is None:
        return [f"Message: {cell(item.message)}"] if item.message else []
    when = f" ({clean(item.event.time)})" if item.event.time else ""
    if not item.event.differs:
        return [f"Message: {cell(item.message)}", f"The scheduler said the same{when}."]
    said = f"The scheduler last said{when}: {cell(item.event.message)}"
    ours = f"Message now: {cell(item.message)}" if item.message else ""
    return [line for line in (ours, said, f"They differ: {item.event.differs}.") if line]


def pending_headline(item: PendingItem) -> str:
    """Return the sentence on top."""
    name = f"{item.namespace}/{item.name}"
    verdict = verdict_sentence(item)
    if item.held_by:
        return f"{name} is held by the scheduling gate {', '.join(item.held_by)}. Without it: {verdict}"
    if item.verdict is Verdict.INCOMPLETE and item.summary:
        return item.summary
    if item.stuck:
        return f"{name} is Pending. {verdict}"
    return f"{name}: {verdict}"


def verdict_sentence(item: EvaluationReport) -> str:
    """Return the verdict in words."""
    if item.stuck or item.summary:
        return item.summary
    if item.verdict is not Verdict.SCHEDULABLE and item.incomplete:
        return f"nothing that was evaluated keeps it off {listed(item.feasible)}, but not everything was."
    return f"it can be scheduled now, on {listed(item.feasible)}."


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that the scheduler rejects for the same reason."""

    names: tuple[str, ...]
    plugin: str
    reasons: str
    detail: str


def node_columns(*, wide: bool) -> list[Column[NodeGroup]]:
    """Return what a row says of nodes that are rejected alike."""
    most = EVERY if wide else SHOWN_NAMES
    columns: tuple[Column[NodeGroup], ...] = (
        Column("NODES", lambda group: f"{len(group.names)}: {listed(group.names, most)}"),
        Column("REJECTED-BY", lambda group: group.plugin),
        Column("WHY", lambda group: group.detail or group.reasons),
        Column("REASON", lambda group: group.reasons, wide=True),
    )
    return [column for column in columns if wide or not column.wide]


def evaluation_text(item: EvaluationReport, *, wide: bool) -> str:
    """Return the nodes by what rejects them, the constraints' domains, the findings and what is missing."""
    blocks = [table(node_columns(wide=wide), node_groups(item.nodes))]
    blocks += [constraint_text(c, wide=wide) for c in item.constraints if c.when_unsatisfiable == HARD]
    # The sentence on top says who pins the minimum.
    blocks.append(finding_lines(f for f in item.findings if f.id != "PinnedMinimum" or not item.summary))
    blocks.append(incomplete_lines(item.incomplete))
    return "\n\n".join(block.rstrip("\n") for block in blocks if block)


def node_groups(nodes: Iterable[NodeReport]) -> list[NodeGroup]:
    """Return the rejected nodes by plugin, reasons and detail, largest group first."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for node in nodes:
        if node.feasible:
            continue
        plugin = str(node.plugin)
        detail = next((rejection.detail for rejection in node.rejections if rejection.plugin == plugin), "")
        groups.setdefault((plugin, ", ".join(node.reasons or ()), detail), []).append(node.name)
    found = [NodeGroup(tuple(names), *key) for key, names in groups.items()]
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
        merged[group.plugin, group.reasons] = NodeGroup(names, group.plugin, group.reasons, detail)
    return list(merged.values())


def finding_lines(findings: Iterable[Finding]) -> str:
    """Return a line for each finding."""
    return "".join(f"{finding.severity}: {finding.id}: {cell(finding.message)}\n" for finding in findings)


def incomplete_lines(incomplete: Iterable[Incomplete]) -> str:
    """Return a line for everything the answer does not rest on."""
    return "".join(clean(f"incomplete: {i.what} ({i.why}): {i.consequence}.") + "\n" for i in incomplete)


def names(report: SkewReport | PendingReport | CheckReport) -> str:
    """Return the objects' names as ``-o name`` prints them, each once."""
    if isinstance(report, SkewReport):
        found = [str(item.workload) for item in report.items]
    else:
        found = [f"{item.kind.lower()}/{item.name}" for item in report.items]
    return "".join(f"{clean(name)}\n" for name in dict.fromkeys(found))
