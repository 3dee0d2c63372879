"""The plugins for k9s do as they say, with what k9s fills in."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.pages.consoles import ROOT, printed

PLUGINS: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docs/k9s-plugins.yaml").read_text())["plugins"]
FILLED_IN = {
    "pods": ("examples/shop.yaml", "shop", "web-5d9c7b6f4-x2x5q", "shop/web-5d9c7b6f4-x2x5q is Pending "),
    "deployments": ("examples/shop.yaml", "shop", "web", "shop/deployment/web: Blocked"),
    "statefulsets": ("tests/testdata/cli/warehouse.yaml", "warehouse", "ledger", "warehouse/statefulset/ledger"),
    "nodes": ("examples/shop.yaml", "", "node-a1", "drain node-a1: "),
}
"""Scope → a cluster, a namespace and a name in it, and what begins the answer."""
COLOR = re.compile(r"\x1b\[\d*m")
ALLOWED = {"shortCut", "override", "description", "confirm", "dangerous", "scopes", "command", "background", "args"}
"""Source: derailed/k9s internal/config/json/schemas/plugins.json."""


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_answers_about_what_is_selected(name: str) -> None:
    plugin = PLUGINS[name]
    assert {"shortCut", "description", "scopes", "command"} <= plugin.keys() <= ALLOWED
    (scope,), (_, line) = plugin["scopes"], plugin["args"]
    cluster, namespace, selected, answer = FILLED_IN[scope]
    asked, _, pager = line.partition(" 2>&1 | ")
    assert pager == "less -R"
    filled = asked.replace("$NAMESPACE", namespace).replace("$NAME", selected)
    shown = printed(filled.replace("--context $CONTEXT", f"--from {cluster}"))
    assert COLOR.search(shown)
    assert COLOR.sub("", shown).startswith(answer)
