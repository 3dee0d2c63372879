"""One Pod placed, and several one after another."""

from __future__ import annotations

from kubectl_spread.controllers.replicas import replica
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.placement import count_placed, place_each
from tests.build import HOSTNAME, Object, handle, node, pod, typed_pod
from tests.build_storage import claim, storage_class, volume
from tests.diagnosis.judged import ABC


def test_a_pod_goes_to_the_node_where_the_scheduler_has_made_room() -> None:
    waits: Object = pod("p")
    waits["status"] = {"phase": "Pending", "nominatedNodeName": "b1"}
    placed = place_each([typed_pod(waits)], Handles(handle(ABC)))
    assert [node_name for _, node_name in placed.nodes] == ["b1"]
    assert [each.key for each in placed.handles.snapshot.assigned["b1"]] == [("default", "p")]


def test_pods_that_share_a_claim_go_where_its_volume_is_bound_for_the_first() -> None:
    described = pod(
        "p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}], requests={"cpu": "8"}
    )
    local = [volume(f"disk-{name}", class_name="local", usable_on={HOSTNAME: [name]}) for name in "ab"]
    objects = [claim("data", class_name="local"), storage_class("local", provisioner="kubernetes.io/no-provisioner")]
    nodes = [node("a"), node("b")]
    pods = [replica(None, typed_pod(described), number) for number in (1, 2)]
    assert count_placed(pods, handle([*nodes, *objects, *local])) == 1
    assert (
        count_placed([replica(None, typed_pod(pod("p", requests={"cpu": "8"})), n) for n in (1, 2)], handle(nodes)) == 2
    )
