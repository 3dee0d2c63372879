"""The control plane itself: it says its release, binds what fits, and says what does not."""

import json

import pytest

from tests import gobuild
from tests.controlplane.binaries import KUBERNETES_RELEASE
from tests.controlplane.client import Client, scheduled_condition
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import ZONE, constraint, match, pod

pytestmark = pytest.mark.e2e


def test_server_and_kubectl_say_the_release_that_was_built(client: Client) -> None:
    versions = json.loads(client.kubectl("version", "-o", "json"))
    expected = f"v{gobuild.RELEASES[KUBERNETES_RELEASE]}"
    assert versions["serverVersion"]["gitVersion"] == expected
    assert versions["clientVersion"]["gitVersion"] == expected


def test_nodes_keep_the_status_they_were_created_with(client: Client) -> None:
    nodes = client.api.request("GET", "/api/v1/nodes")["items"]
    assert {node["metadata"]["name"]: node["status"]["allocatable"]["cpu"] for node in nodes} == dict.fromkeys(
        ("a1", "b1", "b2", "c1", "cordoned"), "16"
    )


def test_a_pod_that_fits_is_bound(client: Client, namespace: str) -> None:
    spread = constraint(ZONE, selector=match(app="web"))
    client.create_pods([pod(namespace, "web", labels={"app": "web"}, spec={"topologySpreadConstraints": [spread]})])
    decided = client.wait_for_decision(namespace, "web")
    assert decided["spec"]["nodeName"] in {"a1", "b1", "b2", "c1"}


def test_a_pod_that_fits_nowhere_gets_a_failed_scheduling_event(client: Client, namespace: str) -> None:
    spread = constraint("example.com/no-node-has-it", selector=match(app="web"))
    client.create_pods([pod(namespace, "web", labels={"app": "web"}, spec={"topologySpreadConstraints": [spread]})])
    condition = scheduled_condition(client.wait_for_decision(namespace, "web"))
    assert condition is not None
    assert condition["reason"] == "Unschedulable"
    event = wait_for(lambda: client.failed_scheduling(namespace, "web"), what="the event of the Pod")
    assert event == condition["message"]
    assert event.startswith("0/5 nodes are available: ")
    assert "4 node(s) didn't match pod topology spread constraints (missing required label)" in event


def test_a_deployment_becomes_pods_that_can_be_marked_running(client: Client, namespace: str) -> None:
    client.kubectl("create", "deployment", "web", "--image=registry.example/web:1", "--replicas=2", "-n", namespace)

    def running() -> bool:
        client.mark_running(namespace)
        return client.kubectl("get", "deployment/web", "-n", namespace, "-o", "jsonpath={.status.readyReplicas}") == "2"

    assert wait_for(running, what="two ready replicas")


def test_applied_objects_exist(client: Client, namespace: str) -> None:
    service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    client.apply(
        [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": namespace}, "spec": service}]
    )
    assert client.kubectl("get", "service", "web", "-n", namespace, "-o", "name") == "service/web\n"


def test_pods_created_on_a_node_need_no_scheduler(client: Client, namespace: str) -> None:
    client.create_pods(pod(namespace, f"web-{number}", spec={"nodeName": "cordoned"}) for number in range(20))
    assert {made["spec"]["nodeName"] for made in client.pods(namespace)} == {"cordoned"}
