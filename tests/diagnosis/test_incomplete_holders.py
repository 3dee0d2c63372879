"""Who else decides about a Pod comes first, in the sentence, in the verdict and in the row of its workload."""

from __future__ import annotations

import pytest

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.skew import status_reason
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, pod, spread
from tests.build_workloads import template, workload
from tests.diagnosis.judged import ABC, TAINTED, incoming, report_of, rows_of, web

FULL = [*TAINTED, *web("a1", "b1")]
"""Three zones, one of them tainted: no node is left for another Pod of the application."""
GROUP: Object = {"schedulingGroup": {"podGroupName": "train"}}
REFERENCE: Object = {"workloadRef": {"name": "training", "podGroup": "workers"}}


def told(report: EvaluationReport) -> list[str]:
    """Return what is said to be missing."""
    return [missing.what for missing in entries(report.incomplete)]


class TestAnotherScheduler:
    """No profile that is known serves the Pod."""

    def test_what_would_reject_the_pod_is_said_after_who_decides(self) -> None:
        report = report_of(incoming(schedulerName="volcano"), FULL)
        assert (report.verdict, report.message, report.feasible) == ("Incomplete", "", ())
        lead = "volcano schedules this Pod; kube-scheduler's filters would reject default/new: "
        assert report.summary.startswith(f"{lead}the Pod may only go to zone c, which has the fewest")
        assert told(report) == ["schedulerName volcano"]

    def test_what_would_allow_it_too(self) -> None:
        report = report_of(incoming(schedulerName="volcano"), ABC)
        assert report.verdict == "Incomplete"
        lead = "volcano schedules this Pod; kube-scheduler's filters would allow default/new on "
        assert report.summary == f"{lead}a1, a2 and 2 more."

    @pytest.mark.parametrize(
        ("objects", "status"),
        [(FULL, SpreadStatus.INCOMPLETE), ([*ABC, *web("a1", "a1")], SpreadStatus.VIOLATED)],
        ids=["not blocked", "how Pods lie is known whoever decides"],
    )
    def test_a_row_is_not_blocked_by_filters_that_do_not_judge(
        self, objects: list[Object], status: SpreadStatus
    ) -> None:
        pods = template(spread(ZONE, selector=app("web")))
        pods["spec"]["schedulerName"] = "volcano"
        (row,) = (
            row for row in rows_of([*objects, workload("Deployment", "web", pods=pods)]) if row.workload.name == "web"
        )
        assert row.status is status

    def test_a_pod_of_its_own_waits_for_it_too(self) -> None:
        waits, runs = incoming(schedulerName="volcano"), pod("runs", on="a1", schedulerName="volcano")
        (alone,) = rows_of([*ABC, waits])
        assert (alone.status, status_reason(alone)) == (
            SpreadStatus.INCOMPLETE,
            "if it does not run, the Pod stays Pending",
        )
        row = next(row for row in rows_of([*ABC, waits, runs]) if row.workload.name == "new")
        assert (row.status, status_reason(row)) == (SpreadStatus.INCOMPLETE, "volcano decides by its own rules")


class TestNobody:
    """The Pod names its node, and no scheduler looks at it."""

    def test_what_would_reject_it_does_not(self) -> None:
        named = incoming(nodeName="a1")
        report = report_of(named, FULL)
        assert (report.verdict, report.message) == ("Incomplete", "")
        lead = "default/new sets spec.nodeName a1, so no scheduler is involved; kube-scheduler's filters would reject"
        assert report.summary.startswith(f"{lead} default/new")
        assert told(report) == ["spec.nodeName a1"]

    def test_its_workload_is_not_blocked(self) -> None:
        pods = template(spread(ZONE, selector=app("web")), nodeName="a1")
        rows = rows_of([*FULL, workload("Deployment", "web", pods=pods)])
        (row,) = (row for row in rows if row.workload.name == "web")
        assert row.status is SpreadStatus.INCOMPLETE


@pytest.mark.parametrize(
    ("held", "group"), [(GROUP, "PodGroup train"), (REFERENCE, "group workers of Workload training")]
)
class TestSchedulingGroup:
    """The Pod is scheduled with others or not at all."""

    def test_it_is_held_where_filters_allow_it(self, held: Object, group: str) -> None:
        report = report_of(incoming(**held), ABC)
        assert report.verdict == "Incomplete"
        assert report.summary.startswith(f"default/new is held until its PodGroup is complete ({group}); ")
        assert told(report) == [group]

    def test_a_node_that_is_rejected_is_rejected_for_the_group_too(self, held: Object, group: str) -> None:
        report = report_of(incoming(**held), FULL)
        assert (report.verdict, report.summary) == ("Unschedulable", report_of(incoming(), FULL).summary)
        assert told(report) == [group]

    def test_an_api_server_without_the_gate_drops_the_field(self, held: Object, group: str) -> None:
        report = report_of(incoming(**held), ABC, default_profile(gates={"GenericWorkload": False}))
        assert (report.verdict, group in told(report)) == ("Schedulable", False)


def test_a_job_that_is_scheduled_as_a_group_has_its_pods_held() -> None:
    pods = template(spread(ZONE, selector=app("web")))
    (row,) = rows_of([*ABC, workload("Job", "train", pods=pods, scheduling={"schedulingPolicy": {"basic": {}}})])
    assert (row.status, status_reason(row)) == (
        SpreadStatus.INCOMPLETE,
        "the Pod is held until its PodGroup is complete",
    )
