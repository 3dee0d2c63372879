"""``show`` where the next Pod is not what a glance at the template says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.build import ZONE, Object, node
from tests.build_storage import claim, storage_class, volume
from tests.build_workloads import owned, template
from tests.cli.once_wrong import (
    GIGABYTE,
    ON_ZONES,
    SANDBOX,
    SHUT,
    ZONES,
    asked,
    deployed,
    mounting,
    nightly,
    of_another_api,
    ordinals,
    run_of,
)

LIMITS: Object = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}}]},
}
PINNED = "no Pod can go to c: taint dedicated=gpu:NoSchedule; elsewhere skew would be 2, maxSkew 1"
EPHEMERAL = {**GIGABYTE, "storageClassName": "fast"}
SCRATCH: Sequence[Object] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": EPHEMERAL}}}]


def small(name: str, cpu: str) -> Object:
    """Return a node in the zone of its first letter with so much CPU."""
    return node(name, zone=name[0], allocatable={"cpu": cpu})


def kafka() -> list[Object]:
    """Return Pods of an owner of another API, each with a claim of its own; the newest one's is bound in zone c."""
    on = ("a1", "b1", "c1", "c2")
    pods = [
        owned(f"kafka-{n}", "StrimziPodSet", "kafka", on=where, **template(ON_ZONES)["spec"] | mounting(f"data-{n}"))
        for n, where in enumerate(on)
    ]
    for number, each in enumerate(pods):
        each["spec"]["volumes"] = mounting(f"data-kafka-{number}")["volumes"]
    claims = [claim(f"data-kafka-{n}", bound_to=f"pv-{n}", class_name="fast") for n in range(len(on))]
    disks = [volume(f"pv-{n}", class_name="fast", usable_on={ZONE: [where[0]]}) for n, where in enumerate(on)]
    return [*claims, *disks, *of_another_api("StrimziPodSet", "core.strimzi.io/v1beta2", "kafka", pods)]


Rows = Sequence[tuple[str, str, Mapping[str, int]]]

SHOWN: Mapping[str, tuple[Sequence[Object], Rows]] = {
    "a LimitRange writes the requests": (
        [*ZONES[:1], small("a1", "1"), small("b1", "1"), LIMITS, *deployed("a1")],
        [("Unschedulable", "2 cpu requested, at most 1 free", {"a": 1, "b": 0})],
    ),
    "its claims come with a Pod": (
        [*ZONES, SHUT, storage_class("fast"), *deployed("a1", "b1", pods=template(ON_ZONES, volumes=SCRATCH))],
        [("Blocked", PINNED, {"a": 1, "b": 1, "c": 0})],
    ),
    "a claim was kept for the next ordinal": (
        [*ZONES, node("c1", zone="c"), *ordinals("a1", "b1", "c1", "a1")],
        [
            (
                "Blocked",
                (
                    "no Pod can go to b and c: claim data-db-4 is bound to pv-4 in a; elsewhere skew"
                    " would be 2, maxSkew 1"
                ),
                {"a": 2, "b": 1, "c": 1},
            )
        ],
    ),
    "a webhook adds the constraint": (
        [*ZONES, SHUT, *deployed("a1", "b1", pods=template(), beyond={"topologySpreadConstraints": [ON_ZONES]})],
        [("Blocked", PINNED, {"a": 1, "b": 1, "c": 0})],
    ),
    "a RuntimeClass selects nodes": (
        [
            *(node(name, zone=name[0], labels={"sandbox": "yes"}) for name in ("a1", "b1")),
            SHUT,
            SANDBOX,
            *deployed(
                "a1",
                "b1",
                "a1",
                "b1",
                pods=template(ON_ZONES, runtimeClassName="sandbox"),
                beyond={"nodeSelector": {"sandbox": "yes"}},
            ),
        ],
        [("OK", "", {"a": 2, "b": 2})],
    ),
    "an owner of another API makes a claim a Pod": (
        [*ZONES, node("c1", zone="c"), node("c2", zone="c"), storage_class("fast"), *kafka()],
        [("OK", "", {"a": 1, "b": 1, "c": 2})],
    ),
    "another run's Pods do not count": (
        [*ZONES, SHUT, nightly(), *run_of("nightly-1", "a1", "b1")],
        [("OK", "", {"a": 0, "b": 0, "c": 0})],
    ),
}


@pytest.mark.parametrize(("objects", "rows"), SHOWN.values(), ids=SHOWN)
def test_the_row_is_that_of_the_next_pod(tmp_path: Path, objects: Sequence[Object], rows: Rows) -> None:
    ended = asked(tmp_path, "show", objects, "-o", "json")
    found = [(item["status"], item["statusReason"], matching(item)) for item in ended.items]
    assert (ended.code, found) == (0, rows)


def matching(item: Object) -> Mapping[str, int]:
    """Return the Pods of each domain that counts."""
    return {each["value"]: each["matching"] for each in item["constraint"]["domains"] if each["eligible"]}


def test_a_pod_that_waits_is_told_of_as_the_row_is(tmp_path: Path) -> None:
    """Admission wrote into the Pod what it will write into the next."""
    objects, _ = SHOWN["a LimitRange writes the requests"]
    asks = template(ON_ZONES, requests={"cpu": "2"})["spec"]["containers"]
    pending = deployed("", beyond={"containers": asks})[-1]
    pending["metadata"]["name"] = "web-new"
    first, *_ = asked(tmp_path, "why-pending", [*objects, pending]).stdout.splitlines()
    assert first == (
        "default/web-new is Pending (its only replica runs)."
        " No spread constraint is the cause. Both nodes have too little cpu (2 requested, at most 1 free)."
    )
