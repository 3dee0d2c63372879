"""The fields of plain values below a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubectl_spread.apiserver.validation.field_errors import items


def fields_at(path: str, values: object, steps: Sequence[str], *, absent: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of each field below ``path``; with ``absent`` also those without a value, as None."""
    if not steps:
        yield path, values
        return
    name = steps[0].removesuffix("[*]")
    value, place = values.get(name) if isinstance(values, dict) else None, f"{path}.{name}".removeprefix(".")
    found = [(place, value)] if absent or value is not None else []
    if name != steps[0]:
        found = [*items(place, value)] if isinstance(value, list | tuple) else []
    for at, each in found:
        yield from fields_at(at, each, steps[1:], absent=absent)
