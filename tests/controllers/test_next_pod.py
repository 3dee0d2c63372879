"""The Pod that a workload makes next: by its controller, through the API server, as the living ones are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kubectl_spread.controllers.daemonset import is_pinned
from kubectl_spread.controllers.deployment import newest_replica_set
from kubectl_spread.controllers.job import COMPLETION_INDEX_LABEL
from kubectl_spread.controllers.next_pod import (
    NextPod,
    NoneComes,
    is_upgraded,
    next_pod,
    pod_of,
    replacement,
    siblings,
    why_none_comes,
)
from kubectl_spread.controllers.templates import reference_to
from kubectl_spread.controllers.workloads import OwnedPods, revision_of, scheduler_of, workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.scheduler.profile import default_profile
from tests.build import ZONE, Object, app, handle, node, object_of, pod, snapshot, spread
from tests.build_storage import claim
from tests.build_workloads import controller, cron_job, held_revision, owned, revision, template, workload
from tests.controllers.test_workloads import only
from tests.naming import in_order


def upcoming(objects: Sequence[Object]) -> NextPod:
    """Return what the only workload of the cluster makes next."""
    found = next_pod(*only(objects), default_profile())
    assert found is not None
    return found


def ended(how: str, status: str = "True") -> Object:
    """Return the status of a Job with this condition."""
    return {"conditions": [{"type": how, "status": status}]}


def made_by(objects: Sequence[Object]) -> Pod:
    """Return the next Pod of the only workload."""
    return upcoming(objects).pod


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([workload("Deployment", "web")], None),
        ([workload("Deployment", "web", replicas=0)], NoneComes.SCALED_TO_0),
        ([workload("DaemonSet", "web")], NoneComes.ON_EACH_NODE),
        ([workload("Job", "web")], None),
        ([workload("Job", "web", status=ended("Complete"))], NoneComes.COMPLETE),
        ([workload("Job", "web", status=ended("Failed"))], NoneComes.FAILED),
        ([workload("Job", "web", status=ended("FailureTarget"))], NoneComes.FAILED),
        ([workload("Job", "web", status=ended("SuccessCriteriaMet"))], NoneComes.COMPLETE),
        ([workload("Job", "web", status=ended("Complete", "False"))], None),
        ([workload("Job", "web", status={"succeeded": 1}, completions=1)], NoneComes.COMPLETE),
        ([workload("Job", "web", parallelism=0)], NoneComes.SCALED_TO_0),
        ([workload("Job", "web", suspend=True)], NoneComes.SUSPENDED),
        ([workload("Job", "web", suspend=True, status=ended("Complete"))], NoneComes.COMPLETE),
        ([workload("Job", "web"), owned("x", "Job", "web")], NoneComes.ALL_RUN),
        ([cron_job("web")], None),
        ([workload("Job", "web", managedBy="kubernetes.io/job-controller")], None),
        ([workload("Job", "web", managedBy="kueue.x-k8s.io/multikueue")], NoneComes.OTHER_CONTROLLER),
        ([cron_job("web", managedBy="kueue.x-k8s.io/multikueue")], NoneComes.OTHER_CONTROLLER),
        ([cron_job("web", parallelism=0)], NoneComes.SCALED_TO_0),
        ([workload("Deployment", "web", paused=True)], NoneComes.PAUSED),
        ([workload("Deployment", "web", paused=True), revision("web", 1)], None),
        (
            [workload("Deployment", "web", paused=True), revision("web", 1), owned("x", "ReplicaSet", "web-h1")],
            NoneComes.PAUSED,
        ),
        ([owned("x", "Rollout", "web")], None),
        ([pod("web")], NoneComes.UNMANAGED),
    ],
    ids=in_order,
)
def test_why_there_is_no_next_pod(objects: Sequence[Object], expected: NoneComes | None) -> None:
    assert why_none_comes(*only(objects)) is expected


@pytest.mark.parametrize(
    "kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"]
)
def test_the_next_pod_is_of_the_template(kind: str) -> None:
    constraint = spread(ZONE, selector=app("web"))
    made = made_by([workload(kind, "web", pods=template(constraint, labels={"app": "web", "tier": "1"}))])
    assert (made.metadata.name, made.metadata.namespace) == ("web-0" if kind == "StatefulSet" else "web", "default")
    assert made.metadata.labels.items() >= {"app": "web", "tier": "1"}.items()
    assert made.spec.topology_spread_constraints[0].topology_key == ZONE
    assert made.metadata.controller is not None
    assert (made.metadata.controller.kind, made.metadata.controller.name) == (kind, "web")


def test_the_next_pod_of_a_cron_job_is_of_its_jobs_template() -> None:
    made = made_by([cron_job("web", pods=template(labels={"app": "nightly"}))])
    assert (made.metadata.labels["app"], made.metadata.labels["job-name"]) == ("nightly", made.metadata.name)


def test_the_next_pod_of_a_deployment_is_of_its_newest_revision() -> None:
    made = made_by([workload("Deployment", "web"), revision("web", 9), revision("web", 10), revision("web", 2)])
    assert made.metadata.labels["pod-template-hash"] == "h10"
    assert made.metadata.controller is not None
    assert (made.metadata.controller.kind, made.metadata.controller.name) == ("ReplicaSet", "web-h10")


def test_a_deployment_without_a_replica_set_has_no_hash_yet() -> None:
    made = made_by([workload("Deployment", "web")])
    assert made.metadata.labels == {"app": "web"}


def test_the_next_pod_of_a_stateful_set_is_of_its_update_revision() -> None:
    made = made_by([workload("StatefulSet", "web", status={"updateRevision": "web-2"})])
    assert revision_of(made) == "web-2"


def test_without_a_readable_owner_the_newest_pod_is_the_template() -> None:
    pods = [owned(name, "Rollout", "web", on="n", labels={"v": name}) for name in ("b", "c", "a")]
    made = made_by(pods)
    assert (made.metadata.labels["v"], made.spec.node_name) == ("c", "")


def test_without_owner_and_pods_there_is_nothing_to_go_by() -> None:
    each, cluster = only([owned("x", "Rollout", "web")])
    assert next_pod(OwnedPods(each.namespace, each.ref, None, ()), cluster, default_profile()) is None
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
    made = made_by([workload("Deployment", "web"), unnumbered, revision("web", 1)])
    assert revision_of(made) == "h1"


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


def of_web(number: int, *, on: str = "n", labels: Mapping[str, str] | None = None, **fields: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a living Pod of the Deployment web's first revision."""
    own = {"app": "web", "pod-template-hash": "h1"} | {**(labels or {})}
    return owned(f"web-h1-{number}", "ReplicaSet", "web-h1", on=on, labels=own, **fields)


