"""Pods that the scheduler counts on a node while their volumes are made, and those it has refused since."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client, scheduled_condition
from tests.controlplane.cluster import Options, control_plane
from tests.e2e.manifests import ZONE, constraint, match, node

pytestmark = pytest.mark.e2e

SELECTED = "volume.kubernetes.io/selected-node"
DB = {"app": "db"}


@pytest.fixture(scope="module")
def waiting(binaries: Binaries) -> Iterator[Client]:
    """A control plane with a StatefulSet of three whose volumes nobody makes: zone c is cordoned."""
    with control_plane(Options(), binaries=binaries) as running:
        client = running.client()
        zones = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
        client.create_nodes(
            [node(name, labels={ZONE: zone}, unschedulable=name == "c1") for name, zone in zones.items()]
        )
        client.create_namespaces(["shop"])
        client.apply([CLASS, stateful_set()])
        yield client


CLASS: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "slow"},
    "provisioner": "csi.example.net",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def stateful_set() -> Object:
    """Return a StatefulSet of three Pods that spread over zones, each with a claim of its own."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    container = {"name": "main", "image": "app", "volumeMounts": [{"name": "disk", "mountPath": "/d"}]}
    spec = {"containers": [container], "topologySpreadConstraints": [constraint(ZONE, selector=match(**DB))]}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {
            "replicas": 3,
            "serviceName": "db",
            "podManagementPolicy": "Parallel",
            "selector": match(**DB),
            "template": {"metadata": {"labels": DB}, "spec": spec},
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "disk"},
                    "spec": {**claim, "storageClassName": "slow", "volumeMode": "Filesystem"},
                }
            ],
        },
    }


def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def chosen(client: Client) -> Mapping[str, str]:
    """Return Pod's name → the node that its claim names."""
    claims = json.loads(client.kubectl("get", "pvc", "-n", "shop", "-o", "json"))["items"]
    named = ((each["metadata"]["name"], each["metadata"].get("annotations", {})) for each in claims)
    return {name.removeprefix("disk-"): said[SELECTED] for name, said in named if SELECTED in said}


def refused(client: Client) -> set[str]:
    """Return the Pods that the scheduler has refused."""
    said = {each["metadata"]["name"]: scheduled_condition(each) for each in client.pods("shop")}
    return {name for name, condition in said.items() if condition and condition["status"] == "False"}


def verdicts(client: Client, *source: str) -> dict[str, str]:
    """Return Pod's name → why-pending's verdict."""
    ended = client.kubectl.run("spread", "why-pending", "-n", "shop", "-o", "json", "--fix-budget", "0", *source)
    return {item["name"]: item["verdict"] for item in json.loads(ended.stdout)["items"]}


def test_what_is_assumed_counts_and_what_is_refused_does_not(waiting: Client, tmp_path: Path) -> None:
    until(lambda: len(chosen(waiting)) == 2 and len(refused(waiting)) == 1)
    (third,) = refused(waiting)
    expected = {name: "Unschedulable" if name == third else "Schedulable" for name in ("db-0", "db-1", "db-2")}
    snapshot = tmp_path / "snapshot.json"
    waiting.kubectl("spread", "snapshot", "-n", "shop", "-o", str(snapshot))
    assert verdicts(waiting) == verdicts(waiting, "--from", str(snapshot)) == expected
    rows = json.loads(waiting.kubectl("spread", "show", "-n", "shop", "-o", "json"))["items"]
    assert [(row["status"], row["pendingPod"], row["pods"], row["pending"]) for row in rows] == [
        ("Blocked", third, 2, 3)
    ]


def test_a_pod_that_comes_again_under_its_name_may_be_refused_though_its_claim_names_a_node(
    waiting: Client, tmp_path: Path
) -> None:
    (third,) = refused(waiting) - chosen(waiting).keys()
    name, on = next(iter(chosen(waiting).items()))
    waiting.kubectl("delete", "pod", name, "-n", "shop")
    # The Pod that waits is tried first, and takes the place.
    until(lambda: third in chosen(waiting) and name in refused(waiting))
    assert chosen(waiting)[name] == on
    snapshot = tmp_path / "snapshot.json"
    waiting.kubectl("spread", "snapshot", "-n", "shop", "-o", str(snapshot))
    expected = {pod: "Unschedulable" if pod == name else "Schedulable" for pod in ("db-0", "db-1", "db-2")}
    assert verdicts(waiting) == verdicts(waiting, "--from", str(snapshot)) == expected
