"""Pods that do not come: what the API server refuses, and what a controller was last told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.contract.skew import status_reason
from kubectl_spread.controllers.workloads import workloads
from kubectl_spread.diagnosis.skew import rows
from kubectl_spread.diagnosis.statuses import SpreadStatus
from tests.build import ZONE, Object, app, handle, node, spread
from tests.build_workloads import owned, revision, template, workload

SPREAD = template(spread(ZONE, selector=app("web")))
DENIED = {"conditions": [{"type": "ReplicaFailure", "status": "True", "message": "denied by policy"}]}


def cluster(*, replicas: int, wanted: int, status: Object = DENIED) -> Sequence[Object]:
    """Return a Deployment of which so many Pods run, and whose ReplicaSet says how it fares."""
    made = revision("web", 1, pods=SPREAD)
    made |= {"status": status, "spec": {**made["spec"], "replicas": wanted}}
    pods = [owned(f"web-h1-{n}", "ReplicaSet", "web-h1", on="no"[n]) for n in range(replicas)]
    nodes = [node("n", zone="a"), node("o", zone="b")]
    return [*nodes, workload("Deployment", "web", pods=SPREAD, replicas=wanted), made, *pods]


@pytest.mark.parametrize(
    ("objects", "status", "reason"),
    [
        (cluster(replicas=1, wanted=2), SpreadStatus.FAILED_CREATE, "denied by policy"),
        (cluster(replicas=2, wanted=2), SpreadStatus.OK, ""),
        (cluster(replicas=1, wanted=2, status={}), SpreadStatus.OK, ""),
    ],
    ids=["could not make one", "has all it wants", "says nothing"],
)
def test_what_a_controller_could_not_make_does_not_come(
    objects: Sequence[Object], status: SpreadStatus, reason: str
) -> None:
    seen = handle(objects)
    (workload_,) = workloads(seen.snapshot)
    (item,) = rows(workload_, seen, defaults=False)
    assert (item.status, status_reason(item), bool(item.next)) == (status, reason, not reason)
