"""The objects of the large cluster, made: the first of those that are alike through the API server, then its copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from tests.bench.large import contents
from tests.bench.large.contents import CONTAINERS, App, Marks, NodePlace, Size
from tests.bench.large.copies import Entry, Part, copied, uid
from tests.bench.large.etcd import Etcd
from tests.bench.large.pending import pending_pods
from tests.controlplane.api import CONNECTIONS, Object
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane

_NODES_GROUP = 0xFFFFFFFF


def fill(plane: ControlPlane, size: Size) -> None:
    """Make all objects of the cluster, in an API server that has none of them."""
    client, etcd = plane.client(), Etcd(plane.etcd_url)
    _create_namespaces(client, sorted({app.namespace for app in contents.apps(size)}))
    alike = sorted(contents.node_places(size), key=lambda place: (place.alike, place.number))
    for _, group in groupby(alike, key=lambda place: place.alike):
        etcd.put(_nodes(client, etcd, [*group]))
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        placements = [*contents.placements(size)]
        first = threads.map(lambda placement: _first_pod(client, placement[0], placement[1][0]), placements)
        for made, (app, places) in zip(first, placements, strict=True):
            etcd.put(_other_pods(etcd, made, app, places))
    client.create_pods(pending_pods())


def _create_namespaces(client: Client, names: Sequence[str]) -> None:
    """Create namespaces, each with the ServiceAccount that a controller makes."""
    client.create_namespaces(names)
    for name in names:
        account = {"metadata": {"name": "default"}}
        client.api.request("POST", f"/api/v1/namespaces/{name}/serviceaccounts", body=account)


def _nodes(client: Client, etcd: Etcd, places: Sequence[NodePlace]) -> Iterator[Entry]:
    """Make the first of the Nodes, and yield the entries of the others."""
    first, *others = places
    made = client.api.request("POST", "/api/v1/nodes", body=contents.node(first))
    entry = etcd.entry(f"/registry/minions/{first.name}")
    for place in others:
        names = [(first.name, place.name), (first.rack, place.rack)]
        yield copied(entry, [*names, (made["metadata"]["uid"], uid(_NODES_GROUP, place.number))])


def _other_pods(etcd: Etcd, made: Object, app: App, places: Sequence[NodePlace]) -> Iterator[Entry]:
    """Yield the entries of an app's Pods after the first."""
    entry = etcd.entry(f"/registry/pods/{app.namespace}/{app.pod_name(0)}")
    for number, place in enumerate(places[1:], start=1):
        names = [(app.pod_name(0), app.pod_name(number)), (places[0].name, place.name)]
        marks = zip(_marks(Marks(0)), _marks(Marks(number)), strict=True)
        yield copied(entry, [*names, *marks, (made["metadata"]["uid"], uid(app.number, number))])


def _marks(marks: Marks) -> Sequence[Part]:
    """Return what Pods of an app differ in, besides names."""
    return (marks.token_volume, marks.ip, marks.started, *map(marks.container_id, CONTAINERS))


def _first_pod(client: Client, app: App, place: NodePlace) -> Object:
    """Make the workloads of an app and its first Pod, which is returned."""
    apps_path = f"/apis/apps/v1/namespaces/{app.namespace}"
    deployment = _made(client, f"{apps_path}/deployments", contents.deployment(app))
    owner = deployment["metadata"]["uid"]
    replica_set = _made(client, f"{apps_path}/replicasets", contents.replica_set(app, owner=owner))
    pod = contents.pod(app, place, owner=replica_set["metadata"]["uid"])
    return _made(client, f"/api/v1/namespaces/{app.namespace}/pods", pod)


def _made(client: Client, path: str, described: Object) -> Object:
    """Return an object that was created, and then given its status, which the server drops at first."""
    made = client.api.request("POST", path, body=described)
    with_status = {**made, "status": described["status"]}
    return client.api.request("PUT", f"{path}/{made['metadata']['name']}/status", body=with_status)
