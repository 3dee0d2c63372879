"""Metrics, as Prometheus' own parser reads them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from kubectl_spread.render.cells import clean
from kubectl_spread.render.prometheus import METRICS, to_prometheus
from kubectl_spread.report import Incomplete, SkewReport, SpreadStatus
from tests.render.reports import REPORTS, golden_report, poisoned_report

SHOWN = [name for name in REPORTS if name.startswith("show/")]


def skew_report(name: str, *, poisoned: bool = False) -> SkewReport:
    """Return a report of ``show``."""
    report = poisoned_report(name) if poisoned else golden_report(name)
    assert isinstance(report, SkewReport)
    return report


def samples(report: SkewReport) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Return metric → its labels and values."""
    families = list(text_string_to_metric_families(to_prometheus(report)))
    assert all(family.documentation and family.type == "gauge" for family in families)
    return {family.name: [(s.labels, s.value) for s in family.samples] for family in families}


@pytest.mark.parametrize("poisoned", [False, True], ids=["as it is", "poisoned"])
@pytest.mark.parametrize("name", SHOWN)
def test_prometheus_reads_what_the_report_says(name: str, *, poisoned: bool) -> None:
    report = skew_report(name, poisoned=poisoned)
    read = samples(report)
    assert set(read) == {f"kubectl_spread_{metric.name}" for metric in METRICS} | {"kubectl_spread_incomplete"}
    rows = [(clean(item.namespace), clean(str(item.workload)), float(item.constraint.skew)) for item in report.items]
    found = [(labels["namespace"], labels["workload"], value) for labels, value in read["kubectl_spread_skew"]]
    assert found == rows
    domains = [(clean(d.value), float(d.matching)) for i in report.items for d in i.constraint.domains if d.eligible]
    assert [(labels["domain"], value) for labels, value in read["kubectl_spread_domain_pods"]] == domains


def test_one_status_of_a_row_holds() -> None:
    report = skew_report("show/shop")
    statuses = samples(report)["kubectl_spread_status"]
    holding = [(labels["workload"], labels["status"]) for labels, value in statuses if value == 1]
    assert holding == [(str(item.workload), item.status) for item in report.items]
    assert len(statuses) == len(report.items) * len(SpreadStatus)


@pytest.mark.parametrize("name", SHOWN)
def test_no_series_is_given_twice(name: str) -> None:
    lines = [line.rpartition(" ")[0] for line in to_prometheus(skew_report(name)).splitlines() if line[0] != "#"]
    assert len(lines) == len(set(lines))


def test_what_was_not_read_is_counted() -> None:
    report = skew_report("show/shop")
    gap = Incomplete(what="list pods", why="forbidden", consequence="nothing was counted")
    assert samples(replace(report, items=(), incomplete=(gap,)))["kubectl_spread_incomplete"] == [({}, 1.0)]
