"""cluster-autoscaler: which node groups may bring a node, by the scheduler's own filters on a template."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import asdict, replace

from kubectl_spread.autoscalers.cluster_autoscaler import decide, domains_of_group, groups_of
from kubectl_spread.autoscalers.decision import (
    AutoscalerDecision,
    Decision,
    MaximumReached,
    NotAsked,
    RejectedByFilters,
    Unreadable,
    Verdict,
)
from kubectl_spread.autoscalers.node_groups import node_groups
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
from kubectl_spread.objects.autoscaling import (
    AutoscalerStatus,
    BackoffInfo,
    NodeCounts,
    NodeGroupHealth,
    NodeGroupScaleUp,
    NodeGroupStatus,
    RegisteredNodes,
    UnreadyNodes,
)
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.wording.autoscalers import advice_text, decision_text
from tests.autoscalers.clusters import Object, node, pod, snapshot_of, spread

SPREAD = "node(s) didn't match pod topology spread constraints"


def group(name: str, size: int, most: int, *, status: str = "NoActivity") -> NodeGroupStatus:
    """Return a node group as the status describes it."""
    scale_up = NodeGroupScaleUp(status=status, backoff_info=BackoffInfo(error_message="no quota"))
    return NodeGroupStatus(
        name=name, health=NodeGroupHealth(cloud_provider_target=size, max_size=most), scale_up=scale_up
    )


def of_group(name: str, zone: str, number: int = 1, **more: Any) -> list[Object]:  # noqa: ANN401
    """Return full nodes of a node group in a zone, each with a Pod that the constraint counts."""
    found = []
    for index in range(number):
        each = node(f"{name}-{index}", zone, cpu="1", **more)
        each["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] = name
        found += [each, pod(f"web-{name}-{index}", f"{name}-{index}")]
    return found


def asked(objects: list[Object], *groups: NodeGroupStatus) -> AutoscalerDecision:
    """Return what is decided about the Pod that waits."""
    snapshot = snapshot_of(objects)
    waiting = next(each for each in snapshot.all(Pod) if each.waits)
    return decide(waiting, Handle.build(snapshot, default_profile(36)), groups)


def test_a_group_at_its_maximum_holds_the_minimum() -> None:
    objects = [*of_group("ng-a", "a"), *of_group("ng-b", "b", 2), pod("pend", topologySpreadConstraints=spread())]
    found = asked(objects, group("ng-a", 1, 1), group("ng-b", 2, 3))
    assert found.decision is Decision.REFUSED
    assert [each.reasons for each in found.pools] == [(MaximumReached(1),), (RejectedByFilters((SPREAD,)),)]


def test_a_group_that_may_grow() -> None:
    objects = [*of_group("ng-a", "a"), *of_group("ng-b", "b"), pod("pend", topologySpreadConstraints=spread())]
    found = asked(objects, group("ng-a", 1, 1), group("ng-b", 1, 3))
    assert found.decision is Decision.NEW_NODE
    assert [each.verdict for each in found.pools] == [Verdict.REFUSED, Verdict.POSSIBLE]


def test_passing_taints_of_its_nodes_are_not_those_of_a_new_one() -> None:
    leaving = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}
    found = asked([*of_group("ng-a", "a", taints=[leaving]), pod("pend")], group("ng-a", 1, 3))
    assert found.decision is Decision.NEW_NODE


@pytest.mark.parametrize(
    ("ready", "unready", "late", "cpu", "decision"),
    [
        (1, 0, 0, "1", Decision.EXISTING_NODE),
        (2, 0, 0, "1", Decision.NEW_NODE),
        (1, 1, 0, "1", Decision.NEW_NODE),
        (1, 0, 1, "1", Decision.NEW_NODE),
        (1, 0, 0, "16", Decision.REFUSED),
    ],
    ids=["it starts", "all are ready", "it is no longer ready", "it has not joined in time", "it is too small"],
)
def test_a_node_that_starts_has_room(ready: int, unready: int, late: int, cpu: str, decision: Decision) -> None:
    counts = NodeCounts(
        registered=RegisteredNodes(ready=ready, unready=UnreadyNodes(total=unready)), long_unregistered=late
    )
    growing = group("ng-a", 2, 3)
    growing = replace(growing, health=replace(growing.health, node_counts=counts))
    objects = [*of_group("ng-a", "a"), pod("pend", cpu=cpu)]
    found = asked(objects, growing, group("ng-b", 1, 1))
    assert (found.decision, found.node) == (decision, "")
    new = node("ng-a-1", "a", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    new["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] = "ng-a"
    found = asked([*objects, new], growing, group("ng-b", 1, 1))
    assert (found.decision, found.node) == (decision, "ng-a-1" * (decision is Decision.EXISTING_NODE))
    if decision is Decision.EXISTING_NODE:
        assert {each.reasons for each in found.pools} == {(NotAsked("room", "ng-a-1"),)}
        assert (
            decision_text(found)
            == "cluster-autoscaler adds no further node: ng-a-1 may have room for the Pod once it is Ready."
        )


@pytest.mark.parametrize(
    ("zone", "size", "decision"),
    [
        ("b", 3, Decision.NEW_NODE),
        ("a", 3, Decision.EXISTING_NODE),
        ("b", 4, Decision.EXISTING_NODE),
        (None, 3, Decision.EXISTING_NODE),
    ],
    ids=["where the Pod cannot go", "where it can go", "another has yet to join", "where is not known yet"],
)
def test_a_node_that_starts_in_another_zone_has_no_room(zone: str | None, size: int, decision: Decision) -> None:
    counts = NodeCounts(registered=RegisteredNodes(ready=2))
    growing = group("ng", size, 5)
    growing = replace(growing, health=replace(growing.health, node_counts=counts))
    objects = [*of_group("ng", "a"), pod("pend", topologySpreadConstraints=spread())]
    for name, where, pods in (("b0", "b", 2), ("new", zone, 0)):
        unready = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}] if name == "new" else []
        made = node(name, where or "b", cpu="1", taints=unready)
        made["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] = "ng"
        if where is None:
            del made["metadata"]["labels"]["topology.kubernetes.io/zone"]
        objects += [made, *(pod(f"web-{name}-{index}", name) for index in range(pods))]
    assert asked(objects, growing).decision is decision


def test_backed_off() -> None:
    found = asked([*of_group("ng-a", "a"), pod("pend")], group("ng-a", 1, 3, status="Backoff"))
    assert found.pools[0].reasons == (NotAsked("backoff", "no quota"),)


def test_too_few_ready_nodes() -> None:
    healthy, ill = group("ng-b", 1, 3), group("ng-a", 1, 3)
    ill = replace(ill, health=replace(ill.health, status="Unhealthy"))
    found = asked([*of_group("ng-a", "a"), *of_group("ng-b", "b"), pod("pend")], ill, healthy)
    assert [each.reasons for each in found.pools] == [(NotAsked("unhealthy"),), ()]
    cluster = AutoscalerStatus(node_groups=(healthy,), cluster_wide=NodeGroupStatus(health=ill.health))
    objects = [*of_group("ng-b", "b"), pod("pend")]
    assert asked(objects, *groups_of(snapshot_of(objects), cluster)).pools[0].reasons == (NotAsked("unhealthy"),)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"spec": {"priority": -11}}, NotAsked("priority")),
        ({"spec": {"priority": -10}}, None),
        ({"spec": {"schedulingGates": [{"name": "g"}]}}, NotAsked("gates")),
        ({"status": {"nominatedNodeName": "ng-a-0"}}, NotAsked("nominated", "ng-a-0")),
        ({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}}, NotAsked("daemonset")),
    ],
)
def test_pods_for_which_no_node_is_added(changed: dict[str, Object], reason: NotAsked | None) -> None:
    waiting = pod("pend")
    for field, more in changed.items():
        waiting[field] |= more
    found = asked([*of_group("ng-a", "a"), waiting], group("ng-a", 1, 3))
    assert found.pools[0].reasons == ((reason,) if reason else ())


def test_a_group_without_nodes_is_not_known() -> None:
    found = asked([pod("pend")], group("ng-a", 0, 3))
    assert (found.decision, found.pools[0].reasons) == (Decision.UNKNOWN, (Unreadable("node", "ng-a"),))


@pytest.mark.parametrize(
    ("taints", "asks", "decision"),
    [
        ("", {}, Decision.NEW_NODE),
        ("gpu=a:NoSchedule", {}, Decision.REFUSED),
        ("", {"nodeSelector": {"kubernetes.io/os": "linux"}}, Decision.NEW_NODE),
        ("", {"nodeSelector": {"kubernetes.io/arch": "arm64"}}, Decision.REFUSED),
        ("", {"resources": {"requests": {"nvidia.com/gpu": "2", "ephemeral-storage": "9Gi"}}}, Decision.NEW_NODE),
        ("", {"resources": {"requests": {"nvidia.com/gpu": "3"}}}, Decision.REFUSED),
    ],
)
def test_cluster_api_describes_groups_without_nodes(taints: str, asks: Object, decision: Decision) -> None:
    annotations = {
        "capacity.cluster-autoscaler.kubernetes.io/gpu-type": "nvidia.com/gpu",
        "capacity.cluster-autoscaler.kubernetes.io/gpu-count": "2",
        "capacity.cluster-autoscaler.kubernetes.io/ephemeral-disk": "10Gi",
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "3",
        "capacity.cluster-autoscaler.kubernetes.io/cpu": "4",
        "capacity.cluster-autoscaler.kubernetes.io/memory": "16Gi",
        "capacity.cluster-autoscaler.kubernetes.io/taints": taints,
    }
    machines: Object = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {"name": "md", "namespace": "default", "annotations": annotations},
        "spec": {"replicas": 0},
    }
    owner = {"kind": "MachineDeployment", "name": "md", "controller": True}
    owned = machines | {"kind": "MachineSet", "metadata": machines["metadata"] | {"ownerReferences": [owner]}}
    objects = [machines, owned, pod("pend", containers=[{"name": "c", "image": "x", **asks}], **asks)]
    found = asked(objects, *groups_of(snapshot_of(objects), None))
    assert (found.decision, [each.name for each in found.pools]) == (decision, ["md"])


def test_a_maximum_is_not_the_first_reason_where_the_pod_fits_no_node_of_the_group() -> None:
    found = asked([*of_group("ng-a", "a"), pod("pend", cpu="16")], group("ng-a", 1, 1))
    assert found.pools[0].reasons == (RejectedByFilters(("Insufficient cpu",)), MaximumReached(1))
    assert advice_text(AutoscalerAnswer(**asdict(found))) == []


def test_a_status_without_groups_is_the_reason() -> None:
    text = "What cluster-autoscaler does is not known: its status lists no node group."
    assert decision_text(asked([pod("pend")])) == text


def test_groups_of_the_status_come_by_name() -> None:
    status = AutoscalerStatus(node_groups=(group("b", 1, 1), group("a", 1, 1)))
    assert [each.name for each in groups_of(snapshot_of([]), status)] == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "decision"),
    [("DaemonSet", Decision.REFUSED), ("Node", Decision.REFUSED), ("ReplicaSet", Decision.NEW_NODE)],
)
def test_pods_that_come_with_each_node_take_their_ports(kind: str, decision: Decision) -> None:
    ports = [{"containerPort": 80, "hostPort": 80}]
    container = {"name": "c", "image": "x", "ports": ports}
    there = pod("agent", "ng-a-0", containers=[container])
    there["metadata"]["ownerReferences"] = [{"kind": kind, "name": "agent", "uid": "1", "controller": True}]
    objects = [*of_group("ng-a", "a"), there, pod("pend", containers=[container])]
    assert asked(objects, group("ng-a", 1, 3)).decision is decision


def test_the_template_is_a_node_that_is_ready_and_not_cordoned() -> None:
    objects = of_group("ng-a", "a", 2)
    objects[0]["spec"]["unschedulable"] = True
    objects[0]["status"]["allocatable"] = {"cpu": "0", "memory": "0", "pods": "110"}
    assert asked([*objects, pod("pend")], group("ng-a", 2, 3)).decision is Decision.NEW_NODE


@pytest.mark.parametrize(
    ("most", "decision", "advice"),
    [
        (
            2,
            Decision.REFUSED,
            ["Raise the maximum of node group ng-a (now 2): a new node helps only if it is in zone b."],
        ),
        (3, Decision.NEW_NODE, []),
    ],
)
def test_a_group_of_several_zones_offers_each(most: int, decision: Decision, advice: list[str]) -> None:
    """Any of its nodes may be the template. Its constraint allows no more Pods in zone a."""
    objects = [*of_group("ng-a", "a", 2), pod("pend", topologySpreadConstraints=spread())]
    objects[2]["metadata"]["labels"]["topology.kubernetes.io/zone"] = "b"
    del objects[3]
    found = asked(objects, group("ng-a", 2, most))
    assert (found.decision, advice_text(AutoscalerAnswer(**asdict(found)))) == (decision, advice)
    assert found.pools[0].reasons == ((MaximumReached(2),) if most == 2 else ())
    assert found.pools[0].domains == {"topology.kubernetes.io/zone": ("b",)}
    snapshot = snapshot_of(objects)
    own = node_groups(["ng-a"], snapshot)
    assert domains_of_group("ng-a", own, "topology.kubernetes.io/zone", snapshot) == {"a", "b"}


def test_a_group_none_of_whose_zones_helps_has_all_their_reasons() -> None:
    objects = [*of_group("ng-a", "a", 2), pod("pend", cpu="16", topologySpreadConstraints=spread())]
    objects[2]["metadata"]["labels"]["topology.kubernetes.io/zone"] = "b"
    del objects[3]
    found = asked(objects, group("ng-a", 2, 2))
    assert found.pools[0].reasons == (RejectedByFilters(("Insufficient cpu", SPREAD)), MaximumReached(2))
    assert advice_text(AutoscalerAnswer(**asdict(found))) == []
