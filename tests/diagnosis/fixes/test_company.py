"""A fix promises what is left when all Pending Pods of the cluster compete for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.diagnosis.fixes import company
from kubectl_spread.diagnosis.fixes.choice import offered_first
from kubectl_spread.diagnosis.fixes.conclusion import ExpectedChange, FixSearch
from kubectl_spread.wording.fixes import starts
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import controller, owned, revision, template, workload
from tests.diagnosis.fixes.clusters import conclusion, search

CORDONED: Object = {"unschedulable": True, "taints": ["node.kubernetes.io/unschedulable:NoSchedule"]}
FULL = node("full", allocatable={"cpu": "0"})


def closed(name: str, cpu: str, **fields: Any) -> Object:  # noqa: ANN401 - as for a Node
    """Return a cordoned node with so much cpu."""
    return node(name, allocatable={"cpu": cpu}, **CORDONED, **fields)


def waiting(name: str, cpu: str = "1", **fields: Any) -> list[Object]:  # noqa: ANN401 - as for a Pod
    """Return two Pending Pods of a ReplicaSet of this name, which ask for so much cpu each."""
    made = {"requests": {"cpu": cpu}, "labels": {"app": name}, **fields}
    pods = [pod(f"{name}-{number}", owner=controller("ReplicaSet", name), **made) for number in range(2)]
    template_ = {"metadata": {"labels": made["labels"]}, "spec": pods[0]["spec"]}
    by = workload("ReplicaSet", name, pods=template_, replicas=2)
    return [{**by, "spec": {**by["spec"], "selector": app(name)}}, *pods]


def uncordon(objects: list[Object], pending: Object, *siblings: Object) -> Any:  # noqa: ANN401 - as JSON has it
    """Return the fix that uncordons the node."""
    found = search(objects, pending, siblings=siblings, together=True)
    return next(fix for fix in found.fixes if fix.id == "Uncordon")


@pytest.mark.parametrize(("cpu", "own", "others"), [("4", 2, [2]), ("3", 1, [1]), ("1", 0, [0])])
def test_two_workloads_share_the_room_that_a_node_has(cpu: str, own: int, others: list[int]) -> None:
    web, cart = waiting("web"), waiting("cart")
    fix = uncordon([closed("n1", cpu), FULL, *cart, web[0]], *web[1:])
    gains = [(each.workload.name, each.admits_at_most, each.pending) for each in fix.others]
    assert (fix.admits, [each.admits for each in fix.others]) == (own, others)
    assert gains == [("cart", min(int(cpu), 2), 2)]


def test_a_higher_priority_takes_all_the_room_and_the_fix_is_hidden() -> None:
    web, urgent = waiting("web"), waiting("urgent", priority=1000)
    found = search([closed("n1", "2"), FULL, *urgent, web[0]], web[1], siblings=web[2:], together=True)
    fix = next(each for each in found.fixes if each.id == "Uncordon")
    assert (fix.admits, [(each.workload.name, each.admits) for each in fix.others]) == (0, [("urgent", 2)])
    assert [each.for_others for each in conclusion([closed("n1", "2"), *urgent, web[0]], web[1], together=True).fixes]


def test_a_lower_priority_makes_room_for_it() -> None:
    """The Pods that it keeps out are those of another workload, which would run on the node otherwise."""
    web, low = waiting("web", priority=1000), waiting("low", nodeSelector={"disk": "ssd"})
    objects = [closed("n1", "2", labels={"disk": "ssd"}), FULL, *low, web[0]]
    fix = uncordon(objects, *web[1:])
    assert (fix.admits, fix.others) == (2, ())


def rollout(taken: str) -> list[Object]:
    """Return a rollout whose surge Pod waits: one Pod of each revision, and an open node with one that runs."""
    constraint = spread(HOSTNAME, selector=app("web"))
    old, new = (template(constraint, labels={"app": "web"}, requests={"cpu": cpu}) for cpu in ("1", taken))
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    sets = [revision("web", 1, pods=old), revision("web", 2, pods=new)]
    for each in sets:
        each["spec"] |= {"replicas": 1}
    spreads = [constraint]
    runs = owned(
        "web-h1-0",
        "ReplicaSet",
        "web-h1",
        on="a1",
        requests={"cpu": "1"},
        status=ready,
        topologySpreadConstraints=spreads,
    )
    waits = owned("web-h2-0", "ReplicaSet", "web-h2", requests={"cpu": taken}, topologySpreadConstraints=spreads)
    for each, number in ((runs, 1), (waits, 2)):
        each["metadata"]["labels"] |= {"pod-template-hash": f"h{number}"}
    by = workload("Deployment", "web", pods=new, replicas=1, strategy=strategy)
    return [node("a1", allocatable={"cpu": "4"}), closed("c9", "8"), by, *sets, runs, waits]


def test_the_rollout_that_goes_on_replaces_the_pods_that_run() -> None:
    *objects, waits = rollout("6")
    fix = uncordon(objects, waits)
    assert (fix.admits, fix.replaced) == (1, 1)


def test_nothing_is_replaced_where_no_rollout_waits() -> None:
    web = waiting("web")
    assert uncordon([closed("n1", "4"), FULL, web[0]], *web[1:]).replaced == 0


def test_a_constraint_that_does_not_hold_any_more_is_named() -> None:
    """The Pods of one workload may go to one zone only, and another workload counts them too."""
    both = spread(ZONE, selector={"matchLabels": {"team": "x"}}, nodeTaintsPolicy="Honor")
    web = waiting("web", labels={"app": "web", "team": "x"}, nodeSelector={"disk": "ssd"})
    there = [pod(f"api-{zone}", on=f"{zone}1", labels={"team": "x"}, topologySpreadConstraints=[both]) for zone in "ab"]
    nodes = [node("a1", zone="a"), node("b1", zone="b"), closed("n1", "4", zone="a", labels={"disk": "ssd"})]
    fix = uncordon([*nodes, *there, web[0]], *web[1:])
    assert {(each.workload.name, each.topology_key, each.skew, each.max_skew) for each in fix.worse} == {
        ("api-a", ZONE, 2, 1),
        ("api-b", ZONE, 2, 1),
    }


@pytest.mark.parametrize(("bound", "most"), [("MOST_PODS", 3), ("MOST_PENDING", 3), ("MOST_SIMULATED", 0)])
def test_a_large_cluster_is_not_simulated_as_a_whole(bound: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(company, bound, most)
    web, cart = waiting("web"), waiting("cart")
    alone = conclusion([closed("n1", "4"), FULL, *cart, web[0]], web[1], siblings=web[2:], together=True)
    assert {(fix.alone, fix.future) for fix in alone.fixes} == {(True, None)}
    assert not any(
        fix.alone for fix in conclusion([closed("n1", "4"), web[0]], web[1], siblings=web[2:], together=True).fixes
    )


def test_what_does_not_come_to_rest_is_not_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(company, "MOST_VERDICTS", 1)
    web = waiting("web")
    found = conclusion([closed("n1", "4"), web[0]], web[1], together=True)
    assert all(fix.future is None for fix in found.fixes)


NOT_READY: Object = {"taints": ["node.kubernetes.io/not-ready:NoSchedule"]}


def leaving(cpu: str) -> list[Object]:
    """Return a node whose Pod is being deleted, which uses so much cpu, and all there is."""
    old = pod("old", on="n1", requests={"cpu": cpu}, terminating=True)
    metadata = {**old["metadata"], "finalizers": [], "deletionGracePeriodSeconds": 30}
    return [node("n1", allocatable={"cpu": cpu}), {**old, "metadata": metadata}]


def broken(cpu: str) -> list[Object]:
    """Return a node that is not ready, with so much cpu."""
    return [node("n1", allocatable={"cpu": cpu}, **NOT_READY)]


@pytest.mark.parametrize("soon", [leaving, broken])
@pytest.mark.parametrize(
    ("cpu", "urgent", "admits"),
    [("2", 0, (2, 2)), ("1", 0, (1, 1)), ("3", 2, (1, 1)), ("2", 2, None)],
    ids=["room for all", "room for one", "others come first", "others take all"],
)
def test_a_wait_lets_in_what_others_leave(
    soon: Callable[[str], list[Object]], cpu: str, urgent: int, admits: tuple[int, int] | None
) -> None:
    """Where they leave nothing, it is not proposed."""
    web, others = waiting("web"), waiting("urgent", priority=1000)[: urgent and 3]
    found = conclusion([*soon(cpu), FULL, *others, web[0]], web[1], siblings=web[2:], together=True)
    vain = [each for each in found.left_alone if isinstance(each, ExpectedChange)]
    assert [wait.admits for wait in found.waits] == ([] if admits is None else [admits])
    assert [type(each).__name__ for each in vain] == (
        [] if admits else ["PodEnding" if soon is leaving else "NodeRecovery"]
    )


@pytest.mark.parametrize(("soon", "admits"), [(broken, UNSET), (leaving, (1, 1))])
def test_a_wait_whose_end_is_not_simulated_says_nothing_of_others(
    soon: Callable[[str], list[Object]], admits: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes by itself is simulated where changes are not."""
    monkeypatch.setattr(company, "MOST_PENDING", 0)
    web = waiting("web")
    found = conclusion([*soon("1"), FULL, web[0]], web[1], siblings=web[2:], together=True)
    assert [wait.admits for wait in found.waits] == [admits]


