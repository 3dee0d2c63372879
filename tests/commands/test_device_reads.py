"""The lists of dynamic resource allocation are read where a Pod needs them, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands import read_sets
from kubectl_spread.commands.read_sets import read_with_devices
from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import DEVICE_KINDS
from kubectl_spread.snapshot import Inventory
from tests.build import Object, node, pod, typed_pod
from tests.build_devices import CLAIMING, OPEN, device_class
from tests.build_workloads import owned, template, workload
from tests.commands.memory import Memory

GPU = {"example.com/gpu": "1"}
CLASS_GPU = {"deviceclass.resource.kubernetes.io/gpu": "1"}


@dataclass
class Server(Memory):
    """A cluster that gives the kinds it is asked for, and no others."""

    def read(self, reads: Sequence[Read]) -> Inventory:
        asked = {read.kind.name for read in reads}
        found = super().read(reads)
        return replace(found, objects={name: each for name, each in found.objects.items() if name in asked})


def asked_for(objects: Iterable[Object], *specs: Object) -> list[str]:
    """Return the kinds of devices that are read for this cluster, and Pods that are yet to be."""
    server = Server(objects, server="https://api.example")
    wanted = [typed_pod(each).spec for each in specs]
    inventory = read_with_devices(server.read, read_sets.everything(""), specs=wanted)
    held = {kind.name for kind in DEVICE_KINDS if kind.name in inventory.objects}
    assert held == {read.kind.name for read in server.asked if read.kind in DEVICE_KINDS}
    return sorted(held)


ALL = sorted(kind.name for kind in DEVICE_KINDS)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([pod("p")], []),
        ([pod("p", **CLAIMING)], ALL),
        ([pod("p", on="a", **CLAIMING)], []),
        ([owned("p", "Rollout", "web", on="a", **CLAIMING)], ALL),
        ([owned("p", "Job", "web", on="a", **CLAIMING)], []),
        ([workload("Deployment", "web", pods=template(**CLAIMING))], ALL),
        ([pod("p", requests={"cpu": "1"})], []),
        ([pod("p", requests=GPU)], ["DeviceClass"]),
        ([pod("p", requests=GPU), device_class()], ["DeviceClass"]),
        ([pod("p", requests=GPU), device_class(stands_for="example.com/gpu")], ALL),
        ([pod("p", requests=CLASS_GPU), device_class()], ALL),
        ([pod("p", requests=GPU, **CLAIMING)], ALL),
    ],
    ids=[
        "no claim",
        "a claim",
        "of a Pod that runs",
        "whose owner cannot be read",
        "whose owner can",
        "of a template",
        "no extended resource",
        "without a class",
        "of a class that stands for nothing",
        "of a class that stands for it",
        "of a class by its name",
        "both",
    ],
)
def test_what_is_read_for_the_pods_of_the_cluster(objects: Sequence[Object], expected: list[str]) -> None:
    assert asked_for([node("a"), *objects]) == expected


def test_what_is_read_for_pods_that_are_yet_to_be() -> None:
    assert asked_for([node("a")], pod("p")) == []
    assert asked_for([node("a")], pod("p", **CLAIMING)) == ALL


def test_files_are_read_at_once() -> None:
    files = Memory([pod("p", **CLAIMING), *OPEN])
    inventory = read_with_devices(files.read, read_sets.everything(""))
    assert len(files.asked) == len(read_sets.everything(""))
    assert inventory.has(kinds.RESOURCE_CLAIM)


@pytest.mark.parametrize(("described", "left"), [(pod("p"), 0), (pod("p", **CLAIMING), 4), (pod("p", requests=GPU), 4)])
def test_what_is_not_watched_is_left_unread(described: Object, left: int) -> None:
    server = Server([node("a"), described], server="https://api.example")
    inventory = read_with_devices(server.read, read_sets.everything(""), at_once=True)
    assert [unread.kind for unread in inventory.unread] == [*DEVICE_KINDS][:left]
    assert len(server.asked) == len(read_sets.everything(""))


@pytest.mark.parametrize(
    ("pods", "expected"),
    [([("web-2", True), ("web-2", True)], 0), ([("web-1", True)], 1), ([("web-2", False)], 1)],
    ids=["the newest revision", "an older revision", "an orphan"],
)
def test_older_revisions_are_read_where_a_manifest_may_come_back_to_one(
    pods: Sequence[tuple[str, bool]], expected: int
) -> None:
    objects = [
        owned(f"web-{n}", "StatefulSet", "web", labels={"controller-revision-hash": revision})
        if has_owner
        else pod(f"web-{n}", labels={"controller-revision-hash": revision})
        for n, (revision, has_owner) in enumerate(pods)
    ]
    objects.append(workload("StatefulSet", "web", status={"updateRevision": "web-2"}))
    for specs, number in ((), 0), ((typed_pod(pod("p")).spec,), expected):
        server = Server([node("a"), *objects], server="https://api.example")
        read_with_devices(server.read, read_sets.everything("shop"), specs=specs)
        asked = [each for each in server.asked if each.kind == kinds.CONTROLLER_REVISION]
        assert [each.namespace for each in asked] == ["shop"] * number