WEB = (workload("Deployment", "web"), revision("web", 1))  # The Deployment web with its first revision


def test_what_admission_adds_is_part_of_the_next_pod() -> None:
    pods = template(runtimeClassName="sandbox", priorityClassName="high")
    runtime = object_of("RuntimeClass", "sandbox", overhead={"podFixed": {"cpu": "1"}})
    runtime |= {"scheduling": {"nodeSelector": {"runtime": "sandbox"}}}
    limits = object_of("LimitRange", "limits", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}}]})
    high = object_of("PriorityClass", "high", value=7)
    found = upcoming([workload("Deployment", "web", pods=pods), revision("web", 1, pods=pods), runtime, limits, high])
    spec = found.pod.spec
    assert (spec.priority, spec.node_selector, spec.overhead) == (7, {"runtime": "sandbox"}, {"cpu": "1"})
    assert spec.containers[0].resources.requests["cpu"] == "2"
    assert {toleration.key for toleration in spec.tolerations} >= {"node.kubernetes.io/not-ready"}
    assert found.refusals == ()


@pytest.mark.parametrize(("name", "priority"), [("high", 7), ("higher", None)])
def test_the_value_of_a_class_that_was_not_read_is_shown_by_pods_that_have_it(name: str, priority: int | None) -> None:
    old, new = template(priorityClassName="high"), template(priorityClassName=name, nodeSelector={"disk": "ssd"})
    sets = [revision("web", 1, pods=old), revision("web", 2, pods=new)]
    found = upcoming([workload("Deployment", "web", pods=new), *sets, of_web(1, priorityClassName="high", priority=7)])
    assert (found.pod.spec.priority_class_name, found.pod.spec.priority) == (name, priority)
    assert found.from_living == ()


