"""Reports as JSON and YAML: the contract programs rely on."""

from __future__ import annotations

import msgspec

from kubectl_spread.report import AnyReport


def to_json(report: AnyReport) -> str:
    """Return the report as JSON, indented as kubectl indents it, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=4).decode() + "\n"


def to_yaml(report: AnyReport) -> str:
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
