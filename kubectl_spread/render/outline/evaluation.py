"""What the scheduler decides about one Pod: the nodes by what rejects them, the constraints, the findings, the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import UnsetType
from msgspec.structs import replace

from kubectl_spread.contract.evaluation import EvaluationReport, NodeReport
from kubectl_spread.diagnosis import causes, findings
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import Finding, Severity
from kubectl_spread.diagnosis.requirements import ConstraintRequirement
from kubectl_spread.render.outline import Block, Column, Extent, Findings, Gaps, Messages, Note, Part, table_of
from kubectl_spread.render.outline.domains import allowance, constraint_block
from kubectl_spread.wording.pending import SEE_WIDE, schedulable
from kubectl_spread.wording.words import first_and_more, listed, with_short_keys

if TYPE_CHECKING:
    from kubectl_spread.contract.check import CheckReport
    from kubectl_spread.contract.pending import PendingReport

# Groups of nodes (count) up to which each detail has a row of its own, and that are shown before the rest is one.
#
# More of those are shown that decide, if there is room; and the rest, if it is small.
MOST_GROUPS, MOST_SHOWN, MOST_DECIDING, MOST_REST = 12, 3, 6, 2
# Findings about a constraint that repeat a cause which names the constraint.
TOLD = (findings.MinDomainsUnreachable, findings.MissingTopologyKey, findings.SimilarTopologyKey)
NAMED_NODES = 2  # Nodes (count) of a group that are named before the rest is counted
# What TaintToleration says of a node that NodeUnschedulable rejects too.
CORDON_TAINT = "taint node.kubernetes.io/unschedulable:NoSchedule"


def verdict_sentence(item: EvaluationReport) -> str:
    """Return the verdict in words."""
    if item.stuck or item.summary:
        return item.summary
    undecided = item.verdict is not Verdict.SCHEDULABLE and bool(item.incomplete)
    return schedulable(item.feasible, undecided=undecided)


def evaluation_paragraphs(item: EvaluationReport, extent: Extent) -> Iterator[tuple[Block, ...]]:
    """Yield the rejected nodes with the hard constraints, the findings and the gaps; nothing of what there is none of.

    Constraints that are not to blame are a line each, unless all evidence is wanted.
    """
    groups = node_groups(item.nodes, apart=extent.evidence)
    shown = groups if extent.evidence else () if extent.bare else foremost(groups, folded=extent.folded)
    blocks = list[Block]()
    if shown:
        blocks.append(table_of(_columns(extent), shown, wide=extent.wide, title="Nodes by what rejects them"))
    blamed = {requirement.index for requirement in item.blamed if isinstance(requirement, ConstraintRequirement)}
    for constraint in () if extent.bare else item.constraints:
        if not constraint.hard:
            continue
        if extent.evidence or constraint.index in blamed or not item.blamed:
            found = constraint_block(constraint, extent)
            # The sentence on top names who holds the minimum.
            known = isinstance(item.cause, causes.PinnedDomain) and len(blamed) == 1 and not extent.evidence
            blocks.append(replace(found, minimum="") if known else found)
        elif not extent.folded:
            blocks.append(Note(line=allowance(constraint)))
    if extent.folded:
        blocks.extend(remarks(item, folded=extent.bare))
    yield from ((block,) for block in blocks) if extent.evidence else [tuple(blocks)] * bool(blocks)
    if not extent.folded:
        yield from ((block,) for block in remarks(item))


def with_message(paragraphs: Iterable[tuple[Block, ...]], message: Messages | None) -> Iterator[tuple[Block, ...]]:
    """Yield the paragraphs, the last of them with the scheduler's message, if there is one."""
    *before, last = [*paragraphs] or [()]
    yield from before
    if last or message:
        yield (*last, message) if message else last


def common_gaps(report: PendingReport | CheckReport) -> Gaps:
    """Return what the report does not rest on, without what an item of it names itself."""
    named = {gap for item in report.items for gap in item.incomplete}
    return Gaps.of(gap for gap in report.incomplete if gap not in named)


def remarks(item: EvaluationReport, *, folded: bool = False) -> Iterator[Block]:
    """Yield the findings and the gaps, where there are any.

    ``folded`` where room is short: findings that only inform, or that the cause tells, are left out.
    """
    kept = item.findings
    if folded:
        told = _of_cause(item)
        kept = tuple(each for each in kept if each.severity is not Severity.INFO and not isinstance(each, told))
    if left := tuple(each for each in kept if not _is_told(each, item)):
        yield Findings.of(left)
    if item.incomplete:
        yield Gaps.of(item.incomplete)


