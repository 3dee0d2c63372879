"""How many replicas there are once a manifest is applied that does not say so."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from kubectl_spread.controllers.replicas import replicas_applied, replicas_taken_back
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, Workload
from kubectl_spread.objects.meta import LAST_APPLIED
from tests.build import Object, snapshot
from tests.build_workloads import laid_over, template, workload

KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")


def read(described: Object) -> Workload:
    return cast("Workload", convert(described, BY_API[described["apiVersion"], described["kind"]].struct))


def after(kind: str, *, live: int | None = 6, asked: int | None = None, **metadata: Any) -> tuple[int, int | None]:  # noqa: ANN401 - any field
    """Return how many replicas there are after applying, and how many are taken back."""
    objects = []
    if live is not None:
        there = workload(kind, "web", pods=template(), replicas=live)
        there["metadata"] |= metadata
        objects.append(there)
    described = workload(kind, "web", pods=template())
    described["spec"] |= {} if asked is None else {"replicas": asked}
    owner = cast("Workload", laid_over(described, objects))
    before = snapshot(objects)
    return replicas_applied(owner, before), replicas_taken_back(owner, before.get(type(owner), *owner.key))


def last_applied(spec: Object) -> Object:
    return {LAST_APPLIED: json.dumps({"spec": spec})}


@pytest.mark.parametrize("kind", KINDS)
def test_what_lives_stays(kind: str) -> None:
    assert after(kind) == (6, None)
    assert after(kind, live=0) == (0, None)


def test_what_the_manifest_says_holds() -> None:
    assert after("Deployment", asked=2) == (2, None)
    assert after("Deployment", asked=2, annotations=last_applied({"replicas": 3})) == (2, None)


def test_a_new_one_has_one() -> None:
    assert after("Deployment", live=None) == (1, None)


def test_a_daemon_set_and_a_job_have_none_to_keep() -> None:
    for kind in ("DaemonSet", "Job"):
        owner = read(workload(kind, "web", pods=template(restartPolicy="Never")))
        assert (replicas_applied(owner, snapshot([])), replicas_taken_back(owner, owner)) == (1, None)


@pytest.mark.parametrize(
    ("status", "completions", "expected"),
    [
        ({}, 6, 3),
        ({"succeeded": 4}, 6, 2),
        ({"succeeded": 1}, None, 0),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, 6, 0),
    ],
)
def test_what_a_job_has_done_is_not_run_again(status: Object, completions: int | None, expected: int) -> None:
    asked: Object = {"parallelism": 3, "completions": completions}
    live = workload("Job", "web", status=status, **asked)
    assert replicas_applied(read(workload("Job", "web", **asked)), snapshot([live])) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_applied_before_is_taken_back(kind: str) -> None:
    assert after(kind, annotations=last_applied({"replicas": 3})) == (1, 6)
    assert after(kind, live=1, annotations=last_applied({"replicas": 3})) == (1, None)


def test_what_was_applied_without_replicas_takes_none_back() -> None:
    assert after("Deployment", annotations=last_applied({})) == (6, None)
