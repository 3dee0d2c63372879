"""How many more replicas find a node, and what stops the first that does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_spread.controllers.workloads import workloads
from kubectl_spread.diagnosis.skew import rows
from kubectl_spread.diagnosis.statuses import BlockedBy, FailedCreate, Headroom, NoMoreWanted
from kubectl_spread.wording.statuses import stop_text
from tests import build
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import cron_job, held_revision, owned, revision, template, workload
from tests.diagnosis.judged import ABC, GPU, TAINTED

ENOUGH = 1_000_000


def headroom_of(objects: Sequence[Object], *, most_verdicts: int = ENOUGH) -> Headroom | None:
    """Return what is said of the only workload with a constraint."""
    handle = build.handle(objects)
    found = [
        row
        for each in workloads(handle.snapshot)
        for row in rows(each, handle, defaults=False, most_verdicts=most_verdicts)
    ]
    return found[0].judged.headroom


def told(found: Headroom | None) -> tuple[int, int, str]:
    """Return the numbers, and in words what stops the next replica."""
    assert found is not None
    assert found.then is not None
    return found.more, found.tried, stop_text(found.then)


def web(*, kind: str = "Deployment", on: Sequence[str] = (), soft: bool = False, **spec: Any) -> list[Object]:  # noqa: ANN401 - any field, by the API's name
    """Return a workload of the application web spread over zones, with Pods on these nodes."""
    pods = template(spread(ZONE, selector=app("web"), soft=soft), **spec)
    labels = {"app": "web", "pod-template-hash": "h1"}
    made = [owned(f"web-{n}", "ReplicaSet", "web-h1", on=where, labels=labels) for n, where in enumerate(on)]
    return [workload(kind, "web", pods=pods), *([revision("web", 1, pods=pods)] if kind == "Deployment" else []), *made]


def test_replicas_fit_until_the_closed_zone_holds_the_minimum() -> None:
    assert headroom_of([*TAINTED, *web()]) == Headroom(more=2, tried=3, then=BlockedBy(constraints=(("c",),)))
    assert headroom_of([*TAINTED, *web(on=["a1"])]) == Headroom(more=1, tried=2, then=BlockedBy(constraints=(("c",),)))


def test_replicas_fit_until_the_room_is_taken() -> None:
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "2"}) for zone in "ab"]
    found = headroom_of([*nodes, *web(requests={"cpu": "1"})])
    assert told(found) == (4, 5, "Unschedulable: 1 cpu requested, 0 free")


@pytest.mark.parametrize(("waiting", "more"), [(0, 4), (1, 3), (3, 1), (5, 0)])
def test_pending_pods_are_placed_first(waiting: int, more: int) -> None:
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "2"}) for zone in "ab"]
    objects = web(on=[""] * waiting, requests={"cpu": "1"})
    for each in objects[2:]:
        each["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    found = told(headroom_of([*nodes, *objects]))
    assert (found[0], found[2]) == (more, "Unschedulable: 1 cpu requested, 0 free")


def test_what_is_not_shut_is_named_by_its_key() -> None:
    pods = template(spread(HOSTNAME, selector=app("web"), minDomains=9))
    objects = [*ABC, workload("Deployment", "web", pods=pods), revision("web", 1, pods=pods)]
    assert headroom_of(objects) == Headroom(more=4, tried=5, then=BlockedBy(constraints=((HOSTNAME,),)))


def test_evictions_are_no_room() -> None:
    nodes = [node("a1", zone="a", allocatable={"cpu": "2"})]
    balloon = pod("balloon", on="a1", requests={"cpu": "1"}, priority=-1)
    found = headroom_of([*nodes, balloon, *web(requests={"cpu": "1"})])
    assert told(found) == (1, 2, "preempts default/balloon on a1")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_replicas_come_until_the_quota_is_used_up(kind: str) -> None:
    hard = {"hard": {"pods": "5"}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}}
    status = {**hard, "used": {"pods": "3"}}
    found = headroom_of([*ABC, *web(kind=kind), {**quota, "spec": hard, "status": status}])
    refused = "exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5"
    assert found == Headroom(more=2, tried=3, then=FailedCreate(message=refused))


def test_a_hundred_are_tried() -> None:
    assert headroom_of([*ABC, *web()]) == Headroom(more=100, tried=100)


def test_it_costs_no_more_than_is_allowed() -> None:
    assert headroom_of([*ABC, *web()], most_verdicts=3 * (len(ABC) + 50)) == Headroom(more=3, tried=3)
    assert headroom_of([*ABC, *web()], most_verdicts=len(ABC)) is None


def test_a_stateful_set_gets_its_ordinals_one_after_another() -> None:
    pods = template(spread(ZONE, selector=app("web")))
    # From the partition on, Pods have the newest template, which no node fits.
    newest = template(spread(ZONE, selector=app("web")), nodeSelector={"disk": "ssd"})
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 4}}
    status = {"currentRevision": "web-1", "updateRevision": "web-2"}
    owner = workload("StatefulSet", "web", pods=newest, replicas=1, updateStrategy=rolling, status=status)
    found = headroom_of([*ABC, owner, held_revision("web-1", pods)])
    assert told(found) == (4, 5, "Unschedulable: no label disk=ssd")


def test_a_job_wants_no_more_than_its_parallelism() -> None:
    pods = template(spread(ZONE, selector=app("web")))
    job = workload("Job", "web", pods=pods, parallelism=2, completions=9)
    assert headroom_of([*ABC, job]) == Headroom(more=2, tried=2, then=NoMoreWanted())


@pytest.mark.parametrize(("run", "more"), [({"parallelism": 2, "completions": 9}, 2), ({"parallelism": 2}, 2), ({}, 1)])
def test_a_run_of_a_cron_job_wants_no_more_than_its_parallelism(run: Object, more: int) -> None:
    pods = template(spread(ZONE, selector=app("web")))
    assert headroom_of([*ABC, cron_job("web", pods=pods, **run)]) == Headroom(
        more=more, tried=more, then=NoMoreWanted()
    )


@pytest.mark.parametrize("kind", ["DaemonSet"])
def test_what_makes_no_next_pod_has_none(kind: str) -> None:
    assert headroom_of([*ABC, *web(kind=kind)]) is None


def test_a_soft_constraint_keeps_no_replica_away() -> None:
    nodes = [node("a1", zone="a", allocatable={"cpu": "2"}), node("b1", zone="b", taints=[GPU])]
    found = headroom_of([*nodes, *web(soft=True, requests={"cpu": "1"})])
    assert told(found) == (2, 3, f"Unschedulable: 1 cpu requested, 0 free; taint {GPU}")


def test_a_daemon_set_has_no_replicas_to_add() -> None:
    constraint = spread(ZONE, selector=app("web"))
    made = workload("DaemonSet", "web", pods=template(constraint))
    waits = owned("p", "DaemonSet", "web", topologySpreadConstraints=[constraint])
    assert headroom_of([*ABC, made, waits]) is None
