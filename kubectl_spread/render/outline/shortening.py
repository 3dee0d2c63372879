"""Node names without the suffix that all of them share, such as ``.eu-central-1.compute.internal``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from kubectl_spread.contract.findings import Finding
from kubectl_spread.contract.report import Incomplete
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.render.outline import Commands, EditBlock, Messages, Part

if TYPE_CHECKING:
    from kubectl_spread.render.outline.any_report import AnyReport

PartT = TypeVar("PartT", bound=Part | Finding | Incomplete)

COPIED_PARTS = (Commands, Messages, EditBlock)
COPIED_FIELDS = frozenset(("commands", "header", "yaml"))
"""What people copy, or compare with what others said: it stays as it is. So does what is no block at all."""


def node_names(report: AnyReport) -> frozenset[str]:
    """Return the nodes that a report names, as far as it says which names are nodes."""
    return frozenset(_names(report))


def _names(report: AnyReport) -> Iterator[str]:
    # By its kind: one command's report needs no other's types.
    if report.kind == "SkewReport":
        for row in report.items:
            yield from (name for domain in row.constraint.domains for name in domain.nodes)
            yield from (node.name for node in row.constraint.bypassed_nodes)
    elif report.kind == "SimulateReport":
        for step in report.steps:
            yield from (each.node for each in (*step.evicted, *step.lost, *step.preempted))
            for item in step.items:
                yield from item.before if item.constraint.topology_key == HOSTNAME else ()
    elif report.kind == "RebalanceReport":
        yield from (node for each in report.evictions for node in (each.node, *each.lands))
        for plan in report.items:
            yield from plan.before if plan.constraint.topology_key == HOSTNAME else ()
    else:
        yield from (node.name for item in report.items for node in item.nodes)


def rewritten(part: PartT, change: Callable[[str], str]) -> PartT:
    """Return a part of an outline with its texts changed, except those that are to be copied."""
    if isinstance(part, COPIED_PARTS):
        return part
    fields = (name for name in part.__struct_fields__ if name not in COPIED_FIELDS)
    return msgspec.structs.replace(part, **{name: _changed(getattr(part, name), change) for name in fields})


def _changed(value: object, change: Callable[[str], str]) -> object:
    if type(value) is str:  # An enumeration's member is a str, too.
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(each, change) for each in cast("tuple[object, ...]", value))
    return rewritten(value, change) if isinstance(value, Part | Finding | Incomplete) else value
