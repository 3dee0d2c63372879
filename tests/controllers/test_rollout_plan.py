"""How a workload gets from the Pods it has to those of a manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from kubectl_spread.controllers.replicas import as_created, first_pod, replicas_of
from kubectl_spread.controllers.rollout_plan import (
    Assumption,
    DesiredWorkload,
    FromHighestOrdinal,
    MadeElsewhere,
    RolloutPlan,
    WithinFenceposts,
    plan_of,
)
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from tests.build import Object, pod, snapshot
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.diagnosis.judged import ABC

CHANGED = template(nodeSelector={"disk": "ssd"})
H1 = {"pod-template-hash": "h1"}
INDEX = "batch.kubernetes.io/job-completion-index"
RUNS = cron_job("web", parallelism=3)
SUSPENDED_CRON_JOB: Object = {**RUNS, "spec": {**RUNS["spec"], "suspend": True}}


def planned(manifest: Object, *objects: Object) -> RolloutPlan:
    """Return the plan of a manifest in the cluster of these objects."""
    before = snapshot([*ABC, *objects])
    ref = WorkloadRef(kind=manifest["kind"], name=manifest["metadata"]["name"])
    if manifest["kind"] == "Pod" or (manifest["apiVersion"], manifest["kind"]) not in BY_API:
        return plan_of(DesiredWorkload(ref, None, convert(pod("web"), Pod), 1, numbered=False), before)
    owner: Any = convert(manifest, BY_API[manifest["apiVersion"], manifest["kind"]].struct)
    after = before.with_objects(as_created(owner, before))
    return plan_of(DesiredWorkload(ref, owner, first_pod(owner, after), replicas_of(owner)), before)


def deployed(*on: str, replicas: int = 0) -> list[Object]:
    """Return a Deployment of revision h1 with Pods on these nodes."""
    deployment = workload("Deployment", "web", replicas=replicas or len(on))
    pods = [owned(f"web-{n}", "ReplicaSet", "web-h1", on=where, labels=H1) for n, where in enumerate(on)]
    return [deployment, revision("web", 1), *pods]


def gone(plan: RolloutPlan) -> list[int]:
    """Return how many old Pods are gone for each new one."""
    return [step.gone for step in plan.steps]


def names(pods: Sequence[Pod]) -> list[str]:
    """Return the names."""
    return [each.metadata.name for each in pods]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"])
def test_what_does_not_exist_comes_whole(kind: str) -> None:
    plan = planned(workload(kind, "web", replicas=3))
    assert (gone(plan), plan.old, plan.staying, plan.rollout) == ([0] * 3, (), (), None)
    assert len(set(names([step.pod for step in plan.steps]))) == 3


def test_old_pods_go_no_earlier_than_they_must() -> None:
    """At most 5 and at least 3 of 4."""
    plan = planned(workload("Deployment", "web", pods=CHANGED, replicas=4), *deployed("a1", "a2", "b1", "c1"))
    assert gone(plan) == [0, 1, 2, 3]
    assert len(plan.old) == 4
    assert plan.rollout is not None
    assert (plan.rollout.strategy, plan.rollout.running, plan.rollout.replaced) == ("RollingUpdate", 4, 4)
    assert plan.rollout.assumed == WithinFenceposts(most=5, least=3)


def test_without_surge_old_pods_go_first() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}}
    manifest = workload("Deployment", "web", pods=CHANGED, replicas=3, strategy=rolling)
    assert gone(planned(manifest, *deployed("a1", "a2", "b1"))) == [1, 2, 3]


def test_more_replicas_come_before_any_old_pod_goes() -> None:
    manifest = workload("Deployment", "web", pods=CHANGED, replicas=8)
    assert gone(planned(manifest, *deployed("a1", "a2"))) == [0] * 8


def test_to_recreate_is_to_remove_all_first() -> None:
    manifest = workload("Deployment", "web", pods=CHANGED, replicas=2, strategy={"type": "Recreate"})
    plan = planned(manifest, *deployed("a1", "a2"))
    assert gone(plan) == [2, 2]
    assert plan.rollout is not None
    assert plan.rollout.strategy == "Recreate"


def test_of_a_template_that_stays_only_what_is_missing_comes() -> None:
    plan = planned(workload("Deployment", "web", replicas=5), *deployed("a1", "a2", ""))
    assert (len(plan.steps), plan.old, len(plan.staying)) == (3, (), 3)
    assert plan.rollout is not None
    assert (plan.rollout.strategy, plan.rollout.running, plan.rollout.replaced) == ("Scale", 3, 0)
    assert names([step.pod for step in plan.steps])[0] == "web-h1-00003"


def test_fewer_replicas_are_nothing_to_place() -> None:
    assert planned(workload("Deployment", "web", replicas=1), *deployed("a1", "a2", "b1")).steps == ()


def test_quantities_and_images_decide_whether_a_template_changes() -> None:
    def sized(cpu: str, image: str = "registry.example/app:v1") -> Object:
        return template(requests={"cpu": cpu}, image=image)

    running = [workload("Deployment", "web", pods=sized("500m")), revision("web", 1, pods=sized("500m"))]
    there = [*running, owned("web-0", "ReplicaSet", "web-h1", on="a1", labels=H1)]

    def strategy(pods: Object) -> str:
        rollout = planned(workload("Deployment", "web", pods=pods), *there).rollout
        assert rollout is not None
        return rollout.strategy

    assert strategy(sized("0.5")) == "Scale"
    assert strategy(sized("0.6")) == "RollingUpdate"
    assert strategy(sized("0.5", "registry.example/app:v2")) == "RollingUpdate"


def test_a_rollout_that_is_under_way_goes_on() -> None:
    """One Pod of the new revision is there; two are missing, and two old ones left."""
    new = owned("web-new", "ReplicaSet", "web-h2", on="b1", labels={"pod-template-hash": "h2"})
    there = [*deployed("a1", "a2"), revision("web", 2, pods=CHANGED), new]
    plan = planned(workload("Deployment", "web", pods=CHANGED, replicas=3), *there)
    assert (len(plan.steps), names(plan.staying), sorted(names(plan.old))) == (2, ["web-new"], ["web-0", "web-1"])
    assert gone(plan) == [0, 1]


def test_a_new_pod_of_a_rollout_that_waits_for_a_node_is_still_to_be_placed() -> None:
    changed = workload("Deployment", "web", pods=CHANGED, replicas=2)
    waiting = owned("new", "ReplicaSet", "web-h2", labels={"pod-template-hash": "h2"}, nodeSelector={"disk": "ssd"})
    plan = planned(changed, *deployed("a1", "b1"), revision("web", 2, pods=CHANGED), waiting)
    assert (gone(plan), names(plan.staying)) == ([0, 1], ["new"])


def test_pods_that_end_are_none_of_it() -> None:
    there = deployed("a1", "a2")
    there += [
        owned("ended", "ReplicaSet", "web-h1", on="a1", labels=H1, status={"phase": "Failed"}),
        owned("leaving", "ReplicaSet", "web-h1", on="a1", labels=H1, terminating=True),
        owned("other", "ReplicaSet", "api-h1", on="a1", labels=H1),
    ]
    assert sorted(names(planned(workload("Deployment", "web", replicas=2), *there).staying)) == ["web-0", "web-1"]


def ordinals(*on: str) -> list[Object]:
    """Return a StatefulSet with Pods of these ordinals on these nodes; empty for a missing one."""
    pods = [owned(f"db-{n}", "StatefulSet", "db", on=where) for n, where in enumerate(on) if where]
    return [workload("StatefulSet", "db", replicas=len(on)), *pods]


def test_the_pods_of_a_stateful_set_give_way_one_by_one_from_the_last() -> None:
    plan = planned(workload("StatefulSet", "db", pods=CHANGED, replicas=4), *ordinals("a1", "", "b1"))
    assert names([step.pod for step in plan.steps]) == ["db-1", "db-3", "db-2", "db-0"]
    assert (gone(plan), names(plan.old)) == ([0, 0, 1, 2], ["db-2", "db-0"])


def test_a_partition_keeps_old_pods() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    manifest = workload("StatefulSet", "db", pods=CHANGED, replicas=3, updateStrategy=rolling)
    plan = planned(manifest, *ordinals("a1", "a2", "b1"))
    assert (names([step.pod for step in plan.steps]), names(plan.old)) == (["db-2"], ["db-2"])
    assert sorted(names(plan.staying)) == ["db-0", "db-1"]


def test_what_is_missing_below_the_partition_comes_of_the_revision_that_runs() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    status = {"currentRevision": "db-1", "updateRevision": "db-1"}
    live = workload("StatefulSet", "db", replicas=3, updateStrategy=rolling, status=status)
    runs = owned("db-0", "StatefulSet", "db", on="a1", labels={"controller-revision-hash": "db-1"})
    plan = planned(workload("StatefulSet", "db", replicas=3, pods=CHANGED, updateStrategy=rolling), live, runs)
    found = [(step.pod.metadata.name, step.pod.spec.node_selector) for step in plan.steps]
    assert found == [("db-1", {}), ("db-2", {"disk": "ssd"})]


def test_a_partition_counts_from_the_first_ordinal() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    asked: Object = {"replicas": 3, "ordinals": {"start": 5}}
    there = [owned(f"db-{5 + n}", "StatefulSet", "db", on=on) for n, on in enumerate(("a1", "a2", "b1"))]
    manifest = workload("StatefulSet", "db", pods=CHANGED, updateStrategy=rolling, **asked)
    plan = planned(manifest, workload("StatefulSet", "db", **asked), *there)
    assert (names(plan.old), names(plan.staying)) == (["db-7", "db-6"], ["db-5"])
    assert plan.rollout is not None
    assert plan.rollout.assumed == FromHighestOrdinal(first=6)


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_on_delete_nothing_goes_by_itself(kind: str) -> None:
    there = [workload(kind, "db", replicas=1), owned("db-0", kind, "db", on="a1")]
    manifest = workload(kind, "db", pods=CHANGED, replicas=2, updateStrategy={"type": "OnDelete"})
    plan = planned(manifest, *there)
    assert (plan.old, names(plan.staying)) == ((), ["db-0"])
    assert plan.rollout is not None
    assert plan.rollout.strategy == "OnDelete"
    assert names([step.pod for step in plan.steps]) == (["db-1"] if kind == "StatefulSet" else [])


def test_a_stateful_set_of_which_nothing_changes() -> None:
    plan = planned(workload("StatefulSet", "db", replicas=3), *ordinals("a1", "a2"))
    assert names([step.pod for step in plan.steps]) == ["db-2"]
    assert plan.rollout is not None
    assert plan.rollout.strategy == "Scale"


@pytest.mark.parametrize(("pods", "old", "staying"), [(CHANGED, ["x"], []), (None, [], ["x"])])
def test_a_daemon_set(pods: Object | None, old: list[str], staying: list[str]) -> None:
    there = [workload("DaemonSet", "agent"), owned("x", "DaemonSet", "agent", on="a1")]
    plan = planned(workload("DaemonSet", "agent", pods=pods), *there)
    assert (names(plan.old), names(plan.staying), plan.steps) == (old, staying, ())


@pytest.mark.parametrize("manifest", [workload("Job", "web", suspend=True, parallelism=3), SUSPENDED_CRON_JOB])
@pytest.mark.parametrize("lives", [False, True])
def test_what_is_suspended_makes_no_pods(manifest: Object, *, lives: bool) -> None:
    plan = planned(manifest, *([manifest, owned("web-a", manifest["kind"], "web", on="a1")] if lives else []))
    assert plan.steps == ()
    assert plan.rollout is not None
    assert plan.rollout.assumed is Assumption.SUSPENDED
    # The Job controller deletes what runs; a CronJob's Jobs run on.
    assert names(plan.old) == (["web-a"] if lives and manifest["kind"] == "Job" else [])


@pytest.mark.parametrize("make", [partial(workload, "Job", "web"), partial(cron_job, "web")])
def test_who_makes_the_pods_instead_is_told(make: Callable[..., Object]) -> None:
    plan = planned(make(managedBy="kueue.x-k8s.io/multikueue"))
    assert plan.steps == ()
    assert plan.rollout is not None
    assert plan.rollout.assumed == MadeElsewhere("kueue.x-k8s.io/multikueue")
    assert planned(make(managedBy="kubernetes.io/job-controller")).steps


def test_an_indexed_job_gets_the_indexes_that_are_free() -> None:
    asked: Object = {"parallelism": 5, "completions": 5, "completionMode": "Indexed"}
    live = workload("Job", "web", status={"completedIndexes": "0", "failedIndexes": "3", "succeeded": 1}, **asked)
    labels = {"app": "web", INDEX: "1"}
    plan = planned(workload("Job", "web", **asked), live, owned("web-1-x", "Job", "web", on="a1", labels=labels))
    assert [step.pod.metadata.labels[INDEX] for step in plan.steps] == ["2", "4"]


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "Job"])
def test_kinds_that_do_not_roll_fill_up(kind: str) -> None:
    asked: Object = {"parallelism": 3, "completions": 3} if kind == "Job" else {"replicas": 3}
    there = [workload(kind, "web", **asked), owned("x", kind, "web", on="a1")]
    plan = planned(workload(kind, "web", pods=CHANGED, **asked), *there)
    assert (len(plan.steps), plan.old, names(plan.staying)) == (2, (), ["x"])
    assert plan.rollout is not None
    assert plan.rollout.strategy == "Scale"


def test_the_next_job_of_a_cron_job_is_new() -> None:
    plan = planned(cron_job("web", parallelism=2), cron_job("web", parallelism=2))
    assert (len(plan.steps), plan.rollout) == (2, None)


def test_a_pod_that_exists_is_replaced() -> None:
    plan = planned(pod("web"), pod("web", on="a1"))
    assert (gone(plan), names(plan.old)) == ([1], ["web"])
    assert plan.rollout is not None
    assert plan.rollout.strategy == "Replace"


def test_how_other_kinds_roll_is_not_known() -> None:
    manifest = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}}
    plan = planned(manifest, owned("x", "Rollout", "web", on="a1"))
    assert (len(plan.steps), plan.old, names(plan.staying)) == (1, (), ["x"])
    assert plan.rollout is not None
    assert (plan.rollout.strategy, plan.rollout.running) == ("Unknown", 1)
