"""Decodes YAML text to the plain values that kubectl would send, and finds the lines of fields.

Like kubectl, it splits a file at ``---`` lines before it parses, and reads YAML 1.1 as go-yaml does: ``yes`` and ``y``
are booleans, ``0755`` is octal, dates stay text. kubectl silently drops text after ``...`` and the first of two equal
keys; here both are errors, unless the caller asks for the repeated keys.

Documents are built from parser events, without recursion. So neither deep nesting nor aliases for billions of values
take more time and memory than the text.

Source: apimachinery pkg/util/yaml/decoder.go, sigs.k8s.io/yaml v1.6.0, go.yaml.in/yaml/v2 v2.4.3 (kubectl v1.36).
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol

import msgspec
import yaml
from yaml import events

from kubectl_spread.objects.decoding import as_sent, type_name
from kubectl_spread.objects.meta import Plain

MAX_DEPTH = 200
"""The deepest nesting of mappings and lists; the schemas of Kubernetes stay below 100."""

MAX_ALIASED = 100_000
"""The most values that the aliases of a document may stand for."""

_SEPARATOR = re.compile(r"^---(.*)\n?", re.MULTILINE)
_CONTENT = re.compile(r"^[ \r]*[^ \r\n#]", re.MULTILINE)

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|(?P<octal>0[0-7]*)|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
# Longer than a 64-bit integer in any base; Python refuses more than 4,300 digits.
_LONGEST_INTEGER = 100
_TOO_DEEP = f"mappings and lists are nested more than {MAX_DEPTH} deep"
_TAGGED_TYPES = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}


class YamlError(Exception):
    """A document that is not YAML, or that JSON cannot express; the message begins with the line."""

    def __init__(self, reason: str, *, line: int, column: int = 0) -> None:
        super().__init__(f"line {line}, column {column}: {reason}" if column else f"line {line}: {reason}")


class _RefusedError(Exception):
    """A value that the parser accepts and we refuse."""


class YamlDocument(msgspec.Struct, frozen=True):
    """A piece of a file between two ``---`` lines.

    Attributes:
        number: from 1; comments before the first ``---`` are no document.
        text: everything between the lines.
        line: the file's line, from 1, on which the text begins.
        separator: the rest of the ``---`` line above the text; only a comment is valid.
    """

    number: int
    text: str
    line: int
    separator: str = ""

    def values(self, twice: dict[str, tuple[int, int]] | None = None) -> Plain:
        """Return the plain values of the document; None when there are none.

        ``twice`` is filled with field path → the two lines of a repeated key, whose last value counts; None refuses it.

        Raises:
            YamlError: it is not YAML that JSON can express.
        """
        if self.separator and not self.separator.startswith("#"):
            raise YamlError(f"only a comment may follow ---, not {self.separator!r}", line=self.line - 1)
        if not _CONTENT.search(self.text):
            return None
        builder = _Builder(self.line, twice)
        try:
            for event in yaml.parse(self.text, Loader=yaml.CSafeLoader):
                builder.take(event)
        except yaml.reader.ReaderError as error:
            line = self.line + self.text.encode()[: error.position].count(b"\n")
            raise YamlError(str(error.reason), line=line) from error
        except yaml.MarkedYAMLError as error:
            line, column = _place(error.problem_mark)
            began, _ = _place(error.context_mark)
            reason = (
                f"{error.problem} ({error.context} from line {self.line + began})" if error.context else error.problem
            )
            # libyaml has a bound of its own, of 1,000, and reads ahead of what it gives us.
            reason = _TOO_DEEP if "maximum nesting depth" in str(error.problem) else reason
            raise YamlError(str(reason), line=self.line + line, column=column + 1) from error
        return builder.root


def split(text: str) -> Iterator[YamlDocument]:
    """Yield the documents of a file.

    Source: apimachinery pkg/util/yaml/decoder.go YAMLReader.Read (v1.36).
    """
    number, separator, line, start = 0, "", 1, 0
    for match in chain(_SEPARATOR.finditer(text), (None,)):
        # kubectl adds a missing newline at the end.
        piece = text[start : match.start()] if match else text[start:].removesuffix("\n") + "\n"
        # The text before the first separator counts if it has content.
        if line > 1 or _CONTENT.search(piece):
            number += 1
            yield YamlDocument(number=number, text=piece, line=line, separator=separator)
        if match:
            line += text.count("\n", start, match.end())
            separator, start = match[1].strip(), match.end()


class _Mark(Protocol):
    """A position in the text; both parsers of PyYAML have such a class."""

    line: int
    column: int


def _place(mark: _Mark | None) -> tuple[int, int]:
    return (mark.line, mark.column) if mark else (0, 0)


class _Open(msgspec.Struct):
    """An open mapping or list.

    Attributes:
        before: the number of values of the document before it.
        key: the key whose value comes next; None when a key comes next.
        merging: whether the key was ``<<``.
        lines: key → its line.
    """

    values: dict[str, Plain] | list[Plain]
    start: events.CollectionStartEvent
    before: int
    key: str | None = None
    merging: bool = False
    lines: dict[str, int] = {}


class _Builder:
    def __init__(self, first_line: int, twice: dict[str, tuple[int, int]] | None) -> None:
        self.root: Plain = None
        self._twice = twice
        self._first_line = first_line
        self._open: list[_Open] = []
        self._count = 0
        self._aliased = 0
        self._anchors: dict[str, tuple[Plain, int]] = {}

    def take(self, event: events.Event) -> None:
        """Take the next event of the parser; raise a YamlError with its line where a value is refused."""
        try:
            self._take(event)
        except _RefusedError as refusal:
            line, column = _place(event.start_mark)
            raise YamlError(str(refusal), line=self._first_line + line, column=column + 1) from refusal

    def _take(self, event: events.Event) -> None:
        if isinstance(event, events.ScalarEvent):
            self._count += 1
            self._add(_scalar(event), event, size=1)
        elif isinstance(event, events.CollectionStartEvent):
            if len(self._open) == MAX_DEPTH:
                raise _RefusedError(_TOO_DEEP)
            values: dict[str, Plain] | list[Plain] = {} if isinstance(event, events.MappingStartEvent) else []
            self._open.append(_Open(values, start=event, before=self._count))
            self._count += 1
        elif isinstance(event, events.CollectionEndEvent):
            ended = self._open.pop()
            self._add(ended.values, ended.start, size=self._count - ended.before)
        elif isinstance(event, events.AliasEvent):
            self._add_alias(event)

    def _add_alias(self, event: events.AliasEvent) -> None:
        if any(each.start.anchor == event.anchor for each in self._open):
            raise _RefusedError(f"the anchor {event.anchor!r} contains itself")
        if event.anchor not in self._anchors:
            raise _RefusedError(f"there is no anchor {event.anchor!r}")
        value, size = self._anchors[event.anchor]
        self._count += size
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            raise _RefusedError(f"the aliases expand to more than {MAX_ALIASED} values")
        self._add(value, event, size=size)

    def _add(self, value: Plain, event: events.NodeEvent, *, size: int) -> None:
        if event.anchor and not isinstance(event, events.AliasEvent):
            self._anchors[event.anchor] = value, size
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent.values, list):
            parent.values.append(value)
        elif parent.merging:
            # Of several mappings the first wins, and all override earlier keys, as in go-yaml.
            for mapping in reversed(value) if isinstance(value, list) else [value]:
                if not isinstance(mapping, dict):
                    raise _RefusedError(f"<< takes a mapping or a list of mappings, not {type_name(mapping)}")
                parent.values.update(mapping)
            parent.merging = False
        elif parent.key is None:
            self._add_key(parent, value, event)
        else:
            parent.values[parent.key] = value
            parent.key = None

    def _add_key(self, parent: _Open, value: Plain, event: events.NodeEvent) -> None:
        if isinstance(event, events.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            parent.merging = True
            return
        parent.key = _key(value)
        line = self._first_line + _place(event.start_mark)[0]
        if parent.key in parent.lines:
            if self._twice is None:
                raise _RefusedError(f"the key {parent.key!r} is given twice, first on line {parent.lines[parent.key]}")
            steps = (
                f"[{len(each.values)}]" if isinstance(each.values, list) else f".{each.key}" for each in self._open
            )
            self._twice["".join(steps).removeprefix(".")] = parent.lines[parent.key], line
        parent.lines[parent.key] = line


def _key(value: Plain) -> str:
    """Source: sigs.k8s.io/yaml yaml.go convertToJSONableObject (v1.6.0)."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise _RefusedError(f"a key must be a string, not {type_name(value)}")


