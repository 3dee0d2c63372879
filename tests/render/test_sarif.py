"""SARIF: every result has a rule with a text, a place and a fingerprint that survives other lines and numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_spread.apiserver.validation.field_errors import ValidationWarning
from kubectl_spread.contract.check import CheckReport, Origin
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import PinnedMinimum
from kubectl_spread.render.sarif import FINGERPRINT, to_sarif
from tests.render.reports import REPORTS, check_report, strings

CHECKED = [name for name in REPORTS if name.startswith("check/")]


def run_of(report: CheckReport) -> dict[str, Any]:
    (run,) = json.loads(to_sarif(report))["runs"]
    assert isinstance(run, dict)
    return run


def fingerprints(report: CheckReport) -> list[str]:
    return [result["partialFingerprints"][FINGERPRINT] for result in run_of(report)["results"]]


def results_of(name: str) -> list[dict[str, Any]]:
    """Return the results of a golden report."""
    found: list[dict[str, Any]] = run_of(check_report(name))["results"]
    return found


@pytest.mark.parametrize("poisoned", [False, True], ids=["as it is", "poisoned"])
@pytest.mark.parametrize("name", CHECKED)
def test_every_result_has_its_rule(name: str, *, poisoned: bool) -> None:
    run = run_of(check_report(name, poisoned=poisoned))
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["helpUri"].startswith("https://kubernetes.io/docs/")
        assert all(rule[field]["text"].endswith(".") for field in ("shortDescription", "fullDescription", "help"))
    assert not any("\x1b" in text or "\n" in text for text in strings(run))


def test_errors_warnings_and_rules() -> None:
    found = {(result["ruleId"], result["level"]) for result in results_of("check/manifests")}
    assert found == {
        ("Unschedulable", "error"),
        (Verdict.INVALID, "error"),
        ("MissingTopologyKey", "warning"),
        ("SimilarTopologyKey", "warning"),
        ("GhostPod", "warning"),
    }


def test_warnings_of_the_api_server_are_results() -> None:
    report = check_report("check/checkout")
    warned = (ValidationWarning(field="spec.template.spec.nodeSelector", message="deprecated"),)
    run = run_of(replace(report, items=(replace(report.items[0], warnings=warned),)))
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("Warning", "warning")
    assert result["message"]["text"] == "spec.template.spec.nodeSelector: deprecated"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["Warning"]


def test_what_schedules_has_no_result() -> None:
    assert results_of("check/checkout") == []


def test_the_place_is_the_line_of_the_field() -> None:
    (invalid,) = [result for result in results_of("check/manifests") if result["ruleId"] == Verdict.INVALID]
    (location,) = invalid["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "tests/testdata/cli/manifests.yaml"},
        "region": {"startLine": 41},
    }
    (logical,) = location["logicalLocations"]
    assert logical["fullyQualifiedName"].startswith("warehouse/job/count: spec.template.spec.")


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("deploy/my web.yaml", "deploy/my%20web.yaml"),
        ("/srv/ü#1.yaml", "file:///srv/%C3%BC%231.yaml"),
        ("a%b.yaml", "a%25b.yaml"),
    ],
)
def test_a_file_is_a_uri(file: str, uri: str) -> None:
    report = check_report("check/manifests")
    moved = replace(report, items=(replace(report.items[0], origin=Origin(file=file, document=1)),))
    place = run_of(moved)["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": uri}}


def test_without_a_file_there_is_only_the_object() -> None:
    report = check_report("check/manifests")
    moved = replace(report, items=(replace(report.items[0], origin=Origin(file="", document=1, line=3)),))
    assert "physicalLocation" not in run_of(moved)["results"][0]["locations"][0]


def test_fingerprints_survive_other_lines_and_numbers() -> None:
    report = check_report("check/manifests")
    items = tuple(
        replace(
            item,
            findings=tuple(
                replace(each, global_minimum=7) if isinstance(each, PinnedMinimum) else each for each in item.findings
            ),
            origin=replace(item.origin, line=900, lines={}) if isinstance(item.origin, Origin) else item.origin,
        )
        for item in report.items
    )
    before = fingerprints(report)
    assert fingerprints(replace(report, items=items)) == before
    assert len(set(before)) == len(before)


def test_the_same_twice_in_one_place_keeps_two_fingerprints() -> None:
    report = check_report("check/manifests")
    once = next(item for item in report.items if item.validation)
    twice = replace(once, validation=once.validation * 2)
    found = fingerprints(replace(report, items=(twice,)))
    assert len(set(found)) == len(found)