def _of_cause(item: EvaluationReport) -> tuple[type[Finding], ...]:
    """Return the findings that say the same as the sentence on top."""
    if isinstance(item.cause, causes.GhostSelector):
        return (findings.GhostPod,)
    counts_others = not isinstance(item.cause, UnsetType) and causes.counts_other_revisions(item.cause)
    return (findings.RolloutMixesRevisions,) if counts_others else ()


def _is_told(finding: Finding, item: EvaluationReport) -> bool:
    """Whether the sentence on top says what the finding says."""
    match item.cause:
        case (
            causes.MisspeltKey(topology_key=key)
            | causes.MinDomainsUnmet(constraint=causes.BlamedConstraint(topology_key=key))
        ):
            if isinstance(finding, TOLD) and finding.constraint.topology_key == key:
                return True
    return isinstance(finding, findings.PinnedMinimum) and not isinstance(item.cause, UnsetType)


class NodeGroup(Part, frozen=True, kw_only=True):
    """Nodes that the scheduler rejects for the same reason.

    ``decides``: whether nothing else rejects some of them; ``mixed``: whether the detail is only that of the first.
    """

    names: tuple[str, ...]
    plugin: str
    reasons: str
    detail: str
    decides: bool = True
    mixed: bool = False


def _columns(extent: Extent) -> tuple[Column[NodeGroup], ...]:
    most = extent.most(1 if extent.folded else NAMED_NODES if not extent.evidence else 0)
    return (
        Column("NODES", lambda group: f"{len(group.names)}: {listed(group.names, most)}"),
        Column("REJECTED-BY", lambda group: group.plugin, spare=True),
        Column("WHY", lambda group: with_short_keys(group.detail or group.reasons) + ", ..." * group.mixed),
        Column("REASON", lambda group: group.reasons, wide=True),
    )


def node_groups(nodes: Iterable[NodeReport], *, apart: bool = False) -> list[NodeGroup]:
    """Return the rejected nodes by plugin, reasons and detail: those that one plugin alone rejects, largest first.

    ``apart``: whether nodes are too whose details differ only in names or amounts.
    """
    groups: dict[tuple[str, str, str], list[NodeReport]] = {}
    for node in nodes:
        if node.feasible:
            continue
        plugin = str(node.plugin)
        rejection = next((each for each in node.rejections if each.plugin == plugin), None)
        detail = (rejection.detail if apart else rejection.shared or rejection.detail) if rejection else ""
        groups.setdefault((plugin, ", ".join(node.reasons or ()), detail), []).append(node)
    found = [
        NodeGroup(
            names=tuple(node.name for node in rejected),
            plugin=plugin,
            reasons=reasons,
            detail=detail,
            # A cordon and its taint are one.
            decides=any(
                len({each.plugin for each in node.rejections if each.detail != CORDON_TAINT}) <= 1 for node in rejected
            ),
        )
        for (plugin, reasons, detail), rejected in groups.items()
    ]
    if len(found) > MOST_GROUPS:
        found = _without_details(found)
    return sorted(found, key=lambda group: (not group.decides, -len(group.names), group.plugin, group.detail))


def foremost(groups: Sequence[NodeGroup], *, folded: bool = False) -> Sequence[NodeGroup]:
    """Return the first of the groups, those that decide, and the others as one; ``folded`` where room is short."""
    decide = [group for group in groups if group.decides]
    most = MOST_DECIDING if decide and not folded else MOST_SHOWN
    decide = decide or list(groups)
    shown = (decide if len(decide) <= most else _without_details(decide))[:most]
    named = {name for group in shown for name in group.names}
    rest = [group for group in groups if not named.issuperset(group.names)]
    if len(rest) <= MOST_REST:
        return [*shown, *rest]
    names = tuple(name for group in rest for name in group.names)
    plugins = list(dict.fromkeys(group.plugin for group in rest))
    plugin = first_and_more(plugins) if folded else ", ".join(plugins)
    return [*shown, NodeGroup(names=names, plugin=plugin, reasons="", detail=SEE_WIDE, decides=False)]


def _without_details(groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    """Return the groups merged by plugin and reasons; one detail stands for all of them."""
    merged: dict[tuple[bool, str, str], NodeGroup] = {}
    for group in groups:
        key = group.decides, group.plugin, group.reasons
        first = merged.get(key)
        merged[key] = replace(first, names=first.names + group.names, mixed=True) if first else group
    return list(merged.values())
