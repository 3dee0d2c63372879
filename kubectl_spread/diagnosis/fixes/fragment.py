"""What to write where an object's source is, as YAML: the fields that change, with the path to them.

The engine needs no YAML but this, and reads none: what is written here is plain enough for every reader of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # ``explain`` reads no object.
    from kubectl_spread.objects.decoding import Plain


NAMED = frozenset(("containers", "initContainers"))
"""Lists whose items are told by name: only what changes of an item is written, in other lists all items."""
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*", re.ASCII)
_OTHER_MEANING = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


def difference(before: Plain, after: Plain, field: str = "") -> Plain:
    """Return what of the second is not as in the first, with the path to it; lists whole, but for those of names."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {
            key: difference(before.get(key), value, key) for key, value in after.items() if before.get(key) != value
        }
    if field in NAMED and isinstance(before, list) and isinstance(after, list):
        return [
            {"name": new["name"], **changed}
            for old, new in zip(before, after, strict=True)
            if isinstance(new, dict) and isinstance(changed := difference(old, new), dict) and changed
        ]
    return after


def removed(before: Plain, after: Plain, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that the second lacks."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            steps = f"{path}.{key}" if path else key
            if key in after:
                yield from removed(value, after[key], steps)
            else:
                yield steps


def yaml_lines(value: Plain) -> Iterator[str]:
    """Yield the value as lines of YAML, as kubectl writes it."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _field(key, each)
    elif isinstance(value, list) and value:
        for each in value:
            first, *rest = yaml_lines(each)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _field(key: str, value: Plain) -> Iterator[str]:
    lines = [*yaml_lines(value)]
    if isinstance(value, Mapping | Sequence) and value and not isinstance(value, str):
        yield f"{_scalar(key)}:"
        indent = "" if isinstance(value, list) else "  "
        yield from (f"{indent}{line}" for line in lines)
    else:
        yield f"{_scalar(key)}: {lines[0]}"


def _scalar(value: Plain) -> str:
    """Return a scalar, or an empty collection; text that could be read as anything else is quoted."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHER_MEANING:
        return value
    return f'"{"".join(map(_escaped, value))}"' if isinstance(value, str) else json.dumps(value)


def _escaped(character: str) -> str:
    """Return a character within double quotes."""
    if character in '"\\':
        return f"\\{character}"
    return character if character.isascii() and character.isprintable() else f"\\U{ord(character):08X}"


def merged(first: Plain, second: Plain) -> Plain:
    """Return a mapping with the fields of both, the first's in front."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    return {**first, **{key: merged(first.get(key), value) for key, value in second.items()}}
