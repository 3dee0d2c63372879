"""Files that hold Pods and no Nodes, as ``kubectl get all -o yaml`` writes them: what depends on Nodes is not known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.events import Difference
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.errors import ClusterError
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.objects import kinds
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.rebalance import sentence_of
from kubectl_spread.render.outline.simulate import simulate_outline
from kubectl_spread.render.outline.skew import skew_outline
from kubectl_spread.render.text import outline_text
from kubectl_spread.snapshot import Unread
from kubectl_spread.wording.incomplete import entries
from tests.build import Object, app, node, pod, spread
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
    assert [gap.what for gap in entries(report.incomplete)] == ["list nodes"]


def test_why_pending_blames_nothing() -> None:
    report = why_pending(SOURCE, SCOPE, SchedulerOptions()).report
    (item,) = report.items
    assert (item.verdict, item.message, item.conflict) == (Verdict.INCOMPLETE, "", ())
    assert item.summary == "Nodes were not read (not in the files): where default/waits can go is not known."
    assert exit_codes.of_why_pending(report) is ExitCode.UNDETERMINED


def test_some_nodes_do_not_show_how_many_domains_there_are_or_that_the_pod_can_be_scheduled() -> None:
    unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "x"}
    waits = pod(
        "waits",
        topologySpreadConstraints=[spread("zone", selector=app("web"))],
        labels={"app": "web"},
        status={"phase": "Pending", "conditions": [unschedulable]},
    )
    some = [node("a1", labels={"zone": "a"}), waits]
    unread = (Unread(kinds.NODE, "b1 not in the files"),)
    (item,) = why_pending(Memory(some, unread=unread), SCOPE, SchedulerOptions()).report.items
    assert (item.verdict, item.findings) == (Verdict.INCOMPLETE, ())
    assert item.event is not None
    assert item.event.differs is Difference.NOT_EVALUATED
    options = ShowOptions(names=(("pod", "waits"),))
    report = show(Memory(some, unread=unread), SCOPE, options, SchedulerOptions()).report
    assert [(each.status, each.headroom) for each in report.items] == [(SpreadStatus.INCOMPLETE, UNSET)]
    assert "waits is Pending: where it can go is not known" in outline_text(skew_outline(report, Extent()))


def test_rebalance_says_of_no_constraint_that_it_holds() -> None:
    report = rebalance(SOURCE, SCOPE, RebalanceOptions(), SchedulerOptions()).report
    assert {item.verdict.value for item in report.items} == {"Incomplete"}
    assert exit_codes.of_rebalance(report) is ExitCode.UNDETERMINED


@pytest.mark.parametrize("step", ["drain", "cordon", "remove", "add-node"])
def test_simulate_cannot_tell_whether_a_node_exists(step: str) -> None:
    with pytest.raises(ClusterError, match=r'cannot tell whether nodes "a9" exists: list nodes \(not in the files\)'):
        simulate(SOURCE, SCOPE, SimulateOptions(steps=((step, "a9"),)), SchedulerOptions())


def test_simulate_does_not_say_that_pods_find_no_node() -> None:
    report = simulate(SOURCE, SCOPE, SimulateOptions(steps=(("scale", "replicaset/web=5"),)), SchedulerOptions())
    assert exit_codes.of_simulate(report) is ExitCode.UNDETERMINED


NO_PODS = Memory([node("a1")], unread=(Unread(kinds.POD, "not in the files"),))


def test_without_pods_nothing_is_said_to_be_well() -> None:
    report = why_pending(NO_PODS, SCOPE, SchedulerOptions()).report
    assert [gap.what for gap in entries(report.incomplete)] == ["list pods"]
    assert exit_codes.of_why_pending(report) is ExitCode.UNDETERMINED
    with pytest.raises(ClusterError, match='cannot tell whether pods "web-1" exists'):
        why_pending(NO_PODS, replace(SCOPE, names=("web-1",)), SchedulerOptions())
    drained = simulate(NO_PODS, SCOPE, SimulateOptions(steps=(("drain", "a1"),)), SchedulerOptions())
    assert "drain a1: as far as is known, safe. No Pod is evicted." in outline_text(simulate_outline(drained, Extent()))


@pytest.mark.parametrize(
    ("nodes", "unread", "verdict", "said"),
    [
        ([], (Unread(kinds.NODE, "not in the files"),), "Incomplete", "It is not known whether"),
        ([node("a1")], (), "Impossible", "No eviction helps: no node has the topology key"),
        ([node("a1", labels={"zone": "a"})], (), "Balanced", "The only constraint has no effect"),
    ],
    ids=["no nodes", "no node with the key", "nodes"],
)
def test_rebalance_counts_a_constraint_whose_pods_all_wait(
    nodes: Sequence[Object], unread: Sequence[Unread], verdict: str, said: str
) -> None:
    source = Memory([*nodes, *web({"": 2}, spread("zone", selector=app("web")))], unread=tuple(unread))
    report = rebalance(source, SCOPE, RebalanceOptions(), SchedulerOptions()).report
    assert {item.verdict.value for item in report.items} == {verdict}
    assert sentence_of(report).startswith(said)
