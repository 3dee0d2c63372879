"""Which Pods are counted on a node before they are bound to it: those whose volumes are being made there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.objects.storage import ANN_SELECTED_NODE
from kubectl_spread.snapshot import Snapshot
from tests.build import Object, node, pod, snapshot
from tests.build_storage import claim, storage_class

BEFORE, AT, AFTER = (f"2026-01-01T10:0{minute}:00Z" for minute in (1, 5, 9))
POD = ("default", "db-0")
REFUSED = "0/2 nodes are available"
GAVE_UP = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'


def chosen(name: str = "disk", *, on: str = "a", at: str = "", bound_to: str = "") -> Object:
    """Return a claim that names its node, and says when that was written where that is given."""
    made = claim(name, class_name="fast", annotations={ANN_SELECTED_NODE: on} if on else {}, bound_to=bound_to)
    fields: list[Object] = [{"f:volume.kubernetes.io/storage-provisioner": {}}, {f"f:{ANN_SELECTED_NODE}": {}}]
    made["metadata"]["managedFields"] = [
        {"manager": f"m{n}", "time": time, "fieldsV1": {"f:metadata": {"f:annotations": each}}}
        for n, (time, each) in enumerate(zip((AFTER, at), fields, strict=True))
        if at
    ]
    return made


def waiting(
    *claims: str,
    refused: str | None = None,
    created: str = "",
    message: str = REFUSED,
    nominated: str = "",
    gates: Sequence[Object] = (),
) -> Object:
    """Return a Pod without a node, and a condition where it was refused; an empty time is not known."""
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    conditions = [] if refused is None else [said | ({"lastTransitionTime": refused} if refused else {})]
    mounts = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims or ("disk",)]
    status = {"conditions": conditions, "nominatedNodeName": nominated}
    made = pod("db-0", labels={"app": "db"}, volumes=mounts, status=status, schedulingGates=[*gates])
    made["metadata"] |= {"creationTimestamp": created} if created else {}
    return made


def said(time: str, *, uid: str = "default/db-0", message: str = REFUSED, reason: str = "FailedScheduling") -> Object:
    """Return the scheduler's Event about the Pod of that UID."""
    about = {"kind": "Pod", "namespace": "default", "name": "db-0", "uid": uid}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"db-0.{time}"}, "involvedObject": about}
    return {**event, "reason": reason, "message": message, "lastTimestamp": time}


def cluster(*objects: Object) -> Snapshot:
    """Return a cluster of two nodes with these objects."""
    return snapshot([node("a"), node("b"), storage_class("fast"), *objects])


@pytest.mark.parametrize(
    "objects",
    [
        (waiting(), chosen()),
        (waiting(created=AFTER), chosen(at=AT)),
        (waiting("disk", "logs"), chosen(), chosen("logs")),
        (waiting("disk", "logs"), chosen(), chosen("logs", on="b", bound_to="pv")),
        (waiting(), chosen(at=AT), said(AFTER, uid="of the Pod before")),
        (waiting(), chosen(at=AT), said(AFTER, reason="FailedMount")),
        (waiting(refused=BEFORE), chosen(at=AT), said(BEFORE)),
        (waiting(refused=""), chosen(at=AT), said(BEFORE)),
        (waiting(refused="", nominated="a"), chosen()),
        (waiting(refused=BEFORE, nominated="a"), chosen(at=AT)),
        (waiting(refused=AFTER, message=GAVE_UP), chosen(at=AT)),
        (waiting(), chosen(at=AT), said(AFTER, message=GAVE_UP)),
    ],
    ids=range(12),
)
def test_a_pod_that_was_not_refused_since_is_on_its_node(objects: Sequence[Object]) -> None:
    found = cluster(*objects)
    assert [each.key for each in found.assigned["a"]] == [POD]
    assert found.assumed[POD].spec.node_name == "a"
    assert not found.undecided


@pytest.mark.parametrize(
    "objects",
    [
        (waiting(),),
        (waiting(), chosen(on="")),
        (waiting(), chosen(on="gone")),
        (waiting("disk", "missing"), chosen()),
        (waiting("disk", "logs"), chosen(), chosen("logs", on="b")),
        (waiting("disk", "logs"), chosen(), chosen("logs", on="")),
        (waiting(gates=[{"name": "hold"}]), chosen()),
        (waiting(), chosen(bound_to="pv")),
        (waiting(refused=AFTER), chosen(at=AT)),
        (waiting(refused=BEFORE), chosen(at=AT), said(AFTER)),
        (waiting(), chosen(at=AT), said(AFTER)),
        (waiting(refused="", created=AFTER), chosen(at=AT)),
    ],
    ids=range(12),
)
def test_a_pod_that_was_refused_since_is_on_none(objects: Sequence[Object]) -> None:
    found = cluster(*objects)
    assert (found.assigned, found.assumed, found.undecided) == ({}, {}, {})


@pytest.mark.parametrize(
    "objects",
    [
        (waiting(refused=""), chosen()),
        (waiting(refused=AFTER), chosen()),
        (waiting(refused=""), chosen(at=AT)),
        (waiting(refused=BEFORE), chosen(at=AT)),
        (waiting(refused=AT), chosen(at=AT), said(AT)),
        (waiting(refused="not a time"), chosen(at=AT), said("")),
        (waiting(refused=AFTER, nominated="a"), chosen(at=AT)),
    ],
    ids=range(7),
)
def test_where_times_do_not_order_them_it_is_not_known(objects: Sequence[Object]) -> None:
    found = cluster(*objects)
    assert (found.assigned, found.assumed) == ({}, {})
    assert found.undecided[POD].node_name == "a"


def test_an_assumed_pod_holds_no_room_by_nomination_and_is_bound_once_settled() -> None:
    found = cluster(waiting(nominated="a"), chosen())
    assert found.nominated == {"a": ()}
    settled = found.settled
    assert [each.spec.node_name for each in settled.objects[type(found.assumed[POD])].values()] == ["a"]  # type: ignore[attr-defined] # Pods
    assert not settled.assumed
