"""What may not change of an object that exists; each refusal as a real API server gave it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from kubectl_spread.apiserver.updates import update_errors
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.release import Release
from tests.build import Object, object_of, pod
from tests.build_workloads import kubectl_applied, laid_over, template, workload

OTHER = {"matchLabels": {"app": "other"}}
STATEFUL_SET = (
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',"
    " 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and"
    " 'minReadySeconds' are forbidden"
)
POD = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing"
    " tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
ONLY_MORE = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"


def read(described: Object) -> KubernetesObject:
    return convert(described, BY_API[described["apiVersion"], described["kind"]].struct)


def errors(new: Object, live: Object, *, minor: int = 36) -> Sequence[str]:
    return [str(error) for error in update_errors(laid_over(new, [live]), read(live), Release(minor))]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet"])
def test_a_selector_stays(kind: str) -> None:
    live = workload(kind, "web", pods=template())
    assert not errors(workload(kind, "web", pods=template(nodeSelector={"a": "b"}), replicas=9), live)
    assert errors(workload(kind, "web", selector=OTHER), live) == [
        'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable'
    ]


def claim(storage: str = "1Gi", name: str = "data", **spec: Any) -> Object:  # noqa: ANN401 - any field
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}
    return object_of("PersistentVolumeClaim", name, spec=wanted)


@pytest.mark.parametrize(
    "changed",
    [
        {"selector": OTHER},
        {"serviceName": "other"},
        {"podManagementPolicy": "Parallel"},
        {"volumeClaimTemplates": [claim("2Gi")]},
        {"volumeClaimTemplates": [claim(name="more")]},
    ],
    ids=str,
)
def test_most_of_a_stateful_set_stays(changed: Object) -> None:
    kept: Object = {"serviceName": "web", "volumeClaimTemplates": [claim()]}
    live = workload("StatefulSet", "web", pods=template(), **kept)
    assert errors(workload("StatefulSet", "web", pods=template(), **{**kept, **changed}), live) == [STATEFUL_SET]


def test_what_may_change_of_a_stateful_set() -> None:
    live = workload("StatefulSet", "web", pods=template(), serviceName="web", volumeClaimTemplates=[claim("1Gi")])
    same: Object = {"serviceName": "web", "volumeClaimTemplates": [claim("1024Mi", volumeMode="Filesystem")]}
    newer = template(nodeSelector={"a": "b"})
    assert not errors(workload("StatefulSet", "web", pods=newer, replicas=5, ordinals={"start": 1}, **same), live)


def job(pods: Object | None = None, **spec: Any) -> Object:  # noqa: ANN401 - any field
    return workload("Job", "web", pods=pods or template(restartPolicy="Never"), **spec)


def live_job(**spec: Any) -> Object:  # noqa: ANN401 - any field
    """Return a Job with what the API server and the controller add to it."""
    made = job(**{"completions": 3, "parallelism": 1, **spec})
    made["spec"]["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    added = {"batch.kubernetes.io/controller-uid": "u", "job-name": "web"}
    made["spec"]["template"]["metadata"]["labels"] |= added
    return made


def unselecting(described: Object) -> Object:
    """Return a Job's manifest without a selector, which it rarely has."""
    described["spec"].pop("selector", None)
    return described


def test_a_job_that_is_applied_again() -> None:
    assert not errors(unselecting(job(completions=3)), live_job())
    assert not errors(unselecting(job(parallelism=2)), live_job())


