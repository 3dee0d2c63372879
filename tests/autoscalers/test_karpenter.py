"""Karpenter's decisions: the situations that people meet, and what is not known without the cloud's instance types."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.autoscalers.decision import (
    Decision,
    DomainNotOffered,
    LabelConflict,
    LimitReached,
    NoDomain,
    NoInstanceType,
    NotAsked,
    Unreadable,
    UntoleratedTaint,
    Verdict,
)
from kubectl_spread.autoscalers.karpenter.releases import nearest, release_of
from kubectl_spread.objects.core import Taint
from kubectl_spread.objects.well_known_labels import INSTANCE_TYPE
from kubectl_spread.wording.autoscalers import decision_text
from tests.autoscalers.clusters import (
    ZONE,
    Object,
    decided,
    instance_types,
    node,
    node_class,
    pod,
    pool,
    spread,
)

GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
TYPES = instance_types("abc")


def full(name: str, zone: str) -> list[Object]:
    """Return a node that is full, with one of the Pods that the constraint counts."""
    return [node(name, zone, "default", cpu="1"), pod(f"web-{name}", name)]


PHANTOM = [
    pool("default", "ab"),
    pool("gpu", "c", taints=[GPU]),
    node_class("abc"),
    *full("n1", "a"),
    *full("n2", "b"),
]


def test_a_pool_that_the_pod_cannot_use_holds_the_minimum() -> None:
    found = decided([*PHANTOM, pod("pend", topologySpreadConstraints=spread())], TYPES)
    assert found.decision is Decision.REFUSED
    gpu, default = found.pools
    assert gpu.reasons[0] == UntoleratedTaint(Taint(**GPU))
    assert default.reasons == (
        NoDomain(topology_key=ZONE, index=0, offered=("a", "b"), minimum=0, held_by=("c",), only_from=("gpu",)),
    )
    assert [(each.value, each.matching, each.from_) for each in found.constraints[0].domains] == [
        ("a", 1, ("default",)),
        ("b", 1, ("default",)),
        ("c", 0, ("gpu",)),
    ]


def test_no_pool_offers_the_zone_that_holds_the_minimum() -> None:
    empty = node("n3", "c", cpu="1", taints=[GPU])
    found = decided([*PHANTOM[:1], *PHANTOM[2:], empty, pod("pend", topologySpreadConstraints=spread())], TYPES)
    assert decision_text(found) == (
        "Karpenter adds no node: NodePool default offers zones a and b, where maxSkew allows no more Pods;"
        " zone c has the fewest Pods, and no NodePool offers it."
    )


@pytest.mark.parametrize(
    ("kind", "app", "reason"),
    [("podAntiAffinity", "web", "anti-affinity"), ("podAffinity", "lost", "affinity")],
)
def test_affinity_and_anti_affinity_are_told_apart(kind: str, app: str, reason: str) -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}}
    affinity = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    objects = [pool("p", "ab"), node_class("ab"), *full("n1", "a"), *full("n2", "b"), pod("pend", affinity=affinity)]
    found = decided(objects, TYPES)
    assert decision_text(found) == f"Karpenter adds no node: NodePool p (pod {reason} leaves it no zone)."


def test_a_node_may_lack_the_label_of_an_affinity_that_the_pod_itself_meets() -> None:
    term = {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    racks = pool("p", "a", requirements=[{"key": "rack", "operator": "NotIn", "values": ["r", "s"]}])
    assert decided([racks, node_class("a"), pod("pend", affinity=affinity)], TYPES).decision is Decision.NEW_NODE


def test_honoring_taints_leaves_that_pool_out() -> None:
    found = decided([*PHANTOM, pod("pend", topologySpreadConstraints=spread(nodeTaintsPolicy="Honor"))], TYPES)
    assert found.decision is Decision.NEW_NODE
    assert [(each.name, each.verdict, each.domains.get(ZONE)) for each in found.pools] == [
        ("gpu", Verdict.REFUSED, ("c",)),
        ("default", Verdict.CHOSEN, ("a", "b")),
    ]


def test_without_instance_types_a_node_is_possible_and_never_sure() -> None:
    found = decided([*PHANTOM, pod("pend", topologySpreadConstraints=spread(nodeTaintsPolicy="Honor"))], None)
    assert found.decision is Decision.NEW_NODE
    assert [each.verdict for each in found.pools] == [Verdict.REFUSED, Verdict.POSSIBLE]


def test_without_instance_types_a_pod_may_drop_what_it_prefers() -> None:
    soft = {"key": "spot", "effect": "PreferNoSchedule"}
    objects = [pool("dear", "a", weight=9), pool("spot", "b", taints=[soft]), node_class("abc"), *full("n1", "a")]
    wanted = pod("pend", topologySpreadConstraints=spread(whenUnsatisfiable="ScheduleAnyway"))
    dear, spot = decided([*objects, wanted], instance_types("b")).pools
    assert (dear.verdict, spot.verdict) == (Verdict.REFUSED, Verdict.CHOSEN)
    dear, spot = decided([*objects, wanted], None).pools
    assert (dear.verdict, spot.verdict) == (Verdict.POSSIBLE, Verdict.POSSIBLE)


def test_a_domain_is_picked_before_the_pool_is_asked() -> None:
    objects = [pool("p", ["a", "b"]), node_class("a"), pod("pend", topologySpreadConstraints=spread())]
    assert decided(objects, TYPES).decision is Decision.BY_CHANCE
    objects = [pool("p", ["a", "b"]), node_class("a"), *full("n1", "a"), objects[-1]]
    (refused,) = decided(objects, TYPES).pools
    assert refused.reasons == (DomainNotOffered(ZONE, ("b",)),)
    objects = [pool("p", [*"fedcba"]), node_class("f"), *full("n1", "f"), objects[-1]]
    (refused,) = decided(objects, instance_types("f")).pools
    assert refused.reasons == tuple(DomainNotOffered(ZONE, (zone,)) for zone in "abcde")


def test_a_domain_is_not_the_reason_where_no_domain_would_do() -> None:
    arm = pod("pend", nodeSelector={"kubernetes.io/arch": "arm64"}, topologySpreadConstraints=spread())
    found = decided([pool("p", "ab"), node_class("ab"), arm], TYPES)
    (reason,) = found.pools[0].reasons
    assert isinstance(reason, NoInstanceType)
    assert reason.conflict is not None
    assert reason.conflict.wanted.key == "kubernetes.io/arch"
    assert not found.by_constraint


def test_room_that_the_scheduler_does_not_see() -> None:
    waiting = node("n1", "a", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "default-x", "labels": {**waiting["metadata"]["labels"], "karpenter.sh/nodepool": "p"}},
        "spec": {},
        "status": {"providerID": "kwok://n1"},
    }
    waiting["metadata"]["labels"]["karpenter.sh/nodepool"] = "p"
    waiting["metadata"]["labels"]["karpenter.sh/registered"] = "true"
    found = decided([pool("p", "a"), node_class("a"), waiting, claim, pod("pend")], TYPES)
    assert (found.decision, found.node) == (Decision.EXISTING_NODE, "n1")
    assert [each.reasons for each in found.pools] == [(NotAsked("room", "n1"),)]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"ready": "False"}, NotAsked("not ready", "why not")),
        ({"replicas": 3}, NotAsked("fixed size")),
        ({"limits": {"cpu": "2"}}, LimitReached("cpu", "2", 0)),
        ({"limits": {"nodes": "0"}}, LimitReached("nodes", "0", 0)),
        ({"limits": {"cpu": "2", "nodes": "0"}}, LimitReached("nodes", "0", 0)),
        ({"limits": {"cpu": "2", "nodes": "0"}}, LimitReached("cpu", "2", 0)),
        ({"taints": [GPU]}, UntoleratedTaint(Taint(**GPU))),
        ({"requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]}, NoInstanceType),
        ({"requirements": [{"key": INSTANCE_TYPE, "operator": "Exists", "minValues": 2}]}, NoInstanceType("minValues")),
        ({"labels": {"team": "x"}}, LabelConflict),
    ],
)
def test_why_a_pool_refuses(changed: dict[str, Any], reason: object) -> None:
    found = decided([pool("p", "a", **changed), node_class("a"), pod("pend", nodeSelector={"team": "y"})], TYPES)
    assert found.decision is Decision.REFUSED
    reasons = found.pools[0].reasons
    assert reason in reasons or any(isinstance(reason, type) and isinstance(each, reason) for each in reasons)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"spec": {"schedulingGates": [{"name": "g"}]}}, NotAsked("gates")),
        ({"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}}, NotAsked("devices")),
        ({"status": {"nominatedNodeName": "n1"}}, NotAsked("nominated", "n1")),
        ({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}}, NotAsked("daemonset")),
        ({"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "controller": True}]}}, None),
    ],
)
def test_pods_for_which_no_node_is_added(changed: dict[str, Object], reason: NotAsked | None) -> None:
    waiting = pod("pend")
    for field, more in changed.items():
        waiting[field] |= more
    found = decided([pool("p", "a"), node_class("a"), waiting], TYPES)
    assert found.pools[0].reasons == ((reason,) if reason else ())


def test_pods_of_nodes_that_go_are_scheduled_too() -> None:
    going = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]
    agent = pod("agent", "n2")
    agent["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "controller": True}]
    objects = [
        pool("p", "a"),
        node("n1", "a", "p", taints=going),
        pod("web-1", "n1"),
        node("n2", "a", "p", taints=going),
        agent,
    ]
    assert decided([*objects, pod("pend")], TYPES).leaving == ("n1",)


@pytest.mark.parametrize(
    ("group", "label", "decision"),
    [
        ("eks.amazonaws.com", "eks.amazonaws.com/instance-category", Decision.NEW_NODE),
        ("karpenter.azure.com", "karpenter.azure.com/sku-family", Decision.NEW_NODE),
        ("karpenter.example.com", "karpenter.example.com/family", Decision.NEW_NODE),
        ("karpenter.k8s.aws", "eks.amazonaws.com/instance-category", Decision.REFUSED),
    ],
)
def test_providers_know_the_labels_of_their_own_group(group: str, label: str, decision: Decision) -> None:
    asked = pool("p", "a")
    asked["spec"]["template"]["spec"]["nodeClassRef"] |= {"group": group}
    assert decided([asked, pod("pend", nodeSelector={label: "c"})], TYPES).decision is decision


def test_labels_that_offerings_add_are_known() -> None:
    sold = instance_types("a")
    sold[0]["offerings"][0]["Requirements"].append({"key": "example.com/rack", "operator": "In", "values": ["r"]})
    objects = [pool("p", "a"), node_class("a"), pod("pend", nodeSelector={"example.com/rack": "r"})]
    assert decided(objects, sold).decision is Decision.NEW_NODE
    objects[-1] = pod("pend", nodeSelector={"example.com/rack": "s"})
    assert decided(objects, sold).decision is Decision.REFUSED


def test_a_class_of_another_kind_has_the_same_name() -> None:
    asked = pool("p")
    asked["spec"]["template"]["spec"]["nodeClassRef"]["kind"] = "NodeClass"
    objects = [asked, node_class("a"), pod("pend", topologySpreadConstraints=spread())]
    assert decided(objects, None).pools[0].reasons == (Unreadable("zones", "all"),)


def test_zones_of_a_class_that_could_not_be_read() -> None:
    (unknown,) = decided([pool("p"), pod("pend", topologySpreadConstraints=spread())], None).pools
    assert (unknown.verdict, unknown.reasons) == (Verdict.UNKNOWN, (Unreadable("zones", "all"),))
    # What is refused whatever the zones are is refused.
    tainted = decided([pool("p", taints=[GPU]), pod("pend", topologySpreadConstraints=spread())], None)
    assert tainted.decision is Decision.REFUSED


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (pod("pend", schedulingGates=[{"name": "g"}]), "it waits until the scheduling gates of the Pod are removed."),
        (pod("pend", nodeSelector={"x.karpenter.sh/y": "z"}), "it ignores Pods that select nodes by x.karpenter.sh/y."),
    ],
)
def test_a_reason_that_all_pools_share_is_given_once(asked: Object, sentence: str) -> None:
    found = decided([pool("p", "a"), pool("q", "b"), pool("fixed", "c", replicas=1), node_class("abc"), asked], TYPES)
    assert decision_text(found) == f"Karpenter adds no node: {sentence}"


def test_pods_that_move_in_the_same_batch_are_named() -> None:
    going = node("n1", "a", "p", taints=[{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}])
    found = decided([pool("p", "a"), node_class("a"), going, pod("web-1", "n1"), pod("pend")], TYPES)
    sentence = "Not considered: Karpenter also moves Pods away from n1."
    assert decision_text(found).endswith(f"from NodePool p (zone a). {sentence}")


@pytest.mark.parametrize("zones", [("a", "b"), ()])
def test_constraints_on_one_label_that_have_no_domain_in_common(zones: tuple[str, ...]) -> None:
    web, other = pod("web-1", "n1"), pod("other-1", "n2")
    other["metadata"]["labels"] = {"app": "other"}
    both = [*spread(), *spread(labelSelector={"matchLabels": {"app": "other"}})]
    more = [] if zones else [{"key": ZONE, "operator": "NotIn", "values": ["d"]}]
    nodes = [node("n1", "a", "p", cpu="1"), node("n2", "b", "p", cpu="1")]
    asked = [pool("p", zones, requirements=more), node_class("ab"), *nodes, web, other]
    found = decided([*asked, pod("pend", topologySpreadConstraints=both)], TYPES)
    assert found.decision is Decision.REFUSED
    assert found.by_constraint
    assert decision_text(found) == (
        "Karpenter adds no node: NodePool p offers zones a and b, where maxSkew allows no more Pods."
    )


def test_a_constraint_on_a_label_that_the_pool_does_not_set() -> None:
    racked = node("n1", "a", cpu="1")
    racked["metadata"]["labels"]["rack"] = "r"
    asked = pod("pend", topologySpreadConstraints=spread(topologyKey="rack"))
    found = decided([pool("p", "a"), node_class("a"), racked, pod("web-1", "n1"), asked], TYPES)
    assert found.pools[0].reasons == (DomainNotOffered("rack", ("r",)),)


def test_the_pool_that_is_chosen_is_named_alone() -> None:
    found = decided([pool("low", "a", weight=1), pool("high", "a", weight=9), node_class("a"), pod("pend")], TYPES)
    assert [(each.name, each.verdict) for each in found.pools] == [("high", Verdict.CHOSEN), ("low", Verdict.POSSIBLE)]
    assert decision_text(found) == "Karpenter: nothing that was read forbids a new node from NodePool high (zone a)."


def test_what_is_unknown_before_preferences_are_dropped_is_given() -> None:
    soft = spread(topologyKey="karpenter.sh/capacity-type", whenUnsatisfiable="ScheduleAnyway")
    found = decided([pool("p", "a"), node_class("a"), pod("pend", topologySpreadConstraints=soft)], None)
    assert found.pools[0].reasons == (Unreadable("domains", "karpenter.sh/capacity-type"),)
    assert decision_text(found).startswith("What Karpenter does is not known: the values of karpenter.sh/capacity-type")


@pytest.mark.parametrize(("cpu", "decision"), [("1", Decision.NEW_NODE), ("3", Decision.REFUSED)])
def test_the_newest_pod_of_a_daemon_set_is_what_nodes_need_room_for(cpu: str, decision: Decision) -> None:
    daemons: Object = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "logs", "namespace": "default"},
        "spec": {"template": {"spec": pod("", cpu="2")["spec"]}},
    }
    older, newer = pod("logs-1", "n1", cpu="4"), pod("logs-2", "n2", cpu=cpu)
    for second, each in enumerate((older, newer)):
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "controller": True}
        each["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": f"2026-11-23T00:00:0{second}Z"}
    objects = [pool("p", "a"), node_class("a"), node("n1", "a", cpu="4"), node("n2", "a", cpu="1"), daemons]
    assert decided([*objects, newer, older, pod("pend", cpu="2")], TYPES).decision is decision


@pytest.mark.parametrize(("release", "decision"), [((1, 13), Decision.EXISTING_NODE), ((1, 14), Decision.NEW_NODE)])
def test_resizes_in_progress(release: tuple[int, int], decision: Decision) -> None:
    resizing, large = pod("web-1", "n1"), {"cpu": "3500m"}
    resizing["status"]["containerStatuses"] = [
        {"name": "c", "resources": {"requests": large}, "allocatedResources": large}
    ]
    objects = [pool("p", "a"), node_class("a"), node("n1", "a"), resizing, pod("pend")]
    assert decided(objects, TYPES, release=release).decision is decision


def test_integers_that_are_too_large() -> None:
    large = {"key": INSTANCE_TYPE, "operator": "Gt", "values": ["9" * 20]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [large]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    found = decided([pool("p", "a"), node_class("a"), pod("pend", affinity=affinity)], TYPES)
    assert isinstance(found.pools[0].reasons[0], NotAsked)


@pytest.mark.parametrize(
    ("version", "policy", "decision"),
    [
        ("1.11.0", "Honor", Decision.NEW_NODE),
        ("1.11.0", "Ignore", Decision.REFUSED),
        ("1.11.1", "Honor", Decision.REFUSED),
        ("1.11", "Honor", Decision.REFUSED),
    ],
)
def test_one_release_counts_domains_of_pools_that_the_affinity_allows(
    version: str, policy: str, decision: Decision
) -> None:
    asked = pod("pend", nodeSelector={"team": "web"}, topologySpreadConstraints=spread(nodeAffinityPolicy=policy))
    nodes = [*full("n1", "a"), *full("n2", "b")]
    for each in nodes:
        each["metadata"]["labels"]["team"] = "web"
    pools = [pool("default", "ab", labels={"team": "web"}), pool("other", "c", labels={"team": "x"})]
    release = nearest(release_of(version))
    assert decided([*pools, node_class("abc"), *nodes, asked], TYPES, release=release).decision is decision


@pytest.mark.parametrize(
    ("version", "decision"),
    [
        ("1.13.9", Decision.NEW_NODE),
        ("1.14", Decision.NEW_NODE),
        ("1.14.1", Decision.NEW_NODE),
        ("1.14.3", Decision.REFUSED),
        ("1.14.9", Decision.REFUSED),
        ("1.15.0", Decision.REFUSED),
    ],
)
def test_which_releases_count_only_values_that_are_allowed_for_min_values(version: str, decision: Decision) -> None:
    two = {"key": ZONE, "operator": "In", "values": ["a", "b"], "minValues": 2}
    asked = [pool("p", requirements=[two]), node_class("ab"), pod("pend", nodeSelector={ZONE: "a"})]
    assert decided(asked, TYPES, release=nearest(release_of(version))).decision is decision


@pytest.mark.parametrize(
    ("version", "condition", "decision"),
    [
        ("1.15.0", "True", Decision.EXISTING_NODE),
        ("1.15.0", "False", Decision.NEW_NODE),
        ("1.14.3", "True", Decision.NEW_NODE),
    ],
)
def test_which_releases_see_room_on_a_node_that_reboots(version: str, condition: str, decision: Decision) -> None:
    taints = [
        {"key": key, "effect": "NoSchedule"} for key in ("karpenter.sh/rebooting", "node.kubernetes.io/not-ready")
    ]
    reboots = node("n1", "a", "p", taints=taints)
    reboots["metadata"]["labels"] |= {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "p-x", "labels": {}},
        "status": {"providerID": "kwok://n1", "conditions": [{"type": "Rebooting", "status": condition}]},
    }
    asked = [pool("p", "a"), node_class("a"), reboots, claim, pod("pend")]
    assert decided(asked, TYPES, release=nearest(release_of(version))).decision is decision
