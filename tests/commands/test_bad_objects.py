"""Quantities and selectors that cannot be read are named with their objects."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_spread.commands.bad_objects import find_malformed, reporting_bad_objects
from kubectl_spread.errors import ManifestError
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from tests.build import ZONE, Object, node, pod, snapshot, spread
from tests.build_workloads import template, workload
from tests.naming import in_order

LIKES = {"matchExpressions": [{"key": "app", "operator": "Likes", "values": ["web"]}]}
NO_VALUES = {"matchExpressions": [{"key": "app", "operator": "In"}]}
TERM = {"topologyKey": ZONE, "labelSelector": LIKES}
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]}


@pytest.mark.parametrize(
    ("described", "paths"),
    [
        (pod("p"), []),
        (pod("p", requests={"cpu": "1", "memory": "2Gi"}), []),
        (
            pod("p", requests={"cpu": "x", "memory": "y"}),
            ["spec.containers[0].resources.requests.cpu", "spec.containers[0].resources.requests.memory"],
        ),
        (pod("p", overhead={"cpu": "x"}), ["spec.overhead.cpu"]),
        (
            pod("p", initContainers=[{"name": "i", "resources": {"limits": {"cpu": "x"}}}]),
            ["spec.initContainers[0].resources.limits.cpu"],
        ),
        (
            pod(
                "p",
                topologySpreadConstraints=[
                    spread(ZONE),
                    spread(ZONE, selector=LIKES),
                    spread(ZONE, selector=NO_VALUES),
                ],
            ),
            ["spec.topologySpreadConstraints[1].labelSelector", "spec.topologySpreadConstraints[2].labelSelector"],
        ),
        (
            pod("p", affinity={"podAntiAffinity": PREFERRED}),
            [
                "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector"
            ],
        ),
        (
            node("n", allocatable={"cpu": "x", "example.com/gpu": "y"}),
            ["status.allocatable.cpu", "status.allocatable.example.com/gpu"],
        ),
        (
            workload("Deployment", "web", pods=template(spread(ZONE, selector=LIKES))),
            ["spec.template.spec.topologySpreadConstraints[0].labelSelector"],
        ),
    ],
    ids=in_order,
)
def test_where_they_stand(described: Object, paths: list[str]) -> None:
    obj = convert(described, BY_API[described["apiVersion"], described["kind"]].struct)
    assert [path for path, _ in find_malformed(obj)] == paths


def test_the_objects_are_named() -> None:
    cluster = snapshot([node("n", allocatable={"cpu": "four"}), pod("p", namespace="shop", overhead={"cpu": "lots"})])
    with pytest.raises(ManifestError) as raised, reporting_bad_objects("dump/", cluster):
        raise ValueError("whatever the engine says")
    places = {problem.field: problem.source for problem in raised.value.problems}
    assert places == {"Node n, status.allocatable.cpu": "dump/", "Pod shop/p, spec.overhead.cpu": "dump/"}
    assert raised.value.hint == "an API server would refuse it"


def test_an_error_that_is_nobodys_fault_stays_what_it_is() -> None:
    with pytest.raises(ValueError, match=r"^a mistake of ours$"), reporting_bad_objects("dump/", snapshot([node("n")])):
        raise ValueError("a mistake of ours")


def test_nothing_is_looked_for_while_all_is_well() -> None:
    broken = snapshot([node("n", allocatable={"cpu": "four"})])
    seen: Mapping[str, object] = {}
    with reporting_bad_objects("dump/", broken):
        seen = broken.nodes
    assert list(seen) == ["n"]