@pytest.mark.parametrize(
    ("new", "told"),
    [
        (job(completions=4), ["spec.completions: Invalid value: 4: field is immutable"]),
        (
            job(template(restartPolicy="Never", nodeSelector={"a": "b"})),
            ["spec.template: Invalid value: {...}: field is immutable"],
        ),
        (
            job(template(restartPolicy="Never", labels={"app": "web", "x": "y"})),
            ["spec.template: Invalid value: {...}: field is immutable"],
        ),
        (
            job(completions=3, completionMode="Indexed"),
            ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
        ),
        (job(managedBy="a/b"), ['spec.managedBy: Invalid value: "a/b": field is immutable']),
        (job(backoffLimitPerIndex=1), ["spec.backoffLimitPerIndex: Invalid value: 1: field is immutable"]),
        (
            job(podFailurePolicy={"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}),
            ["spec.podFailurePolicy: Invalid value: {...}: field is immutable"],
        ),
    ],
)
def test_what_stays_of_a_job(new: Object, told: Sequence[str]) -> None:
    assert errors(unselecting(new), live_job()) == told


def test_an_elastic_indexed_job() -> None:
    live = live_job(completionMode="Indexed", completions=3, parallelism=3)
    assert not errors(unselecting(job(completionMode="Indexed", completions=4, parallelism=4)), live)
    assert errors(unselecting(job(completionMode="Indexed", completions=4)), live) == [
        "spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism"
    ]


def test_a_suspended_job_may_be_sent_elsewhere() -> None:
    elsewhere = template(restartPolicy="Never", nodeSelector={"a": "b"}, tolerations=[{"operator": "Exists"}])
    larger = template(restartPolicy="Never", requests={"cpu": "1"})
    live = live_job(suspend=True)
    assert not errors(unselecting(job(elsewhere)), live)
    assert errors(unselecting(job(larger)), live, minor=35)
    assert not errors(unselecting(job(larger)), live, minor=36)
    assert errors(unselecting(job(template(restartPolicy="OnFailure"))), live)
    live["status"] = {"startTime": "2026-11-26T07:00:00Z"}
    assert errors(unselecting(job(elsewhere)), live, minor=35)
    assert not errors(unselecting(job(elsewhere)), live, minor=36)


def live_pod(**spec: Any) -> Object:  # noqa: ANN401 - any field
    """Return a Pod with what admission and the scheduler add to it."""
    tolerations = [
        {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for name in ("not-ready", "unreachable")
    ]
    added = {"serviceAccountName": "default", "priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
    return pod("p", on="a1", **{**added, **spec, "tolerations": [*spec.get("tolerations", ()), *tolerations]})


def test_a_pod_that_is_applied_again() -> None:
    assert not errors(pod("p"), live_pod())
    assert not errors(pod("p", labels={"x": "y"}, image="newer"), live_pod())
    assert not errors(pod("p", hostNetwork=True, host_ports=["80"]), live_pod(hostNetwork=True, host_ports=["80"]))


@pytest.mark.parametrize(
    "spec",
    [{"requests": {"cpu": "1"}}, {"nodeSelector": {"a": "b"}}, {"priority": 3}, {"topologySpreadConstraints": [{}]}],
    ids=str,
)
def test_most_of_a_pod_stays(spec: Object) -> None:
    assert errors(pod("p", **spec), live_pod()) == [POD]


def test_a_pod_keeps_its_containers_and_tolerations() -> None:
    more = pod("p")
    more["spec"]["containers"].append({"name": "more", "image": "i"})
    assert errors(more, live_pod()) == ["spec.containers: Forbidden: pod updates may not add or remove containers"]
    one, other = {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}
    assert errors(pod("p", tolerations=[other]), live_pod(tolerations=[one])) == [
        "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
    ]
    assert not errors(pod("p", tolerations=[one, other]), live_pod(tolerations=[one]))


def test_a_gated_pod_may_be_bound_to_fewer_nodes() -> None:
    gated = pod("p", schedulingGates=[{"name": "a"}], nodeSelector={"a": "b"})
    assert not errors(pod("p", schedulingGates=[{"name": "a"}], nodeSelector={"c": "d"}), gated)
    assert errors(pod("p", schedulingGates=[{"name": "a"}], nodeSelector={"a": "c"}), gated) == [
        f'spec.nodeSelector: Invalid value: {{"a":"c"}}: {ONLY_MORE}'
    ]


def test_a_default_that_the_api_server_has_written_is_no_change() -> None:
    manifest = workload("StatefulSet", "db", volumeClaimTemplates=[claim()])
    stored = workload("StatefulSet", "db", volumeClaimTemplates=[claim(volumeMode="Filesystem")])
    assert not errors(manifest, stored)
    limited = template(schedulerName="default-scheduler")
    limited["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    bare = {**limited, "spec": {**limited["spec"]}}
    del bare["spec"]["schedulerName"]
    assert not errors(unselecting(workload("Job", "web", pods=bare)), workload("Job", "web", pods=limited))


def test_what_was_applied_to_a_pod_may_not_be_taken_away() -> None:
    live = kubectl_applied(pod("web", nodeSelector={"disk": "ssd"}))
    assert errors(pod("web"), live) == [POD]
    assert errors(pod("web"), pod("web", nodeSelector={"disk": "ssd"})) == []


def test_the_mount_that_admission_adds_to_each_pod_is_no_change() -> None:
    live = kubectl_applied(pod("web"))
    live["spec"]["volumes"] = [{"name": "kube-api-access-x", "projected": {"sources": []}}]
    mount = {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    live["spec"]["containers"][0]["volumeMounts"] = [mount]
    assert not errors(pod("web"), live)
    assert errors(pod("web", nodeSelector={"a": "b"}), live) == [POD]


@pytest.mark.parametrize("containers", ["containers", "initContainers"])
def test_a_mount_of_a_job_whose_path_is_not_held_is_no_change(containers: str) -> None:
    mounts = [{"name": "main", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]
    pods = template(restartPolicy="Never", volumes=[{"name": "v", "emptyDir": {}}])
    pods["spec"][containers] = mounts
    live = live_job(pods=deepcopy(pods))
    live["spec"]["template"]["spec"][containers][0]["volumeMounts"] = [{}]
    assert not errors(unselecting(job(pods, completions=3)), live)


@pytest.mark.parametrize(
    ("kind", "had", "field", "value"),
    [
        ("PriorityClass", {"value": 1}, "value", 2),
        ("PriorityClass", {"value": 1, "preemptionPolicy": "PreemptLowerPriority"}, "preemptionPolicy", "Never"),
        ("StorageClass", {"provisioner": "a", "volumeBindingMode": "Immediate"}, "provisioner", "b"),
        (
            "StorageClass",
            {"provisioner": "a", "volumeBindingMode": "WaitForFirstConsumer"},
            "volumeBindingMode",
            "Immediate",
        ),
    ],
)
def test_what_stays_of_other_kinds(kind: str, had: Object, field: str, value: object) -> None:
    live = object_of(kind, "x", **had)
    assert errors(object_of(kind, "x", **{**had, field: value}), live) == [
        f"{field}: Invalid value: {json.dumps(value)}: field is immutable"
    ]
    assert not errors(live, live)


def test_a_manifest_of_an_object_that_is_gone_is_not_applied_to_its_successor() -> None:
    live, old = (workload("Deployment", "web", pods=template()) for _ in range(2))
    live["metadata"]["uid"], old["metadata"]["uid"] = "new", "old"
    assert errors(old, live) == ['metadata.uid: Invalid value: "old": field is immutable']
    assert not errors(live, live)
