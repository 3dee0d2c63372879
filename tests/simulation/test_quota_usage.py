"""Quotas that are full: whose Pods come once others are gone, and whose do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.build import ZONE, Object, app, node, object_of, spread
from tests.build_workloads import controller, template, workload
from tests.simulation.test_steps import SIX, deployment, item, last, running

THREE = deployment(["a1", "a2", "b1"], spread(ZONE, selector=app("web")))


def quota(number: int, *, used: int | None) -> Object:
    """Return a quota of Pods; one of which no controller has said what is used where that is None."""
    hard = {"pods": str(number)}
    return object_of(
        "ResourceQuota",
        "narrow",
        spec={"hard": hard},
        status={} if used is None else {"hard": hard, "used": {"pods": str(used)}},
    )


def running_after(objects: Sequence[Object], *steps: str) -> int:
    """Return how many Pods of web there are after the last step."""
    return sum(item(last(objects, *steps)).after.values())


@pytest.mark.parametrize("used", [3, None])
def test_a_pod_comes_again_once_the_one_before_is_gone(used: int | None) -> None:
    step = last([*SIX, *THREE, quota(3, used=used)], "drain a1")
    assert (sum(item(step).after.values()), step.notes) == (3, ())


def test_an_eviction_makes_no_room_for_one_that_is_missing_already() -> None:
    objects = [*SIX, *deployment(["a1", "a2", "b1"], spread(ZONE, selector=app("web")), replicas=4)]
    step = last([*objects, quota(3, used=3)], "drain a1")
    assert sum(item(step).after.values()) == 3
    assert any("exceeded quota: narrow" in note for note in step.notes)


def test_a_rollout_goes_on_where_old_pods_make_room() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    objects = deployment(["a1", "a2", "b1"], spread(ZONE, selector=app("web")), strategy=strategy)
    assert running_after([*SIX, *objects, quota(3, used=3)], "restart deployment/web") == 3


def test_what_is_scaled_down_may_be_scaled_up_again_and_no_further() -> None:
    objects = [*SIX, *THREE, quota(3, used=3)]
    down_and_up = ("scale deployment/web=2", "scale deployment/web=3")
    assert running_after(objects, *down_and_up) == 3
    step = last(objects, *down_and_up, "scale deployment/web=4")
    assert any("requested: pods=1, used: pods=3, limited: pods=3" in note for note in step.notes)


def test_a_pod_that_a_dead_node_keeps_is_counted_no_longer() -> None:
    assert running_after([*SIX, *THREE, quota(3, used=3)], "lose a1") == 3


def test_a_pod_that_waits_for_a_finalizer_is_counted_no_longer_though_it_is_an_object() -> None:
    owner = controller("ReplicaSet", "web-h1")
    held = running("web-x", "a1", owner, labels={"pod-template-hash": "h1"})
    held["metadata"]["finalizers"] = ["example.com/wait"]
    objects = [*SIX, *deployment(["a2", "b1"], spread(ZONE, selector=app("web")), replicas=3), held]
    assert running_after([*objects, quota(3, used=3)], "drain a1") == 3
    counting = quota(3, used=3)
    counting["spec"]["hard"] = {"count/pods": "3"}
    counting["status"] = {"hard": {"count/pods": "3"}, "used": {"count/pods": "3"}}
    assert running_after([*objects, counting], "drain a1") == 2


def test_a_job_tries_again() -> None:
    constraint = spread(ZONE, selector=app("web"))
    job = workload("Job", "web", pods=template(constraint), parallelism=2, completions=9)
    owner = controller("Job", "web")
    pods = [
        running(f"web-{at}", name, owner, topologySpreadConstraints=[constraint])
        for at, name in enumerate(["a1", "b1"])
    ]
    for each in pods:
        each["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    step = last([*SIX, job, *pods, quota(2, used=2)], "drain a1")
    assert ([each.pod for each in step.evicted], sum(item(step).after.values())) == (["web-0"], 2)


def test_a_node_more_takes_no_daemon_that_is_refused() -> None:
    owner = workload("DaemonSet", "web")
    pods = [running("web-0", "a1", controller("DaemonSet", "web"))]
    step = last([node("a1", zone="a"), owner, *pods, quota(1, used=1)], "add-node a1")
    assert any("exceeded quota: narrow" in note for note in step.notes)
