"""Managed fields: which manager set which fields of an object.

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
    """Return an object after a first server-side apply, without fields that only client-side apply had set.

    kubectl moves the fields of its client-side apply to its server-side apply, and applies again: that removes the
    fields that the manifest no longer has. A dry run lacks this second apply.
    """
    entries = _mapping(applied.get("metadata")).get("managedFields")
    before: list[Map] = []
    others: list[Map] = []
    for entry in entries if isinstance(entries, list) else ():
        fields = _mapping(_mapping(entry).get("fieldsV1"))
        (before if _is_client_side(_mapping(entry), fields) else others).append(fields)
    left = cast("Map", msgspec.json.decode(msgspec.json.encode(applied)))
    for fields in before:
        _remove_fields(left, fields, others)
    return left


def _is_client_side(entry: Map, fields: Map) -> bool:
    annotations = _mapping(_mapping(fields.get("f:metadata")).get("f:annotations"))
    return entry.get("operation") == "Update" and f"f:{LAST_APPLIED}" in annotations


def _remove_fields(value: Map | list[Plain], fields: Map, others: Sequence[Map]) -> None:
    """Remove the fields from a value that no other manager has."""
    for name, inner in fields.items():
        place = _find_entry(value, name)
        if place is None:
            continue
        within = cast("dict[str | int, Plain]", value)
        managed, has = _mapping(inner), [_mapping(each[name]) for each in others if name in each]
        child = within[place]
        # A manager has an item of a list only if it manages the item itself; it has a field if it manages any part.
        others_have = any(name.startswith("f:") or not each or "." in each for each in has)
        if others_have or (managed and "." not in managed):
            if isinstance(child, dict | list):
                _remove_fields(child, managed, has)
            if others_have or within[place]:
                continue
        del within[place]


def _find_entry(value: Map | list[Plain], name: str) -> str | int | None:
    """Return the key or the index that an entry of managedFields names; None if the value does not have it.

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
