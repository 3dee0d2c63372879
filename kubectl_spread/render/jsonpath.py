r"""Reports through a JSONPath template in kubectl's syntax: ``{range .items[*]}{.name}{"\n"}{end}``.

The template is ours: text, braces, ``range`` and ``end``. What stands in braces is a query, which python-jsonpath
answers (RFC 9535). Where kubectl stops with an error because the data has another shape (an index out of bounds, a
comparison of text and number), the query finds nothing here. A template without any brace is one path.

kubectl's dialect is older than the RFC: ``@`` and ``$`` both mean the object at hand, ``['a.b']`` is a path of two
fields and a union's members come one after another, each for all objects.

Values are printed as they are, control characters included, as kubectl prints them: they are for programs.

Source: client-go util/jsonpath (v1.36), cli-runtime pkg/printers/jsonpath.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from jsonpath import JSONPathEnvironment
from jsonpath.exceptions import JSONPathError
from jsonpath.path import CompoundJSONPath, JSONPath

from kubectl_spread.errors import UsageError
from kubectl_spread.render.structured import in_json

if TYPE_CHECKING:
    from kubectl_spread.render.outline.any_report import AnyReport

_RANGE = re.compile(r"range\b")
_END = "end"
_RFC_9535 = JSONPathEnvironment(strict=True)
_GO_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}

Value: TypeAlias = Any  # plain values of JSON
Results: TypeAlias = list[Value]

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
    r"""Return what stands in quotes, ``\n`` and the like resolved as Go does; PathError if that makes no sense."""
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


class Literal(msgspec.Struct, frozen=True):
    """Text that is printed as it is."""

    text: str


class Path(msgspec.Struct, frozen=True):
    """What is looked up; the results of all queries follow one another."""

    queries: tuple[JSONPath | CompoundJSONPath, ...]

    def results(self, value: Value) -> Results:
        """Return what is found in the value."""
        return [found for query in self.queries for found in query.findall(value)]


class Range(msgspec.Struct, frozen=True):
    """What is printed for each result of a path."""

    path: Path
    body: tuple[Part, ...]


Part: TypeAlias = Literal | Path | Range


def printer(template: str, *, as_json: bool = False) -> Callable[[AnyReport], str]:
    """Return what prints a report through the template, or each part of it as a JSON list; errors as for ``parse``."""
    parts, filling = parse(template), fill_as_json if as_json else fill
    return lambda report: filling(parts, msgspec.to_builtins(in_json(report)))


printer_as_json = partial(printer, as_json=True)


def fill(parts: tuple[Part, ...], value: Value) -> str:
    """Return the template with what it finds in the value."""
    # As Go prints values: text bare, everything else as JSON.
    return "".join(
        " ".join(found if isinstance(found, str) else _json(found) for found in results)
        for results in _all_results(parts, value)
    )


def fill_as_json(parts: tuple[Part, ...], value: Value) -> str:
    """Return the results of each part of the template as JSON."""
    return "".join(f"{_json(results, indent=4)}\n" for results in _all_results(parts, value))


def _all_results(parts: tuple[Part, ...], value: Value) -> Iterator[Results]:
    for part in parts:
        match part:
            case Literal(text):
                yield [text]
            case Path():
                yield part.results(value)
            case Range(path, body):
                for each in path.results(value):
                    yield from _all_results(body, each)


def _json(value: Value, *, indent: int | None = None) -> str:
    """Return a value as Go writes JSON: keys sorted, what HTML would read escaped."""
    separators = (",", ": " if indent else ":")
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=separators, indent=indent)
    return text.translate(_GO_ESCAPES)


def parse(template: str) -> tuple[Part, ...]:
    """Return the parts of a template; PathError if a brace or range does not end, or what is in braces is wrong."""
    if "{" not in template:
        return (_path(template if template.startswith((".", "[", "$", "@")) else f".{template}"),)
    return tuple(_TemplateReader(template).parts(within_range=False))


class _TemplateReader(msgspec.Struct):
    template: str
    position: int = 0

    def parts(self, *, within_range: bool) -> Iterator[Part]:
        """Yield the parts up to the end of the template, or of the range that is open; errors as for ``parse``."""
        while self.position < len(self.template):
            if self.template[self.position] != "{":
                end = self.template.find("{", self.position)
                end = len(self.template) if end < 0 else end
                yield Literal(self.template[self.position : end])
                self.position = end
                continue
            action = self._action()
            if action == _END:
                if not within_range:
                    raise PathError("not in range, nothing to end")
                return
            yield self._part(action)
        if within_range:
            raise PathError("a range has no {end}")

    def _action(self) -> str:
        start = end = self.position + 1
        while end < len(self.template) and self.template[end] not in "}\n":
            end = quoted_end(self.template, end) if self.template[end] in "\"'" else end + 1
        if not self.template.startswith("}", end):
            raise PathError(f"unclosed action {self.template[self.position :]}")
        self.position = end + 1
        return self.template[start:end].strip(" \t")

    def _part(self, action: str) -> Part:
        if _RANGE.match(action):
            return Range(_path(action.removeprefix("range").strip()), tuple(self.parts(within_range=True)))
        if action[:1] in {'"', "'"}:
            if quoted_end(action, 0) != len(action):
                raise PathError(f"only one text or path may stand in braces, not {action}")
            return Literal(unquoted(action))
        if action[:1].isalpha():
            raise PathError(f"unrecognized identifier {action}")
        return _path(action)


def _path(text: str) -> Path:
    try:
        return Path(tuple(_RFC_9535.compile(query) for query in queries_of(text)))
    except JSONPathError as error:
        raise PathError(f"cannot look up {text}: {error}") from error
