"""Which workload a Pod belongs to, which of its revisions is the newest, what its next Pod would be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.controllers.workloads import (
    OwnedPods,
    makes_next_pod,
    newest_replica_set,
    next_pod,
    owner_of,
    reference_to,
    revision_of,
    scheduler_of,
    workloads,
)
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API, Workload
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.snapshot import Snapshot
from tests.build import ZONE, Object, app, pod, snapshot, spread
from tests.build_workloads import controller, cron_job, owned, revision, template, workload
from tests.naming import in_order

SHOP = [
    workload("Deployment", "web"),
    revision("web", 1),
    owned("web-h1-a", "ReplicaSet", "web-h1", on="n"),
    owned("web-h1-b", "ReplicaSet", "web-h1"),
    workload("StatefulSet", "db"),
    owned("db-0", "StatefulSet", "db", on="n"),
    workload("ReplicaSet", "lone"),
    cron_job("nightly"),
    workload("Job", "nightly-1", owner=controller("CronJob", "nightly")),
    owned("nightly-1-x", "Job", "nightly-1", on="n"),
    owned("canary-x", "Rollout", "canary", on="n"),
    owned("orphan-x", "ReplicaSet", "gone", on="n"),
    pod("bare", on="n"),
    pod("ended", on="n", status={"phase": "Succeeded"}),
    pod("far", namespace="another", on="n"),
]


def found(cluster: Snapshot) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return (namespace, workload) → the names of its Pods."""
    return {
        (each.namespace, str(each.ref)): tuple(pod.metadata.name for pod in each.pods) for each in workloads(cluster)
    }


def only(objects: Sequence[Object]) -> tuple[OwnedPods, Snapshot]:
    """Return the only workload of the cluster, and the cluster."""
    cluster = snapshot(objects)
    (each,) = workloads(cluster)
    return each, cluster


def test_pods_belong_to_the_topmost_owner_that_has_a_name_here() -> None:
    assert found(snapshot(SHOP)) == {
        ("another", "pod/far"): ("far",),
        ("default", "cronjob/nightly"): ("nightly-1-x",),
        ("default", "deployment/web"): ("web-h1-a", "web-h1-b"),
        ("default", "pod/bare"): ("bare",),
        ("default", "replicaset/gone"): ("orphan-x",),
        ("default", "replicaset/lone"): (),
        ("default", "rollout/canary"): ("canary-x",),
        ("default", "statefulset/db"): ("db-0",),
    }


def test_workloads_come_by_namespace_and_name() -> None:
    assert list(found(snapshot(SHOP))) == sorted(found(snapshot(reversed(SHOP))))


def test_a_workload_knows_its_owner_too() -> None:
    cluster = snapshot(SHOP)
    job = next(each for each in cluster.all(BY_API["batch/v1", "Job"].struct))
    assert str(owner_of(job, cluster)) == "cronjob/nightly"  # type: ignore[arg-type] # a Job is a workload


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({}, ""),
        ({"pod-template-hash": "a"}, "a"),
        ({"controller-revision-hash": "web-1"}, "web-1"),
        ({"pod-template-hash": "a", "controller-revision-hash": "b"}, "a"),
    ],
    ids=in_order,
)
def test_the_revision_stands_in_a_label(labels: dict[str, str], name: str) -> None:
    _, cluster = only([pod("p", labels=labels)])
    (each,) = cluster.all(Pod)
    assert revision_of(each) == name


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([workload("Deployment", "web")], True),
        ([workload("DaemonSet", "web")], False),
        ([workload("Job", "web")], True),
        ([workload("Job", "web", status={"conditions": [{"type": "Complete", "status": "True"}]})], False),
        ([workload("Job", "web", status={"conditions": [{"type": "Failed", "status": "True"}]})], False),
        ([workload("Job", "web", status={"conditions": [{"type": "Complete", "status": "False"}]})], True),
        ([cron_job("web")], True),
        ([owned("x", "Rollout", "web")], True),
        ([pod("web")], False),
    ],
    ids=in_order,
)
def test_whether_there_is_a_next_pod(objects: Sequence[Object], *, expected: bool) -> None:
    assert makes_next_pod(only(objects)[0]) == expected


