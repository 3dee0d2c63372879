"""How a workload gets from the Pods it has to those of a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_spread.diagnosis.controllers import as_created, first_pod, replicas_of
from kubectl_spread.diagnosis.rollout import Plan, Wanted, fenceposts, plan_of
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.objects.workloads import UpdateStrategy
from kubectl_spread.report import WorkloadRef
from tests.build import Object, pod, snapshot, typed_pod
from tests.build_workloads import cron_job, owned, revision, template, workload

CHANGED = template(nodeSelector={"disk": "ssd"})


def planned(described: Object, objects: Sequence[Object]) -> Plan:
    """Return what comes and what goes once the workload is applied to the cluster of these objects."""
    owner: Any = convert(described, BY_API[described["apiVersion"], described["kind"]].struct)
    before = snapshot(objects)
    made = first_pod(owner, before.with_objects(as_created(owner, before)))
    ref = WorkloadRef(kind=described["kind"], name=owner.metadata.name)
    return plan_of(Wanted(ref=ref, owner=owner, pod=made, replicas=replicas_of(owner)), before)


def running(number: int, *, revision_: int = 1, kind: str = "ReplicaSet", **fields: Any) -> list[Object]:  # noqa: ANN401 - as for owned
    """Return Pods of a revision of the Deployment web, each on a node of its own."""
    hash_ = {"pod-template-hash": f"h{revision_}"}
    by = f"web-h{revision_}" if kind == "ReplicaSet" else "web"
    return [owned(f"web-{revision_}-{n}", kind, by, on=f"n{n}", labels=hash_, **fields) for n in range(number)]


def deployed(number: int, **spec: Any) -> list[Object]:  # noqa: ANN401 - any field of the spec
    """Return a Deployment with its first revision and so many Pods."""
    return [workload("Deployment", "web", replicas=number, **spec), revision("web", 1), *running(number)]


def steps(plan: Plan) -> list[tuple[int, int]]:
    """Return (Pods gone, Pods that may go) of each step."""
    return [(step.gone, step.may_go) for step in plan.steps]


def strategy_of(plan: Plan) -> tuple[str, int, int]:
    """Return the strategy, how many Pods run and how many of them are replaced."""
    assert plan.rollout is not None
    assert plan.rollout.assumed
    return plan.rollout.strategy, plan.rollout.running, plan.rollout.replaced


@pytest.mark.parametrize(
    ("described", "number"),
    [
        (workload("Deployment", "web", replicas=3), 3),
        (workload("StatefulSet", "web", replicas=3), 3),
        (workload("Job", "web", parallelism=2), 2),
        (cron_job("web", parallelism=2), 2),
        (workload("ReplicaSet", "web", replicas=0), 0),
        (workload("DaemonSet", "web"), 0),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else None,
)
def test_what_is_new_comes_and_nothing_goes(described: Object, number: int) -> None:
    plan = planned(described, [pod("bare", on="n0", labels={"app": "web"})])
    assert steps(plan) == [(0, 0)] * number
    assert (plan.old, plan.staying, plan.rollout) == ((), (), None)
    assert len({step.pod.metadata.name for step in plan.steps}) == number


def test_a_template_that_does_not_change_is_scaled() -> None:
    plan = planned(workload("Deployment", "web", replicas=5), deployed(3))
    assert (len(plan.steps), len(plan.staying), plan.old) == (2, 3, ())
    assert strategy_of(plan) == ("Scale", 3, 0)
    assert planned(workload("Deployment", "web", replicas=2), deployed(3)).steps == ()


def test_pods_that_wait_are_not_there_yet() -> None:
    waiting = [owned("web-x", "ReplicaSet", "web-h1", labels={"pod-template-hash": "h1"})]
    plan = planned(workload("Deployment", "web", replicas=3), [*deployed(2), *waiting])
    assert len(plan.steps) == 1
    assert strategy_of(plan) == ("Scale", 3, 0)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({}, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}, [(1, 1), (2, 2), (3, 3), (4, 4)]),
        ({"rollingUpdate": {"maxSurge": 4, "maxUnavailable": 0}}, [(0, 0), (0, 1), (0, 2), (0, 3)]),
        ({"rollingUpdate": {"maxSurge": "100%", "maxUnavailable": "100%"}}, [(0, 4), (0, 4), (0, 4), (0, 4)]),
        ({"type": "Recreate"}, [(4, 4)] * 4),
    ],
    ids=str,
)
def test_a_changed_template_replaces_pods_as_the_strategy_allows(
    strategy: Object, expected: list[tuple[int, int]]
) -> None:
    changed = workload("Deployment", "web", pods=CHANGED, replicas=4, strategy=strategy)
    plan = planned(changed, deployed(4))
    assert steps(plan) == expected
    assert len(plan.old) == 4
    assert strategy_of(plan) == (strategy.get("type", "RollingUpdate"), 4, 4)


def test_a_rollout_that_has_begun_goes_on() -> None:
    new = revision("web", 2, pods=CHANGED)
    objects = [workload("Deployment", "web", pods=CHANGED, replicas=4), revision("web", 1), new]
    plan = planned(
        workload("Deployment", "web", pods=CHANGED, replicas=4), [*objects, *running(2), *running(2, revision_=2)]
    )
    assert {pod.metadata.name for pod in plan.staying} == {"web-2-0", "web-2-1"}
    assert {pod.metadata.name for pod in plan.old} == {"web-1-0", "web-1-1"}
    assert len(plan.steps) == 2


@pytest.mark.parametrize(
    ("strategy", "replicas", "expected"),
    [
        ({}, 4, (1, 1)),
        ({}, 10, (3, 2)),
        ({}, 1, (1, 0)),
        ({}, 0, (0, 1)),
        ({"rollingUpdate": {"maxSurge": 2}}, 4, (2, 1)),
        ({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}, 4, (0, 1)),
        ({"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": "10%"}}, 4, (0, 1)),
        ({"rollingUpdate": {"maxSurge": "1%", "maxUnavailable": "99%"}}, 4, (1, 3)),
    ],
    ids=str,
)
def test_fenceposts(strategy: Object, replicas: int, expected: tuple[int, int]) -> None:
    assert fenceposts(convert(strategy, UpdateStrategy), replicas) == expected


@pytest.mark.parametrize("given", ["lots", "30", "%", "-1%", "1.5%", -1, "٣%", "9" * 20 + "%"])
def test_portions_that_are_none(given: str | int) -> None:
    strategy = convert({"rollingUpdate": {"maxSurge": given}}, UpdateStrategy)
    with pytest.raises(ValueError, match="is neither a number of Pods nor a percentage"):
        fenceposts(strategy, 4)


def ordinals(*numbers: int, on: str = "n") -> list[Object]:
    """Return Pods of the StatefulSet web."""
    return [owned(f"web-{n}", "StatefulSet", "web", on=f"{on}{n}") for n in numbers]


def set_of(number: int, pods: Object | None = None, **spec: Any) -> Object:  # noqa: ANN401 - any field of the spec
    """Return a StatefulSet of so many replicas."""
    return workload("StatefulSet", "web", pods=pods, replicas=number, **spec)


def named(plan: Plan) -> list[str]:
    """Return the names of the Pods that come."""
    return [step.pod.metadata.name for step in plan.steps]


def test_missing_ordinals_come() -> None:
    plan = planned(set_of(4), [set_of(4), *ordinals(0, 2)])
    assert named(plan) == ["web-1", "web-3"]
    assert strategy_of(plan) == ("Scale", 2, 0)
    assert named(planned(set_of(2, ordinals={"start": 5}), [set_of(2), *ordinals(5)])) == ["web-6"]


def test_each_pod_of_a_set_gives_way_to_its_successor_from_the_highest_down() -> None:
    plan = planned(set_of(4, CHANGED), [set_of(4), *ordinals(0, 1, 2)])
    assert named(plan) == ["web-3", "web-2", "web-1", "web-0"]
    assert steps(plan) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert [pod.metadata.name for pod in plan.old] == ["web-2", "web-1", "web-0"]
    assert strategy_of(plan) == ("RollingUpdate", 3, 3)


def test_a_partition_keeps_the_lower_ordinals() -> None:
    partitioned = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    plan = planned(set_of(3, CHANGED, updateStrategy=partitioned), [set_of(3), *ordinals(0, 1, 2)])
    assert named(plan) == ["web-2"]
    assert {pod.metadata.name for pod in plan.staying} == {"web-0", "web-1"}


def test_on_delete_waits_for_somebody() -> None:
    on_delete = {"type": "OnDelete"}
    plan = planned(set_of(3, CHANGED, updateStrategy=on_delete), [set_of(3), *ordinals(0, 1)])
    assert named(plan) == ["web-2"]
    assert strategy_of(plan) == ("OnDelete", 2, 0)
    agent = workload("DaemonSet", "web", pods=CHANGED, updateStrategy=on_delete)
    plan = planned(agent, [workload("DaemonSet", "web"), *running(2, kind="DaemonSet")])
    assert (plan.old, len(plan.staying), strategy_of(plan)) == ((), 2, ("OnDelete", 2, 0))


def test_a_daemon_gives_way_on_each_node() -> None:
    live = [workload("DaemonSet", "web"), *running(2, kind="DaemonSet")]
    plan = planned(workload("DaemonSet", "web", pods=CHANGED), live)
    assert (len(plan.old), plan.staying, strategy_of(plan)) == (2, (), ("RollingUpdate", 2, 2))
    plan = planned(workload("DaemonSet", "web"), live)
    assert (plan.old, len(plan.staying), strategy_of(plan)) == ((), 2, ("Scale", 2, 0))


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "Job"])
def test_other_workloads_keep_their_pods_whatever_changes(kind: str) -> None:
    more: Object = {"parallelism": 5} if kind == "Job" else {"replicas": 5}
    live = [workload(kind, "web", **more), *[owned(f"web-{n}", kind, "web", on=f"n{n}") for n in range(2)]]
    plan = planned(workload(kind, "web", pods=CHANGED, **more), live)
    assert (len(plan.steps), len(plan.staying)) == (3, 2)
    assert strategy_of(plan) == ("Scale", 2, 0)


def test_a_cron_job_starts_another_job() -> None:
    plan = planned(cron_job("web", parallelism=2), [cron_job("web")])
    assert (len(plan.steps), plan.rollout) == (2, None)


def test_a_pod_that_exists_is_deleted_first() -> None:
    made = typed_pod(pod("web"))
    wanted = Wanted(ref=WorkloadRef(kind="Pod", name="web"), owner=None, pod=made, replicas=1, numbered=False)
    plan = plan_of(wanted, snapshot([pod("web", on="n0")]))
    assert (steps(plan), named(plan)) == ([(1, 1)], ["web"])
    assert [gone.metadata.name for gone in plan.old] == ["web"]
    assert strategy_of(plan) == ("Replace", 1, 1)


def test_how_another_api_replaces_pods_is_not_known() -> None:
    made = typed_pod(owned("web", "Rollout", "web"))
    wanted = Wanted(ref=WorkloadRef(kind="Rollout", name="web"), owner=None, pod=made, replicas=2)
    live = [owned(f"web-{n}", "Rollout", "web", on=f"n{n}") for n in range(3)]
    plan = plan_of(wanted, snapshot(live))
    assert (len(plan.steps), len(plan.staying), plan.old) == (2, 3, ())
    assert strategy_of(plan) == ("Unknown", 3, 0)


READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def test_who_goes_first_is_who_is_missed_least() -> None:
    hash_ = {"pod-template-hash": "h1"}
    pods = [
        owned("ready", "ReplicaSet", "web-h1", on="a", labels=hash_, status=READY),
        owned("crowded", "ReplicaSet", "web-h1", on="b", labels=hash_, status=READY),
        owned("crowded-too", "ReplicaSet", "web-h1", on="b", labels=hash_),
        owned("waits", "ReplicaSet", "web-h1", labels=hash_),
        owned("ending", "ReplicaSet", "web-h1", on="c", labels=hash_, terminating=True),
        owned("ended", "ReplicaSet", "web-h1", on="c", labels=hash_, status={"phase": "Failed"}),
        owned("other", "ReplicaSet", "other", on="c", labels=hash_),
    ]
    objects = [workload("Deployment", "web", replicas=4), revision("web", 1), *pods]
    plan = planned(workload("Deployment", "web", pods=CHANGED, replicas=4), objects)
    assert [gone.metadata.name for gone in plan.old] == ["waits", "crowded-too", "crowded", "ready"]
