r"""Reports through a template such as ``{range .items[*]}{.name}{"\n"}{end}``: text, paths, ranges and quoted text.

In braces is a path, which python-jsonpath looks up by RFC 9535. It may begin with ``.``, ``[``, ``@`` or ``$``, which
all mean the report or the item of the range. A template without any brace is one path.

Values are printed as they are, control characters included, as kubectl prints them: they are for programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from jsonpath import JSONPathEnvironment
from jsonpath.exceptions import JSONPathError
from jsonpath.path import CompoundJSONPath, JSONPath

from kubectl_spread.errors import UsageError
from kubectl_spread.render.structured import in_json

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport

_RFC_9535 = JSONPathEnvironment(strict=True)
_QUOTED = r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'"
_ACTION = re.compile(rf"\{{\s*((?:[^{{}}\"']|{_QUOTED})*?)\s*\}}")
_RANGE = re.compile(r"range\b\s*(.*)", re.DOTALL)
_json = partial(json.dumps, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

Query: TypeAlias = JSONPath | CompoundJSONPath


class PathError(UsageError):
    """A template that is malformed or not supported."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"error parsing jsonpath: {reason}", hint="a path is one of RFC 9535, such as .items[0].name")


class Range(msgspec.Struct, frozen=True):
    """What is printed for each result of a query."""

    query: Query
    body: list[Part]


Part: TypeAlias = str | JSONPath | CompoundJSONPath | Range


def printer(template: str) -> Callable[[AnyReport], str]:
    """Return what prints a report through the template; PathError if it is malformed."""
    parts = parse(template)
    return lambda report: fill(parts, msgspec.to_builtins(in_json(report)))


def fill(parts: Sequence[Part], value: Any) -> str:  # noqa: ANN401 - plain values of JSON
    """Return the template with the results of its queries, separated by blanks: text bare, everything else as JSON."""

    def filled(part: Part) -> str:
        if isinstance(part, str):
            return part
        if isinstance(part, Range):
            return "".join(fill(part.body, item) for item in part.query.findall(value))
        return " ".join(item if isinstance(item, str) else _json(item) for item in part.findall(value))

    return "".join(map(filled, parts))


def parse(template: str) -> list[Part]:
    """Return the parts of a template; PathError if a brace or range does not end, or what is in braces is wrong."""
    if "{" not in template:
        return [_query(template if template.startswith((".", "[", "$", "@")) else f".{template}")]
    whole: list[Part] = []
    open_parts, position = [whole], 0
    while position < len(template):
        start = template.find("{", position)
        start = len(template) if start < 0 else start
        open_parts[-1] += [template[position:start]]
        position = start
        if start == len(template):
            break
        found = _ACTION.match(template, start)
        if found is None:
            raise PathError(f"unclosed action {template[start:]}")
        action, position = found[1], found.end()
        if action == "end":
            if len(open_parts) == 1:
                raise PathError("not in range, nothing to end")
            open_parts.pop()
        elif ranged := _RANGE.fullmatch(action):
            part = Range(_query(ranged[1]), [])
            open_parts[-1].append(part)
            open_parts.append(part.body)
        else:
            open_parts[-1].append(_unquoted(action) if re.fullmatch(_QUOTED, action) else _query(action))
    if len(open_parts) > 1:
        raise PathError("a range has no {end}")
    return whole


def _unquoted(text: str) -> str:
    inner = text[1:-1] if text[0] == '"' else text[1:-1].replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError as error:
        raise PathError(f"cannot read the quoted text {text}") from error


def _query(path: str) -> Query:
    query = f"${path.removeprefix('@').removeprefix('$')}"
    try:
        return _RFC_9535.compile("$" if query == "$." else query)
    except JSONPathError as error:
        raise PathError(f"cannot look up {path}: {str(error).splitlines()[0]}") from error
