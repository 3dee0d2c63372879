"""One scheduling cycle: which rejection counts, what the scheduler says of it, which node is best."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import PRE_FILTER_RESULT, Evaluation
from kubectl_spread.scheduler.preemption import preempt
from kubectl_spread.scheduler.profile import Profile, default_profile
from tests.build import Object, handle, node, pod, spread, typed_pod
from tests.scheduler.situations import situations

FULL = {"cpu": "1"}


def evaluate(asked: Object, objects: Sequence[Object], profile: Profile | None = None) -> Evaluation:
    """Return what the scheduler decides about the Pod."""
    return cycle.evaluate(typed_pod(asked, profile), handle(objects, profile))


def named(*names: str) -> Object:
    """Return the affinity for nodes of these names: each must be the node's."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_the_message_counts_the_first_rejections_and_sorts_them_as_text() -> None:
    small, cordoned = node("s", allocatable=FULL), [node(f"c{i}", unschedulable=True) for i in range(11)]
    evaluation = evaluate(pod("p", requests={"cpu": "2", "memory": "99Gi"}), [small, *cordoned])
    expected = "0/12 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 11 node(s) were unschedulable."
    assert evaluation.message == expected


def test_nothing_is_said_where_a_node_will_do() -> None:
    evaluation = evaluate(pod("p"), [node("a"), node("b", unschedulable=True)])
    assert evaluation.message == ""
    assert evaluation.feasible == ("a",)


def test_a_cluster_without_nodes() -> None:
    evaluation = evaluate(pod("p"), [])
    assert evaluation.message == "no nodes available to schedule pods"
    assert evaluation.feasible == ()


def test_a_pod_rejected_as_a_whole_is_rejected_on_every_node_without_counts() -> None:
    asked = pod("p", affinity=named("a", "b"), requests={"cpu": "2"})
    evaluation = evaluate(asked, [node("a"), node("b", allocatable=FULL)])
    assert evaluation.message == "0/2 nodes are available: pod affinity terms conflict."
    assert evaluation.pre_filter is not None
    assert evaluation.pre_filter.plugin == "NodeAffinity"
    assert [v.first for v in evaluation.nodes.values()] == [evaluation.pre_filter] * 2
    told = {name: [r.plugin for r in verdict.rejections] for name, verdict in evaluation.nodes.items()}
    assert told == {"a": ["NodeAffinity"], "b": ["NodeAffinity", "NodeResourcesFit"]}


