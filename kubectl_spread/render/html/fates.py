"""What became of each node, in words a cell of the map can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TypeAlias

import msgspec

from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.constraints import Domain
from kubectl_spread.contract.evaluation import EvaluationReport, NodeReport
from kubectl_spread.contract.skew import SkewItem
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.wording import pages
from kubectl_spread.wording.constraints import skew_text


class Fate(StrEnum):
    """How a node stands to the next Pod."""

    FEASIBLE = "feasible"
    REJECTED = "rejected"
    BYPASSED = "bypassed"
    COUNTED = "counted"


class NodeFate(msgspec.Struct, frozen=True):
    """What became of one node.

    Attributes:
        by: what rejects it, in short; empty where nothing does.
        why: the same in full.
        note: what else there is to know of this node alone.
    """

    fate: Fate
    by: str = ""
    why: str = ""
    note: str = ""


Fates: TypeAlias = Mapping[str, NodeFate]
"""Node's name → what became of it."""

OPEN = NodeFate(Fate.FEASIBLE)
COUNTED = NodeFate(Fate.COUNTED)
ELSEWHERE = NodeFate(Fate.REJECTED, "something else", pages.ELSEWHERE)


def fates_of(item: EvaluationReport) -> Fates:
    """Return what the filters decide about every node, with the score of those they let through.

    Beside what becomes of all replicas, that is said of the first alone: the others change what is feasible.
    """
    whom = "for the first replica" if isinstance(item, CheckItem) and item.placements else ""
    return {node.name: _judged(node, whom) for node in item.nodes}


def _judged(node: NodeReport, whom: str) -> NodeFate:
    if node.feasible:
        score = f"score {node.scores['total']}" if isinstance(node.scores, dict) and "total" in node.scores else ""
        return NodeFate(Fate.FEASIBLE, whom, whom, score)
    plugins = ", ".join(rejection.plugin for rejection in node.rejections) or str(node.plugin)
    why = "; ".join(f"{each.plugin}: {each.detail or ', '.join(each.reasons)}" for each in node.rejections)
    return NodeFate(Fate.REJECTED, plugins, why or plugins)


def of_next_replica(item: SkewItem) -> Fates:
    """Return which counted nodes may take the workload's next replica, and what is known of the others."""
    return {name: fate for domain in item.constraint.domains for name, fate in _in_domain(domain, item)}


def _in_domain(domain: Domain, item: SkewItem) -> Iterator[tuple[str, NodeFate]]:
    following = set(item.next)
    pins = {
        pin.node: pin.detail or getattr(pin.requirement, "plugin", "another constraint") for pin in domain.pinned_by
    }
    closed = _closed(domain, item)
    for name in domain.nodes:
        if name in following:
            yield name, OPEN
        elif name in pins:
            yield name, NodeFate(Fate.REJECTED, "something else", pins[name])
        else:
            yield name, closed


def _closed(domain: Domain, item: SkewItem) -> NodeFate:
    constraint = item.constraint
    if constraint.hard and domain.eligible and not domain.allowed:
        why = f"{skew_text(domain.skew_if_placed, domain.skew)}, maxSkew is {constraint.max_skew}"
        return NodeFate(Fate.REJECTED, "skew", why)
    return ELSEWHERE if item.next or item.status is SpreadStatus.BLOCKED else COUNTED
