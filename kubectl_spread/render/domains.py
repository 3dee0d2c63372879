"""The domain table of a constraint, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from kubectl_spread.render.cells import EMPTY, Column, cell, clean, listed, table
from kubectl_spread.report import ConstraintReport, Domain

REASONS = {
    "MissingTopologyKey": "lacks the label {key}",
    "NodeAffinityPolicy": "ruled out by the Pod's node affinity",
    "NodeTaintsPolicy": "has a taint the Pod does not tolerate",
}
HARD = "DoNotSchedule"
MOST_ROWS = 12
"""Domains (count) up to which each has a line of its own."""
SHOWN_NAMES = 4
EVERY = 10**9


Ranges: TypeAlias = Mapping[str, tuple[int, int]]
"""Domain → the fewest and the most Pods it may hold, where that depends on luck."""


def constraint_text(
    constraint: ConstraintReport,
    *,
    wide: bool = False,
    by_node: bool = False,
    ranges: Ranges = MappingProxyType({}),
) -> str:
    """Return a constraint with its domains, its minimum and the nodes it passes over.

    Args:
        constraint: the constraint.
        wide: whether every name is printed.
        by_node: whether domains are unfolded to their nodes.
        ranges: domains that may hold another number of Pods than is counted.
    """
    most = EVERY if wide or by_node else SHOWN_NAMES
    domains = _unfolded(constraint) if by_node else _folded(constraint, most, ranges)
    lines = [
        headline_text(constraint),
        domains.rstrip("\n"),
        minimum_text(constraint),
        *bypassed_lines(constraint, most),
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _unfolded(constraint: ConstraintReport) -> str:
    """Return a line for each counted node, with the domain it is in."""
    columns: tuple[Column[tuple[Domain, str, int]], ...] = (
        Column("DOMAIN", lambda row: row[0].value or EMPTY),
        Column("NODE", lambda row: row[1]),
        Column("PODS", lambda row: str(row[2])),
        Column("SKEW", lambda row: str(row[0].skew)),
        Column("NEXT", lambda row: next_text(row[0], constraint)),
    )
    return table(columns, ((d, node, pods) for d in constraint.domains for node, pods in d.by_node.items()))


def _folded(constraint: ConstraintReport, most: int, ranges: Ranges) -> str:
    """Return a line for each domain, or for all that stand the same where there are many."""
    return table(domain_columns(most), domain_rows(constraint, most, ranges))


def domain_columns(most: int) -> Sequence[Column[DomainRow]]:
    """Return what a row says of domains that stand the same; ``most`` of their names are printed."""
    return (
        Column("DOMAIN", lambda row: listed([value or EMPTY for value in row.values], most)),
        Column("NODES", lambda row: listed(row.nodes, most) if most == EVERY else str(len(row.nodes))),
        Column("PODS", lambda row: row.pods),
        Column("SKEW", lambda row: row.skew),
        Column("NEXT", lambda row: row.next),
    )


def domain_rows(constraint: ConstraintReport, most: int, ranges: Ranges) -> list[DomainRow]:
    """Return a row for each domain, or for all that stand the same where there are many."""
    rows = [_row(domain, constraint, ranges) for domain in constraint.domains]
    return _merged(rows) if len(rows) > MOST_ROWS and most != EVERY else rows


@dataclass(frozen=True, slots=True)
class DomainRow:
    """One line of the table: a domain, or several that stand the same."""

    values: tuple[str, ...]
    nodes: tuple[str, ...]
    pods: str
    skew: str
    next: str


def _row(domain: Domain, constraint: ConstraintReport, ranges: Ranges) -> DomainRow:
    """Return the line of one domain."""
    fewest, most = ranges.get(domain.value, (domain.matching, domain.matching))
    return DomainRow(
        values=(domain.value,),
        nodes=domain.nodes,
        pods=str(fewest) if fewest == most else f"{fewest}..{most}",
        skew=str(domain.skew) if domain.eligible else "-",
        next=next_text(domain, constraint),
    )


def _merged(rows: Iterable[DomainRow]) -> list[DomainRow]:
    """Return one line for all domains that stand the same, those with the fewest domains first."""
    groups: dict[tuple[str, str, str], list[DomainRow]] = {}
    for row in rows:
        groups.setdefault((row.pods, row.skew, row.next), []).append(row)
    merged = [
        DomainRow(
            tuple(value for row in group for value in row.values),
            tuple(node for row in group for node in row.nodes),
            *key,
        )
        for key, group in groups.items()
    ]
    return sorted(merged, key=lambda row: len(row.values))


def headline_text(constraint: ConstraintReport) -> str:
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


def next_text(domain: Domain, constraint: ConstraintReport) -> str:
    """Return whether one more Pod may go there, as far as this constraint is concerned."""
    if not domain.eligible:
        return "not counted"
    if constraint.when_unsatisfiable != HARD:
        return "yes"
    if not domain.allowed:
        return f"no: skew would be {domain.skew_if_placed}"
    if domain.pinned:
        why = dict.fromkeys(
            pin.detail or str(pin.requirement.plugin or "another constraint") for pin in domain.pinned_by
        )
        return f"allowed, but no node there takes it: {listed(list(why), 1)}"
    return "yes"


def minimum_text(constraint: ConstraintReport) -> str:
    """Return who holds the global minimum."""
    eligible = sum(domain.eligible for domain in constraint.domains)
    if constraint.when_unsatisfiable == HARD and eligible < constraint.min_domains and constraint.min_domains > 1:
        return f"Minimum 0: {eligible} of the {constraint.min_domains} domains that minDomains asks for."
    if not constraint.minimum_domains:
        return "Minimum 0: no domain is counted."
    return f"Minimum {constraint.global_minimum}, held by {cell(listed(constraint.minimum_domains))}."


def bypassed_lines(constraint: ConstraintReport, most: int) -> list[str]:
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
