"""``explain`` and ``version``: what they print, for people and for programs; neither reads anything."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path

import pytest
import typer
import yaml

import kubectl_spread
from kubectl_spread import __version__
from kubectl_spread.cli import application
from kubectl_spread.cli.candidates import complete
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.render.json_fields import json_fields, json_values, plugins
from kubectl_spread.render.outline.audit import AUDIT_COLUMNS
from kubectl_spread.render.outline.rebalance import COLUMNS as REBALANCE_COLUMNS
from kubectl_spread.render.outline.simulate import COLUMNS as SIMULATE_COLUMNS
from kubectl_spread.render.outline.skew import SKEW_COLUMNS
from kubectl_spread.render.text.explain import entries_text
from kubectl_spread.scheduler.cycle import PRE_FILTERS, PRE_SCORES
from kubectl_spread.wording.reference import entries, entries_named
from tests.program import INSTALLED, spread
from tests.terminal import printed_on

GOLDEN = Path(__file__).parents[1] / "golden"


def test_everything_is_listed_in_one_line_each() -> None:
    head, *rows = spread("explain").stdout.splitlines()
    assert head.split() == ["NAME", "KIND", "WHAT"]
    assert [tuple(row.split()[:2]) for row in rows] == [(entry.name, entry.kind) for entry in entries()]
    assert max(map(len, rows)) <= 120


@pytest.mark.parametrize("words", [(), ("PinnedMinimum",)])
def test_what_is_explained_fits_the_terminal(words: tuple[str, ...]) -> None:
    shown = printed_on(60, INSTALLED, "explain", *words)
    assert [line for line in shown.splitlines() if len(line) > 60 and not line.startswith("See ")] == []
    assert "".join(shown.split()) == "".join(spread("explain", *words).stdout.split())


@pytest.mark.parametrize("name", sorted({entry.name for entry in entries()}))
def test_one_thing_is_explained_in_a_few_lines(name: str) -> None:
    named = entries_named(name.upper())
    lines = entries_text(named).splitlines()
    assert [line for line in lines if line.startswith("See ")] == [f"See {entry.link}" for entry in named]
    prose = [line for line in lines if line and not line.startswith("See ")]
    assert len(prose) <= 10 * len(named)
    assert max(map(len, prose)) <= 100


def test_what_is_not_known_is_a_usage_error_with_what_may_be_meant() -> None:
    ended = spread("explain", "maxSkev")
    assert (ended.code, ended.error.partition(";")[0]) == (2, "error: no entry is named 'maxSkev'")
    assert "did you mean maxSkew" in ended.error
    assert spread("explain", "quux").error.endswith("; kubectl spread explain lists all entries")


def test_every_status_verdict_and_column_is_explained() -> None:
    shown = (SKEW_COLUMNS, REBALANCE_COLUMNS, SIMULATE_COLUMNS, AUDIT_COLUMNS)
    headers = {column.header for columns in shown for column in columns}
    tables = [path for path in GOLDEN.rglob("*.txt") if path.parent.name != "explain"]
    lines = {line for path in tables for line in path.read_text().splitlines()}
    headers |= {word for line in lines if re.fullmatch(r"[A-Z-]{3,}( +[A-Z-]{3,})+", line) for word in line.split()}
    stand = {*SpreadStatus, *Verdict, *RebalanceVerdict}
    assert headers | stand <= {entry.name for entry in entries()}
    assert {"DOMAIN", "NODE", "REJECTED-BY", "WAVE"} <= headers


def test_every_name_that_is_printed_is_explained() -> None:
    text = (Path(kubectl_spread.__file__).parent / "schema" / "report.v1alpha2.json").read_text()
    schema = json.loads(text)["$defs"]
    names = {name for each in schema.values() for name in each.get("properties", ())}
    names |= set(re.findall(r'"([A-Z][A-Za-z]+)"', " ".join(re.findall(r'"enum": \[([^]]*)\]', text))))
    names |= {*PRE_FILTERS, *PRE_SCORES}
    known = {each.name for each in (*json_fields(), *json_values(), *plugins())} | {each.name for each in entries()}
    assert sorted(names - known) == []
    assert {"PinnedDomain", "TaintToleration", "NodeResourcesFit", "DomainsFull", "PodsReplaced"} <= names
    (line,) = spread("explain", "tainttoleration").stdout.splitlines()
    assert line.startswith("TaintToleration (in REJECTED-BY): ")


@pytest.mark.parametrize("arguments", [(), ("GhostPod",), ("incomplete",)], ids=str)
def test_programs_read_the_same(arguments: tuple[str, ...]) -> None:
    as_json = json.loads(spread("explain", *arguments, "-o", "json").stdout)
    assert as_json == yaml.safe_load(spread("explain", *arguments, "-o", "yaml").stdout)
    wanted = [entry for entry in entries() if not arguments or entry.name.lower() == arguments[0].lower()]
    assert [item["name"] for item in as_json["items"]] == [entry.name for entry in wanted]
    assert as_json["kind"] == "Reference"


def test_a_field_of_a_report_is_explained() -> None:
    text = spread("explain", ".items[*].replicas").stdout.splitlines()
    assert {line.partition(": ")[0] for line in text} == {
        "replicas (JSON, in PendingItem)",
        "replicas (JSON, in CheckItem)",
        "replicas (JSON, in OlderPods)",
    }
    items = json.loads(spread("explain", "replicas", "-o", "json").stdout)["items"]
    assert [f"{item['name']} (JSON, in {item['of']}): {item['meaning']}" for item in items] == text
    assert {item["kind"] for item in items} == {"json"}


@pytest.mark.parametrize("command", ["explain", "version"])
def test_no_other_format(command: str) -> None:
    ended = spread(command, "-o", "table")
    assert (ended.code, ended.error) == (2, "error: invalid argument 'table' for --output; must be one of: json, yaml")


def test_names_are_completed_with_what_they_are() -> None:
    root = typer.main.get_group(application())
    found = complete(root, ["explain", "Min"])
    assert dict(found.candidates) == {"MinDomainsUnreachable": "there are fewer domains than minDomains requires"}
    assert set(complete(root, ["explain", ""]).candidates) == {entry.name for entry in entries()}
    assert list(complete(root, ["version", "-o", ""]).candidates) == ["json", "yaml"]
    assert list(complete(root, ["audit", "--fail-on", "Un"]).candidates) == ["Uneven", "Unavoidable", "Unprotected"]


def test_the_version_for_programs() -> None:
    told = json.loads(spread("version", "-o", "json").stdout)
    assert told == yaml.safe_load(spread("version", "-o", "yaml").stdout)
    assert told["clientVersion"] == {"gitVersion": f"v{__version__}", "pythonVersion": platform.python_version()}
    text = spread("version").stdout
    first, last = told["schedulerReleases"][0], told["schedulerReleases"][-1]
    assert text == f"kubectl-spread v{__version__}\nmirrors kube-scheduler {first} to {last}\n"
