"""How many Pods a workload lacks, and what its controller says of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pytest

from kubectl_spread.controllers.shortage import Shortage, shortage_of
from kubectl_spread.controllers.workloads import workloads
from tests.build import Object, snapshot
from tests.build_workloads import controller, owned, revision, workload
from tests.naming import in_order

DENIED = 'admission webhook "policy.example" denied the request: no'


def failing(status: str = "True", **fields: str) -> Object:
    """Return the status of a ReplicaSet whose last Pod was denied, or once was."""
    return {"conditions": [{"type": "ReplicaFailure", "status": status, "message": DENIED, **fields}]}


def on_nodes(desired: int, current: int) -> Object:
    """Return the status of a DaemonSet with Pods for so many nodes, and on so many."""
    return {"desiredNumberScheduled": desired, "currentNumberScheduled": current}


def of_revision(number: int, replicas: int, status: Object | None = None) -> Object:
    """Return the ReplicaSet of a revision of the Deployment web."""
    made = revision("web", number)
    return {**made, "spec": {**made["spec"], "replicas": replicas}, "status": status or {}}


def pods(kind: str, by: str, number: int, **fields: object) -> list[Object]:
    return [owned(f"{by}-{n}", kind, by, on="n", **fields) for n in range(number)]


def shortage(*objects: Object | Sequence[Object]) -> Shortage | None:
    """Return what the only workload of the cluster lacks."""
    described = chain.from_iterable([each] if isinstance(each, dict) else each for each in objects)
    cluster = snapshot(list(described))
    (only,) = workloads(cluster)
    return shortage_of(only, cluster)


WEB = workload("Deployment", "web", replicas=3)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([WEB], Shortage(3, 0)),
        ([WEB, of_revision(1, 3), pods("ReplicaSet", "web-h1", 3)], None),
        ([WEB, of_revision(1, 3), pods("ReplicaSet", "web-h1", 2)], Shortage(3, 2)),
        ([WEB, of_revision(1, 3, failing()), pods("ReplicaSet", "web-h1", 2)], Shortage(3, 2, DENIED)),
        ([WEB, of_revision(1, 3, failing("False")), pods("ReplicaSet", "web-h1", 2)], Shortage(3, 2)),
        ([WEB, of_revision(1, 3, failing()), pods("ReplicaSet", "web-h1", 3)], None),
        ([WEB, of_revision(1, 2), of_revision(2, 1), pods("ReplicaSet", "web-h1", 2)], Shortage(1, 0)),
        ([WEB, of_revision(1, 3), pods("ReplicaSet", "web-h1", 3, terminating=True)], Shortage(3, 0)),
        ([{**workload("ReplicaSet", "rs", replicas=1), "status": failing()}], Shortage(1, 0, DENIED)),
        ([{**workload("ReplicationController", "rc", replicas=1), "status": failing()}], Shortage(1, 0, DENIED)),
        ([workload("StatefulSet", "db", replicas=2), pods("StatefulSet", "db", 1)], Shortage(2, 1)),
        ([workload("StatefulSet", "db", replicas=0)], None),
        ([workload("Job", "once", parallelism=3, completions=5)], Shortage(3, 0)),
        ([workload("Job", "once", parallelism=3, completions=5, suspend=True)], None),
        ([workload("DaemonSet", "agent")], None),
        ([workload("DaemonSet", "agent", status=on_nodes(3, 1)), pods("DaemonSet", "agent", 1)], Shortage(3, 1)),
        ([workload("DaemonSet", "agent", status=on_nodes(3, 1)), pods("DaemonSet", "agent", 3)], None),
        ([workload("DaemonSet", "agent", status=on_nodes(3, 3)), pods("DaemonSet", "agent", 3)], None),
        ([WEB, of_revision(1, 3, failing(reason="FailedCreate"))], Shortage(3, 0, DENIED)),
        ([WEB, of_revision(1, 3, failing(reason="FailedDelete"))], Shortage(3, 0)),
        ([owned("lone", "Rollout", "canary")], None),
    ],
    ids=in_order,
)
def test_what_a_workload_lacks(objects: Sequence[Object | Sequence[Object]], expected: Shortage | None) -> None:
    assert shortage(*objects) == expected


def test_the_pods_of_other_revisions_are_not_what_the_newest_lacks() -> None:
    other = of_revision(1, 3)
    newest = of_revision(2, 2, failing())
    assert controller("Deployment", "web") in newest["metadata"]["ownerReferences"]
    lacking = shortage(WEB, other, newest, pods("ReplicaSet", "web-h1", 3), pods("ReplicaSet", "web-h2", 1))
    assert lacking == Shortage(2, 1, DENIED)
