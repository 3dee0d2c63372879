"""Charts as the real Mermaid reads them, hostile names included; Node and npm are needed, no cluster."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.contract.any_report import ItemsReport
from kubectl_spread.render.cells import clean
from kubectl_spread.render.mermaid import label, to_mermaid
from tests.npm import installed
from tests.render.reports import HOSTILE, REPORTS, golden_report, poisoned_report

pytestmark = pytest.mark.e2e

PACKAGES = {"mermaid": "11.17.2", "jsdom": "29.1.1"}
SCRIPT = Path(__file__).with_name("mermaid_labels.mjs")


def read_by_mermaid(charts: list[str]) -> list[dict[str, list[str]]]:
    """Return what Mermaid finds in each chart."""
    node = shutil.which("node")
    assert node, "node is not on PATH"
    folder = installed(PACKAGES)
    # Node looks for packages beside the script.
    script = shutil.copy(SCRIPT, folder)
    ended = subprocess.run(
        [node, script], input=json.dumps(charts), capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return [{kind: [html.unescape(text) for text in texts] for kind, texts in each.items()} for each in found]


def boxes_of(report: ItemsReport) -> int:
    """Return how many boxes the chart means to draw (count)."""
    return to_mermaid(report).count(":::")


def test_mermaid_reads_every_chart_and_every_name() -> None:
    reports = [made(name) for name in REPORTS for made in (golden_report, poisoned_report)]
    found = read_by_mermaid([to_mermaid(report) for report in reports])
    for report, chart in zip(reports, found, strict=True):
        text = to_mermaid(report)
        assert len(chart["boxes"]) == boxes_of(report)
        assert len(chart["frames"]) == text.count("subgraph ")
        assert len(chart["arrows"]) == sum(map(text.count, ("-->", ".->", "~~~")))
        shown = {label(box) for box in (*chart["boxes"], *chart["frames"]) if not box.endswith("...")}
        assert shown <= {piece.partition("]")[0] for piece in text.split("[")[1:]}


def test_mermaid_shows_a_name_as_it_is() -> None:
    names = ["end", "1. one", "- x", "`md`", "graph", "style", "a%%b", "#quot;", "<b>&lt;", "é\U0001f600", HOSTILE]
    quoted = [label(name) for name in names]
    charts = [f"graph TB\n subgraph f1[{q}]\n n1[{q}]\n end\n n1 -. {q} .-> f1\n" for q in quoted]
    for name, found in zip(names, read_by_mermaid(charts), strict=True):
        assert found == {kind: [clean(name)] for kind in ("frames", "boxes", "arrows")}
