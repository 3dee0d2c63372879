"""A constraint with its domains, its minimum and the nodes it passes over."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec import UnsetType

from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import EVERY, Column, ConstraintBlock, Extent, Part, Table, table_of
from kubectl_spread.wording import constraints as wording
from kubectl_spread.wording.words import between, listed

MOST_ROWS = 6  # Domains (count) up to which each has a line of its own

# Domain → the fewest and the most Pods it may hold, where that depends on ties.
Ranges: TypeAlias = Mapping[str, tuple[int, int]]
EXACT: Ranges = MappingProxyType({})


class DomainRow(Part, frozen=True, kw_only=True):
    """Domains that stand the same."""

    values: tuple[str, ...]
    nodes: tuple[str, ...]  # the nodes of all of them that are counted
    not_counted: int  # those that are not (count)
    fewest: int  # the Pods counted in each; ``most``: where ties fall otherwise
    most: int
    skew: str  # ``-`` where no Pod is counted
    next: str
    first: Domain

    @property
    def count(self) -> str:
        """How many nodes are counted, and of how many where some are not."""
        counted = len(self.nodes)
        return f"{counted} of {counted + self.not_counted}" if self.not_counted else str(counted)

    @property
    def pods(self) -> str:
        """The Pods counted in each, as a range where that depends on ties."""
        return between(self.fewest, self.most) + " each" * bool(self.most and self.values[1:])


def constraint_block(
    constraint: ConstraintDiagnosis,
    extent: Extent,
    ranges: Ranges = EXACT,
    rejected: Mapping[str, str] = MappingProxyType({}),
) -> ConstraintBlock:
    """Return what there is to say of a constraint; ``rejected``: node that cannot take the Pod → the filter."""
    return ConstraintBlock(
        index=constraint.index,
        topology_key=constraint.topology_key,
        terms=tuple(_terms(constraint))[: -1 if extent.folded and constraint.self_match else None],
        unmatched="" if constraint.self_match else wording.UNMATCHED,
        default=wording.DEFAULT if constraint.default else "",
        domains=_unfolded(constraint, EVERY if extent.wide else extent.names, rejected)
        if extent.by_node
        else _folded(constraint, extent.most(), ranges),
        minimum=minimum_text(constraint),
        bypassed=() if extent.folded else tuple(wording.bypassed_lines(constraint.bypassed_nodes, extent.most())),
    )


def once_bypassed(blocks: Iterable[ConstraintBlock]) -> Iterator[ConstraintBlock]:
    """Yield the blocks of one Pod; nodes that an earlier constraint does not count either are not named again."""
    earlier: dict[tuple[str, ...], int] = {}
    for block in blocks:
        index = earlier.setdefault(block.bypassed, block.index)
        same = block.bypassed and index != block.index
        yield msgspec.structs.replace(block, bypassed=(wording.AS_FOR.format(index),)) if same else block


def allowance(constraint: ConstraintDiagnosis) -> str:
    """Return what a constraint that is not to blame allows, in a sentence."""
    what = f"{constraint.topology_key}, {constraint.when_unsatisfiable}, maxSkew {constraint.max_skew}"
    eligible = [domain for domain in constraint.domains if domain.eligible]
    return wording.allowance(constraint.index, what, sum(domain.allowed for domain in eligible), len(eligible))


def _terms(constraint: ConstraintDiagnosis) -> Iterator[tuple[str, str]]:
    yield "whenUnsatisfiable", constraint.when_unsatisfiable
    yield "maxSkew", str(constraint.max_skew)
    if constraint.min_domains > 1:
        yield "minDomains", str(constraint.min_domains)
    if constraint.node_affinity_policy:
        yield "nodeAffinityPolicy", constraint.node_affinity_policy
    if constraint.node_taints_policy:
        yield "nodeTaintsPolicy", constraint.node_taints_policy
    yield "selector", constraint.selector


def _unfolded(constraint: ConstraintDiagnosis, most: int, rejected: Mapping[str, str]) -> Table:
    """Return a row for each counted node with Pods, and for those without that stand the same, where there are many."""
    rows = [
        msgspec.structs.replace(_row(of_node, EXACT), nodes=(node,), fewest=pods, most=pods)
        for it in constraint.domains
        for node, pods in it.by_node.items()
        for of_node in (msgspec.structs.replace(it, pinned_by=tuple(pin for pin in it.pinned_by if pin.node == node)),)
    ]
    # A domain is open if one of its nodes is.
    shut = (wording.SHUT.format(rejected.get(row.nodes[0])) for row in rows)
    rows = [
        msgspec.structs.replace(row, next=why) if row.next == wording.OPEN and row.nodes[0] in rejected else row
        for row, why in zip(rows, shut, strict=True)
    ]
    if len(rows) > MOST_ROWS and most != EVERY:
        empty = grouped((row for row in rows if not row.fewest), lambda row: row.nodes == row.values or row.values)
        rows = [*(row for row in rows if row.fewest), *(row for alike in empty.values() for row in _merged(alike))]
    return _table(rows, most, Column("NODE", lambda row: listed(row.nodes, most)))


def _folded(constraint: ConstraintDiagnosis, most: int, ranges: Ranges) -> Table:
    rows = domain_rows(constraint, ranges, merge=most != EVERY)
    if most == EVERY:
        return _table(rows, most, Column("NODES", lambda row: ", ".join(row.nodes)))
    names = most if len(rows) == len(constraint.domains) else 1
    return table_of(_columns(names, Column("NODES", lambda row: row.count)), rows)


def _table(rows: Sequence[DomainRow], most: int, nodes: Column[DomainRow]) -> Table:
    """Return a line for each row with the names of its nodes, unless the domains are the nodes themselves."""
    same = all(row.nodes == row.values for row in rows)
    return table_of(_columns(most, *(() if same else (nodes,))), rows)


def _columns(most: int, *nodes: Column[DomainRow]) -> tuple[Column[DomainRow], ...]:
    of_each_node = any(column.header == "NODE" for column in nodes)
    return (
        Column("DOMAIN", lambda row: listed(row.values, most)),
        *nodes,
        Column("PODS", lambda row: row.pods),
        Column("DOMAIN-SKEW" if of_each_node else "SKEW", lambda row: row.skew),
        Column("NEXT", lambda row: row.next),
    )


def domain_rows(constraint: ConstraintDiagnosis, ranges: Ranges, *, merge: bool = True) -> Sequence[DomainRow]:
    """Return a row for each domain, or for all that stand the same where there are many and that is wanted."""
    rows = [_row(domain, ranges) for domain in constraint.domains]
    return _merged(rows) if merge and len(rows) > MOST_ROWS else rows


def _row(domain: Domain, ranges: Ranges) -> DomainRow:
    fewest, most = ranges.get(domain.value, (domain.matching, domain.matching))
    return DomainRow(
        values=(domain.value,),
        nodes=domain.nodes,
        not_counted=domain.not_counted or 0,
        fewest=fewest,
        most=most,
        skew=str(domain.skew) if domain.eligible else "-",
        next=next_text(domain),
        first=domain,
    )


def _merged(rows: Iterable[DomainRow]) -> list[DomainRow]:
    together = (
        msgspec.structs.replace(
            alike[0],
            values=tuple(dict.fromkeys(value for row in alike for value in row.values)),
            nodes=tuple(node for row in alike for node in row.nodes),
            not_counted=sum(row.not_counted for row in alike),
        )
        for alike in grouped(rows, lambda row: (row.pods, row.skew, row.next)).values()
    )
    return sorted(together, key=lambda row: len(row.values))


def next_text(domain: Domain) -> str:
    """Return whether one more Pod may go there, and if not, why."""
    if not isinstance(domain.next, UnsetType):
        return wording.NEXT[domain.next]
    if not domain.eligible:
        return wording.NOT_COUNTED
    if not domain.allowed:
        return wording.closed(domain.skew_if_placed, domain.skew)
    if not domain.pinned_by:
        return wording.OPEN
    by_requirement = grouped(domain.pinned_by, lambda pin: pin.requirement).values()
    return wording.pinned(map(wording.of_several_nodes, sorted(by_requirement, key=len, reverse=True)))


def minimum_text(constraint: ConstraintDiagnosis) -> str:
    """Return who holds the global minimum."""
    eligible = sum(domain.eligible for domain in constraint.domains)
    if not isinstance(constraint.own_node, UnsetType):
        return wording.own_node(constraint.min_domains)
    if constraint.hard and eligible < constraint.min_domains and constraint.min_domains > 1:
        return wording.too_few_domains(eligible, constraint.min_domains)
    return wording.minimum_text(constraint.global_minimum, constraint.minimum_domains)
