"""Answers that once were wrong, one row each: what is asked of a small cluster, what is said, and what is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from tests.build import HOSTNAME, ZONE, Object, app, namespace, node, pod, spread
from tests.build_storage import claim, volume
from tests.build_workloads import controller, kubectl_applied, owned, revision, template, workload
from tests.cli.once_wrong import ON_ZONES, SHUT, ZONES, asked, deployed, mounting, ordinals, pods_of, run_of

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
THREE = (*ZONES, node("c1", zone="c"))
SMALL = [node(f"{zone}1", zone=zone, allocatable={"cpu": "2"}) for zone in "abc"]
BIG = {"cpu": "1500m"}
SSD = template(ON_ZONES, nodeSelector={"disk": "ssd"})


class Row(Struct, frozen=True, kw_only=True):
    """A question and its answer.

    Attributes:
        objects: the cluster.
        ask: the command and its words.
        manifests: what ``check`` is asked about, or ``simulate`` applies.
        code: the exit code.
        says: what stands in the answer.
        says_not: what does not.
    """

    objects: Sequence[Object]
    ask: Sequence[str]
    manifests: Sequence[Object] = ()
    code: int = 0
    says: Sequence[str] = ()
    says_not: Sequence[str] = ()


def stateful(*on: str, status: Object | None = None, pods: Object | None = None, **spec: object) -> list[Object]:
    """Return the StatefulSet db with a Pod on each of these nodes, Pending for an empty one."""
    made = pods or template(ON_ZONES)
    owner = workload("StatefulSet", "db", pods=made, replicas=len(on), status={"updateRevision": "db-1"}, **spec)
    labels = {"controller-revision-hash": "db-1"}
    living = [
        owned(f"db-{n}", "StatefulSet", "db", on=where, labels=labels, status=(status or READY) if where else None, **made["spec"])
        for n, where in enumerate(on)
    ]
    return [owner, *living]


def orphaned(objects: Sequence[Object]) -> list[Object]:
    """Return the Pods among the objects as ``kubectl delete --cascade=orphan`` of their owner leaves them."""
    return [
        {**each, "metadata": {k: v for k, v in each["metadata"].items() if k != "ownerReferences"}}
        for each in objects
        if each["kind"] == "Pod"
    ]


def live_and_applied(changed: Object, manifest: Object, *others: Object) -> list[Object]:
    """Return an object as it lives, whose last applied manifest is another, and others."""
    told = kubectl_applied(manifest)["metadata"]["annotations"]
    return [{**changed, "metadata": {**changed["metadata"], "annotations": told}}, *others]


def stale() -> list[Object]:
    """Return a StatefulSet whose template was repaired after db-2 was made."""
    owner, *pods = stateful("a1", "b1", "")
    owner["status"] = {"updateRevision": "db-2", "currentRevision": "db-1"}
    pods[-1]["metadata"]["labels"]["controller-revision-hash"] = "db-2"
    pods[-1]["spec"]["nodeSelector"] = {"disk": "ssd"}
    return [owner, *pods]


ROWS = {
    "a run adopts no Pods of another run": Row(
        objects=[*THREE, workload("CronJob", "nightly"), *run_of("nightly-1", "a1", "b1")],
        ask=["check"],
        manifests=[run_of("nightly-1")[0] | {"metadata": {"name": "nightly-2", "namespace": "default"}}],
        says=["can be scheduled"],
        says_not=["adopts", "there"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_is_said_is_so(tmp_path: Path, row: Row) -> None:
    command, *words = row.ask
    ended = asked(tmp_path, command, row.objects, *words, manifests=row.manifests)
    told = ended.stdout + ended.stderr
    assert (ended.code, [each for each in row.says if each not in told]) == (row.code, []), told
    assert not [each for each in row.says_not if each in told], told
