"""How many evictions a PodDisruptionBudget allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_spread.controllers.disruption import never_counted, with_status
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from tests.build import Object, app, pod, snapshot
from tests.build_workloads import controller, owned, revision, workload

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
OPERATOR = {**controller("Cluster", "shop"), "apiVersion": "example.com/v1"}
CLONE_SET = {**controller("CloneSet", "web"), "apiVersion": "apps.kruise.io/v1alpha1"}


def status(objects: Sequence[Object], before: Object | None = None, **spec: Any) -> PodDisruptionBudgetStatus:  # noqa: ANN401 - any field of the spec
    """Return the status of the application's budget."""
    described: Object = {
        "metadata": {"namespace": "default"},
        "spec": {"selector": app("web"), **spec},
        "status": before or {},
    }
    read = snapshot(objects)
    budget = convert(described, PodDisruptionBudget)
    return with_status(budget, tuple(read.all(Pod)), read).status


def three(kind: str, by: str) -> list[Object]:
    """Return three ready Pods of a controller."""
    return [owned(f"web-{at}", kind, by, on="n", status=READY) for at in range(3)]


def under_operator(kind: str) -> Object:
    """Return a workload of three Pods that an operator's object owns."""
    return workload(kind, "web", replicas=3, owner=OPERATOR)


def replica_set_of_an_operator() -> Object:
    """Return a ReplicaSet of three Pods whose Deployment is none of Kubernetes'."""
    return {**under_operator("ReplicaSet"), "metadata": {**under_operator("ReplicaSet")["metadata"], "name": "web-h1"}}


@pytest.mark.parametrize(
    ("objects", "wanted"),
    [
        ([under_operator("StatefulSet"), *three("StatefulSet", "web")], (3, 1)),
        ([under_operator("ReplicationController"), *three("ReplicationController", "web")], (3, 1)),
        ([replica_set_of_an_operator(), *three("ReplicaSet", "web-h1")], (3, 1)),
        ([under_operator("Deployment"), revision("web", 1), *three("ReplicaSet", "web-h1")], (3, 1)),
        ([workload("Deployment", "api"), revision("web", 1), *three("ReplicaSet", "web-h1")], (1, 3)),
    ],
    ids=["StatefulSet", "ReplicationController", "ReplicaSet", "Deployment", "Deployment that is gone"],
)
def test_whoever_owns_the_owner_is_not_asked(objects: Sequence[Object], wanted: tuple[int, int]) -> None:
    found = status(objects, maxUnavailable=1)
    assert (found.expected_pods, found.disruptions_allowed) == wanted


def test_revisions_of_one_deployment_count_once() -> None:
    objects = [
        workload("Deployment", "web", replicas=6),
        *(revision("web", number) for number in (1, 2)),
        *three("ReplicaSet", "web-h1"),
        *(owned(f"new-{at}", "ReplicaSet", "web-h2", on="n", status=READY) for at in range(3)),
    ]
    assert status(objects, minAvailable="50%").disruptions_allowed == 3


def test_a_budget_is_counted_that_no_controller_has_looked_at_yet() -> None:
    metadata = {"name": "web", "namespace": "default"}
    written = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata}
    written["spec"] = {"selector": app("web"), "minAvailable": 1}
    pods = [pod(f"web-{at}", on="n", labels={"app": "web"}, status=READY) for at in range(3)]
    told = written | {"status": {"expectedPods": 3}}
    assert [each.status.disruptions_allowed for each in never_counted(snapshot([written, *pods]))] == [2]
    assert list(never_counted(snapshot([told, *pods]))) == []


def test_what_nothing_owns_counts_for_nothing() -> None:
    alone = [pod(f"p{at}", on="n", labels={"app": "web"}, status=READY) for at in range(2)]
    assert status(alone, maxUnavailable=1) == PodDisruptionBudgetStatus(current_healthy=2)
    assert status(alone, minAvailable=1).disruptions_allowed == 1


def test_where_the_owner_is_not_read_the_last_count_stands() -> None:
    pods = [pod(f"web-{at}", on="n", owner=CLONE_SET, labels={"app": "web"}, status=READY) for at in range(3)]
    assert status(pods, {"expectedPods": 3}, maxUnavailable=1).disruptions_allowed == 1
    assert status(pods, {"expectedPods": 5}, maxUnavailable=1).disruptions_allowed == 0


@pytest.mark.parametrize(
    "objects",
    [
        [workload("DaemonSet", "web"), *three("DaemonSet", "web")],
        [workload("StatefulSet", "other"), *three("StatefulSet", "web")],
    ],
    ids=["a kind without scale", "an owner that is gone"],
)
def test_an_error_leaves_no_eviction_and_all_other_numbers(objects: Sequence[Object]) -> None:
    before = {"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3}
    found = status(objects, before, maxUnavailable=2)
    assert found == PodDisruptionBudgetStatus(current_healthy=3, desired_healthy=1, expected_pods=3)


def test_a_budget_that_says_no_number_allows_nothing() -> None:
    objects = [workload("StatefulSet", "web", replicas=3), *three("StatefulSet", "web")]
    assert status(objects) == PodDisruptionBudgetStatus(current_healthy=3)


@pytest.mark.parametrize("portion", ["x%", "2"])
@pytest.mark.parametrize("field", ["maxUnavailable", "minAvailable"])
def test_a_portion_that_cannot_be_read_leaves_no_eviction(field: str, portion: str) -> None:
    """An error of the controller's: intstr.GetScaledValueFromIntOrPercent reads only percentages from text."""
    objects = [workload("StatefulSet", "web", replicas=3), *three("StatefulSet", "web")]
    found = status(objects, {"disruptionsAllowed": 2, "expectedPods": 3}, **{field: portion})
    assert (found.disruptions_allowed, found.expected_pods) == (0, 3)
