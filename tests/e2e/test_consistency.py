"""What is read while a cluster changes is of one moment: Nodes and Pods that never were there together never are here.

A writer makes a Node and a Pod on it, again and again, and then takes them away, the Pod before its Node. So at every
moment at most one of its Nodes has no Pod; Pods read later than Nodes would leave several.
"""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import Options, control_plane
from tests.e2e.manifests import HOSTNAME, constraint, match, node, pod, pod_spec

pytestmark = pytest.mark.e2e

_SHOP = "shop"
_PODS = f"/api/v1/namespaces/{_SHOP}/pods"
_PAIRS = [f"churn-{number:02}" for number in range(25)]
_TIMES = 20
_LABELS = {"app": "churn"}
_TOO_LARGE = pod_spec(resources={"requests": {"cpu": "1k"}})
_ON_HOSTS = {"topologySpreadConstraints": [constraint(HOSTNAME, selector=match(**_LABELS))]}


@pytest.fixture(scope="module")
def client(binaries: Binaries) -> Iterator[Client]:
    """An administrator of a cluster in which a Pod is Pending and one is on a Node that stays."""
    with control_plane(Options(scheduler=False, controllers=()), binaries=binaries) as plane:
        client = plane.client()
        client.create_namespaces([_SHOP])
        client.create_nodes([node("stays")])
        client.create_pods(
            [
                pod(_SHOP, "stays", labels=_LABELS, spec={**_ON_HOSTS, "nodeName": "stays"}),
                pod(_SHOP, "waits", labels={"app": "other"}, spec={**_ON_HOSTS, **_TOO_LARGE}),
            ]
        )
        yield client


class _Writer:
    """Makes pairs of a Node and its Pod, and takes them away, until it is told to stop.

    Attributes:
        written: how many objects were made or taken away.
        stopped: set when it is to stop.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.written = 0
        self.stopped = threading.Event()

    def write(self) -> None:
        """Write until told to stop, and stop in the middle of it."""
        for change in itertools.cycle([*_making(), *reversed([*_taking_away()])]):
            if self.stopped.is_set():
                return
            self._client.api.request(change.method, change.path, body=change.body)
            self.written += 1


class _Change(NamedTuple):
    """One object that is made or taken away."""

    method: str
    path: str
    body: Object


def _making() -> Iterator[_Change]:
    """Yield each Node, and then the Pod on it."""
    for name in _PAIRS:
        yield _Change("POST", "/api/v1/nodes", node(name))
        yield _Change("POST", _PODS, pod(_SHOP, name, labels=_LABELS, spec={"nodeName": name}))


def _taking_away() -> Iterator[_Change]:
    """Yield the same in the same order; it is done in reverse, the Pod before its Node."""
    for name in _PAIRS:
        yield _Change("DELETE", f"/api/v1/nodes/{name}", {})
        yield _Change("DELETE", f"{_PODS}/{name}", {"gracePeriodSeconds": 0})


@contextmanager
def _writing(client: Client) -> Iterator[_Writer]:
    """Let a cluster change for the length of a block; raise what went wrong with that."""
    writer = _Writer(client)
    with ThreadPoolExecutor(1) as thread:
        end = thread.submit(writer.write)
        try:
            yield writer
        finally:
            writer.stopped.set()
        end.result()


def test_nodes_and_pods_are_of_one_moment_while_both_change(client: Client) -> None:
    commands = (("why-pending", "waits"), ("show", "pod/stays"))
    seen = set()
    with _writing(client) as writer:
        for number in range(_TIMES):
            before = writer.written
            report = json.loads(client.kubectl.run("spread", *commands[number % 2], "-n", _SHOP, "-o", "json").stdout)
            assert writer.written > before
            _assert_one_version(report)
            counted = _pods_by_node(report)
            assert sum(count == 0 for count in counted.values()) <= 1, counted
            assert set(counted.values()) <= {0, 1}
            seen.add(len(counted))
    assert len(seen) > _TIMES // 4


def _assert_one_version(report: Object) -> None:
    """Assert that all lists are of one version but that of Events, which may be kept elsewhere, and nothing lacks."""
    versions = {**report["metadata"]["resourceVersions"]}
    versions.pop("events", None)
    assert {"nodes", "pods"} <= versions.keys()
    assert len({*versions.values()}) == 1, versions
    told = [*report["incomplete"], *(missing for item in report["items"] for missing in item.get("incomplete", ()))]
    assert told == []


def _pods_by_node(report: Object) -> Mapping[str, int]:
    """Return the writer's Nodes and how many Pods are counted on each."""
    (item,) = report["items"]
    (found,) = item["constraints"] if "constraints" in item else [item["constraint"]]
    return {each["value"]: each["matching"] for each in found["domains"] if each["value"].startswith("churn-")}
