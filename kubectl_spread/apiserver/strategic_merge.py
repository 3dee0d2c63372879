"""Strategic merge patches: how ``kubectl apply`` computes one from three objects, and how an API server applies it.

This works on plain values and keeps upstream's quirks: if a merge key occurs twice in a list (two constraints on one
topologyKey), items are paired after a sort that is not stable, and are merged into the first one.

Source: apimachinery pkg/util/strategicpatch/patch.go CreateThreeWayMergePatch and StrategicMergeMapPatch (v1.36). What
differs: of lists of more than 12 items in which a merge key occurs twice, Go leaves the order of the two to chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias, cast

import msgspec

from kubectl_spread.apiserver.fields import Tables
from kubectl_spread.objects.decoding import type_name
from kubectl_spread.objects.meta import Plain, walked

Map: TypeAlias = dict[str, Plain]
List: TypeAlias = list[Plain]

_PATCH, _RETAIN_KEYS = "$patch", "$retainKeys"
_DELETE_FROM, _SET_ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"
DIRECTIVES = (_PATCH, _RETAIN_KEYS, _DELETE_FROM, _SET_ORDER)  # How the names of the fields begin that direct a patch
_MERGE, _REPLACE, _DELETE = "merge", "replace", "delete"


class MergeError(ValueError):
    """Objects cannot be merged, so ``kubectl apply`` fails."""


class Rule(msgspec.Struct, frozen=True):
    """How a field is merged."""

    # ``merge`` or ``replace``; empty for the default of its type: maps are merged, lists are replaced
    strategy: str = ""
    merge_key: str = ""  # the field that identifies the items of a list; empty for lists of scalars
    retain_keys: bool = False  # whether fields that the patch does not name are removed, as in a union


class Schema(msgspec.Struct, frozen=True):
    """How the fields of a definition are merged."""

    tables: Tables
    definition: str  # for example ``core.v1.PodSpec``; empty for a map or an unknown type

    def knows(self, field: str) -> bool:
        """Whether the definition has this field, or is not known."""
        return field in self.tables.definitions.get(self.definition, (field,))

    def of(self, field: str) -> tuple[Schema, Rule]:
        """Return (the schema of a field or of a list's items, the rule to merge the field).

        Raises:
            MergeError: the definition does not have the field.
        """
        if not self.knows(field):
            raise MergeError(f'unable to find api field "{field}"')
        entry = self.tables.definitions.get(self.definition, {}).get(field, "")
        inner = (entry if isinstance(entry, str) else entry[0]).removeprefix("[]")
        strategies, _, key = self.tables.merges.get(self.definition, {}).get(field, "").partition(":")
        retain_keys = "retainKeys" in strategies
        return Schema(self.tables, inner), Rule(
            strategies.replace(",retainKeys", "").replace("retainKeys", ""), key, retain_keys
        )


def three_way_patch(original: Map, modified: Map, current: Map, schema: Schema) -> Map:
    """Return the patch that applies a manifest; ``original`` is empty if the manifest applied last is not known.

    Raises:
        MergeError: there is no such patch.
    """
    changes = _Diff(deletions=False).of_maps(current, modified, schema)
    deletions = _Diff(deletions=True).of_maps(original, modified, schema)
    return _Merge(final=False).maps(copied(deletions), copied(changes), schema)


def patched(current: Map, patch: Map, schema: Schema) -> Map:
    """Return the object after the patch is applied; MergeError if the patch is invalid."""
    return _Merge(final=True).maps(copied(current), copied(patch), schema)


class _Diff(msgspec.Struct, frozen=True):
    """Computes the difference of two objects as a patch."""

    deletions: bool  # whether the patch has only the removed fields, or only the new and changed ones

    def of_maps(self, original: Map, modified: Map, schema: Schema, *, retain_keys: bool = False) -> Map:
        patch: Map = {}
        for key, value in modified.items():
            if key not in original:
                if not self.deletions:
                    patch[key] = value
                continue
            was = original[key]
            if not schema.knows(key) and same(was, value):
                continue
            if isinstance(was, dict) and isinstance(value, dict):
                self._map(key, was, value, patch, schema)
            elif isinstance(was, list) and isinstance(value, list):
                self._list(key, was, value, patch, schema)
            elif not self.deletions and not same(was, value):
                patch[key] = value
        gone = [key for key in original if key not in modified]
        if self.deletions:
            patch |= dict.fromkeys(gone)
        kept = sorted(key for key, value in modified.items() if value is not None) if retain_keys else []
        if kept and (patch or any(original[key] is not None for key in gone)):
            patch[_RETAIN_KEYS] = [*kept]
        return patch

    def _map(self, key: str, was: Map, value: Map, patch: Map, schema: Schema) -> None:
        inner, rule = schema.of(key)
        if rule.strategy == _REPLACE:
            if not self.deletions:
                patch[key] = value
        elif found := self.of_maps(was, value, inner, retain_keys=rule.retain_keys):
            patch[key] = found

    def _list(self, key: str, was: List, value: List, patch: Map, schema: Schema) -> None:
        inner, rule = schema.of(key)
        if rule.strategy != _MERGE:
            if not self.deletions and not same(was, value):
                patch[key] = value
            return
        if not was:
            if value and not self.deletions:
                patch[key] = value
            return
        if _hold_maps(was, value):
            found, order = self._items(was, value, inner, rule)
            gone: List = []
        else:
            found, gone, order = self._scalars(was, value)
        named = {key: found, f"{_DELETE_FROM}{key}": gone, f"{_SET_ORDER}{key}": order}
        patch |= {name: items for name, items in named.items() if items}

    def _items(self, was: List, value: List, schema: Schema, rule: Rule) -> tuple[List, List]:
        """Return (the items to change, add or delete, the order of the list if the patch needs it)."""
        key = rule.merge_key
        changed, gone = self._paired(_by_name(was, key), _by_name(value, key), schema, rule)
        found = [*_in_order(changed, value, key), *gone]
        before, after = ([_key(each, key) for each in items] for items in (was, value))
        if found or not (self.deletions or before == after):
            return found, [{key: name} for _, name in after]
        return found, []

    def _paired(self, was: list[Map], value: list[Map], schema: Schema, rule: Rule) -> tuple[List, List]:
        """Return (new and changed items, directives that delete the removed ones), both by merge key."""
        key = rule.merge_key
        changed: List = []
        gone: List = []
        left = right = 0
        while left < len(was) or right < len(value):
            old, new = was[left : left + 1], value[right : right + 1]
            names = [go_text(each[key]) for each in (*old, *new)]
            if old and new and names[0] == names[1]:
                if patch := self.of_maps(old[0], new[0], schema, retain_keys=rule.retain_keys):
                    changed.append({**patch, key: new[0][key]})
                left, right = left + 1, right + 1
            elif new and (not old or names[0] > names[1]):
                changed += [] if self.deletions else new
                right += 1
            else:
                gone += [{key: each[key], _PATCH: _DELETE} for each in old if self.deletions]
                left += 1
        return changed, gone

    def _scalars(self, was: List, value: List) -> tuple[List, List, List]:
        """Return (added scalars, removed scalars, the order of the list if the patch needs it)."""
        left, right = sorted(was, key=go_text), sorted(value, key=go_text)
        if self.deletions:
            gone = _without_repeats(_missing_from(left, right))
            return [], gone, value if gone else []
        # upstream: it is the old list sorted that is compared with the new one.
        return _in_order(_missing_from(right, left), value, ""), [], [] if same(left, value) else value


class _Merge(msgspec.Struct, frozen=True):
    """Merges a patch into an object or into another patch; both arguments are changed."""

    final: bool  # whether it merges into an object: then directives are executed and unused nulls are dropped

    def maps(self, original: Map, patch: Map, schema: Schema) -> Map:
        if _PATCH in patch:
            return _execute_directive(patch)
        self._retain_keys(original, patch)
        for key in [each for each in patch if each.startswith(_SET_ORDER)]:
            self._ordered(original, patch, key, schema)
        for key, value in patch.items():
            if key.startswith(_DELETE_FROM):
                if not self.final:
                    original[key] = value
                elif isinstance(was := original.get(name := key.removeprefix(_DELETE_FROM)), list):
                    original[name] = _without(was, value)
                continue
            if value is None:
                original.pop(key, None)
                if self.final:
                    continue
            self._value(original, key, value, schema)
        return original

    def _value(self, original: Map, key: str, value: Plain, schema: Schema) -> None:
        was = original.get(key)
        if isinstance(was, dict) and isinstance(value, dict):
            inner, rule = schema.of(key)
            original[key] = value if rule.strategy == _REPLACE else self.maps(was, value, inner)
        elif isinstance(was, list) and isinstance(value, list):
            inner, rule = schema.of(key)
            original[key] = self._merged(was, value, inner, rule)[0] if rule.strategy == _MERGE else value
        elif _is_directive(value):
            original.pop(key, None)
        else:
            original[key] = _without_directives(without_nulls(value) if self.final else value)

    def _retain_keys(self, original: Map, patch: Map) -> None:
        if _RETAIN_KEYS not in patch:
            return
        keys = patch.pop(_RETAIN_KEYS)
        if not self.final:
            if not same(original.setdefault(_RETAIN_KEYS, keys), keys):
                raise MergeError(f"{_RETAIN_KEYS} of two patches are not equal")
            return
        for key in [each for each in original if each not in _as_list(keys)]:
            del original[key]

    def _ordered(self, original: Map, patch: Map, directive: str, schema: Schema) -> None:
        """Merge a list with a ``$setElementOrder`` directive."""
        order = _as_list(patch.pop(directive))
        if not self.final and not same(original.setdefault(directive, order), order):
            raise MergeError("invalid patch format of setElementOrder list")
        name = directive.removeprefix(_SET_ORDER)
        inner, rule = schema.of(name)
        live, new = _as_list(original.get(name, [])), _as_list(patch.get(name, []))
        _check_order(new, order, rule.merge_key)
        merged = server_order = live
        if name in patch and name in original and rule.strategy == _MERGE:
            merged, server_order = self._merged(live, new, inner, rule)
        elif name in patch and name in original:
            merged = new
        elif name in patch:
            merged = _as_list(_without_directives(new))
        elif name not in original:
            return
        _hold_maps(server_order, new)
        original[name] = _in_final_order(merged, order, server_order, rule.merge_key)
        patch.pop(name, None)

    def _merged(self, live: List, new: List, schema: Schema, rule: Rule) -> tuple[List, List]:
        """Return (the merged list, the live list as Go's slice of it is then)."""
        if not live and not new:
            return live, live
        key = rule.merge_key
        _hold_maps(live, new)
        if not key:
            return _in_final_order(_without_repeats([*live, *new]), new, live, ""), live
        kept = [*live]
        stale: List = []
        items = [each for each in new if _PATCH not in _as_map(each)]
        directives = [_as_map(each) for each in new if _PATCH in _as_map(each)]
        for each in directives:
            _check_directive(each, key)
            if each[_PATCH] == _DELETE:
                gone = _key(each, key)
                left = [item for item in kept if _key_or_none(item, key) != gone]
                # upstream: what is deleted moves the rest forward in place.
                stale, kept = kept[-1:] * (len(kept) - len(left)) + stale, left
        if any(each[_PATCH] == _REPLACE for each in directives):
            kept, items = items, []
        merged = self._items([*kept], items, key, schema)
        # upstream: and what is added takes the room that became free.
        view = [*merged, *stale[len(merged) - len(kept) :]]
        return _in_final_order(merged, items, kept, key), view[: len(live)]

    def _items(self, live: List, new: List, key: str, schema: Schema) -> List:
        places = {_key_or_none(each, key): index for index, each in reversed([*enumerate(live)])}
        for each in new:
            name = _key(each, key)
            if name in places:
                index = places[name]
                live[index] = self.maps(_as_map(live[index]), _as_map(each), schema)
            else:
                places[name] = len(live)
                live.append(each)
        return live


def copied(values: Map) -> Map:
    """Return a deep copy in which no value is shared, as aliases of YAML are."""
    return cast("Map", msgspec.json.decode(msgspec.json.encode(values)))


def same(left: Plain, right: Plain) -> bool:
    """Whether values are equal in Go: 1, 1.0 and true differ."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def go_text(value: Plain) -> str:
    """Return a scalar as Go's ``%v`` prints it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "<nil>" if value is None else str(value)


def _execute_directive(patch: Map) -> Map:
    directive = patch.pop(_PATCH)
    if directive == _REPLACE:
        return patch
    if directive == _DELETE:
        return {}
    raise MergeError(f"unknown patch type: {directive}")


def _check_directive(item: Map, key: str) -> None:
    if item[_PATCH] == _DELETE:
        _key(item, key)
    elif item[_PATCH] == _MERGE:
        raise MergeError("merging lists cannot yet be specified in the patch")
    elif item[_PATCH] != _REPLACE:
        raise MergeError(f"unknown patch type: {item[_PATCH]}")


def _check_order(new: List, order: List, key: str) -> None:
    if not new or not order:
        return
    new = [each for each in new if not (isinstance(each, dict) and each.get(_PATCH) == _DELETE)]
    at = 0
    for wanted in order:
        while at < len(new) and _is_directive(new[at]):
            at += 1
        if at < len(new) and _key(new[at], key) == _key(wanted, key):
            at += 1
    if at < len(new):
        raise MergeError("The order in patch list doesn't match $setElementOrder list")


def _hold_maps(*lists: List) -> bool:
    """Whether the items of the lists are maps; at least one list must have items."""
    kinds = {type(item) for items in lists for item in items}
    if list in kinds:
        raise MergeError("lists of lists are not supported")
    if len(kinds) != 1 or type(None) in kinds:
        raise MergeError("list element types are not identical" if kinds else "no elements in any of the given slices")
    return dict in kinds


def _as_map(value: Plain) -> Map:
    if not isinstance(value, dict):
        raise MergeError(f"expected a map[string]interface {{}}, but received a {type_name(value)}")
    return value


def _as_list(value: Plain) -> List:
    if not isinstance(value, list):
        raise MergeError(f"expected a []interface {{}}, but received a {type_name(value)}")
    return value


Key: TypeAlias = tuple[type, Plain]  # (type, value) of a merge key, because Go compares both


def _key(item: Plain, key: str) -> Key:
    found = _key_or_none(item, key)
    if found is None:
        shown = " ".join(f"{name}:{go_text(value)}" for name, value in sorted(_as_map(item).items()))
        raise MergeError(f"map: map[{shown}] does not contain declared merge key: {key}")
    return found


def _key_or_none(item: Plain, key: str) -> Key | None:
    if key and key not in _as_map(item):
        return None
    value = _as_map(item)[key] if key else item
    if isinstance(value, dict | list):
        raise MergeError(f"{type_name(value)} cannot be compared")
    return type(value), value


def _by_name(items: List, key: str) -> list[Map]:
    """Return the items sorted by merge key; of two equal ones the later comes first.

    # upstream: so does an insertion sort that is told of equal ones that either comes before the other.
    """
    for each in items:
        _key(each, key)
    return sorted(map(_as_map, reversed(items)), key=lambda item: go_text(item[key]))


def _in_order(items: List, order: List, key: str) -> List:
    """Return the items in the given order, and directives that delete at the end."""
    named = [(each, _key(each, key)) for each in items]
    gone = [each for each, _ in named if key and _as_map(each).get(_PATCH) == _DELETE]
    kept = [pair for pair in named if not (key and _as_map(pair[0]).get(_PATCH) == _DELETE)]
    places = _places(order, key)
    return [*(each for each, _ in sorted(kept, key=lambda pair: places.get(pair[1], -1))), *gone]


def _places(order: List, key: str) -> Mapping[Key, int]:
    return {_key(each, key): index for index, each in reversed([*enumerate(order)])}


def _in_final_order(merged: List, order: List, server_order: List, key: str) -> List:
    """Return the merged list: the patch decides the order of its items, the server that of the others between them."""
    names = {_key_or_none(each, key) for each in order}
    ordered = _in_order([each for each in merged if _key(each, key) in names], order, key)
    rest = _in_order([each for each in merged if _key(each, key) not in names], server_order, key)
    places = _places(server_order, key)
    placed: List = []
    for each in ordered:
        place = places.get(_key(each, key), -1)
        while rest and 0 <= places.get(_key(rest[0], key), place) < place:
            placed.append(rest.pop(0))
        placed.append(each)
    return [*placed, *rest]


def _missing_from(items: List, others: List) -> List:
    """Return the items that the others lack; equal items are counted."""
    left = Counter(map(go_text, others))
    found: List = []
    for each in items:
        if left[go_text(each)]:
            left[go_text(each)] -= 1
        else:
            found.append(each)
    return found


def _without_repeats(items: List) -> List:
    """Return each scalar once.

    # upstream: the last takes the place of one that is repeated.
    """
    items, first = [*items], 0
    while first < len(items) - 1 and len({_key(each, "") for each in items}) < len(items):
        other = first + 1
        while other < len(items):
            if same(items[first], items[other]):
                items[other] = items[-1]
                items.pop()
            else:
                other += 1
        first += 1
    return items


def _without(items: List, gone: Plain) -> List:
    if items or gone:
        _hold_maps(items, _as_list(gone))
    names = {_key(each, "") for each in _as_list(gone)}
    return [each for each in items if _key(each, "") not in names]


def without_nulls(values: Plain) -> Plain:
    """Return the values without the fields that are null."""
    return walked(values, lambda found: {key: value for key, value in found.items() if value is not None})


def _without_directives(values: Plain) -> Plain:
    if isinstance(values, dict):
        return {key: _without_directives(value) for key, value in values.items() if not _is_directive(value)}
    if isinstance(values, list):
        return [_without_directives(each) for each in values if not _is_directive(each)]
    return values


def _is_directive(value: Plain) -> bool:
    return isinstance(value, dict) and _PATCH in value
