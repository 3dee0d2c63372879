"""Which cause is concluded, with the names and numbers that prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.causes import (
    AnyCause,
    BlamedConstraint,
    Conflict,
    ConflictingRequirement,
    DaemonNode,
    DomainsFull,
    FiltersAlone,
    FullDomains,
    GhostSelector,
    MinDomainsUnmet,
    MissingKey,
    MisspeltKey,
    NoEligibleDomain,
    NoNodes,
    NoSelector,
    PinnedDomain,
    PinnedNodes,
    RefusedWhole,
    RejectedNodes,
    RejectingFilter,
    VolumeWithoutNode,
    WaitsForTerminatingPods,
)
from kubectl_spread.diagnosis.evaluation import judge
from kubectl_spread.diagnosis.reasons import (
    Cordoned,
    InsufficientResources,
    MissingLabel,
    SharedReason,
    ShortResource,
    UntoleratedTaints,
)
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from kubectl_spread.diagnosis.root_cause import Blocking
from tests import build
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread, typed_pod
from tests.build_storage import claim, volume
from tests.build_workloads import owned
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, web, zoned
from tests.naming import in_order

BY_TAINT = UntoleratedTaints(taints=(GPU,))
SSD = RejectingFilter(
    plugin="NodeAffinity",
    reasons=(SharedReason(reason=MissingLabel(key="disk", value="ssd"), nodes=("a1", "a2", "b1", "c1")),),
    everywhere=True,
)
LEAVING = [*ABC, pod("old", on="c1", requests={"cpu": "7"}, terminating=True), *web("a1", "b1")]
DISK = [{"name": "data", "persistentVolumeClaim": {"claimName": "disk"}}]
TWO_PER_ZONE = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]


def disk(usable_on: Mapping[str, Sequence[str]] | None = None, **fields: Any) -> list[Object]:  # noqa: ANN401 - as for a volume
    """Return a claim and the volume that it is bound to."""
    return [claim("disk", bound_to="pv"), volume("pv", usable_on=usable_on, **fields)]


def without_node(key: str, *values: str) -> VolumeWithoutNode:
    """Return the cause that no node can use that volume."""
    return VolumeWithoutNode(claim="disk", volume="pv", topology_key=key, values=values)


def blamed(**fields: Any) -> BlamedConstraint:  # noqa: ANN401 - any field of a constraint
    """Return the constraint on zones as a cause has it."""
    usual: dict[str, Any] = {"index": 0, "topology_key": ZONE, "selector": "app=web", "max_skew": 1, "min_domains": 1}
    return BlamedConstraint(**(usual | {"global_minimum": 0, "domains": 3} | fields))


def cause_of(described: Object, objects: Sequence[Object]) -> AnyCause | None:
    """Return why the Pod cannot be scheduled; None where one takes it."""
    handle = build.handle(objects)
    blame = judge(typed_pod(described), handle).blame
    return blame.cause if blame else None


def test_what_refuses_the_pod_is_the_core_where_another_filter_rejects_all_nodes_too() -> None:
    """NodeVolumeLimits cannot count the volume of a claim of another owner, and comes before VolumeBinding."""
    volumes = [{"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    cluster = build.handle([*ABC, claim("new-e")])
    found = judge(typed_pod(incoming(volumes=volumes)), cluster).blame
    assert found is not None
    assert found.core == (FilterRequirement("VolumeBinding"),)


@pytest.mark.parametrize(
    ("described", "objects", "cause"),
    [
        (incoming(), ABC, None),
        (incoming(), (), NoNodes()),
        (
            incoming(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "x"}}]),
            ABC,
            RefusedWhole(plugin="VolumeRestrictions", reasons=('persistentvolumeclaim "x" not found',), missing=("x",)),
        ),
        (incoming(volumes=DISK), [*ABC, *disk({ZONE: ["d"]})], without_node(ZONE, "d")),
        (incoming(volumes=DISK), [*ABC, *disk({"zone": ["d", "e"]})], without_node("zone", "d", "e")),
        (incoming(volumes=DISK), [*ABC, *disk({HOSTNAME: ["gone"]})], without_node(HOSTNAME, "gone")),
        (incoming(volumes=DISK), [*ABC, *disk({ZONE: ["a"], "rack": ["r"]})], without_node("rack", "r")),
        (incoming(volumes=DISK), [*ABC, *disk(labels={ZONE: "e__d"})], without_node(ZONE, "d", "e")),
        (incoming(volumes=DISK), [*ABC, *disk({ZONE: ["d", "c"]})], None),
        (incoming(volumes=DISK), [node("x"), *disk(labels={ZONE: "d"})], MissingKey(constraint=blamed(domains=0))),
        (
            incoming(requests={"cpu": "2"}),
            LEAVING,
            WaitsForTerminatingPods(
                node="c1", pods=(PodName(namespace="default", name="old"),), finalizers=("example.com/waits",)
            ),
        ),
        (
            incoming(),
            [*TAINTED, node("d1", labels={f"{ZONE}s": "d"}), *web("a1", "b1")],
            MisspeltKey(topology_key=ZONE, similar=f"{ZONE}s", nodes=("d1",), on_no_node=False, others=False),
        ),
        (
            incoming(spread(ZONE)),
            [node("a1", zone="a", taints=[GPU]), node("x1"), node("x2")],
            NoSelector(topology_key=ZONE, nodes=("x1", "x2")),
        ),
        (
            incoming(zoned(minDomains=4)),
            [*ABC, *web("a1", "b1", "c1")],
            MinDomainsUnmet(constraint=blamed(min_domains=4, skew_if_placed=2), eligible=("a", "b", "c")),
        ),
        (
            incoming(spread("rack", selector=app("web")), nodeSelector={"disk": "ssd"}),
            ABC,
            MissingKey(constraint=blamed(topology_key="rack", domains=0), filters=(SSD,)),
        ),
        (incoming(nodeSelector={"disk": "ssd"}), ABC, FiltersAlone(plugins=("NodeAffinity",), filters=(SSD,))),
        (
            incoming(zoned(maxSkew=0), nodeSelector={"disk": "ssd"}),
            ABC,
            FiltersAlone(
                plugins=("NodeAffinity",),
                filters=(SSD,),
                constraints=(RejectedNodes(topology_key=ZONE, nodes=("a1", "a2", "b1", "c1")),),
            ),
        ),
        (
            incoming(),
            [*TAINTED, *web("a1", "b1")],
            PinnedDomain(
                constraint=blamed(skew_if_placed=2),
                domains=("c",),
                nodes=1,
                pins=(PinnedNodes(nodes=("c1",), reasons=(BY_TAINT,)),),
                full=(FullDomains(matching=1, domains=("a", "b")),),
                only=True,
                ignoring=("nodeTaintsPolicy",),
            ),
        ),
        (
            incoming(zoned(maxSkew=0)),
            ABC,
            DomainsFull(constraint=blamed(max_skew=0, skew_if_placed=1), minimum_domains=("a", "b", "c")),
        ),
        (
            incoming(zoned(), spread(HOSTNAME, selector=app("web"))),
            [*TWO_PER_ZONE, *web("a1", "a1", "a2", "b1", "b1")],
            Conflict(
                requirements=(
                    ConflictingRequirement(requirement=ConstraintRequirement(0), topology_key=ZONE, leaves=("b1",)),
                    ConflictingRequirement(requirement=ConstraintRequirement(1), topology_key=HOSTNAME, leaves=("a2",)),
                )
            ),
        ),
    ],
    ids=in_order,
)
def test_the_root_cause(described: Object, objects: Sequence[Object], cause: AnyCause | None) -> None:
    assert cause_of(described, objects) == cause


@pytest.mark.parametrize(
    ("fields", "c2", "ignoring"),
    [
        ({}, {"taints": [GPU]}, ("nodeTaintsPolicy",)),
        ({}, {"unschedulable": True}, ()),
        ({}, {"labels": {}}, ("nodeTaintsPolicy",)),
        ({"nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore"}, {"unschedulable": True}, ()),
        ({"nodeAffinityPolicy": "Ignore"}, {"labels": {}}, ("nodeAffinityPolicy", "nodeTaintsPolicy")),
        ({"nodeAffinityPolicy": "Ignore"}, {"labels": {}, "taints": [GPU]}, ("nodeTaintsPolicy",)),
    ],
)
def test_policies_that_are_ignore_and_make_nodes_count_that_take_no_pod(
    fields: Object, c2: Object, ignoring: tuple[str, ...]
) -> None:
    pool: Object = {"labels": {"pool": "web"}}
    nodes = [
        node("a1", zone="a", **pool),
        node("c1", zone="c", taints=[GPU], **pool),
        node("c2", zone="c", **pool | c2),
    ]
    cause = cause_of(incoming(zoned(**fields), nodeSelector={"pool": "web"}), [*nodes, *web("a1")])
    assert isinstance(cause, PinnedDomain)
    assert cause.ignoring == ignoring


def test_a_constraint_that_counts_others_has_the_reason_why_it_leaves_no_node() -> None:
    others = [pod(name, on="a1", labels={"app": "other"}) for name in ("x", "y")]
    objects = [node("a1", zone="a"), node("c1", zone="c", taints=[GPU]), *others]
    cause = cause_of(incoming(zoned(selector=app("other"))), objects)
    assert isinstance(cause, GhostSelector)
    assert cause.constraint.selector == "app=other"
    assert isinstance(cause.why, PinnedDomain)
    assert cause.why.domains == ("c",)


def test_constraints_that_each_leave_no_node_are_named() -> None:
    constraints = zoned(minDomains=3), spread(HOSTNAME, selector=app("web"), minDomains=5)
    cause = cause_of(incoming(*constraints), [*TWO_PER_ZONE[1:], *web("a2", "b1")])
    assert isinstance(cause, MinDomainsUnmet)
    assert (cause.constraint.topology_key, cause.eligible, cause.also) == (ZONE, ("a", "b"), (HOSTNAME,))


def test_the_reason_on_nodes_that_no_other_filter_rejects_comes_first() -> None:
    pool = [node("g", zone="a", labels={"pool": "gpu"}, taints=["gpu=:NoSchedule"])]
    others = [node(f"n{number}", zone="a", taints=["x=:NoSchedule"]) for number in range(3)]
    cause = cause_of(incoming(nodeSelector={"pool": "gpu"}), [*pool, *others])
    assert isinstance(cause, FiltersAlone)
    assert [each.nodes for each in cause.filters[0].reasons] == [("g",), ("n0", "n1", "n2")]


def test_the_filter_that_every_smallest_conflict_has_comes_first() -> None:
    full = [node(f"g{number}", zone="a", labels={"pool": "gpu"}, allocatable={"cpu": "0"}) for number in range(2)]
    cause = cause_of(
        incoming(nodeSelector={"pool": "gpu"}, requests={"cpu": "1"}),
        [*full, node("n", zone="b", taints=["x=:NoSchedule"])],
    )
    assert isinstance(cause, FiltersAlone)
    assert cause.plugins == ("NodeResourcesFit", "TaintToleration", "NodeAffinity")


def test_a_constraint_may_count_no_node() -> None:
    described = incoming(zoned(maxSkew=0), spread("rack", selector=app("web")))
    cause = cause_of(described, [node("a", zone="a"), node("r", labels={"rack": "r"})])
    assert cause == NoEligibleDomain(constraint=blamed(max_skew=0, domains=1, skew_if_placed=1), nodes=2)


def test_what_rejects_the_node_of_a_daemon() -> None:
    names = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c1"]}]}
    pinned = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [names]}}}
    daemon = owned("d", "DaemonSet", "d", affinity=pinned, topologySpreadConstraints=[zoned()])
    daemon["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    cause = cause_of(daemon, [*ABC, pod("hog", on="c1", requests={"cpu": "8"})])
    short = InsufficientResources(resources=(ShortResource(name="cpu", asked="1", free="0"),))
    reasons = (SharedReason(reason=short, nodes=("c1",)),)
    filters = (RejectingFilter(plugin="NodeResourcesFit", reasons=reasons, everywhere=False),)
    assert cause == DaemonNode(node="c1", filters=filters)


def test_reasons_of_the_control_plane_come_last() -> None:
    free = "node-role.kubernetes.io/control-plane:NoSchedule"
    control_plane = [node(name, taints=[free]) for name in ("cp1", "cp2")]
    nodes = [*control_plane, node("w1"), node("w2", unschedulable=True)]
    cause = cause_of(incoming(spread(HOSTNAME, selector=app("web"))), [*nodes, *web("w1")])
    assert isinstance(cause, PinnedDomain)
    assert cause.pins == (
        PinnedNodes(nodes=("w2",), reasons=(Cordoned(),)),
        PinnedNodes(nodes=("cp1", "cp2"), reasons=(UntoleratedTaints(taints=(free,)),)),
    )


def blocking_of(described: Object, objects: Sequence[Object]) -> list[Blocking]:
    """Return why each constraint that blocks the Pod leaves no node."""
    handle = build.handle(objects)
    blame = judge(typed_pod(described), handle).blame
    return list(blame.blocking.values()) if blame else []


def test_two_terms_of_a_volume_without_nodes_are_one_place() -> None:
    claimed, made = disk({ZONE: ["d"]})
    terms = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    terms.append({"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["e"]}]})
    assert cause_of(incoming(volumes=DISK), [*ABC, claimed, made]) == without_node(ZONE, "d", "e")
    terms.append({"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["a", "b", "c"]}]})
    assert isinstance(cause_of(incoming(volumes=DISK), [*ABC, claimed, made]), FiltersAlone)


def test_the_root_cause_comes_before_how_its_constraint_blocks() -> None:
    ghost = zoned(selector=app("other"), maxSkew=1)
    others = [pod(name, on=name[:2], labels={"app": "other"}) for name in ("a1x", "a1y", "b1x", "b1y")]
    for described, objects, kind in (
        (incoming(ghost), [*TAINTED, *others], GhostSelector),
        (incoming(requests={"cpu": "2"}), LEAVING, WaitsForTerminatingPods),
        (incoming(), [*TAINTED, node("d1", labels={f"{ZONE}s": "d"}), *web("a1", "b1")], MisspeltKey),
        (incoming(spread(ZONE)), [node("a1", zone="a", taints=[GPU]), node("x1")], NoSelector),
    ):
        (blocking,) = blocking_of(described, objects)
        assert isinstance(blocking.why, kind)


def test_why_constraints_block() -> None:
    (pinned,) = blocking_of(incoming(), [*TAINTED, *web("a1", "b1")])
    assert isinstance(pinned.why, PinnedDomain)
    both = incoming(zoned(), spread(HOSTNAME, selector=app("web")))
    first, second = blocking_of(both, [*TWO_PER_ZONE, *web("a1", "a1", "a2", "b1", "b1")])
    by_host = ConflictingRequirement(requirement=ConstraintRequirement(1), topology_key=HOSTNAME, leaves=("a2",))
    by_zone = ConflictingRequirement(requirement=ConstraintRequirement(0), topology_key=ZONE, leaves=("b1",))
    assert (first.why, second.why) == ((by_host,), (by_zone,))
    (alone,) = blocking_of(incoming(zoned(maxSkew=0)), ABC)
    assert alone.why == ()
    assert blocking_of(incoming(nodeSelector={"disk": "ssd"}), ABC) == []


def test_the_taint_of_a_cordoned_node_is_no_reason_beside_others() -> None:
    cordon, failed = "node.kubernetes.io/unschedulable:NoSchedule", "node.kubernetes.io/not-ready:NoSchedule"
    nodes = [*ABC[:3], node("c1", zone="c", unschedulable=True, taints=[cordon, failed])]
    cause = cause_of(incoming(zoned()), [*nodes, *web("a1", "b1")])
    assert isinstance(cause, PinnedDomain)
    assert cause.pins == (PinnedNodes(nodes=("c1",), reasons=(Cordoned(), UntoleratedTaints(taints=(failed,)))),)
