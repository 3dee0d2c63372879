"""Kinds: where they live, and what people call them."""

from __future__ import annotations

import pytest

from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import BY_API, KINDS, WORKLOAD_KINDS, Kind, named


@pytest.mark.parametrize(
    ("kind", "namespace", "path"),
    [
        (kinds.POD, "", "/api/v1/pods"),
        (kinds.POD, "shop", "/api/v1/namespaces/shop/pods"),
        (kinds.NODE, "", "/api/v1/nodes"),
        (kinds.NODE, "shop", "/api/v1/nodes"),
        (kinds.DEPLOYMENT, "", "/apis/apps/v1/deployments"),
        (kinds.CRON_JOB, "shop", "/apis/batch/v1/namespaces/shop/cronjobs"),
        (kinds.HORIZONTAL_POD_AUTOSCALER, "shop", "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"),
        (kinds.STORAGE_CLASS, "", "/apis/storage.k8s.io/v1/storageclasses"),
    ],
)
def test_where_a_kind_is_listed(kind: Kind, namespace: str, path: str) -> None:
    assert kind.path(namespace) == path


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("pod", kinds.POD),
        ("pods", kinds.POD),
        ("po", kinds.POD),
        ("Pod", kinds.POD),
        ("no", kinds.NODE),
        ("svc", kinds.SERVICE),
        ("rc", kinds.REPLICATION_CONTROLLER),
        ("deploy", kinds.DEPLOYMENT),
        ("deployments.apps", kinds.DEPLOYMENT),
        ("deploy.apps", kinds.DEPLOYMENT),
        ("sts", kinds.STATEFUL_SET),
        ("StatefulSet", kinds.STATEFUL_SET),
        ("ds", kinds.DAEMON_SET),
        ("rs", kinds.REPLICA_SET),
        ("job", kinds.JOB),
        ("jobs.batch", kinds.JOB),
        ("cj", kinds.CRON_JOB),
        ("pvc", kinds.PERSISTENT_VOLUME_CLAIM),
        ("sc", kinds.STORAGE_CLASS),
        ("limits", kinds.LIMIT_RANGE),
        ("pc", kinds.PRIORITY_CLASS),
        ("runtimeclasses.node.k8s.io", kinds.RUNTIME_CLASS),
        ("hpa", kinds.HORIZONTAL_POD_AUTOSCALER),
    ],
)
def test_what_people_call_a_kind(word: str, kind: Kind) -> None:
    assert named(word) is kind


@pytest.mark.parametrize(
    "word", ["", "podss", "deployments.batch", "pods.v1", "rollout", "deployments.apps.example.com"]
)
def test_other_words_mean_no_kind(word: str) -> None:
    assert named(word) is None


def test_no_word_means_two_kinds() -> None:
    words = [word for kind in KINDS for word in {kind.singular, kind.plural, *kind.short_names}]
    assert len(words) == len(set(words))


def test_every_kind_is_found_by_what_its_objects_say() -> None:
    assert {kind.name for kind in BY_API.values()} == {kind.name for kind in KINDS}
    assert BY_API["apps/v1", "StatefulSet"] is kinds.STATEFUL_SET
    assert BY_API["v1", "Pod"].group == ""
    assert BY_API["batch/v1", "Job"].group == "batch"


def test_workloads_are_the_kinds_with_a_pod_template() -> None:
    assert {kind.name for kind in WORKLOAD_KINDS} == {
        "ReplicationController",
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "Job",
        "CronJob",
    }
    for kind in WORKLOAD_KINDS:
        assert {"metadata", "spec"} <= set(kind.struct.__struct_fields__)
