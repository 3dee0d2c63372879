"""What the controllers would make of a manifest: its first Pod, how many, what else."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.diagnosis.controllers import as_created, first_pod, pinned_to, replicas_of
from kubectl_spread.diagnosis.workloads import revision_number, revision_of
from kubectl_spread.objects.core import Service
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, Workload
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.snapshot import Snapshot
from tests import build
from tests.build import Object, node, pod, snapshot, typed_pod
from tests.build_workloads import cron_job, revision, template, workload
from tests.diagnosis.judged import SERVICE
from tests.naming import in_order


def typed(described: Object) -> Any:  # noqa: ANN401 - whatever kind it is
    """Return the object as the program holds it."""
    return convert(described, BY_API[described["apiVersion"], described["kind"]].struct)


def created(described: Object, *objects: Object) -> tuple[Workload, Snapshot]:
    """Return the workload, and the cluster of these objects with what its creation brings."""
    before = snapshot(objects)
    made = as_created(typed(described), before)
    owner: Workload = made[0]  # type: ignore[assignment] # workloads alone are created here
    return owner, before.with_objects(made)


@pytest.mark.parametrize(
    ("described", "replicas"),
    [
        (workload("Deployment", "web"), 1),
        (workload("Deployment", "web", replicas=7), 7),
        (workload("Deployment", "web", replicas=0), 0),
        (workload("StatefulSet", "web", replicas=3), 3),
        (workload("ReplicationController", "web", replicas=2), 2),
        (workload("DaemonSet", "web"), 1),
        (workload("Job", "web"), 1),
        (workload("Job", "web", parallelism=4), 4),
        (workload("Job", "web", parallelism=4, completions=2), 2),
        (workload("Job", "web", parallelism=2, completions=9), 2),
        (workload("Job", "web", completions=9), 1),
        (cron_job("web", parallelism=3), 3),
        (cron_job("web"), 1),
    ],
    ids=in_order,
)
def test_how_many_pods_are_asked_for(described: Object, replicas: int) -> None:
    assert replicas_of(typed(described)) == replicas


def test_a_new_deployment_brings_the_replica_set_of_its_revision() -> None:
    owner, cluster = created(workload("Deployment", "web"))
    (replica_set,) = cluster.all(ReplicaSet)
    hash_ = replica_set.metadata.labels["pod-template-hash"]
    assert replica_set.metadata.name == f"web-{hash_}"
    assert replica_set.spec.selector is not None
    assert replica_set.spec.selector.match_labels == {"app": "web", "pod-template-hash": hash_}
    assert revision_of(first_pod(owner, cluster)) == hash_


def test_a_deployment_whose_template_runs_already_keeps_its_revision() -> None:
    owner, cluster = created(workload("Deployment", "web"), workload("Deployment", "web"), revision("web", 3))
    assert revision_of(first_pod(owner, cluster)) == "h3"
    assert len(list(cluster.all(ReplicaSet))) == 1


def test_a_changed_template_is_the_next_revision() -> None:
    changed = workload("Deployment", "web", pods=template(nodeSelector={"disk": "ssd"}))
    owner, cluster = created(changed, workload("Deployment", "web"), revision("web", 3))
    newest = max(cluster.all(ReplicaSet), key=revision_number)
    assert newest.metadata.annotations == {"deployment.kubernetes.io/revision": "4"}
    assert revision_of(first_pod(owner, cluster)) == newest.metadata.labels["pod-template-hash"] != "h3"


def test_the_same_template_is_always_the_same_revision() -> None:
    one, other = (created(workload("Deployment", name)) for name in ("web", "web"))
    assert revision_of(first_pod(*one)) == revision_of(first_pod(*other))


def test_a_deployment_without_a_selector_is_no_accident() -> None:
    described = workload("Deployment", "web")
    del described["spec"]["selector"]
    _, cluster = created(described)
    (replica_set,) = cluster.all(ReplicaSet)
    assert replica_set.spec.selector is None


def test_a_stateful_set_has_a_revision_of_its_template() -> None:
    owner, cluster = created(workload("StatefulSet", "db", status={"updateRevision": "db-old"}))
    (stateful_set,) = cluster.all(StatefulSet)
    assert stateful_set.status.update_revision.startswith("db-")
    assert revision_of(first_pod(owner, cluster)) == stateful_set.status.update_revision != "db-old"


@pytest.mark.parametrize("described", [SERVICE, workload("Job", "web"), workload("ReplicaSet", "web")], ids=in_order)
def test_everything_else_is_created_as_it_stands(described: Object) -> None:
    obj = typed(described)
    assert as_created(obj, snapshot([])) == (obj,)


def test_a_daemon_tolerates_what_its_controller_says() -> None:
    tolerated = {(t.key, t.effect) for t in first_pod(*created(workload("DaemonSet", "agent"))).spec.tolerations}
    assert ("node.kubernetes.io/unschedulable", "NoSchedule") in tolerated
    assert ("node.kubernetes.io/not-ready", "NoExecute") in tolerated
    assert ("node.kubernetes.io/network-unavailable", "NoSchedule") not in tolerated
    own = [{"key": "own", "operator": "Exists"}]
    on_host = workload("DaemonSet", "agent", pods=template(hostNetwork=True, tolerations=own))
    tolerations = first_pod(*created(on_host)).spec.tolerations
    assert tolerations[0].key == "own"
    assert ("node.kubernetes.io/network-unavailable", "NoSchedule") in {(t.key, t.effect) for t in tolerations}


def test_no_other_workload_tolerates_more_than_it_says() -> None:
    assert first_pod(*created(workload("Deployment", "web"))).spec.tolerations == ()


@pytest.mark.parametrize(
    "affinity",
    [
        {},
        {
            "affinity": {
                "podAffinity": {},
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
                    }
                },
            }
        },
    ],
    ids=in_order,
)
def test_a_daemons_pod_is_for_one_node(affinity: Object) -> None:
    pinned = pinned_to(typed_pod(pod("p", **affinity)), "b")
    infos = build.handle([node("a", labels={"disk": "ssd"}), node("b")]).node_infos
    required = RequiredNodeAffinity.of(pinned)
    assert {name: required.matches(info.node) for name, info in infos.items()} == {"a": False, "b": True}


def test_what_is_created_replaces_nothing_else() -> None:
    _, cluster = created(workload("Deployment", "web"), SERVICE)
    assert [service.metadata.name for service in cluster.all(Service)] == ["web"]
