"""How a workload gets from the Pods it has to those of a manifest: by which rules, and how many go."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kubectl_spread.controllers.replicas import as_created, first_pod, replicas_of
from kubectl_spread.controllers.rollout_plan import (
    Assumption,
    DesiredWorkload,
    FromHighestOrdinal,
    MadeElsewhere,
    Rollout,
    RolloutAssumption,
    UnknownRules,
    WithinFenceposts,
    rollout_of,
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
RUNS = cron_job("web", parallelism=3)
SUSPENDED_CRON_JOB: Object = {**RUNS, "spec": {**RUNS["spec"], "suspend": True}}


def planned(manifest: Object, *objects: Object) -> Rollout | None:
    """Return how a manifest is rolled out in the cluster of these objects."""
    before = snapshot([*ABC, *objects])
    ref = WorkloadRef(kind=manifest["kind"], name=manifest["metadata"]["name"])
    if manifest["kind"] == "Pod" or (manifest["apiVersion"], manifest["kind"]) not in BY_API:
        return rollout_of(DesiredWorkload(ref, None, convert(pod("web"), Pod), 1, numbered=False), before)
    owner: Any = convert(manifest, BY_API[manifest["apiVersion"], manifest["kind"]].struct)
    after = before.with_objects(as_created(owner, before))
    return rollout_of(DesiredWorkload(ref, owner, first_pod(owner, after), replicas_of(owner)), before)


def deployed(*on: str) -> list[Object]:
    """Return a Deployment of revision h1 with Pods on these nodes."""
    pods = [owned(f"web-{n}", "ReplicaSet", "web-h1", on=where, labels=H1) for n, where in enumerate(on)]
    return [workload("Deployment", "web", replicas=len(on)), revision("web", 1), *pods]


def changed(kind: str, replicas: int, **spec: Any) -> Object:  # noqa: ANN401 - any field
    """Return a manifest with another template than the one that lives."""
    return workload(kind, "web", pods=CHANGED, replicas=replicas, **spec)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet"])
def test_what_does_not_exist_is_no_rollout(kind: str) -> None:
    assert planned(workload(kind, "web")) is None
    assert planned(cron_job("web"), cron_job("web")) is None


WITHOUT_SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}}


@pytest.mark.parametrize(
    ("manifest", "strategy", "replaced", "assumed"),
    [
        (changed("Deployment", 4), "RollingUpdate", 4, WithinFenceposts(most=5, least=3)),
        (changed("Deployment", 3, strategy=WITHOUT_SURGE), "RollingUpdate", 3, WithinFenceposts(most=3, least=1)),
        (changed("Deployment", 4, strategy={"type": "Recreate"}), "Recreate", 4, Assumption.ALL_GONE_FIRST),
        (changed("Deployment", 4, paused=True), "Scale", 0, Assumption.PAUSED),
        (workload("Deployment", "web", replicas=1), "Scale", 0, Assumption.UNCHANGED),
    ],
)
def test_a_deployment(manifest: Object, strategy: str, replaced: int, assumed: RolloutAssumption) -> None:
    found = planned(manifest, *deployed("a1", "a2", "b1", "c1"))
    assert found is not None
    assert (found.strategy, found.running, found.replaced, found.assumed) == (strategy, 4, replaced, assumed)
    assert found.deleted == (0 if strategy == "Scale" else 4 - replaced)


def test_a_change_that_lets_a_held_rollout_go() -> None:
    """The template is the same. What a Deployment's pause or a StatefulSet's partition held back starts now."""
    paused = workload("Deployment", "web", pods=CHANGED, replicas=2, paused=True)
    resumed = planned(changed("Deployment", 2), paused, *deployed("a1", "b1")[1:])
    assert resumed is not None
    assert (resumed.strategy, resumed.replaced) == ("RollingUpdate", 2)
    live = workload("Deployment", "web", replicas=2, paused=True)
    nothing_held = planned(workload("Deployment", "web", replicas=2), live, *deployed("a1", "b1")[1:])
    assert nothing_held is not None
    assert (nothing_held.strategy, nothing_held.assumed) == ("Scale", Assumption.UNCHANGED)


def test_any_field_of_a_template_changes_it() -> None:
    def strategy(pods: Object) -> str:
        there = [
            workload("Deployment", "web", pods=template(image="app:1")),
            revision("web", 1, pods=template(image="app:1")),
        ]
        found = planned(workload("Deployment", "web", pods=pods), *there, *deployed("a1")[2:])
        assert found is not None
        return found.strategy

    assert strategy(template(image="app:1")) == "Scale"
    assert strategy(template(image="app:2")) == "RollingUpdate"
    for field in ({"env": [{"name": "A"}]}, {"args": ["-v"]}, {"livenessProbe": {"tcpSocket": {"port": 1}}}):
        pods = template(image="app:1")
        pods["spec"]["containers"][0] |= field
        assert strategy(pods) == "RollingUpdate"
    noted = template(image="app:1")
    noted["metadata"]["annotations"] = {"a": "b"}
    assert strategy(noted) == "RollingUpdate"


def test_an_older_revision_is_used_again() -> None:
    """The newest revision has one Pod, which waits; the manifest is of the one before it, which has all others."""
    new = owned("web-new", "ReplicaSet", "web-h2", labels={"pod-template-hash": "h2"})
    live = [workload("Deployment", "web", pods=CHANGED, replicas=2), *deployed("a1", "b1")[1:]]
    stuck = planned(workload("Deployment", "web", replicas=2), *live, revision("web", 2, pods=CHANGED), new)
    assert stuck is not None
    assert (stuck.running, stuck.replaced, stuck.deleted) == (3, 0, 1)
    back = planned(workload("Deployment", "web", replicas=2), *live, revision("web", 2, pods=CHANGED))
    assert back is not None
    assert (back.replaced, back.assumed) == (0, Assumption.REVISION_AGAIN)


def test_the_pods_of_a_stateful_set() -> None:
    there = [workload("StatefulSet", "web"), *(owned(f"web-{n}", "StatefulSet", "web", on="a1") for n in (0, 2))]
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    found = planned(changed("StatefulSet", 4), *there)
    assert (found and found.replaced, found and found.assumed) == (2, FromHighestOrdinal(first=0))
    kept = planned(changed("StatefulSet", 4, updateStrategy=rolling), *there)
    assert (kept and kept.replaced, kept and kept.assumed) == (1, FromHighestOrdinal(first=2))
    held = workload("StatefulSet", "web", pods=CHANGED, replicas=4, updateStrategy=rolling)
    lowered = planned(changed("StatefulSet", 4), held, *there[1:])
    assert (lowered and lowered.replaced, lowered and lowered.assumed) == (2, FromHighestOrdinal(first=0))
    same = planned(workload("StatefulSet", "web", replicas=3), *there)
    assert (same and same.strategy, same and same.replaced) == ("Scale", 0)


def test_a_daemon_set_that_no_longer_waits_for_somebody_replaces_what_is_of_an_older_template() -> None:
    shown = {"deprecated.daemonset.template.generation": "2"}
    held = workload("DaemonSet", "web", annotations=shown, updateStrategy={"type": "OnDelete"})
    labels = [{"controller-revision-hash": each, "pod-template-generation": each} for each in "112"]
    there = [owned(f"web-{n}", "DaemonSet", "web", on=f"a{n}", labels=each) for n, each in enumerate(labels)]
    let_go = workload("DaemonSet", "web", annotations=shown)
    found = planned(let_go, held, *there)
    assert (found and found.replaced, found and found.assumed) == (2, Assumption.ONE_BY_ONE_ON_NODES)
    again = planned(let_go, held, there[2])
    assert (again and again.strategy, again and again.replaced) == ("Scale", 0)


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_on_delete_nothing_goes_by_itself(kind: str) -> None:
    there = [workload(kind, "web", replicas=1), owned("web-0", kind, "web", on="a1")]
    found = planned(changed(kind, 2, updateStrategy={"type": "OnDelete"}), *there)
    assert (found and found.strategy, found and found.replaced) == ("OnDelete", 0)


@pytest.mark.parametrize(("pods", "replaced"), [(CHANGED, 1), (None, 0)])
def test_a_daemon_set(pods: Object | None, replaced: int) -> None:
    there = [workload("DaemonSet", "agent"), owned("x", "DaemonSet", "agent", on="a1")]
    found = planned(workload("DaemonSet", "agent", pods=pods), *there)
    assert (found and found.running, found and found.replaced) == (1, replaced)


@pytest.mark.parametrize("manifest", [workload("Job", "web", suspend=True, parallelism=3), SUSPENDED_CRON_JOB])
@pytest.mark.parametrize("lives", [False, True])
def test_what_is_suspended_makes_no_pods(manifest: Object, *, lives: bool) -> None:
    found = planned(manifest, *([manifest, owned("web-a", manifest["kind"], "web", on="a1")] if lives else []))
    assert found is not None
    assert found.assumed is Assumption.SUSPENDED
    assert found.replaced == 0


@pytest.mark.parametrize("make", [partial(workload, "Job", "web"), partial(cron_job, "web")])
def test_who_makes_the_pods_instead_is_told(make: Callable[..., Object]) -> None:
    found = planned(make(managedBy="kueue.x-k8s.io/multikueue"))
    assert found is not None
    assert found.assumed == MadeElsewhere("kueue.x-k8s.io/multikueue")
    assert planned(make(managedBy="kubernetes.io/job-controller")) is None


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "Job"])
def test_kinds_that_do_not_roll_fill_up(kind: str) -> None:
    asked: Object = {"parallelism": 3, "completions": 3} if kind == "Job" else {"replicas": 3}
    found = planned(
        workload(kind, "web", pods=CHANGED, **asked), workload(kind, "web", **asked), owned("x", kind, "web")
    )
    assert (found and found.strategy, found and found.assumed) == ("Scale", Assumption.RUNNING_STAY)


def test_a_pod_that_exists_stays() -> None:
    found = planned(pod("web"), pod("web", on="a1"))
    assert found == Rollout(strategy="Scale", running=1, at_work=1, replaced=0, assumed=Assumption.POD_STAYS)


def test_how_other_kinds_roll_is_not_known() -> None:
    manifest = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}}
    found = planned(manifest, owned("x", "Rollout", "web", on="a1"))
    assert found == Rollout(strategy="Unknown", running=1, at_work=1, replaced=0, assumed=UnknownRules("Rollout"))
