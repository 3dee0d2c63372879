"""What to write in an object's source, as YAML: the changed fields, with their paths.

The engine writes no other YAML and reads none: every YAML parser reads this subset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_spread.objects.meta import Plain

# Lists whose items have names: only the changes of an item are written. Other lists are written whole.
NAMED = frozenset(("containers", "initContainers"))
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*", re.ASCII)
_OTHER_MEANING = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


def difference(before: Plain, after: Plain, field: str = "") -> Plain:
    """Return the part of ``after`` that differs from ``before``, with the path to it; see NAMED for lists.

    Fields that only lack others are left out.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        different = (key for key, value in after.items() if before.get(key) != value)
        parts = ((key, difference(before.get(key), after[key], key)) for key in different)
        return {
            key: value
            for key, value in parts
            if not (value == {} and isinstance(before.get(key), dict)) and not (value == [] and key in NAMED)
        }
    if field in NAMED and isinstance(before, list) and isinstance(after, list):
        return [
            {"name": new["name"], **changed}
            for old, new in zip(before, after, strict=True)
            if isinstance(new, dict) and isinstance(changed := difference(old, new), dict) and changed
        ]
    return after


def removed(before: Plain, after: Plain, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that ``after`` lacks."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            steps = f"{path}.{key}" if path else key
            if key in after:
                yield from removed(value, after[key], steps)
            else:
                yield steps


def yaml_lines(value: Plain) -> Iterator[str]:
    """Yield the value as lines of YAML, as kubectl prints it."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _field_lines(key, each)
    elif isinstance(value, list) and value:
        for each in value:
            first, *rest = yaml_lines(each)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _field_lines(key: str, value: Plain) -> Iterator[str]:
    lines = [*yaml_lines(value)]
    if isinstance(value, Mapping | Sequence) and value and not isinstance(value, str):
        yield f"{_scalar(key)}:"
        indent = "" if isinstance(value, list) else "  "
        yield from (f"{indent}{line}" for line in lines)
    else:
        yield f"{_scalar(key)}: {lines[0]}"


def _scalar(value: Plain) -> str:
    """Return a scalar, or an empty collection; text with another meaning in YAML is quoted."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHER_MEANING:
        return value
    return f'"{"".join(map(_escaped, value))}"' if isinstance(value, str) else json.dumps(value)


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isascii() and character.isprintable() else f"\\U{ord(character):08X}"


def merged(first: Plain, second: Plain) -> Plain:
    """Return a mapping with the fields of both, those of ``first`` first."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    return {**first, **{key: merged(first.get(key), value) for key, value in second.items()}}
