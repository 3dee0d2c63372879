"""Bytes or plain values to Structs; every error names the field.

JSON from the API server is decoded in one pass. Where a file says ``labels: null``, which Kubernetes reads as absent,
the typed pass fails and a second one without the nulls decides.
"""

from __future__ import annotations

import re
from typing import TypeAlias, TypeVar

import msgspec

from kubectl_spread.objects.meta import Struct

T = TypeVar("T")
Plain: TypeAlias = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None


class DecodeError(ValueError):
    """An object has a field of the wrong type.

    Attributes:
        field_path: the field, such as ``spec.containers[0].name``; empty for the object itself.
        reason: what was expected and what was found.
    """

    def __init__(self, reason: str, field_path: str = "") -> None:
        super().__init__(f"{field_path}: {reason}" if field_path else reason)
        self.field_path = field_path
        self.reason = reason


class ListMeta(Struct, frozen=True):
    """Where a list was cut and at which version it was read."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


def decode(document: bytes, into: type[T]) -> T:
    """Return the JSON document as the type.

    Raises:
        DecodeError: it is not JSON, or a field has the wrong type.
    """
    try:
        return msgspec.json.decode(document, type=into)
    except msgspec.ValidationError:
        return convert(plain(document), into)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError(f"not valid JSON: {error}") from error


def plain(document: bytes) -> Plain:
    """Return the JSON document as plain values.

    Raises:
        DecodeError: it is not JSON.
    """
    try:
        values: Plain = msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError(f"not valid JSON: {error}") from error
    return values


def convert(values: object, into: type[T]) -> T:
    """Return the plain values as the type; nulls count as absent.

    Raises:
        DecodeError: a field has the wrong type.
    """
    try:
        return msgspec.convert(_without_nulls(values), type=into)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at ")
        raise DecodeError(reason, _field_path(path.strip("`"))) from error


def _without_nulls(values: object) -> object:
    """Return the values without the map entries that are null; a null in a list stays, and is an error."""
    if isinstance(values, dict):
        return {key: _without_nulls(value) for key, value in values.items() if value is not None}
    if isinstance(values, list):
        return [_without_nulls(value) for value in values]
    return values


def _field_path(path: str) -> str:
    """Return msgspec's ``$.spec.containers[0]`` as Kubernetes writes it."""
    return re.sub(r"^\$\.?", "", path)
