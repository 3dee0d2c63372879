"""JSON documents, one after another in a file, as bytes or as plain values.

Hundreds of megabytes are cut into documents without making a value of them; ``JsonDocument.values`` is for the small
files that people write, and strict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from kubectl_spread.objects.decoding import DecodeError, Plain, as_sent, plain

# White space, and the lines between documents that YAML has and generators put into JSON as well.
# Possessive: what was passed is not remembered, which would take a hundred times the bytes.
_BETWEEN = re.compile(rb"(?:[ \t\r\n]++|^---[ \t]*+(?:#[^\n]*+)?$)*+", re.MULTILINE)
_COMMA = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+")
# How msgspec says that a document ends before the bytes do, naming one byte too far, and where it fails.
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_TRUNCATED = "Input data was truncated"
_CUT_OFF = "is cut off: the JSON ends in the middle of a value"


class JsonError(Exception):
    """Bytes that are not JSON, or not JSON that an object can have."""


class JsonDocument(msgspec.Struct, frozen=True):
    """One document of a file.

    Attributes:
        number: counted from 1.
        raw: its bytes, of which only the structure has been looked at.
    """

    number: int
    raw: msgspec.Raw

    def values(self) -> Plain:
        """Return the plain values of the document, numbers as kubectl sends them.

        Raises:
            JsonError: a key is given twice, or a string or number is none that JSON allows.
        """
        try:
            # msgspec says whether it is JSON, which json is lax about; json alone says that a key was there before.
            plain(self.raw)
            values: Plain = json.loads(
                bytes(self.raw),
                object_pairs_hook=_without_repetition,
                parse_float=lambda digits: as_sent(float(digits)),
            )
        except DecodeError as error:
            raise JsonError(f"is {error.reason}") from error
        except RecursionError as error:
            raise JsonError("is nested too deep") from error
        return values


def split(content: bytes) -> Iterator[JsonDocument]:
    """Yield the documents, which need nothing between them.

    Raises:
        JsonError: the bytes from here on are not JSON.
    """
    view = memoryview(content)
    number, start = 0, _after_blanks(content, 0)
    while start < len(content):
        end = _end(content, view[start:], start)
        number += 1
        yield JsonDocument(number, msgspec.Raw(view[start:end]))
        start = _after_blanks(content, end)


def elements(array: msgspec.Raw) -> Iterator[msgspec.Raw]:
    """Yield what a list holds, one after another: millions of elements at once would take a hundred bytes each."""
    view = memoryview(array)
    start = _after_comma(view, 1)
    while view[start] != ord("]"):
        end = _end(b"", view[start:], start)
        yield msgspec.Raw(view[start:end])
        start = _after_comma(view, end)


def _after_comma(view: memoryview, start: int) -> int:
    match = _COMMA.match(view, start)
    return match.end() if match else start


def _after_blanks(content: bytes, start: int) -> int:
    match = _BETWEEN.match(content, start)
    return match.end() if match else start


def _end(content: bytes, rest: memoryview, start: int) -> int:
    try:
        msgspec.json.decode(rest, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        if trailing := _TRAILING.search(str(error)):
            return start + int(trailing[1]) - 1
        raise _error(str(error), content, start) from error
    except RecursionError as error:
        raise JsonError("is nested too deep") from error
    return len(content)


def _error(message: str, content: bytes, start: int) -> JsonError:
    malformed = _MALFORMED.search(message)
    if malformed is None:
        return JsonError(_CUT_OFF if message == _TRUNCATED else f"is not valid JSON: {message}")
    offset = start + int(malformed[2])
    line, column = content.count(b"\n", 0, offset) + 1, offset - content.rfind(b"\n", 0, offset)
    return JsonError(f"is not valid JSON: line {line}, column {column}: {malformed[1]}")


def _without_repetition(pairs: list[tuple[str, Plain]]) -> Plain:
    """Return a mapping, no key of which is given twice: kubectl keeps the last silently, the API server refuses it."""
    mapping: dict[str, Plain] = {}
    for key, value in pairs:
        if key in mapping:
            raise JsonError(f"the key {key!r} is given twice")
        mapping[key] = value
    return mapping
