"""Tables of rules for plain values, such as a part of a manifest: field → rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    forbidden,
    invalid,
    items,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.volumes import parent_faults

Rule: TypeAlias = Callable[..., Errors]
"""(path, value) → the errors of the value."""
Rules: TypeAlias = Mapping[str, Rule]
"""Path below an object → rule for the value there, if it is set; ``env[*]`` is every item of ``env``."""

_MOST = 2**31 - 1
_LAST_MODE = 0o777


def table_errors(rules: Rules, path: str, values: object) -> Errors:
    """Yield the errors of the fields below ``path``, in the order of the table."""
    for field, rule in rules.items():
        for place, value in fields_at(path, values, field.split(".")):
            yield from rule(place, value)


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


def one_of(*known: str) -> Rule:
    """Return the rule that a value is in the list, if it is not empty."""
    return partial(choice_errors, known=known, optional=True)


def with_field(field: str) -> Rule:
    """Return the rule that a mapping has a field, which is not empty."""
    return lambda path, value: iter(() if value.get(field) else (required(f"{path}.{field}"),))


def worded(faults: Callable[[str], Iterable[str]]) -> Rule:
    """Return the rule for a text, whose errors ``faults`` words, if it is not empty."""
    return lambda path, text: text_errors(path, text, faults) if text else iter(())


def never(detail: str) -> Rule:
    """Return the rule that a field is not set; a switch of the node's namespaces may be off, and a list empty."""
    return lambda path, value: iter(() if value == [] or _is_off(path, value) else (forbidden(path, detail),))


def _is_off(path: str, value: object) -> bool:
    return value is False and path.lower().endswith(("hostpid", "hostipc"))


def id_errors(path: str, number: int) -> Errors:
    """Yield the error of a number that no user or group has."""
    if not 0 <= number <= _MOST:
        yield invalid(path, number, f"must be between 0 and {_MOST}, inclusive")


def mode_errors(path: str, mode: int | str) -> Errors:
    """Yield the error of a number that is no mode of a file; a text cannot be decoded."""
    if isinstance(mode, int) and not 0 <= mode <= _LAST_MODE:
        yield invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")


def descending_faults(path: str) -> Iterator[str]:
    """Yield what is wrong with a path below a directory."""
    if path.startswith("/"):
        yield "must be a relative path"
    yield from parent_faults(path)


def file_faults(path: str) -> Iterator[str]:
    """Yield what is wrong with the path of a file in a volume: names with two dots in front are reserved."""
    yield from descending_faults(path)
    if path.startswith("..") and not path.startswith("../"):
        yield "must not start with '..'"
