"""One Pod put to the scheduler: the verdict, node by node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.evaluation import Verdict, verdict_of
from kubectl_spread.scheduler.cycle import Evaluation
from tests.build import HOSTNAME, ZONE, app, node, pod, spread
from tests.build_workloads import owned, revision, workload
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, report_of, web
from tests.naming import in_order


def test_the_first_rejection_is_the_schedulers_and_all_are_told() -> None:
    described = incoming(requests={"cpu": "9"})
    report = report_of(described, [node("n", taints=[GPU])])
    (judged,) = report.nodes
    assert not judged.feasible
    assert (judged.plugin, judged.code) == ("TaintToleration", "UnschedulableAndUnresolvable")
    assert judged.reasons == ("node(s) had untolerated taint(s)",)
    assert [rejection.plugin for rejection in judged.rejections] == [
        "TaintToleration",
        "NodeResourcesFit",
        "PodTopologySpread",
    ]
    assert judged.scores is UNSET


def test_a_feasible_node_has_scores_and_nothing_else() -> None:
    (judged,) = report_of(pod("p"), [node("n")]).nodes
    assert judged.feasible
    assert judged.rejections == ()
    assert judged.plugin is judged.code is judged.reasons is UNSET
    assert isinstance(judged.scores, dict)
    assert judged.scores["total"] == sum(score for plugin, score in judged.scores.items() if plugin != "total")


def test_feasible_nodes_come_best_first() -> None:
    report = report_of(incoming(spread(ZONE, selector=app("web"), soft=True)), [*ABC, *web("a1", "a1", "b1")])
    totals = {judged.name: judged.scores["total"] for judged in report.nodes if judged.scores}
    assert report.feasible == tuple(sorted(totals, key=lambda name: (-totals[name], name)))
    assert report.feasible[0] == "c1"


def test_a_node_that_was_narrowed_away_gives_no_reason_of_its_own() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["a1"]}
    term = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    report = report_of(incoming(affinity={"nodeAffinity": term}, requests={"cpu": "9"}), ABC)
    judged = {found.name: found for found in report.nodes}
    assert (judged["b1"].plugin, judged["b1"].reasons) == ("PreFilterResult", ())
    assert judged["a1"].plugin == "NodeResourcesFit"
    assert "3 node(s) didn't satisfy plugin(s) [NodeAffinity]" in str(report.message)


@pytest.mark.parametrize(
    ("objects", "verdict", "message"),
    [
        ([*ABC], Verdict.SCHEDULABLE, ""),
        (
            [*TAINTED, *web("a1", "b1")],
            Verdict.UNSCHEDULABLE,
            (
                "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match pod topology"
                " spread constraints."
            ),
        ),
        ([], Verdict.UNSCHEDULABLE, "no nodes available to schedule pods"),
    ],
    ids=in_order,
)
def test_the_verdict_and_the_schedulers_words(objects: list[dict[str, object]], verdict: Verdict, message: str) -> None:
    report = report_of(incoming(), objects)
    assert (report.verdict, report.message) == (verdict, message)


def test_what_is_missing_can_only_take_nodes_away() -> None:
    nobody = Evaluation(pod=None, nodes={})  # type: ignore[arg-type] # only its nodes matter
    assert verdict_of(nobody, complete=False) is verdict_of(nobody, complete=True) is Verdict.UNSCHEDULABLE


def test_the_topmost_owner_is_named() -> None:
    objects = [*ABC, workload("Deployment", "web"), revision("web", 1)]
    assert report_of(owned("p", "ReplicaSet", "web-h1"), objects).workload == WorkloadRef(kind="Deployment", name="web")
    assert report_of(pod("bare"), objects).workload == WorkloadRef(kind="Pod", name="bare")


NODES = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=1, max_size=5)


@given(NODES, st.lists(st.integers(0, 4), max_size=6), st.integers(1, 2))
def test_the_parts_of_a_report_agree(nodes: list[tuple[str, bool]], where: list[int], max_skew: int) -> None:
    described = [node(f"n{i}", zone=zone, taints=[GPU] if tainted else []) for i, (zone, tainted) in enumerate(nodes)]
    pods = web(*(f"n{i % len(nodes)}" for i in where))
    constraints = [
        spread(ZONE, selector=app("web"), maxSkew=max_skew),
        spread(HOSTNAME, selector=app("web"), soft=True),
    ]
    report = report_of(incoming(*constraints), [*described, *pods])
    assert set(report.feasible) == {judged.name for judged in report.nodes if judged.feasible}
    assert (report.verdict is Verdict.UNSCHEDULABLE) == (not report.feasible) == bool(report.message)
    assert bool(report.conflict) == bool(report.summary) == (not report.feasible)
    zone, _ = report.constraints
    allowed = {name for domain in zone.domains if domain.allowed for name in domain.nodes}
    tainted = {f"n{i}" for i, (_, is_tainted) in enumerate(nodes) if is_tainted}
    assert set(report.feasible) == allowed - tainted
