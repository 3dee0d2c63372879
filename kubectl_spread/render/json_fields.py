"""The fields and values of ``-o json`` that ``explain`` knows: those of the schema that ships."""

import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import msgspec


class JsonField(msgspec.Struct, frozen=True, kw_only=True):
    """A field or a value in a report: the type in the schema that has it, its name, its meaning."""

    of: str
    name: str
    meaning: str


def _definitions() -> Mapping[str, Any]:
    shipped = files("kubectl_spread").joinpath("schema", "report.v1alpha2.json").read_bytes()
    return dict(msgspec.json.decode(shipped)["$defs"])


def json_fields() -> Iterator[JsonField]:
    """Yield every field of every type of the schema."""
    for title, definition in _definitions().items():
        for name, field in definition.get("properties", {}).items():
            yield JsonField(of=title, name=name, meaning=field["description"])


def json_values() -> Iterator[JsonField]:
    """Yield every value that a field of the schema can only have among others, such as the kind of a cause.

    The meaning of a kind is that of its type; the meaning of another value is that of its field or enumeration.
    """
    for title, definition in _definitions().items():
        described = definition.get("description", "").partition("\n\n")[0]
        for value in definition.get("enum", ()):
            yield JsonField(of=title, name=str(value), meaning=described)
        for field in definition.get("properties", {}).values():
            for value in _values(field):
                yield JsonField(of=title, name=value, meaning=described if value == title else field["description"])


def _values(field: Mapping[str, Any]) -> Iterator[str]:
    yield from map(str, field.get("enum", ()))
    for alternative in field.get("anyOf", ()):
        yield from _values(alternative)


def plugins() -> Iterator[JsonField]:
    """Yield every plugin of the scheduler that rejects nodes or scores them, in the words of its module."""
    from kubectl_spread.scheduler.cycle import PRE_FILTERS, PRE_SCORES

    for name, function in {**PRE_SCORES, **PRE_FILTERS}.items():
        about = (sys.modules[function.__module__].__doc__ or "").partition("\n")[0]
        yield JsonField(of="REJECTED-BY", name=name, meaning=about.partition(": ")[2] or about)


def fields_named(name: str) -> tuple[JsonField, ...]:
    """Return the fields of that name, in any case, or else the values of fields and the plugins.

    Of a path such as ``.items[0].replicas`` the last name counts.
    """
    wanted = name.rpartition(".")[2].lower()
    found = tuple(each for each in json_fields() if each.name.lower() == wanted)
    return found or tuple(each for each in (*json_values(), *plugins()) if each.name.lower() == wanted)