def moved(*others: Object) -> FixSearch:
    """Return what helps a Pod that may only go to a full node; its Pod finds room elsewhere if nobody else does."""
    held = {"requests": {"cpu": "1"}, "labels": app("held")["matchLabels"]}
    holder = pod("held-0", on="a1", owner=controller("ReplicaSet", "held"), **held)
    template_ = {"metadata": {"labels": held["labels"]}, "spec": {**holder["spec"], "nodeName": ""}}
    by = workload("ReplicaSet", "held", pods=template_, replicas=1)
    by = {**by, "spec": {**by["spec"], "selector": app("held")}}
    nodes = [node("a1", allocatable={"cpu": "1"}, labels={"disk": "ssd"}), node("b1", allocatable={"cpu": "1"})]
    asks = pod("asks", requests={"cpu": "1"}, nodeSelector={"disk": "ssd"})
    return conclusion([*nodes, by, holder, *others], asks, together=True)


def test_a_pod_is_not_moved_if_it_has_no_node_in_the_end() -> None:
    """One Pod would have a node instead of another: that comes last, and only when all fixes are asked for."""
    alone, contested = moved(), moved(pod("first", requests={"cpu": "1"}, priority=1000))
    told = []
    for found in (alone, contested):
        move = next(fix for fix in found.fixes if fix.id == "MovePod")
        told.append((move.in_vain, move in offered_first(found), "on another node" in " ".join(starts(move))))
    assert told == [(False, True, False), (True, False, False)]


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(("cpu", "in_vain"), [("2", True), ("3", False)])
def test_a_rollout_that_ends_with_as_many_pods_without_a_node_is_in_vain(cpu: str, in_vain: int, together: int) -> None:
    """It is stuck with its surge Pod, although one more runs then."""
    constraint = spread(HOSTNAME, selector=app("web"))
    made = template(constraint, labels={"app": "web"}, requests={"cpu": "1"})
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    current = revision("web", 1, pods=made)
    current["spec"] |= {"replicas": 2}
    fields: Object = {"requests": {"cpu": "1"}, "topologySpreadConstraints": [constraint]}
    runs = owned("web-h1-0", "ReplicaSet", "web-h1", on="a1", status=ready, **fields)
    waits = owned("web-h1-1", "ReplicaSet", "web-h1", **fields)
    for each in (runs, waits):
        each["metadata"]["labels"] |= {"pod-template-hash": "h1"}
    by = workload("Deployment", "web", pods=made, replicas=2, strategy=strategy)
    found = conclusion([node("a1", allocatable={"cpu": cpu}), FULL, by, current, runs], waits, together=bool(together))
    softer = next(fix for fix in found.fixes if fix.id == "MakeSoft")
    assert (softer.in_vain, softer in offered_first(found)) == (bool(in_vain), not in_vain)