def _scalar(event: events.ScalarEvent) -> Plain:
    text: str = event.value
    if event.implicit[0]:
        return _implicit(text)
    tag = (event.tag or "").removeprefix("tag:yaml.org,2002:")
    if tag == "binary":
        try:
            return base64.b64decode(text).decode()
        except ValueError as error:
            raise _RefusedError(f"{text!r} is not base64 of UTF-8 text") from error
    if tag not in _TAGGED_TYPES:
        return text
    value = _implicit(text)
    if type(value) not in _TAGGED_TYPES[tag]:
        raise _RefusedError(f"{text!r} is not a valid !!{tag}")
    return value


def _implicit(text: str) -> Plain:
    """Source: go.yaml.in/yaml/v2 resolve.go (v2.4.3)."""
    if text in _WORDS:
        return _WORDS[text]
    return _number(text) if text[0] in "+-.0123456789" else text


def _number(text: str) -> Plain:
    if _NOT_FINITE.fullmatch(text):
        raise _RefusedError(f"{text} is not a number that JSON can express")
    digits = text.replace("_", "")
    integer = _INTEGER.fullmatch(digits)
    if integer and len(digits) <= _LONGEST_INTEGER:
        value = int(digits, 8 if integer["octal"] else 0)
        if -(2**63) <= value < 2**64:
            return value
    if not _FLOAT.fullmatch(digits) or math.isinf(number := float(digits)):
        return text
    return as_sent(number)


_PART = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")
_CONTENT_AFTER_TABS = re.compile(r"^[ \t\r]*[^ \t\r\n#]", re.MULTILINE)


def lines_of(document: YamlDocument, paths: Iterable[str]) -> dict[str, int]:
    """Return path → line of the file, from 1; for a missing field, the line of the nearest field around it."""
    content = _CONTENT_AFTER_TABS.search(document.text)
    start = document.line + (document.text.count("\n", 0, content.start()) if content else 0)
    wanted = dict.fromkeys(paths, start)
    root = yaml.compose(document.text, Loader=yaml.CSafeLoader) if any(wanted) else None
    if root is not None:
        wanted |= {path: document.line + _line(root, path) for path in wanted if path}
    return wanted


def _line(root: yaml.Node, path: str) -> int:
    node, line = root, root.start_mark.line
    for bracketed, name in _PART.findall(path):
        found = _child(node, bracketed or name)
        if found is None:
            break
        line, node = found
    return line


def _child(node: yaml.Node, name: str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line, value) for key, value in node.value if key.value == name), None)
    if isinstance(node, yaml.SequenceNode) and name.isdecimal() and int(name) < len(node.value):
        item = node.value[int(name)]
        return item.start_mark.line, item
    return None
