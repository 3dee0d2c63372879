"""Paths as kubectl writes them, as queries of RFC 9535, which a library answers.

kubectl's dialect is older than the RFC: ``@`` and ``$`` both mean the object at hand, ``['a.b']`` is a path of two
fields and a union's members come one after another, each for all objects.

Source: client-go util/jsonpath parser.go, jsonpath.go (v1.36).
"""

from __future__ import annotations

import json
import re

import msgspec

from kubectl_spread.errors import UsageError

_NAME = re.compile(r"(?:\\.|[^\s.,\[\]$@{}\\])*")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
_SLICE = re.compile(r"(-?[0-9]*):(-?[0-9]*)(?::([0-9]*))?")
_INDEX = re.compile(r"-?[0-9]+")
_KEY = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")
_OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
_WORDS = ("true", "false")


class PathError(UsageError):
    """A template that makes no sense, or asks for what this program cannot do."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"error parsing jsonpath: {reason}")


def unquoted(text: str) -> str:
    r"""Return what stands in single or double quotes, ``\n`` and the like resolved as Go does.

    Raises:
        PathError: it is not quoted, or an escape makes no sense.
    """
    inner = text[1:-1]
    if text[0] == "'":
        inner = inner.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError as error:
        raise PathError(f"cannot read the quoted text {text}") from error


def quoted_end(text: str, start: int) -> int:
    """Return where the quoted text ends that begins at the start: behind its closing quote; PathError without one."""
    quote = text[start]
    end = start + 1
    while end < len(text) and text[end] != "\n":
        if text[end] == quote:
            return end + 1
        end += 2 if text[end] == "\\" else 1
    raise PathError(f"unterminated quoted string {text[start:]}")


def queries_of(path: str) -> tuple[str, ...]:
    """Return the queries whose results, one after another, are what the path finds; PathError if the RFC has none."""
    reader = _Reader(path)
    while reader.position < len(path):
        reader.step()
    if reader.descending:
        raise PathError(f"nothing follows .. in {path}")
    return tuple(f"${query}" for query in reader.queries)


class _Reader(msgspec.Struct):
    """A path as far as it was read: the queries, one for each member of the unions.

    ``descending``: whether ``..`` was read and nothing since.
    """

    path: str
    position: int = 0
    queries: list[str] = msgspec.field(default_factory=lambda: [""])
    descending: bool = False

    def step(self) -> None:
        rest = self.path[self.position :]
        if rest.startswith(".."):
            self._descend()
        elif rest.startswith("[?("):
            self._filter()
        elif rest[0] == "[":
            self._brackets()
        elif rest[0] == ".":
            self.position += 1
            self._name()
        elif rest[0] in "@$ \t":
            self.position += 1
        else:
            raise PathError(f"unrecognized character {rest[0]!r} in {self.path}")

    def _add(self, *selectors: str) -> None:
        dots = ".." if self.descending else ""
        self.descending = False
        self.queries = [f"{query}{dots}{selector}" for selector in selectors for query in self.queries]

    def _descend(self) -> None:
        if self.descending:
            raise PathError(f"invalid multiple recursive descent in {self.path}")
        self.position += 2
        self.descending = True
        if self.position < len(self.path) and self.path[self.position] not in ".[":
            self._name()

    def _name(self) -> None:
        """Read a name, or the star for every field; a lone dot is the object at hand."""
        found = _NAME.match(self.path, self.position)
        text = found[0] if found else ""
        self.position += len(text)
        if text:
            name = json.dumps(re.sub(r"\\(.)", r"\1", text))
            self._add("[*]" if text == "*" else f"[{name}]")

    def _brackets(self) -> None:
        end = self.path.find("]", self.position)
        if end < 0:
            raise PathError(f"unterminated array in {self.path}")
        members = self.path[self.position + 1 : end].split(",")
        self.position = end + 1
        self._add(*[_member(member.strip(" ")) for member in members])

    def _filter(self) -> None:
        start = end = self.position + len("[?(")
        while end < len(self.path) and self.path[end] != ")":
            end = quoted_end(self.path, end) if self.path[end] in "\"'" else end + 1
        if not self.path.startswith(")]", end):
            raise PathError(f"unterminated filter in {self.path}")
        self.position = end + 2
        self._add(f"[?{_condition(self.path[start:end])}]")


def _member(text: str) -> str:
    if text in {"*", ":"}:
        return "[*]"
    if key := _KEY.fullmatch(text):
        (query,) = queries_of(f".{key[1] or key[2] or ''}")
        return query.removeprefix("$")
    if _INDEX.fullmatch(text):
        return f"[{int(text)}]"
    if (bounds := _SLICE.fullmatch(text)) and (bounds[3] is None or bounds[3].strip("0")):
        return f"[{':'.join(bound and str(int(bound)) for bound in bounds.groups(default=''))}]"
    raise PathError(f"invalid array index {text}")


def _condition(text: str) -> str:
    """Return a filter's condition in the RFC's words; of a field that is missing nothing holds, as in kubectl."""
    compared = _COMPARISON.fullmatch(text)
    if compared is None:
        return _operand(text)
    left, operator, right = (part.strip() for part in compared.groups())
    if operator not in _OPERATORS:
        raise PathError(f"unrecognized filter operator {operator}")
    sides = (_operand(left), _operand(right))
    present = "".join(f"{side} && " for side in sides if side.startswith("@"))
    return f"{present}{sides[0]} {operator} {sides[1]}"


def _operand(text: str) -> str:
    text = text.strip()
    if text[:1] in {'"', "'"} and quoted_end(text, 0) == len(text):
        return json.dumps(unquoted(text))
    if text in _WORDS:
        return text
    if _NUMBER.fullmatch(text):
        return text.removeprefix("+")
    if not text.startswith(("@", "$", ".", "[")):
        raise PathError(f"cannot compare with {text}")
    queries = queries_of(text)
    if len(queries) > 1:
        raise PathError(f"can only compare one element at a time: {text}")
    return f"@{queries[0].removeprefix('$')}"
