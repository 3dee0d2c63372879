"""What ``rebalance`` is asked, and what it ends with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.diagnosis.planned_evictions import ItemReason, SatisfiedSoon
from kubectl_spread.diagnosis.remaining_skew import RemainingSkew, TooFewDomains
from kubectl_spread.diagnosis.statuses import Idle, NoEffect
from kubectl_spread.errors import ClusterError
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.labels import parse_selector
from kubectl_spread.objects import kinds
from kubectl_spread.render.outline import Extent, Table
from kubectl_spread.render.outline.rebalance import rebalance_outline, sentence_of
from kubectl_spread.render.text import outline_text
from kubectl_spread.snapshot import Unread
from tests.build import ZONE as BY
from tests.build import Object, app, spread
from tests.build_workloads import owned
from tests.commands.memory import Memory
from tests.commands.test_view import configuration
from tests.program import encoded
from tests.rebalance.lying import BY_ZONE, web, zones


def api(on: dict[str, int]) -> list[Object]:
    """Return another workload, which web does not count."""
    return web(on, spread(BY, selector=app("api")), name="api", labels={"app": "api"})


SKEWED = [*zones("a", "b"), *web({"a1": 2}), *api({"a1": 2})]


def asked(
    objects: list[Object], scope: Scope | None = None, *, unread: tuple[Unread, ...] = (), **options: object
) -> RebalanceReport:
    source = Memory(objects, unread=unread)
    wanted = RebalanceOptions(**options)  # type: ignore[arg-type]  # as they are named there
    return rebalance(source, scope or Scope(namespace="default"), wanted, SchedulerOptions()).report


def evicted(report: RebalanceReport) -> list[str]:
    return [each.pod for each in report.evictions]


def test_all_workloads_of_the_namespace() -> None:
    assert evicted(asked(SKEWED)) == ["api-1", "web-1"]
    assert asked(SKEWED, Scope(namespace="other")).items == ()


@pytest.mark.parametrize(("cpu", "name", "fits"), [("1", "web", True), ("99", "web", False), ("1", "other", True)])
def test_a_pod_that_can_be_scheduled_comes_before_any_eviction(cpu: str, name: str, *, fits: bool) -> None:
    constraint, labels = spread(BY, selector=app(name)), {"app": name}
    waiting = owned(
        "w", "ReplicaSet", "web", labels=labels, requests={"cpu": cpu}, topologySpreadConstraints=[constraint]
    )
    owner, *placed = web({"a1": 2})
    owner["spec"]["replicas"] = 3
    report = asked([*zones("a", "b"), owner, *placed, waiting])
    evictions = 0 if fits and name == "web" else 1
    assert (report.pending, report.schedulable, len(report.evictions)) == (1 - fits, 1 if fits else UNSET, evictions)
    text = outline_text(rebalance_outline(report, Extent()))
    assert ("waits for a node" in text) is not fits
    assert ("1 Pending Pod can be scheduled now: wait until it is. The plan counts it as scheduled." in text) is fits
    assert ("First wait until every Pending Pod that can be scheduled now has a node. Run" in text) is (
        fits and evictions > 0
    )


def test_no_eviction_is_needed_where_a_pending_pod_restores_the_spread() -> None:
    owner, *placed = web({"a1": 2})
    waiting = owned("w", "ReplicaSet", "web", labels={"app": "web"}, topologySpreadConstraints=[BY_ZONE])
    report = asked([*zones("a", "b"), owner, *placed, waiting])
    (item,) = report.items
    assert (item.verdict, item.before, item.after) == ("Balanced", {"a": 2, "b": 0}, {"a": 2, "b": 1})
    assert isinstance(item.reason, SatisfiedSoon)
    assert sentence_of(report) == "No eviction is needed: 1 constraint is satisfied once Pending Pods are scheduled."
    assert exit_codes.of_rebalance(report) is ExitCode.ANSWERED


def test_commands_reach_the_cluster_that_was_read() -> None:
    source = Memory(SKEWED, server="https://api.example", access=ClusterAccess(flags=("--context", "prod")))
    found = rebalance(source, Scope(namespace="default"), RebalanceOptions(), SchedulerOptions()).report
    assert [each["command"].partition(" -f - ")[2] for each in encoded(found)["evictions"]] == ["--context prod"] * 2


def test_only_those_that_are_named_or_selected() -> None:
    assert evicted(asked(SKEWED, names=(("replicaset", "web"),))) == ["web-1"]
    assert evicted(asked(SKEWED, Scope(namespace="default", selector=parse_selector("app=api")))) == ["api-1"]


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(ClusterError, match="replicaset/nope not found"):
        asked(SKEWED, names=(("replicaset", "nope"),))


@pytest.mark.parametrize(
    ("fields", "reason", "verdict"),
    [
        ({}, NoEffect(why=Idle.ONE_DOMAIN, topology_key=BY), "Balanced"),
        ({"minDomains": 2}, RemainingSkew(TooFewDomains(1, 2)), "Impossible"),
        ({"soft": True}, NoEffect(why=Idle.ONE_DOMAIN, topology_key=BY), "Balanced"),
    ],
)
def test_one_domain_is_said_to_balance_nothing(fields: dict[str, Any], reason: ItemReason, verdict: str) -> None:
    constraint = spread(BY, selector=app("web"), **fields)
    (item,) = asked([*zones("a"), *web({"a1": 2}, constraint)], soft=True).items
    assert (item.reason, item.verdict) == (reason, verdict)


def test_a_constraint_that_counts_no_own_pod_has_no_effect_as_in_show() -> None:
    found = asked([*zones("a", "b"), *web({"a1": 2}, spread(BY, selector=app("ghost"))), *api({"a1": 2})])
    assert [item.verdict.value for item in found.items] == ["Planned", "Balanced"]
    (told,) = rebalance_outline(found, Extent()).items
    assert told.headline.line == "1 eviction balances 1 violated constraint."
    (of_constraints,) = [each for each in told.blocks if isinstance(each, Table) and each.title == "Constraints"]
    assert [row[of_constraints.headers.index("VERDICT")] for row in of_constraints.rows] == ["Planned", "NoEffect"]


def test_the_worst_comes_first() -> None:
    found = asked([*zones("a", "b"), *web({"a1": 1, "b1": 1}), *api({"a1": 2})])
    assert [(str(item.workload), item.verdict.value) for item in found.items] == [
        ("replicaset/api", "Planned"),
        ("replicaset/web", "Balanced"),
    ]


@pytest.mark.parametrize(
    ("objects", "unread", "code"),
    [
        ([*zones("a", "b"), *web({"a1": 1, "b1": 1})], (), ExitCode.ANSWERED),
        (SKEWED, (), ExitCode.NO),
        ([*zones("a"), *web({"a1": 1})], (Unread(kinds.POD_DISRUPTION_BUDGET, "forbidden"),), ExitCode.UNDETERMINED),
        ([*zones("a"), *web({"a1": 1})], (Unread(kinds.DEPLOYMENT, "forbidden"),), ExitCode.UNDETERMINED),
        ([*zones("a", "b"), *web({"a1": 2}, schedulerName="volcano")], (), ExitCode.UNDETERMINED),
    ],
    ids=["balanced", "a plan", "budgets unread", "owners unread", "another scheduler"],
)
def test_what_it_ends_with(objects: list[Object], unread: tuple[Unread, ...], code: ExitCode) -> None:
    assert exit_codes.of_rebalance(asked(objects, unread=unread)) is code


def test_pods_that_wait_for_a_node_are_counted_beside_the_plan() -> None:
    waiting = [owned(f"web-{name}", "ReplicaSet", "web", requests={"cpu": "99"}) for name in "xy"]
    gone = owned("web-z", "ReplicaSet", "web", terminating=True)
    assert asked([*SKEWED, *waiting, gone]).pending == 2
    assert asked([*SKEWED, *waiting], names=(("replicaset", "api"),)).pending == 0


def test_a_scheduler_without_a_profile_has_no_defaults_of_another(tmp_path: Path) -> None:
    arguments = {"defaultingType": "List", "defaultConstraints": [spread(BY)]}
    packed: Object = {"schedulerName": "packed", "pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}
    scheduler = SchedulerOptions(configuration=configuration(tmp_path, packed))

    def constraints(scheduler_name: str) -> list[str]:
        objects = web({"a1": 2}, schedulerName=scheduler_name)
        for each in objects:
            del each["spec"].get("template", each)["spec"]["topologySpreadConstraints"]
        source = Memory([*zones("a", "b"), *objects])
        found = rebalance(source, Scope(namespace="default"), RebalanceOptions(), scheduler).report
        return [item.constraint.topology_key for item in found.items]

    assert constraints("packed") == [BY]
    assert constraints("volcano") == []


def test_pods_that_wait_are_counted_by_the_workload_that_has_them() -> None:
    waiting = [owned(f"big-{number}", "Job", "big", requests={"cpu": "99"}) for number in range(2)]
    found = asked([*SKEWED, *waiting])
    assert [(str(each.workload), each.count) for each in found.waiting] == [("job/big", 2)]
    assert found.pending == 2
    text = outline_text(rebalance_outline(found, Extent()))
    assert "2 Pods of default/job/big wait for a node" in " ".join(text.split())
