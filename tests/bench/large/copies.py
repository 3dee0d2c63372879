"""Copies of what the API server has stored: of one object's bytes, with other names of the same length in them.

A stored object is in Protocol Buffers, where a text stands behind its length: one as long may take its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

Entry = tuple[bytes, bytes]
"""A key of etcd and its value."""


def copied(entry: Entry, replaced: Mapping[str, str]) -> Entry:
    """Return an entry in which texts are replaced, in the key and in the value.

    Raises:
        ValueError: a text is not of the length of what it replaces, or that does not occur.
    """
    key, value = entry
    for old, new in replaced.items():
        if len(old) != len(new) or old.encode() not in value:
            raise ValueError(f"{old!r} cannot become {new!r}")
        key, value = key.replace(old.encode(), new.encode()), value.replace(old.encode(), new.encode())
    return key, value


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
