"""Splits a file into JSON documents, as bytes or as plain values.

Hundreds of megabytes are split without decoding them. ``strict_values`` decodes small files.
"""

import json
import re
from collections.abc import Iterator

import msgspec

from kubectl_spread.objects.decoding import DecodeError, as_sent, plain
from kubectl_spread.objects.meta import Plain

# White space, and the --- lines of YAML, which generators also write between JSON documents.
# Possessive quantifiers: backtracking would take a hundred times the memory of the file.
_BETWEEN = re.compile(rb"(?:[ \t\r\n]++|^---[ \t]*+(?:#[^\n]*+)?$)*+", re.MULTILINE)
_COMMA = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+")
# msgspec's errors for bytes after a document (its offset is one too large) and for malformed JSON.
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_TRUNCATED = "Input data was truncated"
_CUT_OFF = "is cut off: the JSON ends in the middle of a value"


class JsonError(Exception):
    """Bytes that are not JSON, or JSON that no object can have."""


def strict_values(document: msgspec.Raw) -> Plain:
    """Return the plain values of a document, with numbers as kubectl sends them.

    Raises:
        JsonError: a key is given twice, or a string or number is invalid.
    """
    try:
        # msgspec refuses invalid JSON that json accepts; only json reports keys that are given twice.
        plain(document)
        values: Plain = json.loads(
            bytes(document),
            object_pairs_hook=_refuse_repeated_keys,
            parse_float=lambda digits: as_sent(float(digits)),
        )
    except DecodeError as error:
        raise JsonError(f"is {error.reason}") from error
    except RecursionError as error:
        raise JsonError("is nested too deep") from error
    return values


def split(content: bytes) -> Iterator[msgspec.Raw]:
    """Yield the documents, of which only the structure is checked; nothing need be between them.

    Raises:
        JsonError: the bytes from here on are not JSON.
    """
    view = memoryview(content)
    start = _skip(_BETWEEN, content, 0)
    while start < len(content):
        end = _end_of_value(content, view[start:], start)
        yield msgspec.Raw(view[start:end])
        start = _skip(_BETWEEN, content, end)


def elements(array: msgspec.Raw) -> Iterator[msgspec.Raw]:
    """Yield the elements of a list one by one: a list of millions would take a hundred bytes for each."""
    view = memoryview(array)
    start = _skip(_COMMA, view, 1)
    while view[start] != ord("]"):
        end = _end_of_value(b"", view[start:], start)
        yield msgspec.Raw(view[start:end])
        start = _skip(_COMMA, view, end)


def _skip(pattern: re.Pattern[bytes], content: bytes | memoryview, start: int) -> int:
    match = pattern.match(content, start)
    return match.end() if match else start


def _end_of_value(content: bytes, rest: memoryview, start: int) -> int:
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


def _refuse_repeated_keys(pairs: list[tuple[str, Plain]]) -> Plain:
    """Return the mapping. For a repeated key, kubectl keeps the last value silently; the API server refuses it."""
    mapping: dict[str, Plain] = {}
    for key, value in pairs:
        if key in mapping:
            raise JsonError(f"the key {key!r} is given twice")
        mapping[key] = value
    return mapping
