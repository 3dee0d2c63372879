"""The outline of a report: its items, the cluster they are of, what commands need to reach it, and short node names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.contract.report import CONTEXT, ClusterAccess, Metadata
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.render.outline import Commands, EditBlock, Gaps, Item, Messages, Note, Outline, Part, Steps
from kubectl_spread.wording import pages as wording
from kubectl_spread.wording.incomplete import Incomplete

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport


def outline_with(items: Iterable[Item], report: AnyReport, gaps: Gaps | None = None) -> Outline:
    """Return the outline of a report that has these items; it names these gaps, or else all of the report."""
    note = commands_note(report.metadata)
    return Outline(
        items=_noted(tuple(items), note) if note else tuple(items),
        gaps=gaps or Gaps.of(report.incomplete),
        nodes=node_names(report),
        header=header(report.metadata),
    )


def header(metadata: Metadata) -> str:
    """Return which cluster was read; empty where it is the one that kubectl asks without flags, or files alone."""
    found = metadata.access
    if not isinstance(found, ClusterAccess) or found.current:
        return ""
    if not metadata.server:
        named = (found.taken_at, found.context, found.cluster, found.server)
        return wording.taken_from(*named) if any(named) else ""
    return wording.read_from(found.context, found.cluster, metadata.server)


def commands_note(metadata: Metadata) -> str:
    """Return what is to be added to commands; empty where they reach the cluster as they are."""
    if not metadata.server and metadata.source and not {CONTEXT, "--server"} & {*metadata.connection_flags}:
        return wording.FILES_NAME_NO_CLUSTER
    flags = metadata.access.secret_flags if isinstance(metadata.access, ClusterAccess) else ()
    return wording.left_out(flags, snapshot=not metadata.server) if flags else ""


def _noted(items: tuple[Item, ...], line: str) -> tuple[Item, ...]:
    """Return the items with the line above the first of all their commands."""
    for at, item in enumerate(items):
        for part, blocks in enumerate(item.paragraphs):
            for number, block in enumerate(blocks):
                bare = isinstance(block, Commands)
                if bare or (isinstance(block, Steps) and any(step.commands for step in block.steps)):
                    first = number - (bare and isinstance(blocks[number - 1], Note))  # A note leads to bare commands.
                    noted = [*item.paragraphs]
                    noted[part] = (*blocks[:first], Note(line=line), *blocks[first:])
                    return (*items[:at], replace(item, paragraphs=tuple(noted)), *items[at + 1 :])
    return items


PartT = TypeVar("PartT", bound=Part | Incomplete)

COPIED_PARTS = (Commands, Messages, EditBlock)
# What people copy, or compare with what others said: it stays as it is. So does what is no block at all.
COPIED_FIELDS = frozenset(("commands", "header", "yaml"))


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
    elif report.kind == "AuditReport":
        for audited in (key for item in report.items for key in item.keys):
            yield from audited.usable if audited.topology_key == HOSTNAME else ()
    elif report.kind == "RebalanceReport":
        yield from (node for each in report.evictions for node in (each.node, *each.lands))
        for plan in report.items:
            yield from plan.before if plan.constraint.topology_key == HOSTNAME else ()
    else:
        yield from chain.from_iterable(item.node_names for item in report.items)


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
    return rewritten(value, change) if isinstance(value, Part | Incomplete) else value
