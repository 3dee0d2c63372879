"""What the report says of evictions: whom the scheduler would evict, and what it waits for already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.preemption import (
    AwaitedVolumes,
    Nomination,
    Preemption,
    awaited,
    nomination_report,
    preemption_report,
)
from kubectl_spread.objects import kinds
from kubectl_spread.scheduler.cycle import evaluate
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.snapshot import Inventory, Snapshot, Unread
from tests import build
from tests.build import Object, node
from tests.build_storage import claim, storage_class
from tests.naming import in_order

EVICTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


def low(name: str, on: str, *, priority: int = 0, cpu: str = "6", **fields: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return a Pod that is in the way."""
    return build.pod(name, on=on, requests={"cpu": cpu}, priority=priority, **fields)


def reported(objects: list[Object], **incoming: Any) -> Preemption | None:  # noqa: ANN401 - any field, by the API's name
    """Return what evictions would do for a Pod of priority 10 that asks for four cores."""
    handle = build.handle(objects)
    pod = build.typed_pod(build.pod("new", requests={"cpu": "4"}, priority=10, **incoming))
    return preemption_report(evaluate(pod, handle), handle)


def test_the_cheapest_node_is_named_with_its_victims_and_the_others() -> None:
    objects = [node("a"), low("mid", "a", priority=5), node("b"), low("one", "b"), node("c"), low("two", "c")]
    assert reported(objects) == Preemption(
        node="b",
        victims=(PodName(namespace="default", name="one"),),
        pdb_violations=0,
        ties=("c",),
        other_nodes=("a",),
        sampled=False,
    )


def test_nobody_is_evicted_where_it_is_of_no_use() -> None:
    assert reported([node("a"), low("as-high", "a", priority=10)]) is None


def test_nobody_is_evicted_where_all_in_the_way_are_being_deleted() -> None:
    objects = [node("a"), low("going", "a", terminating=True)]
    assert reported(objects) is None
    found = reported([*objects, node("b"), low("stays", "b")])
    assert found is not None
    assert (found.node, [each.name for each in found.victims], found.ties) == ("b", ["stays"], ("a",))


def test_the_budgets_that_could_not_be_read_are_not_taken_for_kept() -> None:
    handle = build.handle([node("a"), low("one", "a")])
    found = {
        name: objects for name, objects in handle.snapshot.inventory.objects.items() if name != "PodDisruptionBudget"
    }
    unread = (Unread(kinds.POD_DISRUPTION_BUDGET, "forbidden"),)
    handle = Handle.build(Snapshot.build(Inventory(found, unread=unread)), default_profile())
    pod = build.typed_pod(build.pod("new", requests={"cpu": "4"}, priority=10))
    preemption = preemption_report(evaluate(pod, handle), handle)
    assert preemption is not None
    assert preemption.pdb_violations is None


@pytest.mark.parametrize(
    ("there", "names"),
    [
        (low("going", "a", terminating=True, status={"conditions": [EVICTED]}), ["going"]),
        (low("going-anyway", "a", terminating=True), []),
        (low("staying", "a"), []),
        (low("as-high", "a", priority=10, terminating=True, status={"conditions": [EVICTED]}), []),
    ],
)
def test_a_nominated_pod_waits_for_those_evicted_for_it(there: Object, names: list[str]) -> None:
    handle = build.handle([node("a"), there])
    pod = build.typed_pod(build.pod("new", priority=10, status={"nominatedNodeName": "a"}))
    leaving = tuple(PodName(namespace="default", name=name) for name in names)
    assert nomination_report(evaluate(pod, handle), handle) == Nomination(node="a", leaving=leaving)


@pytest.mark.parametrize(("terminating", "names"), [(True, ["there"]), (False, [])])
def test_a_nominated_pod_without_room_waits_for_all_that_go(*, terminating: bool, names: list[str]) -> None:
    handle = build.handle([node("a", allocatable={"cpu": "8"}), low("there", "a", terminating=terminating)])
    pod = build.typed_pod(build.pod("new", requests={"cpu": "4"}, status={"nominatedNodeName": "a"}))
    leaving = tuple(PodName(namespace="default", name=name) for name in names)
    assert nomination_report(evaluate(pod, handle), handle) == Nomination(node="a", leaving=leaving, has_room=False)


def test_a_pod_without_a_nomination_waits_for_nobody() -> None:
    handle = build.handle([node("a")])
    assert nomination_report(evaluate(build.typed_pod(build.pod("new")), handle), handle) is None


NODES = [node("a1"), node("b1"), node("c1", unschedulable=True)]
CLASS = storage_class("fast", provisioner="ebs.csi.aws.com")


def selected(name: str, on: str) -> Object:
    """Return a claim whose volume is to be made for the node."""
    return claim(name, class_name="fast", annotations={"volume.kubernetes.io/selected-node": on})


@pytest.mark.parametrize(
    ("claims", "waiting"),
    [
        ([], None),
        ([claim("data", class_name="fast")], None),
        ([selected("data", "gone")], None),
        ([selected("data", "a1"), selected("logs", "b1")], None),
        ([selected("data", "b1")], ("data",)),
        ([selected("data", "b1"), claim("logs", class_name="fast", bound_to="pv")], ("data",)),
        ([selected("data", "b1"), selected("logs", "b1")], ("data", "logs")),
    ],
    ids=in_order,
)
def test_the_claims_are_known_where_a_node_was_chosen(
    claims: Sequence[Object], waiting: tuple[str, ...] | None
) -> None:
    names = [each["metadata"]["name"] for each in claims]
    asked = build.pod("p", volumes=[{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names])
    cluster = build.handle([*NODES, CLASS, *claims, asked])
    volumes = AwaitedVolumes(nodes=("b1",), claims=waiting, provisioners=("ebs.csi.aws.com",)) if waiting else None
    assert awaited(build.typed_pod(asked), cluster) == volumes
