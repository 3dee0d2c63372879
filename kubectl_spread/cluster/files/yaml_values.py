"""Decodes YAML text to the plain values that kubectl would send, and finds the lines of fields.

Like kubectl, it splits a file at ``---`` lines before it parses, and reads YAML 1.1 as go-yaml does: ``yes`` and ``y``
are booleans, ``0755`` is octal, dates stay text. kubectl silently drops text after ``...`` and the first of two equal
keys; here both are errors, unless the caller asks for the repeated keys.

Source: apimachinery pkg/util/yaml/decoder.go, sigs.k8s.io/yaml v1.6.0, go.yaml.in/yaml/v2 v2.4.3 (kubectl v1.36).
"""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec
import yaml

from kubectl_spread.objects.decoding import as_sent, type_name
from kubectl_spread.objects.meta import Plain

MAX_DEPTH = 200  # The deepest nesting of mappings and lists; the schemas of Kubernetes stay below 100
MAX_ALIASED = 100_000  # The most values that the aliases of a document may stand for
_SEPARATOR = re.compile(r"^---(.*)\n?", re.MULTILINE)
_CONTENT = re.compile(r"^[ \r]*[^ \r\n#]", re.MULTILINE)
_CONTENT_AFTER_TABS = re.compile(r"^[ \t\r]*[^ \t\r\n#]", re.MULTILINE)
_PART = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|(?P<octal>0[0-7]*)|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_LONGEST_INTEGER = 100  # Longer than 64 bits in any base; Python refuses more than 4,300 digits.
_TOO_DEEP = f"mappings and lists are nested more than {MAX_DEPTH} deep"
_UNTAGGED, _TEXT = "untagged", "text"
_RESOLVED_TAGS = {_UNTAGGED, *(f"tag:yaml.org,2002:{name}" for name in ("bool", "float", "int", "null"))}


class YamlError(Exception):
    """A document that is not YAML, or that JSON cannot express; the message begins with the line."""

    def __init__(self, reason: str, *, line: int, column: int = 0) -> None:
        super().__init__(f"line {line}, column {column}: {reason}" if column else f"line {line}: {reason}")


class _Loader(yaml.CSafeLoader):
    """Leaves the types of plain scalars open: PyYAML's own are not those of go-yaml."""

    def resolve(self, kind: type[yaml.Node], _value: str, implicit: tuple[bool, bool]) -> str:
        """Return the tag of a node that has none; ``implicit[0]`` is whether a scalar is plain."""
        return _UNTAGGED if kind is yaml.ScalarNode and implicit[0] else _TEXT


class YamlDocument(msgspec.Struct, frozen=True):
    """A piece of a file between two ``---`` lines."""

    number: int  # from 1; comments before the first ``---`` are no document
    text: str  # everything between the lines
    line: int  # the file's line, from 1, on which the text begins
    separator: str = ""  # the rest of the ``---`` line above the text; only a comment is valid

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
        try:
            root = yaml.compose(self.text, Loader=_Loader)
        except yaml.reader.ReaderError as error:
            line = self.line + self.text.encode()[: error.position].count(b"\n")
            raise YamlError(str(error.reason), line=line) from error
        except yaml.MarkedYAMLError as error:
            reason, mark = str(error.problem), error.problem_mark
            if error.context and error.context_mark:
                reason += f" ({error.context} from line {self.line + error.context_mark.line})"
            # libyaml stops at 1,000.
            reason = _TOO_DEEP if "maximum nesting depth" in reason else reason
            line, column = (mark.line, mark.column + 1) if mark else (0, 0)
            raise YamlError(reason, line=self.line + line, column=column) from error
        return None if root is None else _Builder(self.line, twice).value(root, "")


def split(text: str) -> Iterator[YamlDocument]:
    """Yield the documents of a file. Source: apimachinery pkg/util/yaml/decoder.go YAMLReader.Read (v1.36)."""
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


class _Builder:
    """Makes plain values of nodes; an alias is the node of its anchor again."""

    def __init__(self, first_line: int, twice: dict[str, tuple[int, int]] | None) -> None:
        self._first_line, self._twice = first_line, twice
        self._count = self._aliased = 0
        # Node → its value and number of values; None for one that is not complete.
        self._made: dict[int, tuple[Plain, int] | None] = {}

    def _refused(self, node: yaml.Node, reason: str) -> YamlError:
        mark = node.start_mark
        return YamlError(reason, line=self._first_line + mark.line, column=mark.column + 1)

    def value(self, node: yaml.Node, path: str, depth: int = 0) -> Plain:
        if isinstance(node, yaml.ScalarNode):
            self._count += 1
            return self._scalar(node)
        before = self._count
        if id(node) in self._made:
            made = self._made[id(node)]
            if made is None:
                raise self._refused(node, "the anchor contains itself")
            self._count += made[1]
            self._aliased += made[1]
            if self._aliased > MAX_ALIASED:
                raise self._refused(node, f"the aliases expand to more than {MAX_ALIASED} values")
            return made[0]
        if depth == MAX_DEPTH:
            raise self._refused(node, _TOO_DEEP)
        self._made[id(node)] = None
        self._count += 1
        values: Plain
        if isinstance(node, yaml.MappingNode):
            values = self._mapping(node, path, depth + 1)
        else:
            values = [self.value(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(node.value)]
        self._made[id(node)] = values, self._count - before
        return values

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Plain]:
        values: dict[str, Plain] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _UNTAGGED and key_node.value == "<<":
                merged = self.value(value_node, path, depth)
                # Of several mappings the first wins, and all override earlier keys, as in go-yaml.
                for mapping in reversed(merged) if isinstance(merged, list) else [merged]:
                    if not isinstance(mapping, dict):
                        wrong = f"<< takes a mapping or a list of mappings, not {type_name(mapping)}"
                        raise self._refused(value_node, wrong)
                    values.update(mapping)
                continue
            key, line = self._key(key_node), self._first_line + key_node.start_mark.line
            place = f"{path}.{key}".removeprefix(".")
            if key in lines and self._twice is None:
                raise self._refused(key_node, f"the key {key!r} is given twice, first on line {lines[key]}")
            if key in lines and self._twice is not None:
                self._twice[place] = lines[key], line
            lines[key] = line
            values[key] = self.value(value_node, place, depth)
        return values

    def _key(self, node: yaml.Node) -> str:
        """Source: sigs.k8s.io/yaml yaml.go convertToJSONableObject (v1.6.0)."""
        value: Plain = self._scalar(node) if isinstance(node, yaml.ScalarNode) else node.value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str | int | float):
            return str(value)
        raise self._refused(node, f"a key must be a string, not {'null' if value is None else 'a list or a mapping'}")

    def _scalar(self, node: yaml.ScalarNode) -> Plain:
        """Source: go.yaml.in/yaml/v2 resolve.go (v2.4.3)."""
        text: str = node.value
        if node.tag not in _RESOLVED_TAGS:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _NOT_FINITE.fullmatch(text):
            raise self._refused(node, f"{text} is not a number that JSON can express")
        return _number(text) if text[0] in "+-.0123456789" else text


def _number(text: str) -> Plain:
    digits = text.replace("_", "")
    integer = _INTEGER.fullmatch(digits)
    if integer and len(digits) <= _LONGEST_INTEGER:
        value = int(digits, 8 if integer["octal"] else 0)
        if -(2**63) <= value < 2**64:
            return value
    if not _FLOAT.fullmatch(digits) or math.isinf(number := float(digits)):
        return text
    return as_sent(number)


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
