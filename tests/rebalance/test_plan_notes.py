"""What else is to be known of the evictions of a plan."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.rebalance.plan import PlanNote, SoftLeftOut, UnknownOwner, UpgradedPods, plan_notes
from tests.build import Object, handle
from tests.rebalance.lying import BY_ZONE, planned, web, zones


def notes(objects: list[Object], *, soft: bool = False) -> list[PlanNote]:
    """Return what is to be known of the plan for a cluster of two zones."""
    cluster = [*zones("a", "b"), *objects]
    return list(plan_notes(planned(cluster, soft=soft), handle(cluster).snapshot))


@pytest.mark.parametrize(("newest", "upgraded"), [("web-1", False), ("web-2", True)])
def test_pods_of_an_older_template_are_upgraded_by_their_eviction(newest: str, upgraded: bool) -> None:  # noqa: FBT001 - a parameter of the test
    owner, *pods = web({"a1": 2}, kind="StatefulSet", labels={"app": "web", "controller-revision-hash": "web-1"})
    del owner["spec"]["template"]["metadata"]["labels"]["controller-revision-hash"]
    owner["spec"]["updateStrategy"] = {"type": "OnDelete"}
    owner["status"] = {"currentRevision": "web-1", "updateRevision": newest}
    ref = WorkloadRef(kind="StatefulSet", name="web")
    assert notes([owner, *pods]) == ([UpgradedPods(ref, (("default", "web-1"),))] if upgraded else [])


def test_a_replica_set_makes_pods_of_its_template_as_it_is_now() -> None:
    owner, *pods = web({"a1": 2})
    owner["spec"]["template"]["spec"]["containers"] = [{"name": "c", "image": "newer"}]
    assert notes([owner, *pods]) == [UpgradedPods(WorkloadRef(kind="ReplicaSet", name="web"), (("default", "web-1"),))]


def test_what_is_not_known_to_make_pods_again() -> None:
    _, *pods = web({"a1": 2}, kind="Kafka")
    assert notes(pods) == [UnknownOwner(WorkloadRef(kind="Kafka", name="web"), (("default", "web-1"),))]


@pytest.mark.parametrize(
    ("pods", "soft", "left_out"),
    [(3, False, [SoftLeftOut(1)]), (3, True, []), (1, False, [])],
    ids=["uneven", "asked about", "even"],
)
def test_uneven_constraints_that_are_only_preferred_are_left_out(
    pods: int,
    soft: bool,  # noqa: FBT001 - a parameter of the test
    left_out: list[PlanNote],
) -> None:
    preferred = {**BY_ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    assert notes(web({"a1": pods}, preferred), soft=soft) == left_out
