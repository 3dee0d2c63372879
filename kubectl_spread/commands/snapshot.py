"""``snapshot``: what the other commands read of a cluster, as a List to read it from later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.source import Source
from kubectl_spread.controllers.deployment import REVISION_ANNOTATION
from kubectl_spread.controllers.replicas import LAST_APPLIED, says_replicas
from kubectl_spread.errors import ExitCode
from kubectl_spread.objects.core import FAILED_SCHEDULING, Event
from kubectl_spread.objects.decoding import Plain
from kubectl_spread.objects.kinds import KINDS, KubernetesObject
from kubectl_spread.objects.meta import KEPT_ANNOTATIONS
from kubectl_spread.objects.storage import (
    ANN_BIND_COMPLETED,
    ANN_DEFAULT_CLASS,
    ANN_MIGRATED_PLUGINS,
    ANN_SELECTED_NODE,
    ANN_STORAGE_CLASS,
)
from kubectl_spread.render.structured import json_text
from kubectl_spread.scheduler.dynamicresources import EXTENDED_RESOURCE_CLAIM
from kubectl_spread.snapshot import Inventory

READ_ANNOTATIONS = frozenset(
    (
        *KEPT_ANNOTATIONS,
        *ANN_DEFAULT_CLASS,
        ANN_BIND_COMPLETED,
        ANN_MIGRATED_PLUGINS,
        ANN_SELECTED_NODE,
        ANN_STORAGE_CLASS,
        EXTENDED_RESOURCE_CLAIM,
        REVISION_ANNOTATION,
    )
)
"""The annotations that any command reads; of what was last applied only whether it says how many replicas there are."""


class Taken(msgspec.Struct, frozen=True):
    """A cluster as it was read.

    Attributes:
        text: the List, as JSON.
        notes: what could not be had, a sentence each.
    """

    text: str
    notes: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Whether all was had that answers rest on."""
        return ExitCode.of_items(no=False, incomplete=bool(self.notes))


def take(source: Source, namespace: str) -> Taken:
    """Return what the other commands read, and nothing else: what our objects do not hold is gone already.

    Args:
        source: where the cluster is read from.
        namespace: of the workloads that will be asked about; empty for all.

    Raises:
        ClusterError: a list that is needed cannot be had.
        ManifestError: a file cannot be read.
    """
    all_reads = (*read_sets.everything(namespace, pending=True), *read_sets.for_manifests([namespace]))
    inventory = source.read(tuple(dict.fromkeys(all_reads)))
    notes = tuple(f"{each.kind.plural} could not be read: {each.why}" for each in inventory.unread)
    items = b",\n".join(msgspec.json.encode(item) for item in _items(inventory))
    return Taken(json_text(b'{"apiVersion":"v1","kind":"List","items":[\n' + items + b"\n]}"), notes)


def _items(inventory: Inventory) -> Iterator[Mapping[str, Plain]]:
    for kind in KINDS:
        for obj in inventory.objects.get(kind.name, ()):
            # What other components say, of a probe's answer or a mount, is read by nobody.
            if isinstance(obj, Event) and obj.reason != FAILED_SCHEDULING:
                continue
            yield {"apiVersion": kind.api_version, "kind": kind.name, **_stripped(obj)}


def _stripped(obj: KubernetesObject) -> dict[str, Plain]:
    values: dict[str, Plain] = msgspec.to_builtins(obj)
    metadata = values.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and isinstance(annotations, dict):
        kept: dict[str, Plain] = {key: text for key, text in annotations.items() if key in READ_ANNOTATIONS}
        applied = annotations.get(LAST_APPLIED)
        if isinstance(applied, str):
            kept[LAST_APPLIED] = '{"spec":{"replicas":1}}' if says_replicas(applied) else "{}"
        metadata["annotations"] = kept
    return values
