"""The JSON Schema of the reports, made from their types; the comments at the fields describe the properties.

After a change of the contract: ``python -m release.schema > kubectl_spread/schema/report.v1alpha2.json``.
"""

import inspect
import re
import sys
from collections.abc import Mapping
from typing import get_args, get_type_hints

import msgspec

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.form import form_of, meanings
from kubectl_spread.wording.reference import common_fields, entries_named

REPORTS: tuple[type[msgspec.Struct], ...] = tuple(map(form_of, get_args(AnyReport)))
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> str:
    """Return the schema as JSON, with a newline at the end."""
    alternatives, definitions = msgspec.json.schema_components(REPORTS, ref_template="#/$defs/{name}")
    structs = dict[str, type[msgspec.Struct]]()
    for report in REPORTS:
        _collect_structs(report, structs)
    for each in definitions.values():
        if told := each.get("description"):
            each["description"] = inspect.cleandoc(told)  # which releases of msgspec before 0.23 do not
    for name in filter(structs.get, definitions):
        described = {**_comments(getattr(structs[name], "conclusion", structs[name])), **meanings(structs[name])}
        encoded = zip(structs[name].__struct_encode_fields__, structs[name].__struct_fields__, strict=True)
        said = {json: described.get(field) for json, field in encoded}
        for json, definition in definitions[name]["properties"].items():
            definition["description"] = said.get(json) or common_fields().get(json) or entries_named(json)[0].summary
    document = {
        "$schema": DIALECT,
        "title": "What kubectl spread reports",
        "anyOf": list(alternatives),
        "$defs": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(document, order="deterministic"), indent=2).decode() + "\n"


def _collect_structs(annotation: object, structs: dict[str, type[msgspec.Struct]]) -> None:
    for argument in get_args(annotation):
        _collect_structs(argument, structs)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct) and annotation.__name__ not in structs:
        structs[annotation.__name__] = annotation
        for field_type in get_type_hints(annotation).values():
            _collect_structs(field_type, structs)


def _comments(described: type) -> Mapping[str, str]:
    """Return field → the comment beside or above it, in the words of JSON."""
    told = dict[str, str]()
    for each in reversed(described.__mro__[: described.__mro__.index(msgspec.Struct)]):
        above = list[str]()
        for line in inspect.getsource(each).splitlines():
            if comment := re.match(r" {4}# (.*)", line):
                above.append(comment[1])
                continue
            if field := re.match(r" {4}(\w+): .*?(?:  # (.*))?$", line):
                told[field[1]] = re.sub(r"\bNone\b", "null", field[2] or " ".join(above))
            above.clear()
    return told


if __name__ == "__main__":
    sys.stdout.write(schema())
