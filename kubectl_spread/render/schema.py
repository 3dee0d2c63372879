"""The JSON Schema of the reports and the fields of ``-o json``, made from their types.

``explain`` prints the fields for names that are nowhere else. The schema that ships is what this module prints.

After a change of the contract: ``python -m kubectl_spread.render.schema > kubectl_spread/schema/report.v1alpha2.json``.
"""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

import msgspec

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.form import form_of, meanings
from kubectl_spread.wording.reference import common_fields, entries_named

REPORTS: tuple[type[msgspec.Struct], ...] = tuple(map(form_of, get_args(AnyReport)))
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> str:
    """Return the schema as JSON, with a newline at the end."""
    alternatives, definitions = msgspec.json.schema_components(REPORTS, ref_template="#/$defs/{name}")
    document = {
        "$schema": DIALECT,
        "title": "What kubectl spread reports",
        "anyOf": list(alternatives),
        "$defs": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(document, order="deterministic"), indent=2).decode() + "\n"


_ATTRIBUTES = re.compile(r"^Attributes:\n(?P<lines>(?: {4}.*\n?|\n)*)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class JsonField(msgspec.Struct, frozen=True, kw_only=True):
    """A field or a value in a report: the type in the schema that has it, its name, its meaning."""

    of: str
    name: str
    meaning: str


def json_fields() -> Iterator[JsonField]:
    """Yield every field of every type of the schema."""
    structs = dict[str, type[msgspec.Struct]]()
    for each in REPORTS:
        _collect_structs(each, structs)
    _, definitions = msgspec.json.schema_components(REPORTS, ref_template="#/$defs/{name}")
    for name in filter(structs.get, definitions):
        documented = {**_attributes(getattr(structs[name], "conclusion", structs[name])), **meanings(structs[name])}
        if (tag := structs[name].__struct_config__.tag_field) is not None:
            yield JsonField(of=name, name=tag, meaning=common_fields()[tag])
        for field in msgspec.structs.fields(structs[name]):
            meaning = documented.get(field.name) or common_fields().get(field.encode_name)
            meaning = meaning or entries_named(field.encode_name)[0].summary
            yield JsonField(of=name, name=field.encode_name, meaning=meaning)


def _collect_structs(annotation: object, structs: dict[str, type[msgspec.Struct]]) -> None:
    for argument in get_args(annotation):
        _collect_structs(argument, structs)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct) and annotation.__name__ not in structs:
        structs[annotation.__name__] = annotation
        for field_type in get_type_hints(annotation).values():
            _collect_structs(field_type, structs)


def json_values() -> Iterator[JsonField]:
    """Yield every value that a field of the schema can only have among others, such as the kind of a cause.

    The meaning of a kind is that of its type; the meaning of another value is that of its field or enumeration.
    """
    _, definitions = msgspec.json.schema_components(REPORTS, ref_template="#/$defs/{name}")
    meant = {(field.of, field.name): field.meaning for field in json_fields()}
    for title, definition in definitions.items():
        described = definition.get("description", "").partition("\n\n")[0]
        for value in definition.get("enum", ()):
            yield JsonField(of=title, name=str(value), meaning=described)
        for name, field in definition.get("properties", {}).items():
            for value in _values(field):
                yield JsonField(of=title, name=value, meaning=described if value == title else meant[title, name])


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


def _attributes(described: type) -> dict[str, str]:
    told = dict[str, str]()
    for each in reversed(described.__mro__):
        if found := _ATTRIBUTES.search(inspect.cleandoc(each.__doc__ or "")):
            # In the words of JSON, and without reStructuredText.
            lines = re.sub(r"\bNone\b", "null", found["lines"].replace("``", "`"))
            told |= {name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(lines)}
    return told


if __name__ == "__main__":
    sys.stdout.write(schema())