def test_bounds_and_quotas_refuse_the_pod_too() -> None:
    asking = template(requests={"cpu": "2"})
    made = [workload("Deployment", "web", pods=asking), revision("web", 1, pods=asking)]
    bound = object_of("LimitRange", "bounds", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]})
    none = {"hard": {"pods": "0"}}
    quota = object_of("ResourceQuota", "q", spec=none, status={**none, "used": {"pods": "0"}})
    assert any("maximum cpu usage per Container is 1" in each.message for each in upcoming([*made, bound]).refusals)
    assert [str(each).partition(",")[0] for each in upcoming([*made, quota]).refusals] == ["exceeded quota: q"]
    daemons = upcoming([workload("DaemonSet", "web", pods=asking), quota])
    assert [str(each).partition(",")[0] for each in daemons.refusals] == ["exceeded quota: q"]
    idle = workload("Deployment", "web", pods=asking, replicas=0)
    assert upcoming([idle, revision("web", 1, pods=asking), quota]).refusals == ()


@pytest.mark.parametrize(
    ("policy", "pods", "ordinal"),
    [
        ("OrderedReady", {0: "n", 1: "n", 2: "n"}, 3),
        ("OrderedReady", {0: "n", 2: "n"}, 1),
        ("OrderedReady", {0: "n", 1: ""}, 1),
        ("Parallel", {0: "n", 1: ""}, 2),
        ("Parallel", {}, 0),
    ],
    ids=in_order,
)
def test_the_ordinal_that_comes_next(policy: str, pods: Mapping[int, str], ordinal: int) -> None:
    made = workload("StatefulSet", "db", replicas=3, podManagementPolicy=policy)
    living = [owned(f"db-{number}", "StatefulSet", "db", on=on) for number, on in pods.items()]
    assert made_by([made, *living]).metadata.name == f"db-{ordinal}"


def test_ordinals_may_start_elsewhere() -> None:
    made = workload("StatefulSet", "db", replicas=2, ordinals={"start": 5})
    assert made_by([made, owned("db-5", "StatefulSet", "db", on="n")]).metadata.name == "db-6"


def test_claims_come_with_the_pod() -> None:
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim("scratch")["spec"]}}}
    made = workload("StatefulSet", "db", volumeClaimTemplates=[claim("data")], pods=template(volumes=[scratch]))
    found = upcoming([made])
    assert [each.metadata.name for each in found.claims] == ["db-0-scratch", "data-db-0"]


def test_a_claim_that_exists_is_taken_as_it_is() -> None:
    made = workload("StatefulSet", "db", volumeClaimTemplates=[claim("data")])
    cluster = handle([node("n"), made, claim("data-db-0", bound_to="kept")])
    found = next_pod(next(workloads(cluster.snapshot)), cluster.snapshot, cluster.profile)
    assert found is not None
    kept = found.place(cluster).snapshot.get(PersistentVolumeClaim, "default", "data-db-0")
    assert kept is not None
    assert kept.spec.volume_name == "kept"


def test_below_the_partition_a_pod_is_of_the_current_revision() -> None:
    made = workload(
        "StatefulSet",
        "db",
        pods=template(nodeSelector={"disk": "new"}),
        replicas=3,
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
        status={"currentRevision": "db-1", "updateRevision": "db-2"},
    )
    current = {"labels": {"app": "web", "controller-revision-hash": "db-1"}, "nodeSelector": {"disk": "old"}}
    newest = {"labels": {"app": "web", "controller-revision-hash": "db-2"}, "nodeSelector": {"disk": "new"}}
    first = owned("db-0", "StatefulSet", "db", on="n", **current)
    below = made_by([made, first, owned("db-2", "StatefulSet", "db", on="n", **newest)])
    above = made_by([made, first, owned("db-1", "StatefulSet", "db", on="n", **current)])
    assert (below.metadata.name, revision_of(below), below.spec.node_selector) == ("db-1", "db-1", {"disk": "old"})
    assert (above.metadata.name, revision_of(above), above.spec.node_selector) == ("db-2", "db-2", {"disk": "new"})


def test_the_first_index_without_a_pod_or_an_end_comes_next() -> None:
    made = workload(
        "Job",
        "web",
        parallelism=4,
        completions=9,
        completionMode="Indexed",
        status={"succeeded": 2, "completedIndexes": "0,2-3", "failedIndexes": "1"},
    )
    running = owned("web-4", "Job", "web", on="n", labels={COMPLETION_INDEX_LABEL: "4"})
    found = upcoming([made, running])
    assert (found.comes, found.pod.metadata.labels[COMPLETION_INDEX_LABEL]) == (True, "5")


