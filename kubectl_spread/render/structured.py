"""Reports as JSON and YAML: the contract programs rely on."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubectl_spread.report import AnyReport


def to_json(report: AnyReport | Mapping[str, object]) -> str:
    """Return the report as JSON, indented as kubectl indents it, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=4).decode() + "\n"


def to_json_line(report: AnyReport) -> str:
    """Return the report as JSON in one line, for streams of reports."""
    return msgspec.json.encode(report).decode() + "\n"


def to_yaml_document(report: AnyReport) -> str:
    """Return the report as a YAML document that others may follow."""
    return f"---\n{to_yaml(report)}"


def to_yaml(report: AnyReport | Mapping[str, object]) -> str:
    """Return the report as YAML."""
    import yaml

    text: str = yaml.dump(
        msgspec.to_builtins(report),
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
    )
    return text
