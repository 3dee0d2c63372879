"""Of a large cluster no more Pods are read than decide, and nothing is said of those that were not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import UNSET

from kubectl_spread.cluster.log import Log
from kubectl_spread.cluster.net.failures import Status, StatusError
from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import PendingAnswer, why_pending
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.objects import kinds
from kubectl_spread.snapshot import Inventory
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, namespace, node, pod, spread
from tests.commands.large import Large
from tests.soak.staged import outcome

TAINTED = [node(f"t{n}", zone="a", taints=["dedicated=batch:NoSchedule"]) for n in range(3)]
GONE = [node(f"gone-{n}", zone="a", taints=["node.kubernetes.io/unreachable:NoSchedule"]) for n in range(3)]
"""Nodes that no change opens, so that nobody asks for their Pods."""
NODES = [*TAINTED, *GONE, *(node(f"n{n}", zone="b") for n in range(3))]
FULL = [pod(f"big-{n}", on=f"n{n}", namespace="other", requests={"cpu": "8"}) for n in range(3)]
NAMESPACES = [namespace("default"), namespace("other"), namespace("third")]
WAITING = pod("new", labels={"app": "web"}, requests={"cpu": "1"})
SCOPE = Scope(namespace="default", names=("new",))


def asked(large: Large, **how: object) -> PendingAnswer:
    """Return the answer about the Pod that waits."""
    return why_pending(large, SCOPE, SchedulerOptions(), **how)  # type: ignore[arg-type] # read and most_nodes


def item_of(*objects: Object, **how: object) -> tuple[PendingItem, Large]:
    """Return why the Pod waits, and the cluster that was asked."""
    large = Large([*NAMESPACES, *objects])
    (item,) = asked(large, **how).report.items
    return item, large


def test_only_the_nodes_that_may_take_the_pod_are_read() -> None:
    item, large = item_of(*NODES, *FULL, WAITING)
    assert (item.verdict, item.feasible) == (Verdict.UNSCHEDULABLE, ())
    assert {"n0", "n1", "n2"} <= large.nodes_asked
    assert not large.whole_asked
    assert not large.nodes_asked & {"gone-0", "gone-1", "gone-2"}
    assert item.message == "0/9 nodes are available: 3 Insufficient cpu, 6 node(s) had untolerated taint(s)."
    assert {each.first for each in item.nodes} == {True}


def test_what_was_judged_on_every_node_is_told() -> None:
    item, _ = item_of(*NODES, *FULL, WAITING)
    assert item.conflict == (FilterRequirement("TaintToleration"), FilterRequirement("NodeResourcesFit"))
    assert isinstance(item.core_of, tuple)
    assert FilterRequirement("TaintToleration") in item.core_of
    assert FilterRequirement("NodeResourcesFit") not in item.core_of


def test_fixes_read_what_they_need_and_say_on_what_they_rest() -> None:
    item, large = item_of(*NODES, *FULL, WAITING)
    assert {each.id for each in item.fixes} >= {"AddToleration"}
    assert all(fix.on_read_pods for fix in item.fixes)
    assert large.nodes_asked & {"t0", "t1", "t2"}


def test_a_fix_that_unread_pods_would_prevent_is_not_offered() -> None:
    full = [pod(f"batch-{n}", on=f"t{n}", namespace="other", requests={"cpu": "8"}) for n in range(3)]
    item, large = item_of(*NODES, *FULL, *full, WAITING)
    assert not large.whole_asked
    assert "AddToleration" not in {each.id for each in item.fixes}


def test_a_pod_that_finds_a_node_is_confirmed_by_the_whole_list() -> None:
    item, large = item_of(*NODES, WAITING)
    assert (item.verdict, len(item.feasible)) == (Verdict.SCHEDULABLE, 3)
    assert large.whole_asked
    assert item.core_of is UNSET
    assert any(each.scores for each in item.nodes)


def test_or_is_incomplete_where_only_what_is_needed_is_wanted() -> None:
    item, large = item_of(*NODES, WAITING, read="needed")
    assert (item.verdict, item.feasible) == (Verdict.INCOMPLETE, ("n0", "n1", "n2"))
    assert not large.whole_asked
    assert [gap.what for gap in entries(item.incomplete)] == ["list pods on 6 nodes"]
    assert not any(each.scores for each in item.nodes)


def test_a_pod_anywhere_that_keeps_it_away_is_found_by_the_whole_list() -> None:
    term = {"labelSelector": app("web"), "topologyKey": ZONE, "namespaces": ["default"]}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    shut = node("shut", zone="b", taints=["node.kubernetes.io/unreachable:NoSchedule"])
    item, large = item_of(*NODES, shut, pod("keeper", on="shut", namespace="other", affinity=apart), WAITING)
    assert item.verdict is Verdict.UNSCHEDULABLE
    assert large.whole_asked


def test_too_many_nodes_are_read_as_one_list() -> None:
    item, large = item_of(*NODES, *FULL, WAITING, most_nodes=2)
    assert item.verdict is Verdict.UNSCHEDULABLE
    assert large.whole_asked
    assert large.nodes_asked == set()


def test_everything_is_read_where_that_is_asked_for() -> None:
    item, large = item_of(*NODES, *FULL, WAITING, read="all")
    assert large.whole_asked
    assert [read.kind for read in large.asked].count(kinds.POD) == 1
    assert not any(fix.on_read_pods for fix in item.fixes)


def test_namespaces_that_affinity_asks_for_are_read_whole() -> None:
    term = {"labelSelector": app("db"), "topologyKey": ZONE, "namespaces": ["other"]}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    beside = pod("new", labels={"app": "web"}, affinity=near, requests={"cpu": "1"})
    item, large = item_of(*NODES, *FULL, pod("db", on="t0", namespace="other", labels={"app": "db"}), beside)
    assert item.verdict is Verdict.UNSCHEDULABLE
    assert Read(kinds.POD, "other") in large.asked
    assert not large.whole_asked


CROWD = [node(f"b{n}", zone="b") for n in range(40)]  # More nodes of one zone than changes are tried on
COUNTED = pod("web-1", on="n0", labels={"app": "web"})


def test_what_evictions_would_do_is_not_known_of_nodes_that_were_not_read() -> None:
    high = pod("new", labels={"app": "web"}, priority=10, topologySpreadConstraints=[spread(ZONE, selector=app("web"))])
    item, _ = item_of(*NODES, *CROWD, COUNTED, high)
    assert item.preemption is not None
    assert item.preemption.read is False
    assert "preempts" not in item.summary


def test_nobody_has_a_lower_priority_than_the_lowest() -> None:
    item, _ = item_of(*NODES, *CROWD, COUNTED, EVEN)
    assert item.preemption is None


EVEN = pod("new", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, selector=app("web"))])


def test_the_message_is_the_scheduler_s_own_where_it_stops_at_what_was_not_asked() -> None:
    item, _ = item_of(*NODES, *CROWD, COUNTED, EVEN)
    assert (item.message, item.message_from) == (None, UNSET)
    assert "b39" in {node.name for node in item.nodes if node.first is False}
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/6 nodes, they say"}
    item, _ = item_of(*NODES, *CROWD, COUNTED, {**EVEN, "status": {"conditions": [said]}})
    assert (item.message, item.message_from) == ("0/6 nodes, they say", "event")
    assert item.event is not None
    assert item.event.differs is None


def test_the_versions_are_told() -> None:
    answer = asked(Large([*NAMESPACES, *NODES, *FULL, WAITING]))
    assert answer.report.metadata.resource_versions["pods"] == "7..9"
    assert answer.report.items[0].incomplete == ()


def test_what_is_read_is_told_with_the_reason() -> None:
    lines: list[str] = []
    asked(Large([*NAMESPACES, *NODES, *FULL, WAITING], log=Log(lines.append)))
    assert "reading the Pods of 3 of 9 nodes: whether these nodes take the Pods is not known" in lines


class Withdrawn(Large):
    """A server that lists no node's Pods."""

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, or refuse."""
        if any(read.on_nodes for read in reads):
            raise StatusError("not allowed to list pods", answer=Status(), what="list pods", status=403)
        return super().read(reads)


def test_all_pods_are_read_where_those_of_nodes_may_not_be() -> None:
    large = Withdrawn([*NAMESPACES, *NODES, *FULL, WAITING])
    (item,) = asked(large).report.items
    assert item.verdict is Verdict.UNSCHEDULABLE
    assert large.whole_asked
    assert item.message is not None


@pytest.mark.parametrize("seed", [1, 2])
def test_in_stages_the_answers_are_the_same(seed: int) -> None:
    found = outcome(seed=seed, count=12)
    assert found.differences == []
    assert found.in_stages
