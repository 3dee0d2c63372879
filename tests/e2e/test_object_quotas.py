"""What ``check`` says where a ResourceQuota counts objects, and what a real API server takes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.build import Object
from tests.build_workloads import cron_job, workload
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import WORKLOAD_CONTROLLERS, Options, control_plane
from tests.e2e.manifests import node
from tests.program import spread

pytestmark = pytest.mark.e2e
CLAIM: Object = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}


@pytest.fixture(scope="module")
def stage(binaries: Binaries) -> Iterator[Client]:
    """A control plane whose quotas are counted."""
    options = Options(controllers=(*WORKLOAD_CONTROLLERS, "resourcequota-controller"))
    with control_plane(options, binaries=binaries) as plane:
        client = plane.client()
        client.create_nodes([node("a1")])
        client.apply([HIGH])
        yield client


def made(kind: str, name: str = "web", **fields: Any) -> Object:  # noqa: ANN401 - any field of the spec of its Pods
    pods = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}], **fields}}
    if kind == "CronJob":
        return cron_job(name, pods={**pods, "spec": {**pods["spec"], "restartPolicy": "Never"}})
    pods["spec"] |= {"restartPolicy": "Never"} if kind == "Job" else {}
    number: Object = {} if kind in {"DaemonSet", "Job"} else {"replicas": 2}
    found = workload(kind, name, pods=pods, **number)
    found["spec"]["selector"] = {"app": name} if kind == "ReplicationController" else {"matchLabels": {"app": name}}
    if kind == "Job":
        del found["spec"]["selector"]
    if kind == "StatefulSet":
        found["spec"] |= {"serviceName": "s", "volumeClaimTemplates": [CLAIM]}
    found.pop("status", None)
    return found


SCOPED: Object = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
CASES: Mapping[str, tuple[Object, Sequence[Object], Sequence[str]]] = {
    "deployments": ({"hard": {"count/deployments.apps": "1"}}, [made("Deployment")], ["Schedulable"]),
    "no-deployments": ({"hard": {"count/deployments.apps": "0"}}, [made("Deployment")], ["Invalid"]),
    "second-deployment": (
        {"hard": {"count/deployments.apps": "1"}},
        [made("Deployment"), made("Deployment", "more")],
        ["Schedulable", "Invalid"],
    ),
    "replicasets": ({"hard": {"count/replicasets.apps": "0"}}, [made("Deployment")], ["Incomplete"]),
    "own-replicasets": ({"hard": {"count/replicasets.apps": "0"}}, [made("ReplicaSet")], ["Invalid"]),
    "statefulsets": ({"hard": {"count/statefulsets.apps": "0"}}, [made("StatefulSet")], ["Invalid"]),
    "revisions": ({"hard": {"count/controllerrevisions.apps": "0"}}, [made("DaemonSet")], ["Incomplete"]),
    "daemonsets": ({"hard": {"count/daemonsets.apps": "0"}}, [made("DaemonSet")], ["Invalid"]),
    "jobs": ({"hard": {"count/jobs.batch": "0"}}, [made("Job")], ["Invalid"]),
    "cronjobs": ({"hard": {"count/cronjobs.batch": "0"}}, [made("CronJob")], ["Invalid"]),
    "controllers": ({"hard": {"replicationcontrollers": "0"}}, [made("ReplicationController")], ["Invalid"]),
    "claims": ({"hard": {"persistentvolumeclaims": "1"}}, [made("StatefulSet")], ["Incomplete"]),
    "storage": ({"hard": {"requests.storage": "1Gi"}}, [made("StatefulSet")], ["Incomplete"]),
    "pods": ({"hard": {"pods": "0"}}, [made("Deployment")], ["FailedCreate"]),
    "count-pods": ({"hard": {"count/pods": "1"}}, [made("Deployment")], ["FailedCreate"]),
    "scoped": (
        {"hard": {"pods": "0"}, "scopeSelector": SCOPED},
        [made("Deployment"), made("Deployment", "high", priorityClassName="high")],
        ["Schedulable", "FailedCreate"],
    ),
    "terminating": (
        {"hard": {"pods": "0"}, "scopes": ["Terminating"]},
        [made("Job"), made("Job", "timed", activeDeadlineSeconds=9)],
        ["Schedulable", "FailedCreate"],
    ),
    "configmaps": ({"hard": {"configmaps": "0", "count/services": "0"}}, [made("Deployment")], ["Schedulable"]),
}


@pytest.mark.parametrize("name", CASES)
def test_check_says_what_the_api_server_takes(name: str, stage: Client, tmp_path: Path) -> None:
    spec, manifests, verdicts = CASES[name]
    namespace, kubectl = f"quota-{name}", stage.kubectl
    stage.create_namespaces([namespace])
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": namespace}}
    stage.apply([{**quota, "spec": spec}])
    resource = next(iter(spec["hard"])).replace(".", "\\.")
    kubectl("wait", f"--for=jsonpath={{.status.used.{resource}}}", "resourcequota/q", "-n", namespace, "--timeout=30s")
    file = tmp_path / "web.json"
    bare = [{**each, "metadata": {"name": each["metadata"]["name"]}} for each in manifests]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": bare}))
    ended = spread("check", "-f", file, "-n", namespace, "-o", "json", "--kubeconfig", kubectl.kubeconfig)
    assert [item["verdict"] for item in ended.items] == [*verdicts]
    said = kubectl.run("apply", "-f", str(file), "-n", namespace)
    assert said.stderr.count("exceeded quota") == [*verdicts].count("Invalid")
    for item in ended.items:
        if item["verdict"] == "Invalid":
            assert item["validation"][0]["message"] in said.stderr
    time.sleep(3)
    made_of = [
        [p for p in stage.pods(namespace) if p["metadata"]["labels"]["app"] == m["metadata"]["name"]] for m in bare
    ]
    for verdict, pods, manifest in zip(verdicts, made_of, bare, strict=True):
        wanted = manifest["spec"].get("replicas", 1)
        assert (len(pods) == wanted) is (verdict == "Schedulable")
