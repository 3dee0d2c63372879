"""The sentence on top: what is to blame, with the names and numbers that prove it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kubectl_spread.diagnosis.causes import BlamedConstraint, PinnedDomain, PinnedNodes
from kubectl_spread.diagnosis.reasons import AnyReason, Cordoned, InsufficientResources, ShortResource
from kubectl_spread.diagnosis.requirements import ConstraintRequirement
from kubectl_spread.wording.causes import clause_of, reason_of, shared_line
from kubectl_spread.wording.reasons import name_of
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_devices import resource_claim_template
from tests.build_storage import claim, volume
from tests.build_workloads import owned
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, report_of, web, zoned

BIG: Object = {"nodeSelector": {"disk": "ssd"}}

AVOIDS_WEB: Object = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": app("web"), "topologyKey": HOSTNAME}]
        }
    }
}
TAINTS_COUNT = "This node counts because nodeTaintsPolicy is Ignore (the default)."
NOT_READY = "node.kubernetes.io/not-ready:NoSchedule"


BLAMED: list[tuple[Object, Sequence[Object]]] = [
    (incoming(), [*ABC]),
    (incoming(), []),
    (incoming(), [*TAINTED, *web("a1", "b1")]),
    (incoming(**BIG), [*ABC]),
    (incoming(), [node("x", zone="a", taints=[GPU]), node("y", zone="a", unschedulable=True)]),
    (incoming(requests={"cpu": "9"}), [node(f"n{i}", zone="a", allocatable={"cpu": str(i)}) for i in range(1, 6)]),
    (incoming(spread("rack", selector=app("web"))), [*ABC]),
    (incoming(zoned(minDomains=4)), [*ABC, *web("a1", "b1", "c1")]),
    (
        incoming(zoned(minDomains=3, nodeTaintsPolicy="Honor")),
        [*ABC[:3], node("c1", zone="c", taints=["site=c:NoSchedule"]), *web("a1", "b1")],
    ),
    (
        incoming(spread("rack", selector=app("web"), minDomains=3), nodeSelector={"disk": "ssd"}),
        [
            *(node(f"n{i}", labels={"rack": f"r{i}", "disk": "ssd"}) for i in (1, 2)),
            *(node(f"n{i}", labels={"rack": f"r{i}"}) for i in (3, 4)),
            *web("n1", "n2"),
        ],
    ),
    (
        incoming(zoned(), spread(HOSTNAME, selector=app("web"))),
        [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), *web("a1", "a1", "a2", "b1", "b1")],
    ),
    (incoming(zoned(), requests={"cpu": "3"}), [*ABC, *web("a1", "b1"), pod("hog", on="c1", requests={"cpu": "6"})]),
]


def test_why_nodes_count_that_take_no_pod() -> None:
    pool = {"pool": "web"}
    nodes = [node("a1", zone="a", labels=pool), node("c1", zone="c", taints=[GPU], labels=pool), node("c2", zone="c")]

    def told(**fields: Any) -> str:  # noqa: ANN401 - any field of the constraint
        return report_of(incoming(zoned(**fields), nodeSelector=pool), [*nodes, *web("a1")]).summary

    assert f": taint {GPU}. {TAINTS_COUNT}" in told()
    both = told(nodeAffinityPolicy="Ignore")
    assert both.endswith(" These nodes count because nodeAffinityPolicy and nodeTaintsPolicy are Ignore.")
    by_affinity = told(nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor")
    assert ": no label pool=web. This node counts because nodeAffinityPolicy is Ignore." in by_affinity


@pytest.mark.parametrize("max_skew", [0, -1])
def test_a_constraint_that_no_api_server_takes(max_skew: int) -> None:
    described = incoming(zoned(maxSkew=max_skew), **BIG)
    nodes = [node(f"{zone}1", zone=zone) for zone in "abc"]
    assert isinstance(report_of(described, nodes).conflict[0], ConstraintRequirement)
    assert report_of(described, nodes).summary == (
        "All 3 nodes lack the label disk=ssd, which nodeSelector requires. The constraint on zone rejects a1, b1 and"
        " c1 too."
    )


def test_a_constraint_alone_may_close_every_domain_it_counts() -> None:
    described = incoming(zoned(nodeTaintsPolicy="Honor"), spread("rack", selector=app("web"), soft=True))
    report = report_of(described, [node("a", zone="a"), node("x")])
    assert report.summary == ""
    only_far = incoming(zoned(nodeAffinityPolicy="Honor"), nodeSelector={HOSTNAME: "x"})
    nodes = [node("x"), node("y")]
    assert report_of(only_far, nodes).summary == f"No node has the label {ZONE} that the constraint requires."


PINNED_ROOM = [node("a1", zone="a"), node("c1", zone="c", taints=[GPU])]


def test_two_filters_that_reject_one_node_are_both_named() -> None:
    nodes = [node("a1", zone="a"), node("c1", zone="c", taints=[GPU], allocatable={"cpu": "4"})]
    hog = pod("hog", on="c1", requests={"cpu": "4"})
    report = report_of(incoming(requests={"cpu": "1"}), [*nodes, hog, *web("a1")])
    assert f"taint {GPU} and 1 cpu requested, 0 free. {TAINTS_COUNT}" in report.summary
    pins = [name_of(pin.requirement) for domain in report.constraints[0].domains for pin in domain.pinned_by]
    assert pins == ["TaintToleration", "NodeResourcesFit"]


def test_a_domain_is_pinned_by_a_filter_of_the_core_alone() -> None:
    nodes = [
        node("a1", zone="a", labels={"rack": "r2"}),
        node("a2", zone="a", labels={"rack": "r1"}),
        node("c1", zone="c", labels={"rack": "r1"}, taints=[GPU]),
    ]
    report = report_of(incoming(zoned(), spread("rack", selector=app("web"))), [*nodes, *web("a2", "a2")])
    assert report.summary == (
        "No node meets both requirements: only c1 meets the constraint on zone; only a1 meets the constraint on rack."
    )
    assert "PinnedMinimum" not in {finding.id for finding in report.findings}
    (pin,) = (pin for domain in report.constraints[0].domains for pin in domain.pinned_by)
    assert isinstance(pin.requirement, ConstraintRequirement)


def test_pods_that_close_a_domain_because_they_count_are_told() -> None:
    waiting = owned("new", "StatefulSet", "web", labels={"pod-template-hash": "2"}, topologySpreadConstraints=[zoned()])
    older = [owned(f"old-{on}", "StatefulSet", "web", on=on, labels={"pod-template-hash": "1"}) for on in ("a1", "b1")]
    canaries = [owned(f"canary-{on}", "StatefulSet", "canary", on=on) for on in ("a1", "b1")]
    both = report_of(waiting, [*TAINTED, *older, *canaries]).summary
    # Without those of one workload, those of the other close it still.
    assert "counts 2 Pods of other revisions and 2 Pods of statefulset/canary." in both
    stray = report_of(waiting, [*TAINTED, *older[:1], pod("stray", on="b1", labels={"app": "web"})]).summary
    assert "counts 1 Pod of other revisions and the Pod stray." in stray
    told = [report_of(waiting, [*TAINTED, *pods]).summary for pods in (older, canaries)]
    also = (
        "The constraint on zone also counts 2 Pods of other revisions.",
        "The constraint on zone also counts 2 Pods of statefulset/canary.",
    )
    assert [text.endswith(each) for text, each in zip(told, also, strict=True)] == [True, True]


def test_nodes_that_other_pods_close_in_the_same_way_are_no_other_reason() -> None:
    terms = [{"labelSelector": app("web"), "topologyKey": HOSTNAME}]
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    there = [pod(f"web-{name}", on=name, labels={"app": "web"}, affinity=apart) for name in "abc"]
    pending = pod("new", labels={"app": "web"}, affinity=apart)
    told = report_of(pending, [*map(node, "abc"), *there]).summary
    assert told.count("ruled out by anti-affinity") == 2
    assert told.endswith("; 1 more node likewise.")


def test_who_uses_a_host_port_is_counted_by_workload() -> None:
    nodes = [node(name, zone="b") for name in ("b1", "b2", "b3")]
    proxies = [
        owned(f"proxy-{on}", "DaemonSet", "proxy", on=on, labels={"app": "proxy"}, host_ports=["443"])
        for on in ("b1", "b2")
    ]
    edge = pod("edge", on="b3", host_ports=["443"])
    described = incoming(host_ports=["443"])
    told = report_of(described, [node("a1", zone="a"), *nodes, *proxies, edge, *web("a1")]).summary
    assert "is available: host port 443/TCP in use by 2 Pods of default/daemonset/proxy and default/edge." in told
    alone = report_of(incoming(host_ports=["443"]), [*nodes, *proxies, edge]).summary
    assert alone == (
        "No spread constraint is the cause. Host port 443/TCP is in use on all 3 nodes by 2 Pods of"
        " default/daemonset/proxy and default/edge."
    )
    beside = report_of(incoming(host_ports=["443"]), [*nodes, node("c1", taints=["gpu:NoSchedule"]), *proxies, edge])
    assert beside.summary.startswith("Host port 443/TCP is in use on b1, b2 and b3 by")


def pinned_by(*reasons: AnyReason) -> PinnedDomain:
    """Return the cause that each of these reasons keeps the Pod off another node of zone b."""
    constraint = BlamedConstraint(
        index=0, topology_key=ZONE, selector="", max_skew=1, min_domains=1, global_minimum=0, domains=2
    )
    pins = tuple(PinnedNodes(nodes=(f"b{at}",), reasons=(reason,)) for at, reason in enumerate(reasons))
    return PinnedDomain(constraint=constraint, domains=("b",), nodes=len(pins), pins=pins)


def full_of(*free: str) -> Sequence[AnyReason]:
    """Return that so much cpu is free."""
    short = [ShortResource(name="cpu", asked="5", free=each) for each in free]
    return [InsufficientResources(resources=(each,)) for each in short]


@pytest.mark.parametrize(
    ("cause", "few", "shared"),
    [
        (
            pinned_by(*full_of("1", "2"), Cordoned()),
            "b0 (5 cpu requested, 1 free); b1 (5 cpu requested, 2 free); b2 (cordoned)",
            "too little cpu free (2 of 3 nodes); cordoned (1 of 3 nodes)",
        ),
        (
            pinned_by(*full_of("1", "2", "3"), Cordoned()),
            "too little cpu free (3 nodes); cordoned (1 node)",
            "too little cpu free (3 of 4 nodes); cordoned (1 of 4 nodes)",
        ),
        (pinned_by(*full_of("1", "2", "3", "4")), "too little cpu free", "too little cpu free (4 of 4 nodes)"),
    ],
)
def test_few_reasons_name_their_nodes_and_many_are_counted_without_amounts(
    cause: PinnedDomain, few: str, shared: str
) -> None:
    assert reason_of(cause) == f"no Pod can go to b: {few}"
    assert shared_line(cause) == f"zone b: {shared}"
    assert f": {few}." in clause_of(cause).text


def test_a_daemon_is_kept_off_its_own_node_alone() -> None:
    names = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c1"]}]}
    pinned = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [names]}}}
    full = pod("hog", on="c1", requests={"cpu": "8"})

    def told(**fields: Any) -> str:  # noqa: ANN401 - any field of the constraint
        daemon = owned("d", "DaemonSet", "d", affinity=pinned, topologySpreadConstraints=[zoned(**fields)])
        daemon["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        return report_of(daemon, [*ABC, full, *web("c1", "c1")]).summary

    full_node = "c1, the only node for this Pod, has too little cpu (1 requested, 0 free)."
    assert told() == f"No spread constraint is the cause. {full_node}"
    assert told(nodeAffinityPolicy="Ignore") == f"{full_node} The constraint on zone rejects it too."
    full["metadata"]["labels"] = {"app": "web"}
    full["spec"]["containers"][0]["resources"] = {}
    rejects = "The constraint on zone rejects c1, the only node for this Pod."
    assert told(nodeAffinityPolicy="Ignore") == rejects
    assert told(topologyKey="rack") == "c1, the only node for this Pod, lacks the label rack."
    daemon = owned("d", "DaemonSet", "d", affinity=pinned, host_ports=["443"])
    told_of_port = report_of(daemon, [*ABC, pod("edge", on="c1", host_ports=["443"])]).summary
    assert told_of_port.endswith("default/edge uses host port 443/TCP on c1, the only node for this Pod.")


def test_the_template_that_a_claim_is_to_be_made_from_is_named() -> None:
    described = incoming(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])
    waits = 'pod "default/new": ResourceClaim not created yet'
    assert report_of(described, ABC).summary == (
        f"{waits}, because there is no ResourceClaimTemplate t: no node is evaluated."
    )
    there = report_of(described, [*ABC, resource_claim_template("t")])
    assert "ResourceClaimTemplate" not in there.summary


def test_who_holds_a_claim_that_one_pod_may_use_is_named() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]
    cluster = [*ABC, claim("x", bound_to="pv", modes=["ReadWriteOncePod"]), volume("pv"), *web("a1", volumes=volumes)]
    held = "No spread constraint is the cause. Claim x is ReadWriteOncePod and default/web-0 on a1 uses it"
    assert report_of(incoming(volumes=volumes), cluster).summary == f"{held}."
    nodes = [node("a1", zone="a", taints=["node.kubernetes.io/unreachable:NoExecute"]), *ABC[1:]]
    by_silent = report_of(incoming(volumes=volumes), [*nodes, *cluster[len(ABC) :]]).summary
    assert by_silent == f"{held}; its node does not answer."
    cluster[-1] = pod("web-0", on="a1", volumes=volumes, terminating=True)
    by_deleted = report_of(incoming(volumes=volumes), [*nodes, *cluster[len(ABC) :]]).summary
    assert by_deleted == f"{held}; that Pod is being deleted, and its node does not answer."


def test_who_is_being_deleted_and_still_in_the_way_is_named() -> None:
    old = pod("old", on="c1", requests={"cpu": "7"}, terminating=True)
    report = report_of(incoming(requests={"cpu": "2"}), [*ABC, old, *web("a1", "b1")])
    assert report.summary == (
        "default/old on c1 is being deleted, kept by finalizer example.com/waits, and still in the way: c1 rejects"
        " this Pod until it is gone."
    )
    taken = pod("other", on="c1", requests={"cpu": "7"})
    waits = report_of(incoming(requests={"cpu": "8"}), [*ABC, old, taken, *web("a1", "b1")])
    assert "being deleted" not in waits.summary


def test_a_key_that_is_misspelt_on_nodes_that_would_do_is_named() -> None:
    meant = node("d1", labels={f"{ZONE}s": "d"})
    assert report_of(incoming(), [*TAINTED, meant, *web("a1", "b1")]).summary == (
        f"d1 would take this Pod but lacks the label {ZONE} (has {ZONE}s instead). No other node can take it."
    )
    crowded = node("d1", labels={f"{ZONE}s": "a"})
    assert "would take this Pod" not in report_of(incoming(), [*TAINTED, crowded, *web("a1", "b1")]).summary
    bare = node("e1")
    assert report_of(incoming(), [*TAINTED, meant, bare, *web("a1", "b1")]).summary == (
        f"d1 would take this Pod but lacks the label {ZONE} (has {ZONE}s instead)."
    )
    typo = incoming(spread(f"{ZONE}s", selector=app("web")))
    assert report_of(typo, ABC).summary == (
        f"No node has the label {ZONE}s that the constraint requires; a1, a2 and 2 more have {ZONE}."
    )


def volumes_of(*names: str) -> Object:
    """Return the volumes of a Pod with these claims."""
    return {"volumes": [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in names]}


KAFKA = [
    node("a1", zone="a"),
    *(node(f"{'c' * 60}{number}", zone="c", unschedulable=True) for number in range(2)),
    node(f"{'c' * 60}2", zone="c", taints=[GPU], unschedulable=True),
    node(f"{'c' * 60}3", zone="c", taints=[GPU]),
    node(f"{'c' * 60}4", zone="c", allocatable={"cpu": "2"}),
    claim("x", bound_to="pv"),
    volume("pv", usable_on={ZONE: ["c"]}),
]


PLACES: list[tuple[Object, Sequence[Object]]] = [
    (
        {"topology.disk.csi.azure.com/zone": ["c"]},
        [node("c1", zone="c", labels={"topology.disk.csi.azure.com/zone": "c"}, unschedulable=True)],
    ),
    ({HOSTNAME: ["c1"]}, [node("c1", zone="c", unschedulable=True), node("c2", zone="c")]),
    ({"rack": ["r"]}, [node(f"c{number}", zone="c", labels={"rack": "r"}, unschedulable=True) for number in range(2)]),
]


def test_several_volumes_in_one_place_are_one_reason_and_in_several_places_none() -> None:
    cluster = [*KAFKA, claim("y", bound_to="pv2")]
    both = incoming(requests={"cpu": "3"}, **volumes_of("x", "y"))
    summary = report_of(both, [*cluster, volume("pv2", usable_on={ZONE: ["c"]})]).summary
    assert ("Claims x and y are bound to volumes in zone c, and none of the 5 nodes there is") in summary
    elsewhere = report_of(both, [*cluster, volume("pv2", usable_on={ZONE: ["c", "d"]})]).summary
    assert "nodes there" not in elsewhere


TERM = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
ON_SSD: Object = {
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}}
}


REQUIRED: list[Object] = [
    {"nodeSelector": {"disk": "ssd"}},
    {"nodeSelector": {"disk": "ssd", "pool": "db"}},
    ON_SSD,
    {"nodeSelector": {"pool": "db"}, **ON_SSD},
]


def test_a_constraint_that_counts_others_and_not_the_pod_is_named_first() -> None:
    other = pod("other", on="a1", labels={"app": "other"}), pod("one", on="a1", labels={"app": "other"})
    described = incoming(zoned(selector=app("other")))
    summary = report_of(described, [*PINNED_ROOM, *other]).summary
    assert summary.startswith("The constraint on zone counts Pods with app=other, but not this Pod. ")
    assert f"taint {GPU}" in summary


@pytest.mark.parametrize("zones", ["ab", "abc"])
def test_min_domains_is_to_blame_where_the_pod_fits_without_it(zones: str) -> None:
    described = incoming(zoned(minDomains=4))
    tainted = node("t1", zone="a", taints=[GPU])
    summary = report_of(described, [*(node(f"{z}1", zone=z) for z in zones), tainted, *web(*(f"{z}1" for z in zones))])
    assert f"{len(zones)} zones (" in summary.summary


def small(names: str, *, zone: str = "b", cpu: str = "500m", **fields: Any) -> list[Object]:  # noqa: ANN401 - of nodes
    """Return nodes of a zone with so much cpu."""
    return [node(name, zone=zone, allocatable={"cpu": cpu}, **fields) for name in names.split()]


def tainted(**taints: Sequence[str]) -> list[Object]:
    """Return nodes of zone b with these taints, by name."""
    return [node(name, zone="b", taints=those) for name, those in taints.items()]


WANTS_CPU = incoming(requests={"cpu": "1"})
ON_A1 = [node("a1", zone="a"), *web("a1")]
X, Y = "x=1:NoSchedule", "y=1:NoSchedule"
CORDON: Object = {"unschedulable": True, "taints": ["node.kubernetes.io/unschedulable:NoSchedule"]}
CONTROL_PLANE = node("cp", taints=["node-role.kubernetes.io/control-plane:NoSchedule"])
HOSTS = spread(HOSTNAME, selector=app("web"))
MORE: dict[str, tuple[Object, Sequence[Object]]] = {
    "a Pod that does not count": (
        incoming(zoned(), labels={"app": "other"}),
        [*ABC[:3], node("c1", zone="c", unschedulable=True), *web("a1", "a1", "b1", "b1")],
    ),
    "domains that hold the minimum together": (
        incoming(),
        [
            *(*ABC[:2], *(node(f"{zone}1", zone=zone, taints=[GPU]) for zone in "bc")),
            *(node("d1", zone="d", unschedulable=True), *web("a1", "b1", "a1", "c1", "d1")),
        ],
    ),
    "constraints that no node meets together": (
        incoming(zoned(), spread("rack", selector=app("web"))),
        [node("a", zone="a"), node("r", labels={"rack": "r"})],
    ),
    "two names and a count": (
        incoming(),
        [*ON_A1, *tainted(**{f"b{at}": [GPU] for at in range(6)}), node("b6", zone="b", unschedulable=True)],
    ),
    "a filter beside another constraint": (
        incoming(zoned(), HOSTS),
        [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), *tainted(b2=[GPU]), *web("a1", "a1", "b1")],
    ),
    "a further reason": (WANTS_CPU, [*ON_A1, *small("d1 d2"), *tainted(bx=[X])]),
    "further reasons": (
        WANTS_CPU,
        [*ON_A1, *small("d1 d2"), *tainted(**{f"b{key}": [f"{key}=1:NoSchedule"] for key in "wxyz"})],
    ),
    "a reason counts all nodes that have it": (
        WANTS_CPU,
        [*ON_A1, *small("d1"), *small("d2", taints=[GPU]), *tainted(b1=[X], b2=[X])],
    ),
    "nodes with more taints": (incoming(), [*ON_A1, *tainted(b1=[NOT_READY], b2=[GPU], b3=[GPU, NOT_READY])]),
    "nodes with more taints, counted": (
        incoming(),
        [*ON_A1, *tainted(b1=[NOT_READY], b2=[GPU], b3=[GPU, NOT_READY], b4=[X], b5=[Y])],
    ),
    "its own anti-affinity before that of others": (
        incoming(labels={"app": "web"}, **AVOIDS_WEB),
        [
            *(node(name, zone="a") for name in ("n0", "n1")),
            *(pod(f"p{at}", on=f"n{at}", labels={"app": "web"}, **AVOIDS_WEB) for at in range(2)),
        ],
    ),
    "nodes that do not count are not there": (
        incoming(zoned(nodeTaintsPolicy="Honor"), requests={"cpu": "1"}),
        [*ABC[:3], *small("c1", zone="c"), node("c2", zone="c", taints=[GPU]), *web("a1", "b1")],
    ),
    "a node that lacks only the key": (incoming(), [*TAINTED, node("x"), *web("a1", "b1")]),
    "a volume in a zone that has no node": (
        incoming(**volumes_of("x")),
        [node("z1", zone="y"), claim("x", bound_to="pv"), volume("pv", usable_on={ZONE: ["z"]})],
    ),
    "a volume by another key": (
        incoming(**volumes_of("x")),
        [
            node("z1", zone="y"),
            claim("x", bound_to="pv"),
            volume("pv", usable_on={"topology.ebs.csi.aws.com/zone": ["z"]}),
        ],
    ),
    "a claim that does not exist": (incoming(**volumes_of("x")), [*TAINTED, *web("a1", "b1")]),
    "a claim that is lost": (incoming(**volumes_of("x")), [*ABC, claim("x", bound_to="gone", phase="Lost")]),
    "a key that no node has, and filters": (
        incoming(spread("rack", selector=app("web")), requests={"cpu": "9"}),
        [node("a1", allocatable={"cpu": "4"})],
    ),
    "what may change soonest first": (
        incoming(nodeSelector={"disk": "ssd"}, requests={"cpu": "1"}),
        [
            node("a1", zone="a", taints=[GPU], labels={"disk": "ssd"}),
            node("a2", zone="a"),
            *small("a3", zone="a", labels={"disk": "ssd"}),
            node("a4", zone="a", **CORDON, labels={"disk": "ssd"}),
        ],
    ),
    "a constraint without a selector": (
        incoming(spread(ZONE)),
        [node("a1", zone="a", taints=[GPU]), node("x1"), node("x2")],
    ),
    "a domain too full for a Pod that does not count": (
        incoming(zoned(selector=app("other")), HOSTS),
        [*TAINTED, *(pod(name, on="a1", labels={"app": "other"}) for name in "xy"), *web("a1", "b1")],
    ),
    "constraints that each reject every node": (
        incoming(zoned(minDomains=3), {**HOSTS, "minDomains": 5}),
        [node("a1", zone="a"), node("b1", zone="b"), *web("a1", "b1")],
    ),
    "whom the scheduler may preempt": (
        WANTS_CPU,
        [*ABC, pod("balloon", on="c1", requests={"cpu": "8"}, priority=-10), *web("a1", "b1")],
    ),
    "the control plane last": (
        incoming(HOSTS),
        [CONTROL_PLANE, node("w1"), node("w2", unschedulable=True), *web("w1")],
    ),
}


def test_what_is_to_blame(same_as_golden: Callable[[str, str], None]) -> None:
    bound = claim("x", bound_to="pv")
    full = [node(each["metadata"]["name"], zone="a", allocatable={"cpu": "1"}) for each in ABC[:3]]
    matching = node("c1", zone="c", taints=[GPU], labels={"disk": "ssd", "pool": "db"})
    cases = (
        *BLAMED,
        *(
            (incoming(**volumes_of("x")), [*ABC[:2], *objects, bound, volume("pv", usable_on=usable_on)])
            for usable_on, objects in PLACES
        ),
        *((incoming(requests={"cpu": "2"}, **required), [*full, matching]) for required in REQUIRED),
    )
    told = "".join(f"{report_of(described, objects).summary}\n" for described, objects in cases)
    told += "".join(f"{name}: {report_of(*case).summary}\n" for name, case in MORE.items())
    same_as_golden(told, "phrasebook/causes.txt")
