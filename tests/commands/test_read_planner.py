"""What has to be read next, and when all Pods have to be."""

from __future__ import annotations

import pytest

from kubectl_spread.commands import read_planner
from kubectl_spread.commands.source import ReadLimits
from tests.build import ZONE, Object, app, namespace, node, pod, typed_pod
from tests.scheduler.test_unread_nodes import read_but

NODES = [node(f"n{number}", zone="a") for number in range(4)]
UNREAD = {each["metadata"]["name"] for each in NODES}
ALL = {"labelSelector": app("web"), "topologyKey": ZONE, "namespaceSelector": {}}


def near(*terms: Object) -> Object:
    """Return a Pod that must be near others."""
    return pod("new", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [*terms]}})


def asked(described: Object, *objects: Object) -> read_planner.Asked:
    """Return the Pod, with a cluster none of whose nodes was read."""
    return ((typed_pod(described), read_but(UNREAD, namespace("default"), *NODES, *objects)),)


@pytest.mark.parametrize(
    ("described", "why"),
    [
        pytest.param(
            pod("new", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]), "devices", id="a device's claim"
        ),
        pytest.param(
            pod("new", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]), "disks", id="a shared disk"
        ),
        pytest.param(near(ALL), "30 namespaces", id="affinity to all namespaces"),
    ],
)
def test_all_pods_are_read_where_more_of_them_may_open_a_node(described: Object, why: str) -> None:
    many = [namespace(f"ns-{number}") for number in range(30)]
    need = read_planner.to_judge(asked(described, *many), ReadLimits())
    assert need.whole
    assert why in need.why


def test_namespaces_are_read_before_nodes() -> None:
    need = read_planner.to_judge(asked(near(ALL), namespace("other")), ReadLimits())
    assert (need.namespaces, need.nodes, need.whole) == (frozenset(("other",)), frozenset(), False)


@pytest.mark.parametrize(
    ("limits", "nodes", "whole"),
    [
        (ReadLimits(), 4, False),
        (ReadLimits(nodes=3), 0, True),
        (ReadLimits(nodes=3, confirm=False), 3, False),
        (ReadLimits(nodes=0, confirm=False), 0, True),
    ],
)
def test_nodes_are_read_one_by_one_while_they_are_few(limits: ReadLimits, nodes: int, whole: bool) -> None:  # noqa: FBT001
    need = read_planner.to_judge(asked(pod("new")), limits)
    assert (len(need.nodes), need.whole) == (nodes, whole)
    assert bool(need)
