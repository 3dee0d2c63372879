"""Who manages which fields, as the API server keeps it.

Source: structured-merge-diff merge/update.go prune; client-go util/csaupgrade/upgrade.go; kubectl
pkg/cmd/apply/apply.go migrateToSSAIfNecessary (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from kubectl_spread.apiserver.strategic_merge import Map, same
from kubectl_spread.objects.decoding import Plain
from kubectl_spread.objects.meta import LAST_APPLIED


def without_left_fields(applied: Map) -> Map:
    """Return an object that was just applied on the server, without what only client-side apply had set before.

    kubectl hands what its client-side apply managed over to its server-side apply, and applies once more: what the
    manifest says no longer goes then. A dry run leaves that second time out.
    """
    entries = _mapping(applied.get("metadata")).get("managedFields")
    before: list[Map] = []
    others: list[Map] = []
    for entry in entries if isinstance(entries, list) else ():
        fields = _mapping(_mapping(entry).get("fieldsV1"))
        (before if _is_client_side(_mapping(entry), fields) else others).append(fields)
    left = cast("Map", msgspec.json.decode(msgspec.json.encode(applied)))
    for fields in before:
        _leave(left, fields, others)
    return left


def _is_client_side(entry: Map, fields: Map) -> bool:
    annotations = _mapping(_mapping(fields.get("f:metadata")).get("f:annotations"))
    return entry.get("operation") == "Update" and f"f:{LAST_APPLIED}" in annotations


def _leave(value: Map | list[Plain], fields: Map, others: Sequence[Map]) -> None:
    """Take out of a value what none of the others has."""
    for name, inner in fields.items():
        place = _place(value, name)
        if place is None:
            continue
        within = cast("dict[str | int, Plain]", value)
        managed, has = _mapping(inner), [_mapping(each[name]) for each in others if name in each]
        child = within[place]
        # An item of a list is somebody's only if it is managed itself, a field also by what is in it.
        others_have = any(name.startswith("f:") or not each or "." in each for each in has)
        if others_have or (managed and "." not in managed):
            if isinstance(child, dict | list):
                _leave(child, managed, has)
            if others_have or within[place]:
                continue
        del within[place]


def _place(value: Map | list[Plain], name: str) -> str | int | None:
    """Return the key or the index of what an entry of managedFields names; None where it is not there.

    Source: structured-merge-diff fieldpath/serialize-pe.go.
    """
    kind, _, text = name.partition(":")
    if isinstance(value, dict):
        return text if kind == "f" and text in value else None
    if kind not in {"k", "v"}:
        return None
    wanted: Plain = msgspec.json.decode(text)
    keys = _mapping(wanted) if kind == "k" else {}
    for index, each in enumerate(value):
        if same(each, wanted) or (keys and all(same(_mapping(each).get(key), held) for key, held in keys.items())):
            return index
    return None


def _mapping(values: Plain) -> Map:
    return values if isinstance(values, dict) else {}