@pytest.mark.parametrize(("policy", "index"), [("TerminatingOrFailed", "0"), (None, "0"), ("Failed", "1")])
def test_the_index_of_a_pod_that_is_being_deleted_comes_again(policy: str | None, index: str) -> None:
    made = workload("Job", "web", parallelism=2, completions=2, completionMode="Indexed", podReplacementPolicy=policy)
    leaving = owned("web-0", "Job", "web", on="n", labels={COMPLETION_INDEX_LABEL: "0"}, terminating=True)
    found = upcoming([made, leaving])
    assert (found.comes, found.pod.metadata.labels[COMPLETION_INDEX_LABEL]) == (True, index)


def test_an_indexed_job_makes_no_pod_where_every_index_left_has_failed_or_runs() -> None:
    status = {"succeeded": 1, "completedIndexes": "1", "failedIndexes": "0"}
    running = owned("web-2", "Job", "web", on="n", labels={"batch.kubernetes.io/job-completion-index": "2"})
    asked: Object = {"parallelism": 3, "completionMode": "Indexed", "status": status}
    assert not upcoming([workload("Job", "web", completions=3, **asked), running]).comes
    assert upcoming([workload("Job", "web", completions=4, **asked), running]).comes


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "CronJob", "Job"])
def test_what_is_being_deleted_makes_no_more_pods(kind: str) -> None:
    made = cron_job("web") if kind == "CronJob" else workload(kind, "web")
    assert upcoming([made]).comes
    made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert not upcoming([made]).comes


def test_a_deployment_whose_template_no_revision_has_is_about_to_roll_out() -> None:
    changed = workload("Deployment", "web", pods=template(nodeSelector={"disk": "ssd"}))
    made = made_by([changed, revision("web", 1)])
    assert (made.spec.node_selector, revision_of(made) == "h1") == ({"disk": "ssd"}, False)
    paused = workload("Deployment", "web", pods=template(nodeSelector={"disk": "ssd"}), paused=True)
    made = made_by([paused, revision("web", 1)])
    assert (made.spec.node_selector, revision_of(made)) == ({}, "h1")


def test_a_paused_deployment_makes_what_it_lacks_of_the_revision_that_lacks_it() -> None:
    """No new revision comes, whatever the template says."""
    changed = workload("Deployment", "web", pods=template(nodeSelector={"disk": "ssd"}), replicas=4, paused=True)
    first, second = revision("web", 1), revision("web", 2)
    first["spec"]["replicas"], second["spec"]["replicas"] = 3, 1
    hashes = {n: {"pod-template-hash": n} for n in ("h1", "h2")}
    old = [owned(f"old-{n}", "ReplicaSet", "web-h1", labels=hashes["h1"]) for n in range(3)]
    new = owned("new", "ReplicaSet", "web-h2", labels=hashes["h2"])
    assert [revision_of(made_by([changed, first, second, *living])) for living in ([*old], [*old[1:], new])] == [
        "h2",
        "h1",
    ]
    # Scaled up, the largest gets most.
    grown = {**changed, "spec": {**changed["spec"], "replicas": 5}}
    assert revision_of(made_by([grown, first, second, *old, new])) == "h1"


def test_a_rollback_takes_the_old_revision_up_again() -> None:
    newer = template(nodeSelector={"disk": "ssd"})
    assert (
        revision_of(made_by([workload("Deployment", "web"), revision("web", 1), revision("web", 2, pods=newer)]))
        == "h1"
    )


INJECTED: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "a constraint": ({"topologySpreadConstraints": [spread(ZONE, selector=app("web"))]}, "topologySpreadConstraints"),
    "a toleration": ({"tolerations": [{"key": "dedicated", "operator": "Exists"}]}, "tolerations"),
    "a node selector": ({"nodeSelector": {"disk": "ssd"}}, "nodeSelector"),
    "a scheduler": ({"schedulerName": "volcano"}, "schedulerName"),
    "a runtime": ({"runtimeClassName": "sandbox", "overhead": {"cpu": "1"}}, "runtimeClassName"),
    "resources": ({"requests": {"cpu": "3"}}, "containers"),
    "the host's network": ({"hostNetwork": True}, "hostNetwork"),
    "a priority": ({"priorityClassName": "high", "priority": 7}, "priorityClassName"),
}


