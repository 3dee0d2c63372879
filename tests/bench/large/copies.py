"""Copies of what the API server has stored: of one object's bytes, with other names of the same length in them.

A stored object is in Protocol Buffers, where a text stands behind its length: one as long may take its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

Entry = tuple[bytes, bytes]
"""A key of etcd and its value."""
Part = str | datetime
"""What copies differ in."""


def copied(entry: Entry, replaced: Iterable[tuple[Part, Part]]) -> Entry:
    """Return an entry in which texts and times are replaced, in the key and in the value.

    Raises:
        ValueError: a text is not of the length of what it replaces, or that does not occur.
    """
    key, value = entry
    for old, new in replaced:
        before, after = _stored(old), _stored(new)
        if len(before) != len(after) or before not in value:
            raise ValueError(f"{old!r} cannot become {new!r}")
        key, value = key.replace(before, after), value.replace(before, after)
    return key, value


def _stored(value: Part) -> bytes:
    """Return a text, or the seconds of a time, as they are stored."""
    return value.encode() if isinstance(value, str) else b"\x08" + _varint(int(value.timestamp()))


def _varint(number: int) -> bytes:
    """Return a number as Protocol Buffers have it: seven bits a byte, the last ones first."""
    if number < 0x80:
        return bytes((number,))
    return bytes((number & 0x7F | 0x80,)) + _varint(number >> 7)


def uid(group: int, number: int) -> str:
    """Return a UID of our own making: of an object among those that are alike."""
    return f"{group:08x}-0000-4000-8000-{number:012x}"


def batches(entries: Iterable[Entry], *, largest_bytes: int, most: int) -> Iterator[Sequence[Entry]]:
    """Yield the entries in groups that one transaction takes."""
    held: list[Entry] = []
    held_bytes = 0
    for entry in entries:
        if held and (len(held) == most or held_bytes + len(entry[1]) > largest_bytes):
            yield held
            held, held_bytes = [], 0
        held.append(entry)
        held_bytes += len(entry[1])
    if held:
        yield held