@pytest.mark.parametrize(
    "kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"]
)
def test_the_next_pod_is_of_the_template(kind: str) -> None:
    constraint = spread(ZONE, selector=app("web"))
    made = next_pod(*only([workload(kind, "web", pods=template(constraint, labels={"app": "web", "tier": "1"}))]))
    assert made is not None
    assert (made.metadata.name, made.metadata.namespace) == ("web", "default")
    assert made.metadata.labels == {"app": "web", "tier": "1"}
    assert made.spec.topology_spread_constraints[0].topology_key == ZONE
    assert made.metadata.controller is not None
    assert (made.metadata.controller.kind, made.metadata.controller.name) == (kind, "web")


def test_the_next_pod_of_a_cron_job_is_of_its_jobs_template() -> None:
    made = next_pod(*only([cron_job("web", pods=template(labels={"app": "nightly"}))]))
    assert made is not None
    assert made.metadata.labels == {"app": "nightly"}


def test_the_next_pod_of_a_deployment_is_of_its_newest_revision() -> None:
    made = next_pod(*only([workload("Deployment", "web"), revision("web", 9), revision("web", 10), revision("web", 2)]))
    assert made is not None
    assert made.metadata.labels["pod-template-hash"] == "h10"
    assert made.metadata.controller is not None
    assert (made.metadata.controller.kind, made.metadata.controller.name) == ("ReplicaSet", "web-h10")


def test_a_deployment_without_a_replica_set_has_no_hash_yet() -> None:
    made = next_pod(*only([workload("Deployment", "web")]))
    assert made is not None
    assert made.metadata.labels == {"app": "web"}


def test_the_next_pod_of_a_stateful_set_is_of_its_update_revision() -> None:
    made = next_pod(*only([workload("StatefulSet", "web", status={"updateRevision": "web-2"})]))
    assert made is not None
    assert revision_of(made) == "web-2"


def test_without_a_readable_owner_the_newest_pod_is_the_template() -> None:
    pods = [owned(name, "Rollout", "web", on="n", labels={"v": name}) for name in ("b", "c", "a")]
    made = next_pod(*only(pods))
    assert made is not None
    assert (made.metadata.labels["v"], made.spec.node_name) == ("c", "")


def test_without_owner_and_pods_there_is_nothing_to_go_by() -> None:
    each, cluster = only([owned("x", "Rollout", "web")])
    assert next_pod(OwnedPods(each.namespace, each.ref, None, ()), cluster) is None
    assert scheduler_of(OwnedPods(each.namespace, each.ref, None, ())) == ""


def test_replica_sets_of_others_are_no_revision() -> None:
    objects = [
        workload("Deployment", "web"),
        revision("other", 7),
        workload("ReplicaSet", "lone"),
        {**revision("web", 8), "metadata": {**revision("web", 8)["metadata"], "namespace": "another"}},
        workload("ReplicaSet", "web-x", owner=controller("DeploymentConfig", "web")),
    ]
    cluster = snapshot(objects)
    deployment = cluster.get(Deployment, "default", "web")
    assert deployment is not None
    assert newest_replica_set(deployment, cluster) is None


@pytest.mark.parametrize("said", ["", "seven", "-1"])
def test_a_replica_set_may_not_say_which_revision_it_is(said: str) -> None:
    unnumbered = revision("web", 1, hash_="x")
    unnumbered["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": said}
    made = next_pod(*only([workload("Deployment", "web"), unnumbered, revision("web", 1)]))
    assert made is not None
    assert revision_of(made) == "h1"


@pytest.mark.parametrize(
    ("objects", "name"),
    [
        ([workload("Deployment", "web", pods=template(schedulerName="volcano"))], "volcano"),
        ([cron_job("web", pods=template(schedulerName="volcano"))], "volcano"),
        ([workload("Deployment", "web")], "default-scheduler"),
        ([owned("x", "Rollout", "web", schedulerName="volcano")], "volcano"),
    ],
    ids=in_order,
)
def test_who_places_the_pods(objects: Sequence[Object], name: str) -> None:
    assert scheduler_of(only(objects)[0]) == name


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [
        ("Deployment", "apps/v1"),
        ("StatefulSet", "apps/v1"),
        ("Job", "batch/v1"),
        ("CronJob", "batch/v1"),
        ("ReplicationController", "v1"),
    ],
)
def test_the_reference_names_the_api(kind: str, api_version: str) -> None:
    each, _ = only([cron_job("web") if kind == "CronJob" else workload(kind, "web")])
    owner: Workload | None = each.owner
    assert owner is not None
    reference = reference_to(owner)
    assert (reference.api_version, reference.kind, reference.name, reference.controller) == (
        api_version,
        kind,
        "web",
        True,
    )
