"""The large cluster, at a small size: copies of stored bytes are objects like those that the API server made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from kubectl_spread.cluster.api.reader import ObjectList
from kubectl_spread.cluster.net.failures import parse_status
from kubectl_spread.cluster.net.transport import JSON, PROTOBUF
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.kinds import NODE, POD, Kind
from kubectl_spread.objects.protobuf import ListDecoder, read_list
from tests.bench.large.contents import CONTAINERS, Marks, Size, apps
from tests.bench.large.filling import fill
from tests.bench.large.pending import pending_pods
from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.identity import ADMIN
from tests.protobuf import NOT_OF_PODS

pytestmark = pytest.mark.e2e

SMALL = Size(nodes=60, apps=72, pods=300)


@pytest.fixture(scope="module")
def large(binaries: Binaries) -> Iterator[ControlPlane]:
    """A control plane that nothing changes, with the contents of the large cluster."""
    with control_plane(Options(scheduler=False, controllers=()), binaries=binaries) as running:
        fill(running, SMALL)
        yield running


@pytest.fixture(scope="module")
def filled(large: ControlPlane) -> Client:
    """An administrator of that control plane."""
    return large.client()


def test_every_node_is_itself(filled: Client) -> None:
    nodes = filled.api.request("GET", "/api/v1/nodes")["items"]
    assert len({node["metadata"]["uid"] for node in nodes}) == SMALL.nodes
    assert all(node["metadata"]["labels"]["kubernetes.io/hostname"] == node["metadata"]["name"] for node in nodes)


def test_every_pod_is_itself_and_like_the_first_of_its_app(filled: Client) -> None:
    pods = filled.pods()
    bound = [pod for pod in pods if "nodeName" in pod["spec"]]
    assert len({pod["metadata"]["uid"] for pod in pods}) == len(pods) == SMALL.pods + len(pending_pods())
    assert len(bound) == SMALL.pods
    assert {pod["status"]["phase"] for pod in bound} == {"Running"}
    of_app = [pod for pod in bound if pod["metadata"]["name"].startswith("app-0003-")]
    assert len(of_app) > 1
    assert {_with_marks(pod, Marks(number)) for number, pod in enumerate(of_app)} == {_with_marks(of_app[0], Marks(0))}


def test_an_app_has_the_pods_that_its_deployment_says(filled: Client) -> None:
    deployments = filled.api.request("GET", "/apis/apps/v1/deployments")["items"]
    owners = Counter(pod["metadata"]["ownerReferences"][0]["name"] for pod in filled.pods() if _is_owned(pod))
    said = {deployment["metadata"]["name"]: deployment["status"]["readyReplicas"] for deployment in deployments}
    assert said == {app.name: owners[app.revision] for app in apps(SMALL)}


def _listed(plane: ControlPlane, path: str, media_type: str) -> bytes:
    """Return what the API server answers, in an encoding."""
    with urllib3.PoolManager(ca_certs=str(plane.certificate_authority)) as pool:
        headers = {"Authorization": f"Bearer {ADMIN.token}", "Accept": media_type}
        return pool.request("GET", f"{plane.server}{path}", headers=headers).data


def _without_mounts(listed: bytes) -> bytes:
    """Return the list without the fields of mounts that are read of templates alone."""
    page = json.loads(listed)
    for each in page["items"]:
        containers = [*each["spec"].get("containers", ()), *each["spec"].get("initContainers", ())]
        for mount in (mount for container in containers for mount in container.get("volumeMounts", ())):
            for _, field in NOT_OF_PODS:
                mount.pop(field, None)
    return json.dumps(page).encode()


@pytest.mark.parametrize("kind", [NODE, POD], ids=lambda kind: kind.name)
def test_what_the_server_sends_is_the_same_in_both_encodings(kind: Kind, large: ControlPlane) -> None:
    page_type: Any = ObjectList
    whole = decode(_without_mounts(_listed(large, kind.path(), JSON)), page_type[kind.struct])
    # Other objects are written meanwhile; the second answer is of the same version.
    exact = f"resourceVersion={whole.metadata.resource_version}&resourceVersionMatch=Exact"
    name, metadata, raw = read_list(_listed(large, f"{kind.path()}?{exact}", PROTOBUF))
    assert name == f"{kind.name}List"
    assert metadata == whole.metadata
    assert ListDecoder(kind.struct).items(raw) == whole.items
    assert len(whole.items) >= SMALL.nodes


def test_a_refusal_is_the_same_in_both_encodings(large: ControlPlane) -> None:
    refused = [parse_status(_listed(large, "/api/v1/pods?limit=1&continue=x", each)) for each in (JSON, PROTOBUF)]
    assert refused[0] == refused[1]
    assert refused[0].reason == "BadRequest"


def _is_owned(pod: Object) -> bool:
    """Return whether a Pod has a controller."""
    return "ownerReferences" in pod["metadata"]


def _with_marks(pod: Object, marks: Marks) -> str:
    """Return a Pod as text, with words in the place of what no other Pod of its app has."""
    metadata = pod["metadata"]
    names = (metadata["name"], metadata["uid"], metadata["resourceVersion"], pod["spec"]["nodeName"])
    started = f"{marks.started:%Y-%m-%dT%H:%M:%SZ}"
    text = json.dumps({**pod, "metadata": {**metadata, "managedFields": []}})
    for unique in (*names, started, marks.token_volume, marks.ip, *map(marks.container_id, CONTAINERS)):
        text = text.replace(f'"{unique}"', "its own")
    return text
