"""StatefulSets that are scaled down: what becomes of the claims of the Pods that go."""

from __future__ import annotations

import pytest

from tests.build import ZONE, Object, node, pod
from tests.build_storage import DRIVER, claim, csi_node, storage_class, volume
from tests.build_workloads import controller, template, workload
from tests.simulation.test_steps import last, pending, running

TWO = (node("a1", zone="a"), node("b1", zone="b"))
FAST = storage_class("fast")


def stateful_set(policy: Object | None) -> list[Object]:
    """Return the StatefulSet web with one Pod in zone a, whose claim is bound to a volume of that zone."""
    mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}]
    claims = [claim("data", class_name="fast")]
    made = workload("StatefulSet", "web", pods=template(), replicas=1, volumeClaimTemplates=claims)
    made["spec"] |= {"persistentVolumeClaimRetentionPolicy": policy} if policy else {}
    return [
        made,
        running("web-0", "a1", controller("StatefulSet", "web"), volumes=mounted),
        claim("data-web-0", class_name="fast", bound_to="pv0"),
        volume("pv0", class_name="fast", usable_on={ZONE: ["a"]}, kept_for={"name": "data-web-0"}, phase="Bound"),
    ]


@pytest.mark.parametrize(
    ("policy", "waiting"),
    [
        (None, {"statefulset/web": (1, 1)}),
        ({"whenScaled": "Retain", "whenDeleted": "Delete"}, {"statefulset/web": (1, 1)}),
        ({"whenScaled": "Delete", "whenDeleted": "Retain"}, {}),
    ],
)
def test_a_pod_that_comes_again_is_bound_to_the_zone_of_the_volume_it_left(
    policy: Object | None, waiting: dict[str, tuple[int, int]]
) -> None:
    objects = [*TWO, FAST, *stateful_set(policy)]
    step = last(objects, "scale statefulset/web=0", "cordon a1", "scale statefulset/web=1")
    assert pending(step) == waiting


def test_claims_stay_where_a_pod_is_wanted_again() -> None:
    objects = [*TWO, FAST, *stateful_set({"whenScaled": "Delete", "whenDeleted": "Delete"})]
    assert pending(last(objects, "drain a1")) == {"statefulset/web": (1, 1)}


def test_an_added_node_attaches_no_more_volumes_than_its_like() -> None:
    full = [csi_node("a1", limits={DRIVER: 1}), FAST, node("a1", zone="a", unschedulable=True)]
    claims = [claim(f"data-{at}", class_name="fast", bound_to=f"pv{at}") for at in range(2)]
    volumes = [volume(f"pv{at}", class_name="fast", kept_for={"name": f"data-{at}"}, phase="Bound") for at in range(2)]
    pods = [
        pod(f"tool-{at}", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{at}"}}])
        for at in range(2)
    ]
    change = last([*full, *claims, *volumes, *pods], "add-node a1")
    assert pending(change) == {"pod/tool-0": (0, 1), "pod/tool-1": (0, 1)}


def test_each_pod_waits_for_its_own_claim() -> None:
    local = storage_class("fast", provisioner="kubernetes.io/no-provisioner")
    made, *others = stateful_set(None)
    made["spec"]["podManagementPolicy"] = "Parallel"
    (waits,) = last([*TWO, local, made, *others], "drain a1", "scale statefulset/web=3").pending
    assert waits.count == 3
    first, _, rest = waits.summary.partition(" 2 of them: ")
    assert "laim data-web-0 is bound to a volume in zone a" in first
    assert "laim data-web-1 is not bound" in rest


def brokers(*on: str) -> list[Object]:
    """Return Pods of an owner that was not read, each with a claim whose volume is in the zone of its node."""
    made = []
    for number, name in enumerate(on):
        mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-kafka-{number}"}}]
        made += [
            running(f"kafka-{number}", name, controller("StrimziPodSet", "kafka"), volumes=mounted),
            claim(f"data-kafka-{number}", class_name="fast", bound_to=f"pv{number}"),
            volume(f"pv{number}", class_name="fast", usable_on={ZONE: [name[0]]}, phase="Bound"),
        ]
    return made


@pytest.mark.parametrize("steps", [["drain a1"], ["remove a1"], ["cordon a1", "delete pod/kafka-0"]])
def test_a_pod_of_an_unread_owner_keeps_its_name_and_with_it_its_claim(steps: list[str]) -> None:
    step = last([*TWO, FAST, *brokers("a1", "b1")], *steps)
    assert pending(step) == {"strimzipodset/kafka": (1, 1)}
    assert "data-kafka-0" in step.pending[0].summary
