"""What we say of a node that has room only until the Pods nominated to it come."""

from __future__ import annotations

from kubectl_spread.diagnosis.requirements import FilterRequirement
from tests import build
from tests.build import Object, app, node, spread
from tests.diagnosis.judged import evaluated

WEB = {"app": "web"}


def waiting(name: str, *, requests: dict[str, str] | None = None) -> Object:
    """Return a Pod that waits for room on node a."""
    return build.pod(name, labels=WEB, status={"phase": "Pending", "nominatedNodeName": "a"}, requests=requests)


def test_a_node_is_full_for_the_sake_of_a_pod_that_is_to_come() -> None:
    handle = build.handle([node("a"), waiting("first", requests={"cpu": "6"})])
    report = evaluated(build.typed_pod(build.pod("new", requests={"cpu": "4"})), handle)
    ((rejection,),) = (found.rejections for found in report.nodes)
    assert (rejection.reasons, rejection.detail) == (("Insufficient cpu",), "room is kept for default/first")


def test_a_node_that_is_full_anyway_is_told_by_what_is_on_it() -> None:
    full = build.pod("full", on="a", requests={"cpu": "6"})
    handle = build.handle([node("a"), full, waiting("first", requests={"cpu": "1"})])
    report = evaluated(build.typed_pod(build.pod("new", requests={"cpu": "4"})), handle)
    assert report.nodes[0].rejections[0].detail == "4 cpu requested, 2 of 8 free"


def test_a_constraint_that_counts_pods_to_come_is_a_requirement_of_its_own() -> None:
    nodes = [node("a", zone="a"), node("b", zone="b", taints=["dedicated=batch:NoSchedule"])]
    handle = build.handle([*nodes, waiting("first")])
    constraint = spread(build.ZONE, selector=app("web"))
    pod = build.pod("new", labels=WEB, topologySpreadConstraints=[constraint])
    report = evaluated(build.typed_pod(pod), handle)
    assert set(report.conflict) == {FilterRequirement("TaintToleration"), FilterRequirement("PodTopologySpread")}
    assert report.nodes[0].rejections[0].detail == "room is kept for default/first"
