"""What ``audit`` is asked, what it leaves out, and what happens after a loss."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.commands import audit as command
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.audit import AuditOptions, audit
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.diagnosis import after_loss
from kubectl_spread.diagnosis.audit import Risk
from kubectl_spread.errors import ClusterError
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.objects import kinds
from kubectl_spread.render.outline.audit import audit_outline
from kubectl_spread.render.text import outline_text
from kubectl_spread.render.text.audit import audit_text
from kubectl_spread.render.text.screen import PIPE
from kubectl_spread.simulation.steps import NotReplaced
from kubectl_spread.snapshot import Unread
from kubectl_spread.wording.audit import SUGGEST, after_text
from tests.build import ZONE, Object, app, node, spread
from tests.commands.memory import Memory
from tests.diagnosis.audited import cluster
from tests.rebalance.lying import web, zones
from tests.sampling import first


def asked(objects: list[Object], *, unread: tuple[Unread, ...] = (), **options: Any) -> AuditReport:  # noqa: ANN401 - as they are named there
    """Return the answer of ``audit`` in the namespace default."""
    source = Memory(objects, unread=unread)
    return audit(source, Scope(namespace="default"), AuditOptions(**options), SchedulerOptions()).report


ONE_EACH = [*zones("a", "b"), *web({"a1": 1}), *web({"a1": 1, "b1": 1}, name="api", labels={"app": "api"})]


def test_workloads_with_one_pod_are_counted_and_shown_if_asked_for() -> None:
    def of(**options: Any) -> tuple[list[str], int]:  # noqa: ANN401 - as for asked
        report = asked(ONE_EACH, **options)
        return [str(each.workload) for each in report.items], report.left_out

    assert of() == (["replicaset/api"], 1)
    assert of(every=True) == (["replicaset/web", "replicaset/api"], 0)
    assert of(names=(("replicaset", "web"),)) == (["replicaset/web"], 0)


def test_a_workload_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ClusterError, match="deployment/nowhere not found"):
        asked(ONE_EACH, names=(("deployment", "nowhere"),))


@pytest.mark.parametrize(("worst", "code"), [(Risk.OUTAGE, 0), (Risk.MAJORITY, 1), (Risk.UNAVOIDABLE, 1), (Risk.OK, 1)])
def test_it_fails_on_a_risk_or_a_worse_one(worst: Risk, code: int) -> None:
    report = asked([*zones("a", "b", "c"), *web({"a1": 3, "b1": 1})])
    assert [each.risk for each in report.items] == [Risk.MAJORITY]
    assert exit_codes.of_audit(report, worst) == code


def test_without_budgets_it_does_not_fail_but_is_incomplete() -> None:
    report = asked(ONE_EACH, unread=(Unread(kinds.POD_DISRUPTION_BUDGET, "forbidden"),))
    assert exit_codes.of_audit(report, Risk.OUTAGE) is ExitCode.UNDETERMINED
    assert len(report.incomplete) == 1


def test_without_nodes_nothing_is_audited() -> None:
    report = asked(ONE_EACH, unread=(Unread(kinds.NODE, "forbidden"),))
    assert report.items == ()
    assert report.incomplete


@pytest.mark.parametrize("seed", first(5, range(8)))
def test_what_happens_after_a_loss_is_what_simulate_says(seed: int) -> None:
    objects = cluster(seed)
    for item in asked(objects, after_loss=True).items:
        for key in (each for each in item.keys if each.loss):
            assert key.after is not UNSET
            assert key.after.domain == key.worst[0]
            options = SimulateOptions(steps=(("lose", f"{key.topology_key}={key.worst[0]}"),))
            (step,) = simulate(Memory(objects), Scope(namespace="default"), options, SchedulerOptions()).steps
            pending = [each.range for each in step.pending if each.workload == item.workload]
            assert ([key.after.pending.range] if key.after.pending else []) == pending
            stay = sum(len(e.pods) for e in step.done if isinstance(e, NotReplaced) and e.ref == item.workload)
            assert key.after.not_replaced == stay


def after(objects: list[Object]) -> str:
    """Return what becomes of the only workload after the loss of the worst zone."""
    (item,) = asked(objects, after_loss=True).items
    return next(after_text(key) for key in item.keys if key.topology_key == ZONE)


def test_the_text_says_what_finds_no_node_and_why() -> None:
    assert after([*zones("a", "b"), *web({"a1": 2, "b1": 1}, spread(ZONE, selector=app("x"), soft=True))]) == (
        "without zone a: all Pods are replaced"
    )
    small = [node("a1", zone="a"), node("b1", zone="b", allocatable={"cpu": "1"})]
    assert after([*small, *web({"a1": 2}, requests={"cpu": "2"})]).startswith("without zone a: 2 Pending. ")
    assert after([*zones("a", "b"), *web({"a1": 2}, kind="StatefulSet")]) == (
        "without zone a: 2 not replaced until the nodes return or are deleted"
    )


def test_only_so_many_losses_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(after_loss, "MOST_NODES", 2)
    monkeypatch.setattr(after_loss, "LEAST_LOSSES", 1)
    (item,) = asked([*zones("a", "b"), *web({"a1": 2})], after_loss=True).items
    assert [each.after is UNSET for each in item.keys] == [False, True]


def test_only_so_much_time_goes_into_suggestions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "SECONDS", 0)
    report = asked([*ONE_EACH, *web({"a1": 2}, name="cart", labels={"app": "cart"})], suggest=True)
    assert (len(report.items), report.not_searched) == (2, 1)
    text = outline_text(audit_outline(report))
    assert text.splitlines()[-1] == "No time was left to search suggestions for 1 workload: name them."


@pytest.mark.parametrize(
    ("objects", "risk", "hinted"),
    [
        ([*zones("a", "b"), *web({"a1": 2})], Risk.OUTAGE, True),
        ([*zones("a"), *web({"a1": 2})], Risk.UNAVOIDABLE, False),
    ],
)
def test_the_flag_for_suggestions_is_named_where_one_may_help(
    objects: list[Object], risk: Risk, *, hinted: bool
) -> None:
    report = asked(objects)
    assert [item.risk for item in report.items] == [risk]
    lines = audit_text(report, PIPE, detailed=False, wide=False, headers=True).splitlines()
    assert (lines[-1] == SUGGEST) is hinted
    assert SUGGEST not in audit_text(report, PIPE, detailed=False, wide=False, headers=False)


def test_the_list_names_a_domain_only_where_its_domains_are_counted() -> None:
    few, many = [*zones("a", "b"), *web({"a1": 2})], [*zones(*"abcdef"), *web({"a1": 2})]
    for objects, losses in ((few, ["2 of 2", "2 of 2 on a1"]), (many, ["2 of 2 in zone a", "2 of 2 on a1"])):
        lines = audit_text(asked(objects), PIPE, detailed=False, wide=False, headers=True).splitlines()[1:3]
        assert [re.split(" {3,}", line)[-3] for line in lines] == losses
