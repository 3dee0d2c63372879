"""Plain values of about the shape that a Struct has: most fields right, some of another type, some strange."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

Strategy: TypeAlias = st.SearchStrategy[Any]

_WORDS = (
    *(
        "",
        "a",
        "b",
        "app",
        "web",
        "zone",
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "default",
        "n1",
        "n2",
    ),
    *("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "NoSchedule", "NoExecute", "PreferNoSchedule"),
    *("DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore", "Always", "Never", "OnDelete", "RollingUpdate", "Pending"),
    *("100m", "1.5Gi", "1e3", "-1", "0", "1e999", "9" * 40, "1Zi", "50%", "2026-11-21T00:00:00Z", "v1.36.1", "None"),
    *("a b", "\x1b[2J", "\u202e", "x" * 300, "/", "a/b/c", "-", "metadata.name", "Pod", "ReplicaSet", "cpu", "memory"),
)
_NUMBERS = (0, 1, 2, 3, -1, 100, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30)
WORDS = st.sampled_from(_WORDS) | st.text(max_size=6)
NUMBERS = st.sampled_from(_NUMBERS) | st.integers(-5, 5)
_FLOATS = st.sampled_from((0.5, -1.5, 1e-7, 1e300, 0.1))
JUNK: Strategy = st.recursive(
    st.none() | st.booleans() | NUMBERS | _FLOATS | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
_MOST_ITEMS = 2
_DEEPEST = 12


def shaped(struct: type[msgspec.Struct]) -> Strategy:
    """Return plain values that decode as the Struct, or that would but for a few fields."""
    described = inspect.type_info(struct)
    return _of(described, 0, strange=False) | _of(described, 0, strange=True)


def _of(described: inspect.Type, depth: int, *, strange: bool) -> Strategy:
    """Return values of a type, in strange ones now and then of another."""
    if depth > _DEEPEST:
        return st.none()
    sound = st.deferred(lambda: _sound(described, depth, strange=strange))
    return st.integers(0, 39).flatmap(lambda number: JUNK if number == 39 else sound) if strange else sound


def _sound(described: inspect.Type, depth: int, *, strange: bool) -> Strategy:
    match described:
        case inspect.StructType(fields=fields):
            optional = {field.encode_name: _of(field.type, depth + 1, strange=strange) for field in fields}
            return st.fixed_dictionaries({}, optional=optional)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return st.lists(_of(item, depth + 1, strange=strange), max_size=_MOST_ITEMS)
        case inspect.DictType(value_type=value):
            return st.dictionaries(WORDS, _of(value, depth + 1, strange=strange), max_size=_MOST_ITEMS)
        case inspect.UnionType(types=types):
            return st.one_of([_sound(each, depth, strange=strange) for each in types])
        case _:
            return _SCALARS.get(type(described), JUNK)


_SCALARS: dict[type[inspect.Type], Strategy] = {
    inspect.NoneType: st.none(),
    inspect.BoolType: st.booleans(),
    inspect.IntType: NUMBERS,
    inspect.FloatType: _FLOATS,
    inspect.StrType: WORDS,
}
