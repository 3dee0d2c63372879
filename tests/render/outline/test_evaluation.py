"""Nodes by what rejects them."""

from __future__ import annotations

from kubectl_spread.render.outline.evaluation import MOST_GROUPS, node_groups
from kubectl_spread.report import (
    NodeReport,
    Rejection,
)


def rejected(name: str, plugin: str, detail: str) -> NodeReport:
    """Return a node that the plugin rejects."""
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
    assert (len(group.names), group.detail) == (MOST_GROUPS + 1, "cpu 0, ...")
    assert len(node_groups(nodes[:MOST_GROUPS])) == MOST_GROUPS
