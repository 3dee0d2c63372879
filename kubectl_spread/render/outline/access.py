"""The outline of a report: its items, the cluster they are of, and what the commands in them need to reach it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_spread.contract.report import ClusterAccess, Metadata
from kubectl_spread.render.outline import Block, Commands, Fixes, Gaps, Item, Note, Outline
from kubectl_spread.render.outline.shortening import node_names
from kubectl_spread.wording import access as wording

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport


def outline_with(items: Iterable[Item], report: AnyReport, gaps: Gaps | None = None) -> Outline:
    """Return the outline of a report that has these items; it names these gaps, or else all of the report."""
    note = _note(report.metadata)
    return Outline(
        items=tuple(_noted(item, note) for item in items) if note else tuple(items),
        gaps=gaps or Gaps(gaps=report.incomplete),
        nodes=node_names(report),
        header=header(report.metadata),
    )


def header(metadata: Metadata) -> str:
    """Return which cluster was read; empty where it is the one that kubectl asks without flags, or files."""
    found = metadata.access
    if not isinstance(found, ClusterAccess) or found.current:
        return ""
    return wording.read_from(found.context, found.cluster, metadata.server)


def _note(metadata: Metadata) -> str:
    """Return what is to be added to commands; empty where they reach the cluster as they are."""
    if not isinstance(metadata.access, ClusterAccess):
        return "" if metadata.server or not metadata.source else wording.files_name_no_cluster(metadata.source)
    secret = metadata.access.secret_flags
    return wording.secrets_left_out(secret) if secret else ""


def _noted(item: Item, line: str) -> Item:
    """Return the item with the line above the first of its commands."""
    first = next((at for at, blocks in enumerate(item.paragraphs) if any(map(_has_commands, blocks))), None)
    if first is None:
        return item
    before, paragraph, after = item.paragraphs[:first], item.paragraphs[first], item.paragraphs[first + 1 :]
    return replace(item, paragraphs=(*before, (Note(line=line), *paragraph), *after))


def _has_commands(block: Block) -> bool:
    if isinstance(block, Fixes):
        return any(fix.commands for fix in block.fixes)
    return isinstance(block, Commands)
