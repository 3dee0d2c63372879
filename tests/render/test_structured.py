"""Reports as JSON and YAML say the same."""

from __future__ import annotations

import json

import msgspec
import pytest
import yaml

from kubectl_spread.contract.form import form_of, to_form
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.render.structured import to_json, to_yaml
from tests.build import ZONE, app, spread
from tests.build_workloads import template, workload
from tests.diagnosis.judged import METADATA, TAINTED, incoming, report_of, rows_of, web

ITEM = PendingItem(
    **msgspec.structs.asdict(report_of(incoming(), [*TAINTED, *web("a1", "b1")])), scheduler_name="default-scheduler"
)
EMPTY = PendingReport(metadata=METADATA, items=())
REPORTS = [
    PendingReport(metadata=METADATA, items=(ITEM,)),
    EMPTY,
    SkewReport(
        metadata=METADATA,
        items=rows_of([*TAINTED, workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"))))]),
    ),
]


@pytest.mark.parametrize("report", REPORTS, ids=["pending", "empty", "skew"])
def test_json_and_yaml_say_the_same(report: PendingReport | SkewReport) -> None:
    values = json.loads(to_json(report))
    assert yaml.safe_load(to_yaml(report)) == values
    assert msgspec.convert(values, form_of(type(report))) == to_form(report)


def test_json_is_indented_as_kubectls() -> None:
    text = to_json(EMPTY)
    assert text.startswith('{\n    "apiVersion": "spread.kubectl.dev/v1alpha2",\n    "kind": "PendingReport",\n')
    assert text.endswith("}\n")


def test_yaml_keeps_the_order_and_writes_text_as_it_is() -> None:
    text = to_yaml(msgspec.structs.replace(EMPTY, metadata=msgspec.structs.replace(METADATA, source="zürich")))
    assert text.startswith("apiVersion: spread.kubectl.dev/v1alpha2\nkind: PendingReport\nmetadata:\n")
    assert "source: zürich\n" in text


@pytest.mark.parametrize("text", ["yes", "1e3", "0x1f", "null", "2026-01-01", "a: b", "- x", "\x1b[31m", "\u202e", ""])
def test_text_stays_text(text: str) -> None:
    report = msgspec.structs.replace(EMPTY, metadata=msgspec.structs.replace(METADATA, source=text))
    assert yaml.safe_load(to_yaml(report))["metadata"]["source"] == text
    assert json.loads(to_json(report))["metadata"]["source"] == text
