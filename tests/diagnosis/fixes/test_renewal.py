"""A changed template replaces Pods that run: what leaves them without a node is not offered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.build import HOSTNAME, Object, app, node
from tests.diagnosis.fixes.clusters import fixes, web
from tests.diagnosis.fixes.owners import owned, owner

SHUT: Object = {"taints": ["node.kubernetes.io/memory-pressure:NoSchedule"]}


def full(kind: str, *, replicas: int = 3, **a1: Any) -> tuple[list[Object], Object]:  # noqa: ANN401 - any field of the node, by the builder's own names
    """Return a cluster whose node a1 is as said, with a Pod of a workload on each node and one that finds no CPU."""
    room = {"cpu": "7"}
    nodes = [node("a1", zone="a", allocatable=room, **a1), node("b1", zone="b", allocatable=room)]
    on = {"web-0": "a1", "web-1": "b1", "web-2": ""}
    pods = [web(name, on=where, requests={"cpu": "4"}, topologySpreadConstraints=[]) for name, where in on.items()]
    made = owner(kind, pods[0], replicas=replicas, parallelism=replicas)
    *running, pending = [owned(each, made) for each in pods]
    return [*nodes, made, *running], pending


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job"])
@pytest.mark.parametrize(("a1", "offered"), [({}, {"LowerRequests"}), (SHUT, set())])
def test_a_pod_whose_node_was_closed_since_has_to_find_another(kind: str, a1: Object, offered: set[str]) -> None:
    objects, pending = full(kind, **a1)
    assert set(fixes(objects, pending)) == offered


def test_pods_that_stay_as_they_are_need_no_other_node() -> None:
    objects, pending = full("ReplicaSet", **SHUT)
    assert set(fixes(objects, pending)) == {"LowerRequests"}


def test_no_more_pods_need_a_node_than_are_wanted() -> None:
    """The one that waits is more than that, as a rollout begins."""
    objects, pending = full("Deployment", replicas=2, **SHUT)
    assert set(fixes(objects, pending)) == {"LowerRequests"}


def test_an_uncordoned_node_takes_its_pod_back() -> None:
    objects, pending = full("Deployment", unschedulable=True)
    assert set(fixes(objects, pending)) == {"Uncordon+LowerRequests"}


def test_a_pod_that_the_change_replaces_is_not_deleted_besides() -> None:
    """It would come back at once as it was, and keep the new ones off its node."""
    term = {"labelSelector": app("web"), "topologyKey": HOSTNAME}
    apart: Object = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    made = owner("Deployment", web(affinity=apart), replicas=4)
    on = {"web-0": "a1", "web-1": "a2", "web-2": "b1", "web-3": ""}
    *running, pending = [owned(web(name, on=where, affinity=apart), made) for name, where in on.items()]
    assert set(fixes([*nodes, made, *running], pending)) == set()
