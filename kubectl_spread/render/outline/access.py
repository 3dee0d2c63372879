"""The outline of a report: its items, the cluster they are of, and what the commands in them need to reach it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_spread.contract.report import ClusterAccess, Metadata
from kubectl_spread.render.outline import Block, Commands, Gaps, Item, Note, Outline, Steps
from kubectl_spread.render.outline.shortening import node_names
from kubectl_spread.wording import pages as wording

if TYPE_CHECKING:
    from kubectl_spread.render.outline.any_report import AnyReport

CONTEXT = "--context"


def outline_with(items: Iterable[Item], report: AnyReport, gaps: Gaps | None = None) -> Outline:
    """Return the outline of a report that has these items; it names these gaps, or else all of the report."""
    note = commands_note(report.metadata)
    return Outline(
        items=_noted(tuple(items), note) if note else tuple(items),
        gaps=gaps or Gaps(gaps=report.incomplete),
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


def _missing_flags(metadata: Metadata) -> Sequence[str]:
    """Return the flags that commands lack; none where they reach the cluster as they are."""
    found = metadata.access
    if not metadata.server and metadata.source and not {CONTEXT, "--server"} & {*metadata.connection_flags}:
        return (CONTEXT,)
    return found.secret_flags if isinstance(found, ClusterAccess) else ()


def commands_note(metadata: Metadata) -> str:
    """Return what is to be added to commands; empty where they reach the cluster as they are."""
    flags = _missing_flags(metadata)
    if CONTEXT in flags:
        return wording.FILES_NAME_NO_CLUSTER
    return wording.left_out(flags, snapshot=not metadata.server) if flags else ""


def _noted(items: tuple[Item, ...], line: str) -> tuple[Item, ...]:
    """Return the items with the line above the first of all their commands."""
    places = ((at, part) for at, item in enumerate(items) for part, blocks in enumerate(item.paragraphs))
    first = next(((at, part) for at, part in places if any(map(_has_commands, items[at].paragraphs[part]))), None)
    if first is None:
        return items
    at, part = first
    paragraphs = items[at].paragraphs
    blocks = paragraphs[part]
    first_command = next(number for number, block in enumerate(blocks) if _has_commands(block))
    # A note leads to bare commands.
    first_command -= isinstance(blocks[first_command], Commands) and isinstance(blocks[first_command - 1], Note)
    noted_blocks = (*blocks[:first_command], Note(line=line), *blocks[first_command:])
    noted = (*paragraphs[:part], noted_blocks, *paragraphs[part + 1 :])
    return (*items[:at], replace(items[at], paragraphs=noted), *items[at + 1 :])


def _has_commands(block: Block) -> bool:
    if isinstance(block, Steps):
        return any(step.commands for step in block.steps)
    return isinstance(block, Commands) or (isinstance(block, Note) and "`kubectl " in block.line)
