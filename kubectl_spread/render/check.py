"""What becomes of manifests, as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET

from kubectl_spread.render.cells import clean, listed, paint
from kubectl_spread.render.domains import EVERY, Ranges, constraint_text
from kubectl_spread.render.table import (
    VERDICT_COLORS,
    evaluation_text,
    finding_lines,
    incomplete_lines,
    verdict_sentence,
)
from kubectl_spread.report import CheckItem, CheckReport, ConstraintReport, Jam, Verdict

SHOWN_NODES = 10


def check_text(report: CheckReport, *, wide: bool, colors: bool = False) -> str:
    """Return, for each Pod template, whether it schedules, where, and how its replicas lie."""
    blocks = [_item(item, wide=wide, colors=colors) for item in report.items]
    return "\n".join(blocks) + incomplete_lines(report.incomplete)


def _item(item: CheckItem, *, wide: bool, colors: bool) -> str:
    """Return what becomes of one Pod template."""
    name = f"{item.namespace}/{item.kind.lower()}/{item.name}"
    worst = Verdict.UNSCHEDULABLE if item.jam else item.verdict
    lines = [paint(clean(f"{name}: {check_sentence(item)}"), VERDICT_COLORS[worst], wanted=colors)]
    lines += [clean(f"invalid: {error.field}: {error.message}") for error in item.validation]
    lines += [clean(f"Warning: {warning.field}: {warning.message}") for warning in item.warnings]
    lines += map(clean, check_notes(item, wide=wide))
    if item.stuck:
        lines.append(evaluation_text(item, wide=wide))
    else:
        lines += [_constraint(constraint, item, wide=wide) for constraint in item.after or item.constraints]
        lines += [text.rstrip("\n") for text in (finding_lines(item.findings), incomplete_lines(item.incomplete))]
    return "\n".join(line for line in lines if line) + "\n"


def check_sentence(item: CheckItem) -> str:
    """Return what becomes of the manifest, as it stands or else once the API server takes it."""
    if item.verdict is not Verdict.INVALID:
        return _placement(item)
    if not item.nodes:
        return "the API server refuses it."
    return f"the API server refuses it as it stands. Otherwise: {_placement(item)}"


def _placement(item: CheckItem) -> str:
    """Return the verdict about all replicas, or who else decides."""
    if item.verdict is Verdict.INCOMPLETE and item.summary:
        return item.summary
    if not item.placements and item.jam is None and (item.rollout or not item.replicas):
        return "no Pod is to be placed."
    if item.stuck:
        return f"not schedulable. {item.summary}"
    if item.jam is not None:
        return _jam(item.jam, item.replicas)
    some = item.rollout is not None and len(item.placements) < item.replicas
    if item.verdict is Verdict.INCOMPLETE or (item.replicas <= 1 and not some):
        return verdict_sentence(item)
    who = f"{len(item.placements)} Pods that are to come" if some else f"{item.replicas} replicas"
    return f"all {who} can be scheduled."


def _jam(jam: Jam, replicas: int) -> str:
    """Return which replicas find no node."""
    if jam.nodes:
        return f"{len(jam.nodes)} of {replicas} nodes have no room for their Pod ({listed(jam.nodes)}): {jam.message}"
    if jam.replica_max is None:
        return f"replica {jam.replica} of {replicas} may find no node, by ties: {jam.message}"
    if isinstance(jam.replica_max, int):
        return f"replica {jam.replica} to {jam.replica_max} of {replicas} finds no node, by ties: {jam.message}"
    return f"replica {jam.replica} of {replicas} finds no node: {jam.message}"


def check_notes(item: CheckItem, *, wide: bool) -> Iterator[str]:
    """Yield where the replicas go, and what that rests on."""
    if item.rollout is not None:
        told = item.rollout
        gone = f", {told.replaced} of them replaced" if told.replaced else ""
        yield f"Rollout: {told.strategy}, {told.running} Pods run{gone}. Assumed: {told.assumed}."
    if item.placements:
        counts = Counter(placement.node for placement in item.placements)
        nodes = [f"{node} ({count})" if count > 1 else node for node, count in counts.items()]
        yield f"Replicas: {listed(nodes, EVERY if wide else SHOWN_NODES)}"
    if item.ranges or (item.jam is not None and item.jam.replica_max is not UNSET):
        yield f"The scheduler breaks ties at random: {item.orders} orders were tried, by name first."
    elif item.orders == 1 and any(placement.ties for placement in item.placements):
        yield "Ties were broken by name alone: in so large a cluster no other order was tried."
    if wide and item.feasible:
        yield f"Ranked for the first replica: {_ranking(item)}"
    if item.sampled:
        yield f"Among {len(item.nodes)} nodes the scheduler may look at some only; here all were scored."


def _ranking(item: CheckItem) -> str:
    """Return the nodes that can take the first replica, each with its score."""
    totals = {node.name: node.scores.get("total", 0) for node in item.nodes if isinstance(node.scores, dict)}
    return listed([f"{name} ({totals.get(name, 0)})" for name in item.feasible], EVERY)


def _constraint(constraint: ConstraintReport, item: CheckItem, *, wide: bool) -> str:
    """Return the domain table of a constraint, counts as ranges where they depend on luck."""
    return constraint_text(constraint, wide=wide, ranges=ranges_of(constraint, item)).rstrip("\n")


def ranges_of(constraint: ConstraintReport, item: CheckItem) -> Ranges:
    """Return the domains of a constraint whose counts depend on luck."""
    own = (each for each in item.ranges if each.constraint == constraint.index)
    return {each.value: (each.minimum, each.maximum) for each in own}
