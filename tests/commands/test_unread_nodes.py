"""Files that hold Pods and no Nodes, as ``kubectl get all -o yaml`` writes them: what depends on Nodes is not known."""

from __future__ import annotations

from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.rebalance import exit_code as rebalance_exit_code
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import exit_code, why_pending
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.errors import ExitCode
from kubectl_spread.objects import kinds
from kubectl_spread.snapshot import Unread
from tests.build import app, pod, spread
from tests.commands.memory import Memory
from tests.rebalance.lying import web

SCOPE = Scope(namespace="default")
SOURCE = Memory(
    [
        *web({"a1": 2}),
        pod("waits", topologySpreadConstraints=[spread("zone", selector=app("web"))], labels={"app": "web"}),
    ],
    unread=(Unread(kinds.NODE, "not in the files"),),
)


def test_show_has_no_status_that_rests_on_nodes() -> None:
    report = show(SOURCE, SCOPE, ShowOptions(), SchedulerOptions()).report
    assert {item.status for item in report.items} == {SpreadStatus.INCOMPLETE}
    assert [gap.what for gap in report.incomplete] == ["list nodes"]


def test_why_pending_blames_nothing() -> None:
    report = why_pending(SOURCE, SCOPE, SchedulerOptions()).report
    (item,) = report.items
    assert (item.verdict, item.message, item.conflict) == (Verdict.INCOMPLETE, "", ())
    assert item.summary == "The Nodes were not read (not in the files): where default/waits can go is not known."
    assert exit_code(report) is ExitCode.UNDETERMINED


def test_rebalance_says_of_no_constraint_that_it_holds() -> None:
    report = rebalance(SOURCE, SCOPE, RebalanceOptions(), SchedulerOptions())
    assert {item.verdict.value for item in report.items} == {"Incomplete"}
    assert rebalance_exit_code(report) is ExitCode.UNDETERMINED
