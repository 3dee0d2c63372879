"""A plan as it is reported."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.contract.form import to_form
from kubectl_spread.diagnosis.fixes.conclusion import NO_FIXES
from kubectl_spread.diagnosis.planned_evictions import eviction_command, evictions, items
from kubectl_spread.diagnosis.remaining_skew import NotBegun, RebalanceVerdict, fixes_first
from tests.build import HOSTNAME, ZONE, Object, app, node, snapshot, spread
from tests.rebalance.lying import BY_ZONE, planned, web, zones
from tests.rebalance.test_waves import budget
from tests.simulation.test_steps import deployment

USED_UP = "The disruption budget web does not allow evicting pods currently"
ALONE = spread(ZONE, selector=app("api"))
SHUT = node("c1", zone="c", taints=["dedicated=gpu:NoSchedule"])


def reported(objects: Iterable[Object], *, most: int | None = None) -> list[Any]:
    """Return what becomes of each constraint of a cluster."""
    found: list[Any] = [*items(planned(objects, most=most), lambda outcome: fixes_first(outcome, lambda: False))]
    return [*to_form(found)]


@pytest.mark.parametrize(
    ("objects", "verdict", "reason"),
    [
        ([*zones("a", "b"), *web({"a1": 1, "b1": 1})], "Balanced", ""),
        ([*zones("a", "b"), *web({"a1": 2})], "Planned", ""),
        ([*zones("a", "b"), SHUT, *web({"a1": 3})], "Partial", "c takes no more Pods: taint dedicated=gpu:NoSchedule"),
        ([*zones("a"), SHUT, *web({"a1": 3})], "Impossible", "c takes no more Pods: taint dedicated=gpu:NoSchedule"),
        (
            [*zones("a", "b"), *web({"a1": 3}), budget("web", 0)],
            "Impossible",
            f"default/web-0 in a stays: {USED_UP}; 2 more stay for the same reason",
        ),
        (
            [*zones("a", "b"), *web({"a1": 4}, {**BY_ZONE, "minDomains": 3})],
            "Partial",
            "there are only 2 of the 3 domains that minDomains requires",
        ),
        (
            [*zones("a", "b"), *web({"a1": 3}, schedulerName="volcano")],
            "Incomplete",
            "volcano decides about these Pods, and its rules are not known",
        ),
    ],
    ids=["balanced", "planned", "in part", "shut", "budget", "minDomains", "another scheduler"],
)
def test_what_becomes_of_a_constraint(objects: list[Object], verdict: str, reason: str) -> None:
    (item,) = reported(objects)
    assert (item.verdict, item.reason) == (verdict, reason)


def test_what_keeps_pods_of_another_workload_away_is_said_of_that_workload() -> None:
    labels = {"tier": "t"}
    counting = spread(ZONE, selector={"matchLabels": labels})
    others = web({"a1": 4}, name="api", labels=labels, nodeSelector={ZONE: "a"})
    for each in others:
        each["spec"].get("template", each)["spec"]["topologySpreadConstraints"] = []
    items = reported([*zones("a", "b"), *web({"b1": 1}, counting, labels=labels), *others])
    assert [each.reason for each in items] == [f"b takes no Pods of replicaset/api: no label {ZONE}=a"]


CORDONED = node("b1", zone="b", unschedulable=True)
PATCH = "kubectl patch replicaset web -n default --type=json -p"
LOWER = '{"op":"add","path":"/spec/template/spec/containers/0/resources/requests","value":{"cpu":"1000m"}}'
HONOR = '{"op":"add","path":"/spec/template/spec/topologySpreadConstraints/0/nodeTaintsPolicy","value":"Honor"}'
SMALL = node("b1", zone="b", allocatable={"cpu": "1"})


@pytest.mark.parametrize(
    ("objects", "first"),
    [
        ([*zones("a"), SHUT, *web({"a1": 3})], f"{PATCH} '[{HONOR}]'"),
        ([*zones("a", "b"), SHUT, *web({"a1": 3})], f"{PATCH} '[{HONOR}]'"),
        ([*zones("a"), CORDONED, *web({"a1": 3})], "kubectl uncordon b1"),
        ([*zones("a"), SMALL, *web({"a1": 3}, requests={"cpu": "2"})], f"{PATCH} '[{LOWER}]'"),
        ([*zones("a", "b"), *web({"a1": 3}), budget("web", 0)], None),
        ([*zones("a", "b"), *web({"a1": 2})], None),
    ],
    ids=["tainted", "in part", "cordoned", "small", "no Pod may go", "planned"],
)
def test_what_to_fix_first(objects: list[Object], first: str | None) -> None:
    (item,) = reported(objects)
    assert [fix.commands[0] for fix in item.fixes if fix.commands][:1] == [first] * bool(first)
    # A new node comes before what sets aside a decision.
    assert [fix.id == "AddNode" for fix in item.fixes[:1]] == [LOWER in str(first)] * bool(first)


def test_no_fix_lets_the_constraint_ask_for_less() -> None:
    (item,) = reported([*zones("a"), *web({"a1": 4}, {**BY_ZONE, "minDomains": 2})])
    assert (item.verdict, item.fixes) == (RebalanceVerdict.IMPOSSIBLE, ())


def test_a_pod_that_is_to_be_evicted_is_neither_patched_nor_deleted() -> None:
    (item,) = reported([*zones("a"), SHUT, *web({"a1": 3})])
    commands = {fix.id: fix.commands for fix in item.fixes}
    assert [command.split()[:4] for command in commands["AddToleration"]] == [["kubectl", "patch", "replicaset", "web"]]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"schedulingGates": [{"name": "example.com/x"}]},
            "would wait for the scheduling gate example.com/x; 1 more stays for the same reason",
        ),
        ({"priority": 5}, "the API server would refuse its replacement: spec.priority: the integer value"),
    ],
    ids=["gated", "refused"],
)
def test_no_pod_goes_in_whose_place_none_is_scheduled(fields: Object, why: str) -> None:
    (item,) = reported([*zones("a", "b"), *web({"a1": 2}, **fields)])
    assert item.verdict is RebalanceVerdict.IMPOSSIBLE
    assert why in item.reason


def test_constraints_that_shut_each_other_out_are_named() -> None:
    nodes = [*zones("a"), *zones("b", each=8)]
    objects = [*nodes, *web({"a1": 2, "b1": 1, "b2": 1}, BY_ZONE, spread(HOSTNAME, selector=app("web")))]
    zone, host = reported(objects)
    assert zone.verdict is RebalanceVerdict.BALANCED
    assert host.verdict is RebalanceVerdict.IMPOSSIBLE
    assert host.reason == "b3 takes no more Pods: the constraint on topology.kubernetes.io/zone allows no Pod there"
    assert [fix.id for fix in host.fixes] == ["RaiseMaxSkew", "MakeSoft"]
    assert {change.path.split("/")[3] for fix in host.fixes for change in fix.changes[0].json_patch or ()} == {"0"}


def test_a_constraint_that_was_not_looked_at_is_not_impossible() -> None:
    uneven = [*zones("a", "b"), *web({"a1": 3}, name="web"), *web({"a1": 2}, ALONE, name="api", labels={"app": "api"})]
    planned_for, not_begun = items(planned(uneven, most_work=1), lambda _: NO_FIXES)
    assert planned_for.verdict is RebalanceVerdict.PLANNED
    assert (not_begun.verdict, not_begun.skew_after) == (RebalanceVerdict.INCOMPLETE, not_begun.skew_before)
    assert isinstance(not_begun.reason, NotBegun)


def test_each_eviction_has_its_place_and_its_command() -> None:
    objects = [*zones("a", "b"), *web({"a1": 4}), budget("web", 1)]
    first, second = evictions(planned(objects), snapshot(objects))
    assert (first.order, first.wave, first.node, first.lands) == (1, 1, "a1", ("b1",))
    assert (second.order, second.wave) == (2, 2)
    assert str(first.workload) == "replicaset/web"
    assert first.pod in eviction_command(first)
    assert first.loses_data is UNSET


def test_an_eviction_that_loses_data_says_so() -> None:
    objects = [*zones("a", "b"), *web({"a1": 2}, volumes=[{"name": "cache", "emptyDir": {}}])]
    (only,) = evictions(planned(objects), snapshot(objects))
    assert only.loses_data is True


def test_a_command_is_taken_as_it_is_meant_whatever_the_pod_is_called() -> None:
    objects = [*zones("a", "b"), *web({"a1": 2})]
    (first,) = evictions(planned(objects), snapshot(objects))
    words = shlex.split(eviction_command(replace(first, pod="it's; $(reboot)", namespace="../x")))
    assert words[0] == "echo"
    assert json.loads(words[1])["metadata"] == {"name": "it's; $(reboot)", "namespace": "../x"}
    path = words[words.index("--raw") + 1]
    assert path == "/api/v1/namespaces/..%2Fx/pods/it%27s%3B%20%24%28reboot%29/eviction"


def test_a_fix_counts_what_runs_before_any_eviction() -> None:
    (item,) = reported([*zones("a"), SHUT, *deployment(["a1", "a1", "a1"], BY_ZONE)])
    (starts,) = (fix.starts for fix in item.fixes if fix.id == "AddToleration")
    assert "; replaces 3 Pods of deployment/web" in starts
    assert "run" not in starts
