r"""Reports through a JSONPath template in kubectl's syntax: ``{range .items[*]}{.name}{"\n"}{end}``.

The template is ours: text, braces, ``range`` and ``end``. What stands in braces is a query, which python-jsonpath
answers (RFC 9535). Where kubectl stops with an error because the data has another shape (an index out of bounds, a
comparison of text and number), the query finds nothing here. A template without any brace is one path.

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

from kubectl_spread.render.jsonpath_query import PathError, queries_of, quoted_end, unquoted

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport

_RANGE = re.compile(r"range\b")
_END = "end"
_RFC_9535 = JSONPathEnvironment(strict=True)
_GO_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}

Value: TypeAlias = Any  # plain values of JSON
Results: TypeAlias = list[Value]


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
    return lambda report: filling(parts, msgspec.to_builtins(report))


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