def test_of_two_plugins_that_reject_the_pod_the_first_counts() -> None:
    claimed = [{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]
    evaluation = evaluate(pod("p", affinity=named("a", "b"), volumes=claimed), [node("a")])
    assert evaluation.pre_filter is not None
    assert evaluation.pre_filter.plugin == "NodeAffinity"
    assert {"NodeAffinity", "VolumeBinding"} <= {r.plugin for r in evaluation.nodes["a"].rejections}


def test_a_node_that_was_left_out_is_told_from_one_that_was_rejected() -> None:
    evaluation = evaluate(pod("p", affinity=named("a")), [node("a", unschedulable=True), node("b")])
    assert evaluation.narrowed == {"NodeAffinity": frozenset("a")}
    first = evaluation.nodes["b"].first
    assert first is not None
    assert first.plugin == PRE_FILTER_RESULT
    left_out = "1 node(s) didn't satisfy plugin(s) [NodeAffinity]"
    assert evaluation.message == f"0/2 nodes are available: {left_out}, 1 node(s) were unschedulable."


def test_plugins_that_leave_no_node_between_them_reject_the_pod() -> None:
    asked = pod("p", on="b", affinity=named("a"))
    evaluation = evaluate(asked, [node("a"), node("b")], default_profile(37))
    said = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"
    assert evaluation.message == f"0/2 nodes are available: {said}."


def test_the_best_total_comes_first_then_the_name() -> None:
    nodes = [node("c"), node("b"), node("a", taints=["x=1:PreferNoSchedule"])]
    evaluation = evaluate(pod("p"), nodes)
    assert evaluation.feasible == ("b", "c", "a")
    scores = evaluation.nodes["b"].scores
    assert scores["total"] == sum(score for plugin, score in scores.items() if plugin != "total")


def test_the_only_node_that_is_left_is_compared_with_none() -> None:
    cluster = handle([node("a"), node("b", unschedulable=True), node("c")])
    assert cycle.total_scores(typed_pod(pod("p", nodeName="")), cluster).keys() == {"a", "c"}
    assert cycle.total_scores(typed_pod(pod("p", nodeSelector={"kubernetes.io/hostname": "c"})), cluster) == {"c": 0}


def test_what_is_not_modelled_is_said() -> None:
    assert evaluate(pod("p"), [node("a")]).not_modelled == ()
    profile = replace(default_profile(), filters=("Coscheduling", "NodeName"))
    assert evaluate(pod("p"), [node("a")], profile).not_modelled == ("Coscheduling",)


def test_a_deferred_resize_is_judged_by_few_filters() -> None:
    status = {"phase": "Running", "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}
    asked = pod("p", on="a", status=status)
    nodes = [node("a", unschedulable=True, taints=["x=1:NoSchedule"])]
    gates = {"InPlacePodVerticalScalingSchedulerPreemption": True}
    assert evaluate(asked, nodes, default_profile(37, gates=gates)).feasible == ("a",)
    assert evaluate(asked, nodes, default_profile(37)).feasible == ()


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
PREFERS_A_NUMBER = {
    "nodeAffinity": {
        PREFERRED: [
            {"weight": 1, "preference": {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["abc"]}]}},
            {"weight": 0, "preference": {"matchFields": [{"key": "metadata.name", "operator": "Like"}]}},
            {"weight": 1, "preference": {}},
            {
                "weight": 2,
                "preference": {
                    "matchExpressions": [{"key": "gen", "operator": "Like"}],
                    "matchFields": [
                        {"key": "metadata.name", "operator": "In"},
                        {"key": "metadata.name", "operator": "In", "values": ["a", "b"]},
                        {"key": "metadata.name", "operator": "Exists"},
                    ],
                },
            },
        ]
    }
}
INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
NOT_A_NUMBER = (
    f'[[0].matchExpressions[0].values[0]: Invalid value: "abc": {INTEGER}, '
    '[3].matchExpressions[0].operator: Unsupported value: "Like": supported values: "In", "NotIn", "Exists", '
    '"DoesNotExist", "Gt", "Lt", '
    "[3].matchFields[0].values: Invalid value: null: must have one element, "
    '[3].matchFields[1].values: Invalid value: ["a","b"]: must have one element, '
    '[3].matchFields[2].operator: Unsupported value: "Exists": supported values: "In", "NotIn"]'
)
UNREADABLE = {"matchExpressions": [{"key": "app", "operator": "Like"}]}
UNKNOWN_OPERATOR = '"Like" is not a valid label selector operator'
NEAR_UNREADABLE = {"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"labelSelector": UNREADABLE}}]}}
SOFT = spread("zone", selector=UNREADABLE, whenUnsatisfiable="ScheduleAnyway")
BREAKS = "calculating preScoreState: obtaining pod's soft topology spread constraints: "


@pytest.mark.parametrize(
    ("asked", "plugin", "why"),
    [
        (pod("p", affinity=PREFERS_A_NUMBER), "NodeAffinity", NOT_A_NUMBER),
        (pod("p", topologySpreadConstraints=[SOFT]), "PodTopologySpread", BREAKS + UNKNOWN_OPERATOR),
        (
            pod("p", affinity=NEAR_UNREADABLE),
            "InterPodAffinity",
            f"failed to parse pod: preferredAffinityTerms: {UNKNOWN_OPERATOR}",
        ),
    ],
)
def test_a_score_that_breaks_keeps_the_pod_off_all_nodes_that_are_left(asked: Object, plugin: str, why: str) -> None:
    profile = replace(default_profile(36), filters=("NodeUnschedulable",))
    nodes = [node("a"), node("b"), node("cordoned", unschedulable=True)]
    evaluation = evaluate(asked, nodes, profile)
    assert evaluation.message == f'running PreScore plugin "{plugin}": {why}'
    assert evaluation.feasible == cycle.feasible_nodes(typed_pod(asked), handle(nodes, profile)) == ()
    assert [verdict.rejections for verdict in evaluation.nodes.values()][:2] == [(evaluation.broken,)] * 2
    assert [rejection.plugin for rejection in evaluation.nodes["cordoned"].rejections] == ["NodeUnschedulable"]
    assert preempt(evaluation, handle(nodes, profile)) is None


def test_the_only_node_needs_no_score() -> None:
    asked, nodes = pod("p", affinity=PREFERS_A_NUMBER), [node("a"), node("b", unschedulable=True)]
    evaluation = evaluate(asked, nodes)
    assert (evaluation.message, evaluation.broken) == ("", None)
    assert evaluation.feasible == cycle.feasible_nodes(typed_pod(asked), handle(nodes)) == ("a",)


def test_a_filter_that_breaks_on_one_node_keeps_the_pod_off_all_of_them() -> None:
    [broken] = [each for each in situations("nodevolumelimits") if each.name == "inline_disk_cannot_be_translated"]
    evaluation = cycle.evaluate(broken.pod, broken.handle)
    why = "converting volume(disk) from inline to csi: kind(Dedicated) is not supported in csi migration"
    said = f'running "NodeVolumeLimits" filter plugin: {why}'
    assert (evaluation.message, evaluation.feasible) == (said, ())
    verdicts = evaluation.nodes
    assert [verdict.first == evaluation.broken for verdict in verdicts.values()] == [True, True]
    assert [verdicts["a"].rejections[0].status.reasons, verdicts["driverless"].rejections[0].status.reasons] == [
        (why,),
        (said,),
    ]
    assert cycle.feasible_nodes(broken.pod, broken.handle) == ()
    assert cycle.feasible_node(broken.pod, broken.handle) == ""
    assert preempt(evaluation, broken.handle) is None


def test_a_prefilter_that_breaks_is_named_by_the_framework() -> None:
    asked = pod("p", topologySpreadConstraints=[spread("zone", selector=UNREADABLE)])
    said = "get constraints from pod: obtaining pod's hard topology spread constraints: " + UNKNOWN_OPERATOR
    evaluation = evaluate(asked, [node("a")])
    assert evaluation.message == f'running PreFilter plugin "PodTopologySpread": {said}'
    assert [rejection.status.reasons for rejection in evaluation.nodes["a"].rejections] == [(said,)]
