"""``snapshot``: what the other commands read of a cluster, as a List for ``--from``.

These fields look unneeded, and stay: mount paths, by which ``kubectl apply`` merges; RBD monitors and iSCSI names,
because Pods that use one disk exclude each other on a node; the message of the condition PodScheduled, because it is
what the scheduler last reported.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import cast

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from kubectl_spread.cluster.access.options import CARRIED
from kubectl_spread.cluster.reads import describe_counts
from kubectl_spread.commands import read_sets
from kubectl_spread.commands.source import Source
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.controllers.deployment import DESIRED_ANNOTATION, MAX_ANNOTATION, REVISION_ANNOTATION
from kubectl_spread.objects import storage, template_rest
from kubectl_spread.objects.autoscaling import NODE_GROUP_ANNOTATIONS, ConfigMap
from kubectl_spread.objects.core import AUTOSCALERS, FAILED_SCHEDULING, REST, UNKEPT, Event, Pod
from kubectl_spread.objects.decoding import DecodeError, plain
from kubectl_spread.objects.kinds import AUTOSCALER_KINDS, KINDS
from kubectl_spread.objects.meta import KEPT_ANNOTATIONS, LAST_APPLIED, KubernetesObject, Plain
from kubectl_spread.objects.template_rest import template_digest, template_in
from kubectl_spread.objects.times import written
from kubectl_spread.render.structured import json_text
from kubectl_spread.scheduler.dynamicresources import EXTENDED_RESOURCE_CLAIM
from kubectl_spread.snapshot import ORIGIN_API, Inventory, Origin

# The annotations that any command reads. The last applied configuration is reduced to the fields that objects keep.
READ_ANNOTATIONS = frozenset(
    (
        *KEPT_ANNOTATIONS,
        *NODE_GROUP_ANNOTATIONS,
        *storage.ANN_DEFAULT_CLASS,
        storage.ANN_BIND_COMPLETED,
        storage.ANN_MIGRATED_PLUGINS,
        storage.ANN_SELECTED_NODE,
        storage.ANN_STORAGE_CLASS,
        EXTENDED_RESOURCE_CLAIM,
        DESIRED_ANNOTATION,
        MAX_ANNOTATION,
        REVISION_ANNOTATION,
    )
)

# Connection flags whose names a snapshot keeps, without values.
_NOT_KEPT = frozenset(CARRIED.values()) - {"--context", "--cluster", "--user"}


class Taken(msgspec.Struct, frozen=True):
    """A snapshot of a cluster as JSON, what could not be read, and how many objects of which kinds it has."""

    text: str
    notes: tuple[str, ...]
    held: str


def take(source: Source, namespace: str, now: datetime, *, key: bytes = b"") -> Taken:
    """Return what the other commands read, and nothing else: decoding already dropped all other fields.

    A time that files give is kept instead of ``now``. ``key``: of the digests, 16 random bytes; empty for no digests.

    Raises:
        ClusterError: a list that is needed cannot be had.
        ManifestError: a file cannot be read.
    """
    all_reads = (*read_sets.everything(namespace, pending=True), *read_sets.for_manifests([namespace]))
    reads = tuple(dict.fromkeys((*all_reads, *read_sets.scalers([namespace]))))
    inventory = source.read(reads)
    if source.server:
        inventory = read_sets.with_autoscaler(source.read, inventory, reads)
        inventory = read_sets.with_revisions(source.read, inventory, reads)
    origin = _origin(source.access, source.server, now) if source.server else inventory.origin or Origin()
    origin = _with_kinds(origin, inventory)
    api_version, kind = ORIGIN_API
    first = {"apiVersion": api_version, "kind": kind, **msgspec.to_builtins(origin)}
    items = b",\n".join(map(msgspec.json.encode, (first, *_items(inventory, key))))
    # Where autoscalers may not be listed, there mostly are none.
    unread = (each for each in inventory.unread if each.kind not in AUTOSCALER_KINDS)
    notes = tuple(f"{each.kind.plural} could not be read: {each.why}" for each in unread)
    return Taken(
        json_text(b'{"apiVersion":"v1","kind":"List","items":[\n' + items + b"\n]}"), notes, describe_counts(inventory)
    )


def _with_kinds(origin: Origin, inventory: Inventory) -> Origin:
    unread = {each.kind: each for each in inventory.unread}
    versions = inventory.resource_versions
    read = (
        kind for kind in KINDS if kind.name in inventory.objects and (kind not in unread or kind.plural in versions)
    )
    return replace(
        origin,
        held={each.plural: versions.get(each.plural, "") for each in read},
        unread=tuple((each.kind.name, each.why, each.namespace) for each in unread.values()),
        within={kind: tuple(sorted(namespaces)) for kind, namespaces in inventory.within.items()},
        apart=inventory.apart,
    )


def _origin(access: ClusterAccess | UnsetType, server: str, now: datetime) -> Origin:
    """Return the origin, without credentials and paths of this machine."""
    if not isinstance(access, ClusterAccess):
        return Origin(taken_at=written(now), server=server)
    given = dict(pairwise((*access.flags, "")))
    return Origin(
        taken_at=written(now),
        context=access.context,
        cluster=access.cluster,
        server=server,
        cluster_flag=given.get("--cluster", ""),
        user_flag=given.get("--user", ""),
        other_flags=(*(word for word in access.flags if word in _NOT_KEPT), *access.secret_flags),
    )


def _items(inventory: Inventory, key: bytes) -> Iterator[Mapping[str, Plain]]:
    for kind in KINDS:
        for obj in inventory.objects.get(kind.name, ()):
            # No command reads events of other components.
            if isinstance(obj, Event) and obj.reason != FAILED_SCHEDULING and obj.speaker not in AUTOSCALERS:
                continue
            if isinstance(obj, ConfigMap) and obj.metadata.name != read_sets.STATUS_NAME:
                continue
            yield {"apiVersion": kind.api_version, "kind": kind.name, **_reduce(obj, key)}


def _reduce(obj: KubernetesObject, key: bytes) -> dict[str, Plain]:
    """Return the values that are written: the fields that the object keeps, and digests of its template."""
    values = cast("dict[str, Plain]", msgspec.to_builtins(obj))
    metadata = cast("dict[str, Plain]", values.get("metadata", {}))
    annotations = metadata.get("annotations")
    applied = annotations.get(LAST_APPLIED) if isinstance(annotations, dict) else None
    _strip(values)
    if isinstance(obj, Pod):
        _strip_messages(values)
    if template := template_in(values):
        template.pop(UNKEPT, None)
        template[REST] = _kept_digest(template.get(REST), key)
    if isinstance(applied, str):
        metadata["annotations"] = {
            **cast("dict[str, Plain]", metadata["annotations"]),
            LAST_APPLIED: _reduce_last_applied(applied, type(obj), key),
        }
    return values


def _reduce_last_applied(text: str, struct: type[KubernetesObject], key: bytes) -> str:
    """Return the last applied configuration, reduced like the object; "unreadable" where it is malformed."""
    try:
        applied = plain(text.encode())
    except DecodeError:
        applied = None
    if not isinstance(applied, dict):
        return "unreadable"
    kept = cast("dict[str, Plain]", template_rest.kept_of(applied, struct))
    _strip(kept)
    if struct is Pod:
        kept[REST] = _kept_digest(template_rest.pod_digest(applied), key)
    elif template := template_in(kept):
        template[REST] = _kept_digest(template.get(REST) or template_digest(template_in(applied)), key)
    return msgspec.json.encode({"metadata": {}, **kept}).decode()


def _kept_digest(digest: Plain, key: bytes) -> str:
    """Return the digest under the key; without one nothing is kept."""
    if not isinstance(digest, str) or not digest or not key:
        return template_rest.UNKNOWN
    return template_rest.keyed(digest, key)


def _strip_messages(pod: dict[str, Plain]) -> None:
    """Remove the messages of conditions other than the scheduler's, which no command reads."""
    status = pod.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for each in conditions if isinstance(conditions, list | tuple) else ():
        if isinstance(each, dict) and each.get("type") != "PodScheduled":
            each.pop("message", None)


def _strip(values: Plain) -> None:
    """Remove unread annotations and the last applied configuration, at every depth."""
    if isinstance(values, list | tuple):
        for each in values:
            _strip(each)
    elif isinstance(values, dict):
        metadata = values.get("metadata")
        if isinstance(metadata, dict) and isinstance(annotations := metadata.get("annotations"), dict):
            metadata["annotations"] = {
                name: text for name, text in annotations.items() if name in READ_ANNOTATIONS and name != LAST_APPLIED
            }
        for each in values.values():
            _strip(each)
