"""SARIF against the schema of OASIS, which comes with a package of npm; no cluster is needed."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from kubectl_spread.contract.check import CheckReport
from kubectl_spread.render.sarif import to_sarif
from tests.npm import installed
from tests.render.reports import REPORTS, golden_report, poisoned_report

pytestmark = pytest.mark.e2e

PACKAGE, VERSION = "@microsoft/jest-sarif", "1.0.0-beta.0"
SCHEMA = "lib/schemas/sarif-2.1.0-rtm.5.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    """Return what holds logs against the schema."""
    path = installed({PACKAGE: VERSION}) / "node_modules" / PACKAGE / SCHEMA
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return jsonschema.Draft7Validator(schema, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("name", [name for name in REPORTS if name.startswith("check/")])
def test_the_schema_allows_every_log(name: str, validator: jsonschema.Draft7Validator) -> None:
    for report in (golden_report(name), poisoned_report(name)):
        assert isinstance(report, CheckReport)
        assert [error.message for error in validator.iter_errors(json.loads(to_sarif(report)))] == []


def test_the_schema_refuses_what_is_wrong(validator: jsonschema.Draft7Validator) -> None:
    report = golden_report("check/manifests")
    assert isinstance(report, CheckReport)
    log = json.loads(to_sarif(report))
    del log["runs"][0]["tool"]
    assert not validator.is_valid(log)
