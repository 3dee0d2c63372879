"""Objects in Protocol Buffers, as an API server writes them: zeros too, but for what Go has pointers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from kubectl_spread.objects.protobuf import PREFIX
from kubectl_spread.objects.protobuf_fields import MESSAGES

UNKNOWN = b"\xfa\x7f\x03new\xf8\x7f\x07\xf1\x7f12345678\xf5\x7f1234"
"""Fields of numbers that no release has: bytes, a number, and such of 64 and 32 bits."""


def document(kind: str, raw: bytes) -> bytes:
    """Return an object with what says which kind it is."""
    return PREFIX + written(1, written(1, b"v1") + written(2, kind.encode())) + written(2, raw) + written(4, b"")


def list_of(items: Iterable[msgspec.Struct], **metadata: object) -> bytes:
    """Return a list of objects of one kind as a document; ``continue_`` and the like are of its metadata."""
    held = [*items]
    kind = type(held[0]).__name__ if held else "Pod"
    meta = b"".join(
        _field(number, of, metadata[name]) for name, (number, of) in MESSAGES["ListMeta"].items() if name in metadata
    )
    return document(f"{kind}List", written(1, meta) + b"".join(written(2, message(each, kind)) for each in held))


def message(struct: msgspec.Struct, name: str) -> bytes:
    """Return a Struct as a message, with fields that a later release may have."""
    values = {encoded: getattr(struct, field) for encoded, field in _fields(type(struct))}
    parts = [
        _field(number, kind, values[field]) if field in values else written(number, message(struct, kind))
        for field, (number, kind) in MESSAGES[name].items()
    ]
    return UNKNOWN + b"".join(parts)


@lru_cache
def _fields(struct: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Return what each field is called in JSON and by itself."""
    return tuple((field.encode_name, field.name) for field in msgspec.structs.fields(struct))


def _field(number: int, kind: str, value: Any) -> bytes:  # noqa: ANN401 - of any field
    """Return the value of a field; nothing of None."""
    label, _, of = kind.rpartition(" ")
    if value is None:
        return b""
    if label == "repeated":
        return b"".join(written(number, _value(of, each)) for each in value)
    if label == "map":
        return b"".join(written(number, entry) for entry in _entries(of, value))
    if of in {"bool", "int32", "int64"}:
        return varint(number << 3) + varint(int(value))
    return written(number, _value(of, value))


def _entries(of: str, value: Mapping[str, Any]) -> Iterator[bytes]:
    return (written(1, key.encode()) + written(2, _value(of, each)) for key, each in value.items())


def _value(of: str, value: Any) -> bytes:  # noqa: ANN401 - of any type
    """Return what stands behind a length."""
    if of == "string":
        return bytes(value.encode())
    if of == "Quantity":
        return written(1, value.encode())
    if of == "Time":
        return varint(1 << 3) + varint(int(datetime.fromisoformat(value).timestamp())) + varint(2 << 3) + varint(0)
    return message(value, of)


def written(number: int, part: bytes) -> bytes:
    """Return a field of bytes, or of a message."""
    return varint(number << 3 | 2) + varint(len(part)) + part


def varint(number: int) -> bytes:
    """Return a number, seven bits a byte, the last ones first; a negative one as 64 bits."""
    number &= (1 << 64) - 1
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*written, number))
