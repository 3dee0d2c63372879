"""Where ``check`` says that things stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.program import spread

SHOP = Path(__file__).parents[2] / "examples" / "shop.yaml"
CONSTRAINTS = """\
topologySpreadConstraints:
- maxSkew: 0
  topologyKey: zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {}
"""
SPEC = "containers: [{name: a, image: b}]\n" + CONSTRAINTS
KEY = "spec.topologySpreadConstraints[0].topologyKey"


def indented(text: str, depth: int) -> str:
    """Return the lines that far to the right."""
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def cron_job() -> str:
    """Return a CronJob, whose Pod's spec stands deepest."""
    pod = f"      template:\n        spec:\n          restartPolicy: Never\n{indented(SPEC, 10)}"
    head = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec:\n  schedule: '0 0 * * *'\n"
    return f"{head}  jobTemplate:\n    spec:\n{pod}"


def pod() -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec:\n{indented(SPEC, 2)}"


def origin(*words: str, stdin: str = "") -> dict[str, Any]:
    """Return where the only manifest stands."""
    found: dict[str, Any] = spread("check", *words, "--from", SHOP, "-o", "json", stdin=stdin).item["origin"]
    return found


@pytest.mark.parametrize(
    ("text", "field", "prefix"),
    [(pod(), "spec", 0), (cron_job(), "spec.jobTemplate.spec.template.spec", 0)],
    ids=["Pod", "CronJob"],
)
def test_the_lines_of_findings_and_errors(text: str, field: str, prefix: int, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(f"# first\n{text}")
    lines = path.read_text().splitlines()
    found = origin("-f", str(path))
    assert (found["file"], found["document"], found["line"]) == (str(path), 1, 2 + prefix)
    assert "topologyKey: zone" in lines[found["lines"][KEY] - 1]
    error = f"{field}.topologySpreadConstraints[0].maxSkew"
    assert "maxSkew: 0" in lines[found["lines"][error] - 1]


def test_standard_input_is_no_file() -> None:
    found = origin("-f", "-", stdin=pod())
    assert (found["file"], found["line"]) == ("", 1)
    assert found["lines"][KEY] == 8
