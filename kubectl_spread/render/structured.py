"""Reports for programs: JSON and YAML, the contract that they rely on, and names.

JSON and YAML have no character that a terminal acts on: what others wrote is escaped as the format escapes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.contract.form import to_form
from kubectl_spread.render.cells import clean, invisible

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport


def to_json(report: AnyReport | Mapping[str, object], *, lines: bool = True) -> str:
    """Return the report as JSON, indented as kubectl indents it or in one line, with a newline at the end."""
    encoded = msgspec.json.encode(in_json(report))
    return json_text(msgspec.json.format(encoded, indent=4) if lines else encoded)


def in_json(report: AnyReport | Mapping[str, object]) -> object:
    """Return what JSON and YAML are made of: the forms of all conclusions, with their texts."""
    if isinstance(report, Mapping):
        return report
    flags = report.metadata.flags_for
    if report.kind == "SkewReport" or report.kind == "PendingReport" or report.kind == "AuditReport":  # noqa: PLR1714 - mypy knows the types so
        # With several clusters, the commands of an item have the context of its own.
        items = tuple(to_form(item, flags(item.cluster)) for item in report.items)
        return replace(to_form(replace(report, items=()), flags(UNSET)), items=items)
    return to_form(report, flags(UNSET))


def to_names(report: AnyReport) -> str:
    """Return the objects' names, each once, as ``-o name`` prints them."""
    if report.kind == "SkewReport" or report.kind == "AuditReport":  # noqa: PLR1714 - mypy knows the types so
        found = [str(item.workload) for item in report.items]
    elif report.kind == "SimulateReport":
        found = [str(item.workload) for step in report.steps for item in step.items if item.changed]
    elif report.kind == "RebalanceReport":
        found = [f"pod/{each.pod}" for each in report.evictions]
    else:
        found = [f"{item.kind.lower()}/{item.name}" for item in report.items]
    return "".join(f"{clean(name)}\n" for name in dict.fromkeys(found))


def json_text(encoded: bytes) -> str:
    """Return the JSON, every character that a terminal acts on escaped, with a newline at the end."""
    return _escaped(encoded.decode() + "\n", lambda character: json.dumps(character)[1:-1])


def to_yaml(report: AnyReport | Mapping[str, object]) -> str:
    """Return the report as YAML."""
    import yaml

    class Dumper(yaml.CSafeDumper):
        """Quotes what an escape may have to stand in."""

    def represented(dumper: Dumper, text: str) -> yaml.ScalarNode:
        style = None if text.isprintable() else '"'
        node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node

    Dumper.add_representer(str, represented)
    values = msgspec.to_builtins(in_json(report))
    text: str = yaml.dump(values, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    """Return the text, in which only newlines stand outside of quotes, without invisible characters."""
    for character in set(text) - {"\n"}:
        if invisible(character):
            text = text.replace(character, escape(character))
    return text
