"""Metrics, as Prometheus' own parser reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.audit import Risk
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.render.cells import clean
from kubectl_spread.render.prometheus import AUDIT, METRICS, STALE, to_prometheus, to_prometheus_by_node
from tests.build import HOSTNAME, ZONE
from tests.render.reports import REPORTS, golden_report, poisoned_report

ALERTS = Path(__file__).parents[2] / "deploy/alerts.yaml"
STATUS_METRIC = "kubectl_spread_status"
METRIC_NAMES = {f"kubectl_spread_{metric.name}" for metric in METRICS} | {
    "kubectl_spread_domain_pods",
    "kubectl_spread_incomplete",
    "kubectl_spread_autoscaler_decision",
    STATUS_METRIC,
    "kubectl_spread_current",
}
LABELS = {
    "namespace",
    "workload",
    "revision",
    "constraint",
    "key",
    "when",
    "status",
    "domain",
    "file",
    "autoscaler",
    "decision",
    "risk",
}
NAME = re.compile(r"(?<![\w\"])[a-z_]+\b(?=[^\"]*(?:\"[^\"]*\"[^\"]*)*$)")
"""A word of an expression that stands in no quotes."""
PROMQL = {"time", "by", "max", "on", "group_left", "and"}
SHOWN = [name for name in REPORTS if name.startswith("show/")]


def skew_report(name: str, *, poisoned: bool = False) -> SkewReport:
    report = poisoned_report(name) if poisoned else golden_report(name)
    assert isinstance(report, SkewReport)
    return report


def samples(
    report: SkewReport, printed: Callable[[SkewReport], str] = to_prometheus
) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Return metric → its labels and values."""
    families = list(text_string_to_metric_families(printed(report)))
    assert all(family.documentation and family.type == "gauge" for family in families)
    return {family.name: [(s.labels, s.value) for s in family.samples] for family in families}


@pytest.mark.parametrize("poisoned", [False, True], ids=["as it is", "poisoned"])
@pytest.mark.parametrize("name", SHOWN)
def test_prometheus_reads_what_the_report_says(name: str, *, poisoned: bool) -> None:
    report = skew_report(name, poisoned=poisoned)
    read = samples(report)
    assert set(read) == METRIC_NAMES
    rows = [(clean(item.namespace), clean(str(item.workload)), float(item.constraint.skew)) for item in report.items]
    found = [(labels["namespace"], labels["workload"], value) for labels, value in read["kubectl_spread_skew"]]
    assert found == rows
    domains = [(clean(d.value), float(d.matching)) for i in report.items for d in i.constraint.domains if d.eligible]
    by_node = samples(report, to_prometheus_by_node)["kubectl_spread_domain_pods"]
    assert [(labels["domain"], value) for labels, value in by_node] == domains


def test_a_row_has_one_status() -> None:
    report = skew_report("show/shop")
    statuses = [(labels["workload"], labels["status"], value) for labels, value in samples(report)[STATUS_METRIC]]
    assert statuses == [(str(item.workload), item.status, 1) for item in report.items]


def test_nodes_have_series_of_their_own_where_that_is_asked_for() -> None:
    report = skew_report("show/shop")
    zones, nodes = (
        [labels["key"] for labels, _ in samples(report, printed)["kubectl_spread_domain_pods"]]
        for printed in (to_prometheus, to_prometheus_by_node)
    )
    assert set(zones) == {ZONE}
    assert nodes == [*zones, *[HOSTNAME] * 4]
    counted = {labels["workload"]: value for labels, value in samples(report)["kubectl_spread_domains"]}
    assert counted == {"deployment/web": 3, "deployment/canary": 3, "deployment/cart": 3, "deployment/api": 4}


def test_alerts_rest_on_what_is_printed() -> None:
    rules = [rule for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]
    served = {f"kubectl_spread_{name}" for name in (*(each.name for each in AUDIT), STALE.name)}
    known = METRIC_NAMES | served | {"node_textfile_mtime_seconds"}
    for rule in rules:
        assert {name for name in NAME.findall(rule["expr"]) if name not in PROMQL} <= known | LABELS, rule["alert"]
        assert set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))) <= LABELS | {"instance"}
        told = set(re.findall(r'(?:status|risk)=~?"([^"]+)"', rule["expr"]))
        assert {value for each in told for value in each.split("|")} <= {*SpreadStatus, *Risk}


@pytest.mark.parametrize("name", SHOWN)
def test_no_series_is_given_twice(name: str) -> None:
    lines = [line.rpartition(" ")[0] for line in to_prometheus(skew_report(name)).splitlines() if line[0] != "#"]
    assert len(lines) == len(set(lines))


def test_what_was_not_read_is_counted() -> None:
    report = skew_report("show/shop")
    gap = UnreadableManifest(place="list pods", why="nothing was counted")
    assert samples(replace(report, items=(), incomplete=(gap,)))["kubectl_spread_incomplete"] == [({}, 1.0)]
