"""Of a large cluster ``check`` reads few Pods to say that none finds a node, and all to say that one does."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.render.outline.check import check_sentence
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, namespace, node, pod, spread
from tests.build_workloads import owned, template, workload
from tests.commands.large import Large
from tests.commands.test_staged import CROWD, FULL, NAMESPACES, NODES, WAITING
from tests.sampling import first
from tests.soak.staged import of_manifests

SCHEDULER = SchedulerOptions()
ROOMY = [node(f"roomy-{number:02}", zone="b") for number in range(20)]


def checked(large: Large, *manifests: Object, **options: Any) -> CheckReport:  # noqa: ANN401 - as for CheckOptions
    """Return what becomes of the manifests in the cluster."""
    together = {"apiVersion": "v1", "kind": "List", "items": manifests}
    asked = CheckOptions(filenames=("-",), **{"namespace": "default", **options})
    return check(large, asked, SCHEDULER, stdin=BytesIO(json.dumps(together).encode())).report


def large_with(*objects: Object) -> Large:
    """Return the cluster that is asked."""
    return Large([*NAMESPACES, *objects])


def deployment(name: str = "web", **pods: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a Deployment of three Pods that ask for a processor each."""
    return workload("Deployment", name, pods=template(**{"requests": {"cpu": "1"}, **pods}), replicas=3)


def test_replicas_without_a_node_take_few_pods() -> None:
    large = large_with(*NODES, *FULL)
    (item,) = checked(large, deployment()).items
    assert (item.verdict, item.placements, item.pending) == (Verdict.UNSCHEDULABLE, (), 3)
    assert not large.whole_asked
    assert {"n0", "n1", "n2"} <= large.nodes_asked
    assert item.message == "0/9 nodes are available: 3 Insufficient cpu, 6 node(s) had untolerated taint(s)."
    assert item.jam is not None
    assert (item.jam.replica, item.jam.message) == (1, item.message)
    assert all(fix.on_read_pods for fix in item.fixes)


@pytest.mark.parametrize("read", ["auto", "needed"])
def test_what_was_not_asked_is_said_of_no_replica(read: str) -> None:
    huge = deployment(requests={"cpu": "100"})
    large = large_with(*NODES[6:])
    (item,) = checked(large, huge, fix_budget=0, read=read).items
    assert (large.nodes_asked, large.whole_asked) == (set(), False)
    assert (item.verdict, item.message) == (Verdict.UNSCHEDULABLE, None)
    assert item.jam is not None
    assert item.jam.message is None
    assert "too little cpu" in item.jam.summary
    (item,) = checked(large, huge, fix_budget=0, read="all").items
    assert item.jam is not None
    assert item.jam.message == item.message == "0/3 nodes are available: 3 Insufficient cpu."


def test_replicas_that_find_nodes_are_placed_among_all_pods() -> None:
    large = large_with(*NODES, *FULL[1:])
    (item,) = checked(large, deployment()).items
    assert [placement.node for placement in item.placements] == ["n0", "n0", "n0"]
    assert (item.verdict, item.core_of) == (Verdict.SCHEDULABLE, UNSET)
    assert large.whole_asked


def test_the_first_few_nodes_tell_that_one_takes_the_pod() -> None:
    large = large_with(*ROOMY)
    (item,) = checked(large, deployment()).items
    assert (item.verdict, len(large.nodes_asked)) == (Verdict.SCHEDULABLE, 16)


def test_or_one_that_may_is_incomplete_where_only_what_is_needed_is_wanted() -> None:
    large = large_with(*NODES)
    report = checked(large, deployment(), read="needed")
    (item,) = report.items
    assert (item.verdict, item.placements, item.jam, item.replicas) == (Verdict.INCOMPLETE, (), None, 3)
    assert not large.whole_asked
    assert [gap.what for gap in entries(item.incomplete)] == ["list pods on 6 nodes"]
    expected = "no evaluated filter rejects it on n0, n1, n2, but not everything was evaluated."
    assert check_sentence(item) == expected


def test_of_several_all_are_placed_once_one_may_find_a_node() -> None:
    huge, near = deployment("huge", requests={"cpu": "100"}), deployment("near")
    for manifests, whole in (((huge, huge), False), ((huge, near), True), ((near, huge), True)):
        large = large_with(*NODES)
        checked(large, *manifests, read="needed")
        assert large.whole_asked is whole


def test_the_namespaces_of_all_manifests_are_read() -> None:
    there = spread(ZONE, selector=app("web"), nodeAffinityPolicy="Ignore")
    here = pod("here", labels={"app": "web"}, nodeSelector={ZONE: "b"}, topologySpreadConstraints=[there])
    far = {**here, "metadata": {**here["metadata"], "namespace": "third", "name": "far"}}
    counted = [
        pod(f"web-{number}", on="n0", labels={"app": "web"}, namespace=name)
        for number, name in enumerate(("default", "third"))
    ]
    large = large_with(*NODES, *CROWD, *counted)
    items = checked(large, here, far, fix_budget=0).items
    assert [item.verdict for item in items] == [Verdict.UNSCHEDULABLE] * 2
    assert [[domain.matching for domain in item.constraints[0].domains] for item in items] == [[0, 1]] * 2
    assert not large.whole_asked


def test_a_pod_that_may_evict_others_is_placed_among_all_pods() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    large = large_with(*NODES, *FULL, high)
    (item,) = checked(large, deployment(priorityClassName="high")).items
    assert (item.verdict, bool(item.placements)) == (Verdict.SCHEDULABLE, True)
    assert large.whole_asked


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(workload("DaemonSet", "agent", pods=template()), id="on each node"),
        pytest.param(WAITING, id="in the place of a Pod"),
        pytest.param(deployment(), id="a rollout"),
    ],
)
def test_what_is_there_already_or_on_many_nodes_is_placed_among_all_pods(manifest: Object) -> None:
    old = deployment(requests={"cpu": "2"})
    large = large_with(
        *NODES,
        *FULL,
        old,
        owned("web-old", "Deployment", "web", on="n0"),
        {**WAITING, "spec": {**WAITING["spec"], "nodeName": "n1"}},
    )
    checked(large, manifest)
    assert large.whole_asked


@pytest.mark.parametrize(("pods", "stages"), [(250, True), (251, False)])
def test_a_namespace_that_is_much_of_the_cluster_is_not_read_twice(pods: int, stages: bool) -> None:  # noqa: FBT001
    own = [pod(f"web-{number}", on="t0") for number in range(pods)]
    large = large_with(*NODES, *FULL, *own)
    (item,) = checked(large, deployment()).items
    assert (item.verdict, large.whole_asked) == (Verdict.UNSCHEDULABLE, not stages)
    assert not isinstance(item.core_of, tuple) or stages


@pytest.mark.parametrize("number", [20, 21])
def test_many_namespaces_are_not_read_one_by_one(number: int) -> None:
    names = [f"team-{each}" for each in range(number)]
    large = large_with(*NODES[:6], *map(namespace, names))
    manifests = (pod("new", namespace=name, requests={"cpu": "1"}) for name in names)
    items = checked(large, *manifests, fix_budget=0).items
    assert {item.verdict for item in items} == {Verdict.UNSCHEDULABLE}
    assert large.whole_asked is (number > 20)


@pytest.mark.parametrize("seed", first(1, [2, 1]))
def test_in_stages_the_answers_are_the_same(seed: int) -> None:
    found = of_manifests(seed=seed, count=6)
    assert found.differences == []
    assert found.in_stages
