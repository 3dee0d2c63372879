"""What the controllers would make of a manifest: its first Pod, how many, what else."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.controllers.daemonset import pinned_to
from kubectl_spread.controllers.deployment import revision_number
from kubectl_spread.controllers.next_pod import claims_of
from kubectl_spread.controllers.replicas import as_created, first_pod, replica, replicas_of
from kubectl_spread.controllers.templates import same_template
from kubectl_spread.controllers.workloads import revision_of
from kubectl_spread.objects.core import PodTemplateSpec, Service
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, Workload
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.snapshot import Snapshot
from tests import build
from tests.build import Object, node, pod, snapshot, typed_pod
from tests.build_storage import claim
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


def test_replicas_are_named_as_their_controllers_name_them() -> None:
    deployment = typed(workload("Deployment", "web"))
    owner, cluster = created(workload("Deployment", "web"))
    first = replica(deployment, first_pod(owner, cluster), 1)
    (replica_set,) = cluster.all(ReplicaSet)
    assert first.metadata.name == f"{replica_set.metadata.name}-00001"
    assert first.metadata.uid == f"default/{first.metadata.name}"
    assert replica(deployment, first_pod(owner, cluster), 2).metadata.uid != first.metadata.uid
    assert replica(None, typed_pod(pod("bare")), 3).metadata.name == "bare-00003"


def test_a_long_name_leaves_room_for_what_is_added() -> None:
    assert replica(None, typed_pod(pod("x" * 80)), 1).metadata.name == f"{'x' * 58}-00001"


def test_the_pods_of_a_stateful_set_have_ordinals() -> None:
    owner, cluster = created(workload("StatefulSet", "db", ordinals={"start": 5}))
    second = replica(owner, first_pod(owner, cluster), 2)
    assert second.metadata.name == "db-6"
    labels = second.metadata.labels
    assert (labels["statefulset.kubernetes.io/pod-name"], labels["apps.kubernetes.io/pod-index"]) == ("db-6", "6")
    assert labels["controller-revision-hash"].startswith("db-")


def test_the_claims_of_a_stateful_set_replace_volumes_of_their_name() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "shared", "persistentVolumeClaim": {"claimName": "one"}}]
    described = workload(
        "StatefulSet", "db", pods=template(volumes=volumes), volumeClaimTemplates=[claim("data", class_name="fast")]
    )
    owner, cluster = created(described)
    first = replica(owner, first_pod(owner, cluster), 1)
    claims = [v.persistent_volume_claim.claim_name for v in first.spec.volumes if v.persistent_volume_claim]
    assert claims == ["data-db-0", "one"]
    (made,) = claims_of(owner, first)
    assert (made.metadata.namespace, made.metadata.name, made.class_name) == ("default", "data-db-0", "fast")


def test_every_owner_makes_the_claims_of_ephemeral_volumes() -> None:
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    first = replica(None, typed_pod(pod("p", volumes=[scratch])), 1)
    assert [made.metadata.name for made in claims_of(None, first)] == ["p-00001-scratch"]
    assert not list(claims_of(None, typed_pod(pod("p"))))


def without_selector(described: Object) -> Object:
    """Return a Job, or a CronJob, that leaves its selector to the API server."""
    spec = described["spec"].get("jobTemplate", {}).get("spec", described["spec"])
    spec.pop("selector", None)
    return described


@pytest.mark.parametrize(
    ("described", "name"), [(workload("Job", "sum"), "sum"), (cron_job("nightly"), "nightly-00000000")], ids=in_order
)
def test_the_pods_of_a_job_carry_its_name_and_its_uid(described: Object, name: str) -> None:
    owner, cluster = created(without_selector(described))
    first = first_pod(owner, cluster)
    assert first.metadata.labels["job-name"] == first.metadata.labels["batch.kubernetes.io/job-name"] == name
    uid = first.metadata.labels["controller-uid"]
    assert uid == first.metadata.labels["batch.kubernetes.io/controller-uid"] != ""
    assert first.metadata.controller is not None
    assert (first.metadata.controller.kind, first.metadata.controller.name) == ("Job", name)
    assert replica(owner, first, 1).metadata.name == f"{name}-00001"


@pytest.mark.parametrize(
    "described", [workload("Job", "sum", completionMode="Indexed"), cron_job("sum", completionMode="Indexed")], ids=str
)
def test_the_pods_of_an_indexed_job_have_an_index(described: Object) -> None:
    owner, cluster = created(described)
    third = replica(owner, first_pod(owner, cluster), 3)
    assert third.metadata.labels["batch.kubernetes.io/job-completion-index"] == "2"
    assert third.metadata.name.endswith("-2-00003")


def test_a_stateful_set_whose_template_runs_already_keeps_its_revision() -> None:
    there = workload("StatefulSet", "db", status={"updateRevision": "db-old"})
    owner, cluster = created(workload("StatefulSet", "db"), there)
    assert revision_of(first_pod(owner, cluster)) == "db-old"
    changed = workload("StatefulSet", "db", pods=template(nodeSelector={"disk": "ssd"}))
    owner, cluster = created(changed, there)
    assert revision_of(first_pod(owner, cluster)) not in {"", "db-old"}


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "1000m"}}, True),
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}, False),
        ({"requests": {"cpu": "?"}}, {"requests": {"cpu": "?"}}, True),
        ({"overhead": {"memory": "1Gi"}}, {"overhead": {"memory": "1024Mi"}}, True),
        ({"labels": {"a": "b"}}, {"labels": {"a": "b", "pod-template-hash": "x"}}, True),
        ({"labels": {"a": "b"}}, {"labels": {"a": "c"}}, False),
        ({"image": "a"}, {"image": "b"}, False),
        ({}, {"schedulerName": "default-scheduler", "restartPolicy": "Always"}, True),
    ],
    ids=str,
)
def test_which_templates_are_the_same(*, first: Any, second: Any, same: bool) -> None:  # noqa: ANN401 - as for template
    one, other = (convert(template(**fields), PodTemplateSpec) for fields in (first, second))
    assert same_template(one, other) is same
