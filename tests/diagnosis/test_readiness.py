"""How much of a workload is at work while one of its Pods waits."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from kubectl_spread.diagnosis.fixes import Situation, siblings_of
from kubectl_spread.report import Replicas
from tests.build import Object, handle, typed_pod
from tests.diagnosis.fixes.clusters import web, zones
from tests.diagnosis.fixes.owners import cron_job, owned, owner

UNREADY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}}
STARTING = {"status": {"phase": "Pending"}}
GOING = {"metadata": {"deletionTimestamp": "2026-11-20T03:00:00Z"}}


def counted(by: Object, *running: Object, waiting: int = 1) -> object:
    """Return what is counted of a workload's Pods, some of which wait."""
    described = [owned(web(f"w{number}"), by) for number in range(waiting)]
    there = [owned(each, by) for each in running]
    first, *_ = pods = [typed_pod(each) for each in described]
    situation = Situation(first, handle([*zones(), by, *there, *described]))
    return situation.replicas(siblings_of(first, pods, situation))


def on(node: str, **more: Object) -> Object:
    """Return a Pod on a node, of which more is said."""
    pod = web(f"on-{node}", on=node)
    return {**pod, **{field: {**pod.get(field, {}), **values} for field, values in more.items()}}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"])
def test_of_the_replicas_that_are_wanted_those_count_that_run(kind: str) -> None:
    by = owner(kind, web(), replicas=3)
    assert counted(by, on("a1"), on("b1")) == Replicas(wanted=3, running=2)


@pytest.mark.parametrize("said", [UNREADY, STARTING, GOING], ids=["unready", "starting", "going"])
def test_what_says_that_it_does_not_run_does_not_count(said: Object) -> None:
    assert counted(owner("Deployment", web(), replicas=3), on("a1"), on("b1", **said)) == Replicas(wanted=3, running=1)


def test_a_daemon_set_wants_as_many_as_there_are() -> None:
    assert counted(owner("DaemonSet", web()), on("a1"), waiting=2) == Replicas(wanted=3, running=1)


def test_nothing_is_counted_of_jobs_and_bare_pods() -> None:
    assert counted(owner("Job", web())) is UNSET
    assert counted(cron_job(web())) is UNSET
    bare = typed_pod(web())
    assert Situation(bare, handle([*zones(), web()])).replicas((bare,)) is UNSET
