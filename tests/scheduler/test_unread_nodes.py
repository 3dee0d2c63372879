"""A node whose Pods were not all read takes no Pod, and is rejected by nothing of kube-scheduler's either."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_spread.scheduler import cycle, unread_nodes
from kubectl_spread.scheduler.framework import SKIP, Code, Handle
from kubectl_spread.snapshot import PodsRead, Snapshot
from tests.build import Object, handle, node, pod, typed_pod

NEW = pod("new", requests={"cpu": "2"})


def read_but(unread: set[str], *objects: Object) -> Handle:
    """Return the cluster of which the Pods of other namespaces on these nodes were not read."""
    whole = handle(objects)
    inventory = replace(whole.snapshot.inventory, pods_read=PodsRead(frozenset(("default",)), frozenset(unread)))
    return Handle.build(Snapshot.build(inventory), whole.profile)


def test_where_all_was_read_there_is_nothing_to_judge() -> None:
    assert unread_nodes.pre_filter(typed_pod(NEW), handle([node("a")])) is SKIP


def test_a_node_that_nothing_rejects_is_not_known_to_be_feasible() -> None:
    cluster = read_but({"a", "full"}, node("a"), node("b"), node("full", allocatable={"cpu": "1"}))
    found = cycle.evaluate(typed_pod(NEW), cluster)
    assert found.feasible == cycle.feasible_nodes(typed_pod(NEW), cluster) == ("b",)
    first = {name: verdict.first.plugin for name, verdict in found.nodes.items() if verdict.first}
    assert first == {"a": "NotRead", "full": "NodeResourcesFit"}
    assert found.nodes["a"].rejections[0].status.code is Code.NOT_READ
    assert found.undecided


@pytest.mark.parametrize(
    ("unread", "asked"),
    [
        pytest.param({"a", "b", "full"}, ("a", "b"), id="nothing was read"),
        pytest.param({"a", "full"}, (), id="one that was read takes it"),
        pytest.param({"full"}, (), id="one that was not is rejected"),
        pytest.param(set(), (), id="all were read"),
    ],
)
def test_which_nodes_decide(unread: set[str], asked: tuple[str, ...]) -> None:
    cluster = read_but(unread, node("a"), node("b"), node("full", allocatable={"cpu": "1"}))
    assert cycle.not_read(typed_pod(NEW), cluster, most=5) == asked
    assert cycle.not_read(typed_pod(NEW), cluster, most=1) == asked[:1]


def test_a_pod_that_goes_nowhere_takes_no_reading() -> None:
    lost = pod("new", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}])
    assert cycle.not_read(typed_pod(lost), read_but({"a"}, node("a")), most=5) == ()
