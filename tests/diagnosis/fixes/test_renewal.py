"""A changed template replaces Pods that run: what leaves them without a node is not offered."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.diagnosis.fixes import rollout
from tests.build import HOSTNAME, Object, app, node
from tests.diagnosis.fixes.clusters import HASH, fixes, web
from tests.diagnosis.fixes.owners import owned, owner

SHUT: Object = {"taints": ["node.kubernetes.io/memory-pressure:NoSchedule"]}


def full(kind: str, *, replicas: int = 3, **a1: Any) -> tuple[list[Object], Object]:  # noqa: ANN401 - any field of the node, by the builder's own names
    """Return a cluster whose node a1 is as said, with a Pod of a workload on each node and one that finds no CPU."""
    room = {"cpu": "7"}
    nodes = [node("a1", zone="a", allocatable=room, **a1), node("b1", zone="b", allocatable=room)]
    on = {"web-0": "a1", "web-1": "b1", "web-2": ""}
    pods = [web(name, on=where, requests={"cpu": "4"}, topologySpreadConstraints=[]) for name, where in on.items()]
    by = made = owner(kind, pods[0], replicas=replicas, parallelism=replicas)
    if kind == "Deployment":
        made = owner("ReplicaSet", pods[0], name="web-h1", of=by, replicas=len(pods))
    labels = {HASH: "h1"} if made is not by else {}
    *running, pending = [owned(each, made, **labels) for each in pods]
    return [*nodes, by, made, *running], pending


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job"])
def test_a_pod_whose_node_was_closed_since_has_to_find_another(kind: str) -> None:
    """A Job is not offered what loses the work of its Pods and leaves as many waiting."""
    admits = [[fix.admits for fix in fixes(*full(kind, **a1)).values()] for a1 in ({}, SHUT)]
    assert admits == [[1], [] if kind == "Job" else [0]]


def test_a_rollout_that_is_too_large_to_follow_is_tried_with_some_of_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout, "MOST_PODS", 0)
    assert [len(fixes(*full("Deployment", **a1))) for a1 in ({}, SHUT)] == [1, 0]


@pytest.mark.parametrize(("unavailable", "offered"), [("100%", set()), (0, {"LowerRequests"})])
def test_a_rollout_after_which_fewer_run_is_not_offered(unavailable: int | str, offered: set[str]) -> None:
    """Both Pods on the closed node are replaced at once, and the other node has room for one."""
    fields: Object = {"requests": {"cpu": "4"}, "topologySpreadConstraints": []}
    rolling = {"maxSurge": 0 if unavailable else 1, "maxUnavailable": unavailable}
    by = owner("Deployment", web(**fields), replicas=3, strategy={"rollingUpdate": rolling})
    made = owner("ReplicaSet", web(**fields), name="web-h1", of=by, replicas=3)
    on = {"web-0": "a1", "web-1": "a1", "web-2": ""}
    *running, pending = [owned(web(name, on=where, **fields), made, **{HASH: "h1"}) for name, where in on.items()]
    nodes = [node("a1", zone="a", allocatable={"cpu": "8"}, **SHUT), node("b1", zone="b", allocatable={"cpu": "3"})]
    assert set(fixes([*nodes, by, made, *running], pending)) == offered


def test_pods_that_stay_as_they_are_need_no_other_node() -> None:
    objects, pending = full("ReplicaSet", **SHUT)
    assert set(fixes(objects, pending)) == {"LowerRequests"}


def test_no_more_pods_need_a_node_than_are_wanted() -> None:
    """The one that waits is more than that, as a rollout begins."""
    objects, pending = full("Deployment", replicas=2, **SHUT)
    assert set(fixes(objects, pending)) == {"LowerRequests"}


def test_an_uncordoned_node_takes_its_pod_back() -> None:
    """Without it the rollout waits: a Deployment keeps the old Pod, and one of the new ones has no node."""
    found = fixes(*full("Deployment", unschedulable=True))
    assert [(name, fix.admits) for name, fix in found.items()] == [("Uncordon+LowerRequests", 1), ("LowerRequests", 0)]


def test_a_pod_that_the_change_replaces_is_not_deleted_besides() -> None:
    """It would come back at once as it was, and keep the new ones off its node."""
    term = {"labelSelector": app("web"), "topologyKey": HOSTNAME}
    apart: Object = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    made = owner("Deployment", web(affinity=apart), replicas=4)
    on = {"web-0": "a1", "web-1": "a2", "web-2": "b1", "web-3": ""}
    *running, pending = [owned(web(name, on=where, affinity=apart), made) for name, where in on.items()]
    assert set(fixes([*nodes, made, *running], pending)) == set()