@pytest.mark.parametrize(("fields", "path"), INJECTED.values(), ids=INJECTED.keys())
def test_what_all_living_pods_carry_the_next_will_carry(fields: Mapping[str, Any], path: str) -> None:
    found = upcoming([*WEB, of_web(1, **fields), of_web(2, **fields)])
    assert f"spec.{path}" in found.from_living
    assert upcoming([*WEB, of_web(1), of_web(2)]).from_living == ()


def test_what_may_change_on_a_living_pod_counts_where_all_have_it() -> None:
    tolerations = [{"key": "dedicated", "operator": "Exists"}]
    changed = of_web(2, labels={"debug": "yes"}, tolerations=tolerations, requests={"cpu": "3"})
    found = upcoming([*WEB, of_web(1), changed])
    assert found.from_living == ()


def test_what_cannot_change_is_that_of_the_newest_pod() -> None:
    found = upcoming([*WEB, of_web(1), of_web(2, nodeSelector={"disk": "ssd"})])
    assert found.pod.spec.node_selector == {"disk": "ssd"}


def test_what_only_some_of_the_pods_have_that_were_created_together_is_not_injected() -> None:
    pods = [of_web(1), of_web(2, nodeSelector={"disk": "ssd"})]
    for each in pods:
        each["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    assert upcoming([*WEB, *pods]).from_living == ()


def of_older(**fields: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a living Pod of a revision before that of WEB."""
    return owned("web-h0-1", "ReplicaSet", "web-h0", on="n", labels={"pod-template-hash": "h0"}, **fields)


@pytest.mark.parametrize(("fields", "path"), INJECTED.values(), ids=INJECTED.keys())
def test_a_new_revision_without_pods_gets_what_webhooks_added_to_the_one_before(
    fields: Mapping[str, Any], path: str
) -> None:
    found = upcoming([*WEB, revision("web", 0), of_older(**fields)])
    assert f"spec.{path}" in found.from_living


def test_what_the_older_template_itself_had_is_not_injected() -> None:
    old = template(nodeSelector={"disk": "ssd"}, requests={"cpu": "3"})
    own = of_older(nodeSelector={"disk": "ssd", "mesh": "on"}, requests={"cpu": "3"})
    found = upcoming([*WEB, revision("web", 0, pods=old), own])
    assert (found.from_living, found.pod.spec.node_selector) == (("spec.nodeSelector",), {"mesh": "on"})


def test_what_a_webhook_writes_over_is_what_the_new_template_says_where_that_changes_it() -> None:
    new = template(requests={"cpu": "1", "memory": "1Gi"})
    living = of_older(requests={"cpu": "3", "memory": "2Gi"})
    old = revision("web", 0, pods=template(requests={"cpu": "2", "memory": "1Gi"}))
    found = upcoming([workload("Deployment", "web", pods=new), old, revision("web", 1, pods=new), living])
    assert found.pod.spec.containers[0].resources.requests == {"cpu": "1", "memory": "2Gi"}


def test_labels_by_which_siblings_are_told_apart_are_not_taken_over() -> None:
    made = workload("StatefulSet", "db", replicas=2, status={"updateRevision": "db-1"})
    labels = {"apps.kubernetes.io/pod-index": "0", "topology.kubernetes.io/zone": "a", "mesh": "on"}
    first = owned("db-0", "StatefulSet", "db", on="n", labels={"controller-revision-hash": "db-1", **labels})
    found = made_by([made, first]).metadata.labels
    assert (found["apps.kubernetes.io/pod-index"], found["mesh"]) == ("1", "on")
    assert "topology.kubernetes.io/zone" not in found


def test_an_injected_constraint_with_label_keys_counts_the_next_pods_labels() -> None:
    merged = app("web") | {"matchExpressions": [{"key": "pod-template-hash", "operator": "In", "values": ["h1"]}]}
    own = spread(ZONE, selector=merged, matchLabelKeys=["pod-template-hash"])
    found = upcoming([*WEB, of_web(1, topologySpreadConstraints=[own])])
    (constraint,) = found.pod.spec.topology_spread_constraints
    assert constraint.label_selector is not None
    assert len(constraint.label_selector.match_expressions) == 1


def test_a_pod_of_another_api_gets_claims_of_its_own() -> None:
    def broker(number: int, *claims: str) -> Object:
        mounted = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        return owned(f"kafka-{number}", "StrimziPodSet", "kafka", on="n", volumes=mounted)

    claims = [claim("data-0", bound_to="a"), claim("data-1", bound_to="b"), claim("shared", bound_to="c")]
    found = upcoming([*claims, broker(0, "data-0", "shared"), broker(1, "data-1", "shared")])
    mounted = [each.persistent_volume_claim for each in found.pod.spec.volumes]
    assert [each.claim_name for each in mounted if each] == ["data-1-next", "shared"]
    assert [(each.metadata.name, each.spec.volume_name) for each in found.claims] == [("data-1-next", "")]


def test_a_static_pod_is_no_workload_of_its_node() -> None:
    each, cluster = only([owned("etcd-n", "Node", "n", on="n")])
    found = next_pod(each, cluster, default_profile())
    assert found is not None
    assert (str(each.ref), found.comes) == ("pod/etcd-n", False)


def replaced(objects: Sequence[Object], name: str) -> NextPod:
    """Return what is made in place of the Pod of that name."""
    cluster = snapshot(objects)
    pod_ = cluster.get(Pod, "default", name)
    assert pod_ is not None
    return replacement(pod_, cluster, default_profile())


def test_a_stateful_set_makes_the_same_ordinal_again() -> None:
    made = workload("StatefulSet", "db", volumeClaimTemplates=[claim("data")])
    found = replaced([made, owned("db-3", "StatefulSet", "db", on="n")], "db-3")
    assert (found.pod.metadata.name, [each.metadata.name for each in found.claims]) == ("db-3", ["data-db-3"])


def test_a_replica_set_makes_a_pod_of_its_own_revision_with_what_webhooks_add() -> None:
    newer = revision("web", 2, pods=template(nodeSelector={"disk": "new"}))
    living = of_web(1, schedulerName="volcano")
    found = replaced([*WEB, newer, living], "web-h1-1")
    assert (revision_of(found.pod), found.pod.spec.node_selector) == ("h1", {})
    assert (found.pod.spec.scheduler_name, found.from_living) == ("volcano", ("spec.schedulerName",))


def test_pods_with_the_same_labels_of_another_owner_tell_nothing_of_what_comes() -> None:
    owners = [workload("ReplicaSet", name) for name in ("web", "xray")]
    mine = owned("web-1", "ReplicaSet", "web", on="n")
    other = owned("xray-1", "ReplicaSet", "xray", on="n", schedulerName="volcano")
    assert replaced([*owners, mine, other], "web-1").from_living == ()


@pytest.mark.parametrize("owner", [[], [workload("DaemonSet", "agent")]], ids=["unread", "read"])
def test_a_daemon_comes_back_to_its_node(owner: Sequence[Object]) -> None:
    assert is_pinned(replaced([*owner, owned("agent-x", "DaemonSet", "agent", on="n")], "agent-x").pod)


def daemon(name: str, revision: str, generation: str, *, cpu: str = "8") -> Object:
    """Return a Pod of the DaemonSet agent, of a revision."""
    labels = {"controller-revision-hash": revision, "pod-template-generation": generation}
    return owned(name, "DaemonSet", "agent", on=name, labels=labels, requests={"cpu": cpu})


@pytest.mark.parametrize(
    ("others", "shown", "cpu"),
    [
        ([], "1", "8"),
        ([], "2", "1"),
        ([daemon("n2", "new", "2", cpu="3")], "2", "3"),
        ([held_revision("agent-old", template(requests={"cpu": "1"}))], "2", "8"),
    ],
    ids=["the newest", "an older one", "two revisions", "the template was taken back"],
)
def test_a_daemon_of_an_older_template_is_no_model(others: Sequence[Object], shown: str, cpu: str) -> None:
    generation = {"deprecated.daemonset.template.generation": shown}
    agent = workload("DaemonSet", "agent", pods=template(requests={"cpu": "1"}), annotations=generation)
    objects = [node("n1"), agent, *others, daemon("n1", "old", "1")]
    for found in (upcoming(objects), replaced(objects, "n1")):
        assert found.pod.spec.containers[0].resources.requests["cpu"] == cpu
        assert (revision_of(found.pod) == "old") is (cpu == "8")
    old = snapshot(objects).get(Pod, "default", "n1")
    assert old is not None
    assert is_upgraded(old, snapshot(objects)) is (cpu != "8")


def test_what_cannot_be_read_makes_a_copy_with_ephemeral_claims_of_its_own() -> None:
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim("scratch")["spec"]}}}
    found = replaced([owned("canary-x", "Rollout", "canary", on="n", volumes=[scratch])], "canary-x")
    assert [each.metadata.name for each in found.claims] == [f"{found.pod.metadata.name}-scratch"]
    assert found.pod.spec.node_name == ""


MESH = {"nodeSelector": {"mesh": "on"}}


@pytest.mark.parametrize(
    ("pods", "fields", "taken"),
    [
        (template(), MESH, True),
        (template(nodeSelector={"disk": "ssd"}), MESH, False),
        (template(image="web:2"), {"image": "web:1", **MESH}, False),
        (template(tolerations=[{"key": "new", "operator": "Exists"}]), MESH, False),
        (template(spread(ZONE, selector=app("web"))), MESH, False),
    ],
    ids=["nothing lacks", "a node selector", "an image", "a toleration", "a constraint"],
)
def test_pods_without_a_revision_that_lack_something_of_the_template_say_nothing(
    pods: Object, fields: Mapping[str, Any], *, taken: bool
) -> None:
    found = upcoming(
        [workload("ReplicaSet", "lone", pods=pods), owned("lone-x", "ReplicaSet", "lone", on="n", **fields)]
    )
    assert (found.from_living == ("spec.nodeSelector",)) is taken


def test_the_next_run_of_a_cron_job_carries_what_the_last_one_did() -> None:
    run = workload("Job", "web-1", owner=controller("CronJob", "web"))
    living = owned("web-1-x", "Job", "web-1", on="n", **MESH)
    assert upcoming([cron_job("web"), run, living]).from_living == ("spec.nodeSelector",)
    changed = cron_job("web", pods=template(nodeSelector={"disk": "ssd"}))
    assert upcoming([changed, run, living]).from_living == ()


def test_a_pod_that_waits_was_created() -> None:
    quota = object_of("ResourceQuota", "q")
    quota |= {"spec": {"hard": {"pods": "1"}}, "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}}
    made = workload("StatefulSet", "db", replicas=2)
    assert upcoming([made, quota, owned("db-0", "StatefulSet", "db")]).refusals == ()
    assert upcoming([made, quota, owned("db-0", "StatefulSet", "db", on="n")]).refusals != ()


def test_what_controllers_write_is_no_webhooks() -> None:
    generation = {"app": "agent", "controller-revision-hash": "r1", "pod-template-generation": "1"}
    agent = owned("agent-x", "DaemonSet", "agent", on="n", labels=generation)
    found = upcoming([workload("DaemonSet", "agent"), agent])
    assert (found.from_living, found.pod.metadata.labels["pod-template-generation"]) == ((), "1")


def test_the_claims_of_a_stateful_set_are_no_webhooks() -> None:
    own, shared = (
        {"name": name, "persistentVolumeClaim": {"claimName": claimed}}
        for name, claimed in (("disk", "disk-db-0"), ("shared", "backup"))
    )
    made = workload("StatefulSet", "db")

    def paths(*volumes: Object) -> tuple[str, ...]:
        return upcoming([made, owned("db-0", "StatefulSet", "db", on="n", volumes=[*volumes])]).from_living

    assert (paths(own), paths(own, shared)) == ((), ("spec.volumes",))


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_what_was_taken_out_of_a_template_without_a_revision_is_not_injected(kind: str) -> None:
    living = owned("lone-x", kind, "lone", on="n", **MESH)
    before, cluster = only([workload(kind, "lone", pods=template(**MESH)), living])
    after, _ = only([workload(kind, "lone"), living])
    assert before.owner is not None
    assert after.owner is not None
    assert siblings(pod_of(before.owner, cluster), before, cluster) == before.pods
    assert siblings(pod_of(after.owner, cluster), after, cluster) == ()


@pytest.mark.parametrize(
    ("kind", "minor", "refused"), [("StatefulSet", 33, 1), ("Deployment", 33, 0), ("Deployment", 36, 1)]
)
def test_an_error_that_is_not_looked_for_in_a_template_refuses_its_pods(kind: str, minor: int, refused: int) -> None:
    keyed = template(spread(ZONE, selector=app("web"), matchLabelKeys=["app"]))
    found = next_pod(*only([workload(kind, "web", pods=keyed, replicas=1)]), default_profile(minor))
    assert found is not None
    assert [each.message.rpartition(": ")[2] for each in found.refusals] == [
        "exists in both matchLabelKeys and labelSelector"
    ] * refused
