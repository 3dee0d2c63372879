"""JSON merge patches, with which ``kubectl apply`` changes objects of other APIs: lists are replaced.

Source: apimachinery pkg/util/jsonmergepatch/patch.go CreateThreeWayJSONMergePatch (v1.36), RFC 7386.
"""

from __future__ import annotations

from kubectl_spread.apiserver.strategic_merge import Map, same
from kubectl_spread.objects.decoding import Plain


def three_way_json_patch(original: Map, modified: Map, current: Map) -> Map:
    """Return the patch that applies a manifest.

    Args:
        original: the manifest applied last; empty if it is not known.
        modified: the new manifest.
        current: the existing object.
    """
    changes = _only(_difference(current, modified), nulls=False)
    deletions = _only(_difference(original, modified), nulls=True)
    return json_patched(deletions, changes)


def json_patched(current: Map, patch: Map) -> Map:
    """Return the object after the patch is applied."""
    merged = {**current}
    for key, value in patch.items():
        was = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(was, dict) and isinstance(value, dict):
            merged[key] = json_patched(was, value)
        else:
            merged[key] = _without_nulls(value)
    return merged


def _difference(old: Map, new: Map) -> Map:
    found: Map = dict.fromkeys(key for key in old if key not in new)
    for key, value in new.items():
        was = old.get(key)
        if isinstance(was, dict) and isinstance(value, dict):
            found |= {key: inner} if (inner := _difference(was, value)) else {}
        elif key not in old or not same(was, value):
            found[key] = value
    return found


def _only(patch: Map, *, nulls: bool) -> Map:
    """Return the part of a patch that deletes fields, or the part that sets them."""
    found: Map = {}
    for key, value in patch.items():
        if isinstance(value, dict) and value:
            found |= {key: inner} if (inner := _only(value, nulls=nulls)) else {}
        elif (value is None) == nulls:
            found[key] = value
    return found


def _without_nulls(values: Plain) -> Plain:
    if isinstance(values, dict):
        return {key: _without_nulls(value) for key, value in values.items() if value is not None}
    return [_without_nulls(each) for each in values] if isinstance(values, list) else values
