"""Which workload a Pod belongs to, and which of its revisions it is of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import (
    OwnedPods,
    is_absent,
    matching_by_owner,
    owner_of,
    revision_of,
    scheduler_of,
    workloads,
)
from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.snapshot import Snapshot
from tests.build import Object, pod, snapshot
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


def test_matching_pods_come_by_owner_and_labels_and_are_looked_up_once() -> None:
    cluster = snapshot([*SHOP, owned("web-h1-c", "ReplicaSet", "web-h1", on="n", terminating=True)])
    first, again = ([*matching_by_owner("default", EVERYTHING, cluster)] for _ in range(2))
    assert {str(owner): [pod.metadata.name for pod in pods] for owner, pods in first} == {
        "cronjob/nightly": ["nightly-1-x"],
        "deployment/web": ["web-h1-a"],
        "pod/bare": ["bare"],
        "replicaset/gone": ["orphan-x"],
        "rollout/canary": ["canary-x"],
        "statefulset/db": ["db-0"],
    }
    assert all(one is other for (_, one), (_, other) in zip(first, again, strict=True))
    assert [*matching_by_owner("default", NOTHING, cluster)] == []


def test_static_pods_of_one_node_are_a_workload_each() -> None:
    static = [owned(name, "Node", "n", on="n") for name in ("api-n", "etcd-n")]
    assert found(snapshot(static)) == {("default", "pod/api-n"): ("api-n",), ("default", "pod/etcd-n"): ("etcd-n",)}


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
    ("within", "absent"),
    [({}, True), ({"ReplicaSet": {"default"}}, True), ({"ReplicaSet": {"x"}}, False)],
    ids=["of-all", "of-its-own", "of-another"],
)
def test_an_owner_of_a_namespace_that_was_not_read_is_not_absent(within: dict[str, set[str]], absent: bool) -> None:  # noqa: FBT001 - a case
    cluster = snapshot([owned("p", "ReplicaSet", "gone"), workload("ReplicaSet", "other", namespace="x")])
    narrowed = {kind: frozenset(names) for kind, names in within.items()}
    seen = Snapshot.build(replace(cluster.inventory, within=narrowed))
    (owner,) = next(iter(seen.all(Pod))).metadata.owner_references
    assert is_absent(owner, "default", seen) is absent
