"""The domain table of a constraint, as text."""

from __future__ import annotations

from kubectl_spread.render.cells import EMPTY, Column, cell, clean, listed, table
from kubectl_spread.report import ConstraintReport, Domain

REASONS = {
    "MissingTopologyKey": "lacks the label {key}",
    "NodeAffinityPolicy": "ruled out by the Pod's node affinity",
    "NodeTaintsPolicy": "has a taint the Pod does not tolerate",
}
HARD = "DoNotSchedule"


def constraint_text(constraint: ConstraintReport, *, wide: bool = False, by_node: bool = False) -> str:
    """Return a constraint with its domains, its minimum and the nodes it passes over.

    Args:
        constraint: the constraint.
        wide: whether every name is printed.
        by_node: whether domains are unfolded to their nodes.
    """
    most = 1000 if wide or by_node else 4
    columns = (
        Column[Domain]("DOMAIN", lambda d: d.value or EMPTY),
        Column[Domain]("NODES", lambda d: listed(d.nodes, most) if wide or by_node else str(len(d.nodes))),
        Column[Domain]("PODS", lambda d: str(d.matching)),
        Column[Domain]("SKEW", lambda d: str(d.skew) if d.eligible else "-"),
        Column[Domain]("NEXT", lambda d: _next(d, constraint)),
    )
    lines = [_headline(constraint), table(columns, constraint.domains).rstrip("\n")]
    lines += [_minimum(constraint), *_bypassed(constraint, most)]
    return "\n".join(line for line in lines if line) + "\n"


def _headline(constraint: ConstraintReport) -> str:
    """Return the constraint itself in one line."""
    parts = [
        f"Constraint {constraint.index}: {clean(constraint.topology_key)}",
        constraint.when_unsatisfiable,
        f"maxSkew {constraint.max_skew}",
        f"minDomains {constraint.min_domains}" if constraint.min_domains > 1 else "",
        f"selector {clean(constraint.selector)}"
        + ("" if constraint.self_match else " (does not match the Pod itself)"),
        "cluster default" if constraint.default else "",
    ]
    return ", ".join(part for part in parts if part)


def _next(domain: Domain, constraint: ConstraintReport) -> str:
    """Return whether one more Pod may go there, as far as this constraint is concerned."""
    if not domain.eligible:
        return "not counted"
    if constraint.when_unsatisfiable != HARD:
        return "yes"
    if not domain.allowed:
        return f"no: skew would be {domain.skew_if_placed}"
    if domain.pinned:
        shown = [
            f"{pin.node}: {pin.detail or pin.requirement.plugin or 'another constraint'}" for pin in domain.pinned_by
        ]
        return f"allowed, but no node there takes it ({listed(shown, 2)})"
    return "yes"


def _minimum(constraint: ConstraintReport) -> str:
    """Return who holds the global minimum."""
    eligible = sum(domain.eligible for domain in constraint.domains)
    if constraint.when_unsatisfiable == HARD and eligible < constraint.min_domains:
        return f"Minimum 0: {eligible} of the {constraint.min_domains} domains that minDomains asks for."
    if not constraint.minimum_domains:
        return "Minimum 0: no domain is counted."
    return f"Minimum {constraint.global_minimum}, held by {cell(listed(constraint.minimum_domains))}."


def _bypassed(constraint: ConstraintReport, most: int) -> list[str]:
    """Return the nodes that are not counted, by reason."""
    lines = []
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for node in constraint.bypassed_nodes:
        reason = REASONS[node.reason].format(key=node.key)
        groups.setdefault((reason, node.similar_keys or ()), []).append(node.name)
    for (reason, similar), names in groups.items():
        meant = f" (has {', '.join(similar)}: is that what is meant?)" if similar else ""
        lines.append(clean(f"Not counted: {listed(names, most)}: {reason}{meant}."))
    return lines
