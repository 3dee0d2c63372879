"""Finds the lines of fields in a YAML document."""

from __future__ import annotations

import re
from collections.abc import Iterable

import yaml

from kubectl_spread.cluster.files.yaml_values import YamlDocument

_PART = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")
_CONTENT = re.compile(r"^[ \t\r]*[^ \t\r\n#]", re.MULTILINE)


def lines_of(document: YamlDocument, paths: Iterable[str]) -> dict[str, int]:
    """Return path → line of the file, from 1; for a missing field, the line of the nearest field around it."""
    content = _CONTENT.search(document.text)
    start = document.line + (document.text.count("\n", 0, content.start()) if content else 0)
    wanted = dict.fromkeys(paths, start)
    root = yaml.compose(document.text, Loader=yaml.CSafeLoader) if any(wanted) else None
    if root is not None:
        wanted |= {path: document.line + _line(root, path) for path in wanted if path}
    return wanted


def _line(root: yaml.Node, path: str) -> int:
    node, line = root, root.start_mark.line
    for bracketed, name in _PART.findall(path):
        found = _child(node, bracketed or name)
        if found is None:
            break
        line, node = found
    return line


def _child(node: yaml.Node, name: str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line, value) for key, value in node.value if key.value == name), None)
    if isinstance(node, yaml.SequenceNode) and name.isdecimal() and int(name) < len(node.value):
        item = node.value[int(name)]
        return item.start_mark.line, item
    return None
