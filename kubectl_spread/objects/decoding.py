"""Bytes or plain values to Structs; every error names the field.

JSON from the API server is decoded in one typed pass. For ``labels: null``, which Kubernetes reads as absent, that pass
fails, and a second one without the nulls decides.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any, TypeVar, cast

import msgspec

from kubectl_spread.objects.meta import Plain, Struct
from kubectl_spread.objects.template_rest import has_templates, with_rests

T = TypeVar("T")

# Type → msgspec's word for it → our word.
_JSON_TYPES = {type(None): "null", bool: "bool", int: "int", float: "float", str: "str", list: "array", dict: "object"}
_TYPE_NAMES = {
    "null": "null",
    "bool": "a boolean",
    "int": "an integer",
    "float": "a number",
    "int | float": "a number",
    "int | str": "an integer or a string",
    "str": "a string",
    "int | float | str": "a string or a number",
    "array": "a list",
    "object": "a mapping",
}
# The maps of strings: Go reads a null value in them as the empty string.
_STRING_MAPS = frozenset(("labels", "annotations", "matchLabels", "nodeSelector"))
# From here on Go writes integers with an exponent.
_LEAST_EXPONENT = 1e21

# msgspec's error messages, and the steps of the path in them.
_MISMATCH = re.compile(r"Expected `(?P<wanted>[^`]*?)( \| null)?`, got `(?P<found>[^`]*)`")
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`")
_STEP = re.compile(r"\[\.\.\.\]|\[\d+\]|spread\.kubectl\.dev/\w+|[^.\[]+")  # only our own fields' names have dots
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_OUT_OF_RANGE = "out of range"
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class DecodeError(ValueError):
    """An object has a field of the wrong type."""

    def __init__(self, reason: str, field_path: str = "") -> None:
        super().__init__(f"{field_path}: {reason}" if field_path else reason)
        self.field_path = field_path  # the field, such as ``spec.containers[0].name``; empty for the object itself
        self.reason = reason


class ListMeta(Struct, frozen=True):
    """The version of a list, and where the next page begins."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


def decode(document: bytes, into: type[T]) -> T:
    """Return the JSON document as the type; DecodeError if it is not JSON, or a field has the wrong type."""
    try:
        found = _decoder(into).decode(document)
    except msgspec.ValidationError as error:
        if _OUT_OF_RANGE in str(error):
            raise _decode_error(str(error), None) from error
        return convert(plain(document), into)
    except _NOT_JSON as error:
        raise _not_json(error) from error
    return with_rests(found, _templates(_decoder(_Owners).decode(document))) if has_templates(into) else found


class _OwnerSpec(Struct, frozen=True):
    template: Any = None
    job_template: _Owner | None = None


class _Owner(Struct, frozen=True):
    spec: _OwnerSpec = _OwnerSpec()
    data: _Owner | None = None


class _Owners(_Owner, frozen=True):
    """An object with a Pod template, or a list of such objects; only the templates are decoded."""

    items: tuple[_Owner, ...] | None = None


def _templates(owners: _Owners) -> Iterator[Plain]:
    for owner in (owners,) if owners.items is None else owners.items:
        spec = (owner.data or owner).spec
        yield spec.job_template.spec.template if spec.job_template else spec.template


_DECODERS: dict[object, msgspec.json.Decoder[Any]] = {}
_MAKING = threading.Lock()


def _decoder(into: type[T]) -> msgspec.json.Decoder[T]:
    """Return the only decoder of the type, which one thread creates.

    msgspec 0.22 publishes its data about a Struct before it is complete: if several threads use a type for the first
    time, as when lists are read in parallel, the interpreter crashes.
    """
    if into not in _DECODERS:
        with _MAKING:
            _DECODERS.setdefault(into, msgspec.json.Decoder(into))
    return _DECODERS[into]


def plain(document: bytes) -> Plain:
    """Return the JSON document as plain values; DecodeError if it is not JSON."""
    try:
        values: Plain = msgspec.json.decode(document)
    except _NOT_JSON as error:
        raise _not_json(error) from error
    return values


def _not_json(error: Exception) -> DecodeError:
    """Return the error; releases of msgspec differ in how they say that a string is not UTF-8."""
    not_utf8 = isinstance(error, UnicodeDecodeError) or "UTF-8" in str(error)
    return DecodeError(f"not valid JSON: {'a string is not UTF-8' if not_utf8 else error}")


def convert(values: Plain, into: type[T]) -> T:
    """Return the plain values as the type; nulls count as absent, and 3.0 as 3.

    Raises:
        DecodeError: a field has the wrong type.
    """
    _decoder(into)
    try:
        present = _without_nulls(values)
        found = msgspec.convert(present, type=into)
        owners = msgspec.convert(present, type=_Owners) if has_templates(into) else _Owners()
    except msgspec.ValidationError as error:
        raise _decode_error(str(error), present) from error
    except RecursionError as error:
        raise DecodeError("is nested too deep") from error
    return with_rests(found, _templates(owners)) if has_templates(into) else found


def as_sent(number: float) -> int | float:
    """Return a number from a file as kubectl sends it: Go writes 3.0 as 3, which is an integer.

    Source: encoding/json encode.go floatEncoder (Go 1.26).
    """
    return int(number) if number.is_integer() and abs(number) < _LEAST_EXPONENT else number


def type_name(values: Plain) -> str:
    """Return the name of a value's type for people, such as ``a list``."""
    return _TYPE_NAMES[_JSON_TYPES[type(values)]]


def _without_nulls(values: Plain, field: str = "") -> Plain:
    """Return the values of a field as kubectl sends them, without null map entries; nulls in lists are errors."""
    if isinstance(values, dict):
        if field in _STRING_MAPS:
            return {key: "" if value is None else value for key, value in values.items()}
        return {key: _without_nulls(value, key) for key, value in values.items() if value is not None}
    if isinstance(values, list):
        return [_without_nulls(value) for value in values]
    return as_sent(values) if isinstance(values, float) else values


def _decode_error(message: str, values: Plain) -> DecodeError:
    place = _PATH.search(message)
    steps = _STEP.findall(place["path"]) if place else []
    mismatch = _MISMATCH.match(message)
    if mismatch is None:
        return DecodeError(message.partition(" - at ")[0], _field_path(steps))
    wanted, found = mismatch["wanted"], mismatch["found"]
    hint = " (quote it)" if wanted == "str" and found in {"int", "float", "bool"} else ""
    reason = f"must be {_TYPE_NAMES[wanted]}, not {_TYPE_NAMES[found]}{hint}"
    return DecodeError(reason, _field_path((_resolve(steps, values, found) or [steps])[0]))


def _resolve(steps: list[str], values: Plain, found: str) -> list[list[str]]:
    """Return the paths with a key in place of each ``[...]``, msgspec's step for some entry of a map.

    They lead to values of the type that was found; the error is about the first, as msgspec stops there.
    """
    if not steps:
        return [[]] if _JSON_TYPES[type(values)] == found else []
    entries = _entries(steps[0], values)
    return [[step, *tail] for step, value in entries.items() for tail in _resolve(steps[1:], value, found)]


def _entries(step: str, values: Plain) -> dict[str, Plain]:
    if isinstance(values, list):
        return {step: values[int(step[1:-1])]}
    fields = cast("dict[str, Plain]", values)
    if step != "[...]":
        return {step: fields[step]}
    return {key if _PLAIN_KEY.fullmatch(key) else f"[{key}]": value for key, value in fields.items()}


def _field_path(steps: list[str]) -> str:
    return "".join(step if step.startswith("[") else f".{step}" for step in steps).removeprefix(".")
