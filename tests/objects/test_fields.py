"""Every field of Pods, Nodes and workloads is read, or stands in UNREAD with the reason why it changes no answer.

The fields are those of the API's own OpenAPI documents, of every release (tests/openapi.py): one that a new release
brings fails here until it is read, or given its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache

import msgspec

from kubectl_spread.objects import kinds
from tests.objects.unread import UNREAD
from tests.openapi import DATA

PARTS = {kinds.POD: ("spec",), kinds.NODE: ("spec", "status"), **dict.fromkeys(kinds.WORKLOAD_KINDS, ("spec",))}
"""The parts of objects whose every field is accounted for, with all that they hold."""


@cache
def api() -> Mapping[str, Mapping[str, str]]:
    """Return type → field → the type of its value, or of the entries of a list or map, in any release."""
    definitions = json.loads(DATA.read_text(encoding="utf-8"))["definitions"]
    return {
        name: {field: (said if isinstance(said, str) else said[0]).lstrip("[]{}") for field, said in fields.items()}
        for name, fields in definitions.items()
    }


@cache
def read_by(struct: type[msgspec.Struct]) -> Mapping[str, type[msgspec.Struct] | None]:
    """Return the field, as the API spells it, of a Struct → the Struct that reads its value, alone or many times."""
    described = msgspec.inspect.type_info(struct)
    assert isinstance(described, msgspec.inspect.StructType)
    return {field.encode_name: next(_structs(field.type), None) for field in described.fields}


def _structs(described: msgspec.inspect.Type) -> Iterator[type[msgspec.Struct]]:
    match described:
        case msgspec.inspect.StructType():
            yield described.cls
        case msgspec.inspect.UnionType():
            for each in described.types:
                yield from _structs(each)
        case msgspec.inspect.VarTupleType():
            yield from _structs(described.item_type)
        case msgspec.inspect.DictType():
            yield from _structs(described.value_type)


@cache
def pairs() -> tuple[tuple[str, type[msgspec.Struct]], ...]:
    """Return each type that is read, with the Struct that reads it."""
    known = json.loads(DATA.read_text(encoding="utf-8"))["kinds"]
    left = []
    for kind, parts in PARTS.items():
        of_object, struct = known[f"{kind.api_version} {kind.name}"], read_by(kind.struct)
        left += [(api()[of_object][part], found) for part in parts if (found := struct[part]) is not None]
    seen: dict[tuple[str, type[msgspec.Struct]], None] = {}
    while left:
        name, found = pair = left.pop()
        if pair not in seen:
            seen[pair] = None
            inner = ((holds, read_by(found).get(field)) for field, holds in api()[name].items())
            left += [(holds, each) for holds, each in inner if each is not None and holds in api()]
    return tuple(seen)


def unread() -> set[str]:
    """Return ``Type.field`` of every field that is not read where its type is."""
    return {
        f"{name.rpartition('.')[2]}.{field}"
        for name, struct in pairs()
        for field in api()[name]
        if field not in read_by(struct)
    }


def matching(names: Iterable[str]) -> Mapping[str, set[str]]:
    """Return pattern → the names it stands for."""
    listed = set(names)
    return {pattern: {name for name in listed if fnmatchcase(name, pattern)} for pattern in UNREAD}


def test_all_that_matters_is_looked_at() -> None:
    read = {name.rpartition(".")[2] for name, _ in pairs()}
    assert {"PodSpec", "NodeSpec", "NodeStatus", "Container", "TopologySpreadConstraint", "Taint"} <= read
    assert {f"{kind.name}Spec" for kind in kinds.WORKLOAD_KINDS} <= read


def test_every_field_is_read_or_has_its_reason() -> None:
    explained = set[str]().union(*matching(unread()).values())
    assert sorted(unread() - explained) == []


def test_every_reason_is_of_a_field_that_is_not_read() -> None:
    assert [pattern for pattern, names in matching(unread()).items() if not names] == []
    assert all(UNREAD.values())


def test_every_field_that_is_read_is_one_of_the_api() -> None:
    # A Struct, or its base, may read several types: each field has to be in one of them.
    read = [(name, _declaring(struct, field), field) for name, struct in pairs() for field in read_by(struct)]
    # Only the digest of what is not read has a field of its own.
    known = {(declaring, field) for name, declaring, field in read if field in api()[name] or "/" in field}
    assert {(declaring, field) for _, declaring, field in read} == known


def _declaring(struct: type[msgspec.Struct], field: str) -> type:
    """Return the Struct that brings in a field: the furthest base that has it."""
    bases = [base for base in struct.__mro__ if issubclass(base, msgspec.Struct) and base is not msgspec.Struct]
    return next(base for base in reversed(bases) if field in read_by(base))
