"""Nodes by what rejects them."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_spread.contract.evaluation import NodeReport, Rejection
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.causes import DaemonNode
from kubectl_spread.diagnosis.evaluation import Conclusion, Verdict
from kubectl_spread.diagnosis.statuses import FailedCreate
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.evaluation import MOST_GROUPS, foremost, node_groups
from kubectl_spread.render.outline.pending import pending_outline
from kubectl_spread.render.outline.skew import skew_outline
from kubectl_spread.wording.words import capital
from tests.build import ZONE, app, node, pod, spread
from tests.build_workloads import template, workload
from tests.diagnosis.judged import GPU, METADATA, incoming, report_of, rows_of, web


def rejected(name: str, plugin: str, detail: str) -> NodeReport:
    rejection = Rejection(plugin=plugin, code="Unschedulable", reasons=("no",), detail=detail)
    return NodeReport(
        name=name, feasible=False, plugin=plugin, code="Unschedulable", reasons=("no",), rejections=(rejection,)
    )


def test_largest_first_and_feasible_ones_left_out() -> None:
    nodes = [
        NodeReport(name="ok", feasible=True),
        rejected("a", "B", ""),
        rejected("b", "A", "x"),
        rejected("c", "A", "x"),
        rejected("d", "A", "y"),
    ]
    groups = [(group.names, group.plugin, group.detail) for group in node_groups(nodes)]
    assert groups == [(("b", "c"), "A", "x"), (("d",), "A", "y"), (("a",), "B", "")]


def test_a_node_without_a_rejection_of_its_own() -> None:
    (group,) = node_groups([NodeReport(name="n", feasible=False, plugin="PreFilterResult", code="x", reasons=())])
    assert (group.names, group.reasons, group.detail) == (("n",), "", "")


def test_too_many_details_are_merged() -> None:
    nodes = [rejected(f"n{i:02}", "Fit", f"cpu {i}") for i in range(MOST_GROUPS + 1)]
    (group,) = node_groups([*nodes])
    assert (len(group.names), group.detail, group.mixed) == (MOST_GROUPS + 1, "cpu 0", True)
    assert len(node_groups(nodes[:MOST_GROUPS])) == MOST_GROUPS


def test_nodes_that_decide_are_told_apart_where_there_is_room() -> None:
    groups = node_groups([rejected(f"n{number}", f"Plugin{number}", "why") for number in range(5)])
    assert [group.plugin for group in foremost(groups)] == [f"Plugin{number}" for number in range(5)]
    assert foremost(groups, folded=True) == groups  # A rest of two rows saves none.
    more = node_groups([rejected(f"n{number}", f"Plugin{number}", "why") for number in range(6)])
    assert [len(group.names) for group in foremost(more, folded=True)] == [1, 1, 1, 3]


def test_nodes_that_differ_in_names_or_amounts_are_one_row() -> None:
    nodes = [node(f"n{number}", zone="a", allocatable={"cpu": str(number + 1)}) for number in range(3)]
    reports = report_of(incoming(requests={"cpu": "4"}), nodes).nodes
    (group,) = node_groups(reports)
    assert (len(group.names), group.detail) == (3, "4 cpu requested, too large even for an empty node with 3")
    apart = [each.detail for each in node_groups(reports, apart=True)]
    assert apart == [f"4 cpu requested, too large even for an empty node with {number}" for number in (1, 2, 3)]
    agents = [pod(f"agent-{number}", on=f"n{number}", host_ports=["443"]) for number in range(3)]
    reports = report_of(incoming(host_ports=["443"]), [*nodes[:2], node("n2", taints=[GPU]), *agents]).nodes
    rows = [(len(each.names), each.plugin, each.detail) for each in node_groups(reports)]
    in_use = "host port 443/TCP in use by default/agent-0 and default/agent-1"
    assert rows == [(2, "NodePorts", in_use), (1, "TaintToleration", f"taint {GPU}")]


def test_our_own_sentence_begins_with_a_capital() -> None:
    assert capital("not schedulable. zone c is shut") == "Not schedulable. zone c is shut"
    assert capital("node-a lacks zone") == "node-a lacks zone"


@pytest.mark.parametrize("begin", ["rack-1", "west", "upper"])
def test_a_name_keeps_its_case(begin: str) -> None:
    nodes = [node("west", zone="upper"), node("east", zone="b", taints=["x:NoSchedule"])]
    shut = report_of(incoming(spread(ZONE, selector=app("web"))), [*nodes, *web("west")])
    held = Conclusion(cause=DaemonNode(node=begin, filters=(), lacks="rack"))
    fields = msgspec.structs.asdict(shut) | {"conclusion": held, "verdict": Verdict.UNSCHEDULABLE}
    named = PendingItem(**fields, scheduler_name="default-scheduler")
    told = pending_outline(PendingReport(metadata=METADATA, items=(named,)), Extent())
    assert told.items[0].headline.sentence == f"{begin}, the only node for this Pod, lacks the label rack."
    (row,) = rows_of([*nodes, workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"))))])
    row = msgspec.structs.replace(row, now=FailedCreate(message=f"{begin} would take it"))
    lying = skew_outline(SkewReport(metadata=METADATA, items=(row,)), Extent())
    assert lying.items[0].headline.sentence == f"{begin} would take it"
