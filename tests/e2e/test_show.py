"""`kubectl spread show` of a live Deployment, against a count of what `kubectl get` lists."""

import json
from collections import Counter
from collections.abc import Mapping

import pytest

from tests.controlplane.api import Object
from tests.controlplane.client import Client
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, pod, pod_spec

pytestmark = pytest.mark.e2e

_NAME = "web"
_LABELS = {"app": "web"}
_REPLICAS = 5


@pytest.fixture
def deployment(client: Client, namespace: str) -> str:
    """The namespace of a Deployment whose Pods run, beside one like them that nobody owns and one that is ending."""
    client.create_pods(
        [
            pod(namespace, "unowned", labels=_LABELS, spec={"nodeName": "b1"}),
            pod(namespace, "ending", labels=_LABELS, spec={"nodeName": "a1"}),
            pod(namespace, "unlike", labels={"app": "other"}, spec={"nodeName": "c1"}),
        ]
    )
    client.delete_pods([client.pod(namespace, "ending")])
    client.apply([_deployment(namespace)])
    wait_for(lambda: _bound(client, namespace) == _REPLICAS + 3, what="the Deployment's Pods")
    client.mark_running(namespace)
    return namespace


def test_domains_are_those_that_get_shows(client: Client, deployment: str) -> None:
    report = json.loads(client.kubectl("spread", "show", f"deployment/{_NAME}", "-n", deployment, "-o", "json"))
    shown = {item["constraint"]["topologyKey"]: _domains(item) for item in report["items"]}
    assert shown == {key: _counted(client, deployment, key=key) for key in (ZONE, HOSTNAME)}


def test_owned_pods_are_told_from_those_that_only_match(client: Client, deployment: str) -> None:
    report = json.loads(client.kubectl("spread", "show", "deployment", _NAME, "-n", deployment, "-o", "json"))
    assert report["kind"] == "SkewReport"
    for item in report["items"]:
        assert (item["namespace"], item["workload"]["kind"], item["workload"]["name"]) == (
            deployment,
            "Deployment",
            _NAME,
        )
        assert (item["pods"], item["ownPods"]) == (_REPLICAS + 1, _REPLICAS)


def test_global_minimum_and_skew_follow_from_the_counts(client: Client, deployment: str) -> None:
    report = json.loads(client.kubectl("spread", "show", f"deployment/{_NAME}", "-n", deployment, "-o", "json"))
    for item in report["items"]:
        spread = item["constraint"]
        counts = _counted(client, deployment, key=spread["topologyKey"])
        assert spread["globalMinimum"] == min(counts.values())
        skews = {domain["value"]: domain["skew"] for domain in spread["domains"] if domain["eligible"]}
        assert skews == {value: count - min(counts.values()) for value, count in counts.items()}


def test_a_namespace_without_workloads_says_so_on_stderr(client: Client, namespace: str) -> None:
    ended = client.kubectl.run("spread", "show", "-n", namespace)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr.startswith("No ")
    assert f" found in {namespace} namespace." in ended.stderr


def _deployment(namespace: str) -> Object:
    """Return a Deployment with a hard constraint on zones and a soft one on hosts."""
    constraints = [
        constraint(ZONE, selector=match(**_LABELS)),
        constraint(HOSTNAME, selector=match(**_LABELS), whenUnsatisfiable="ScheduleAnyway"),
    ]
    template = {
        "metadata": {"labels": _LABELS},
        "spec": {**pod_spec(), "topologySpreadConstraints": constraints},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": _NAME, "namespace": namespace},
        "spec": {"replicas": _REPLICAS, "selector": match(**_LABELS), "template": template},
    }


def _bound(client: Client, namespace: str) -> int:
    """Return how many Pods of the namespace are on a Node."""
    return sum("nodeName" in made["spec"] for made in client.pods(namespace))


def _domains(item: Object) -> Mapping[str, int]:
    """Return domain → matching Pods, as a row of the report has it."""
    return {domain["value"]: domain["matching"] for domain in item["constraint"]["domains"] if domain["eligible"]}


def _counted(client: Client, namespace: str, *, key: str) -> Mapping[str, int]:
    """Return domain → Pods on its Nodes that carry the labels and are not ending."""
    listed = json.loads(client.kubectl("get", "nodes", "-o", "json"))["items"]
    domains = {node["metadata"]["name"]: node["metadata"]["labels"].get(key) for node in listed}
    pods = json.loads(client.kubectl("get", "pods", "-n", namespace, "-l", "app=web", "-o", "json"))["items"]
    counts = Counter(domains[made["spec"]["nodeName"]] for made in pods if "deletionTimestamp" not in made["metadata"])
    return {domain: counts[domain] for domain in domains.values() if domain}
