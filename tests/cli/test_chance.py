"""What is left to chance is said: which of many nodes are scored, and which of equal Pods is preempted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.build import ZONE, Object, app, namespace, node, pod, spread
from tests.build_workloads import template, workload
from tests.cli.once_wrong import asked, deployed

SOFT = template(spread(ZONE, selector=app("web"), soft=True))
NOT_PROVED = "The scheduler scores only some of the nodes that fit, chosen by chance"
WEB = workload("Deployment", "web", pods=SOFT, replicas=6)
ALL_SCORED = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 100\n"
)


def cluster(**zones: int) -> Sequence[Object]:
    """Return so many empty nodes in each zone."""
    nodes = [node(f"{zone}-{number:03}", zone=zone) for zone, most in zones.items() for number in range(most)]
    return [namespace("default"), *nodes]


def report(folder: Path, command: str, objects: Sequence[Object], *words: str, **more: Any) -> Object:  # noqa: ANN401 - as for asked
    said: Object = json.loads(asked(folder, command, objects, *words, "-o", "json", **more).stdout)
    return said


def test_check_says_what_some_starts_lead_to(tmp_path: Path) -> None:
    (item,) = report(tmp_path, "check", cluster(a=281, b=10, c=10), manifests=[WEB])["items"]
    assert (item["sampled"], item["orders"]) == (True, 16)
    assert {each["value"]: (each["minimum"], each["maximum"]) for each in item["ranges"]} == {
        "a": (2, 6),
        "b": (0, 2),
        "c": (0, 2),
    }
    told = asked(tmp_path, "check", cluster(a=281, b=10, c=10), manifests=[WEB]).stdout
    assert f"{NOT_PROVED}: this is the result of 16 orders and is not proved." in told


@pytest.mark.parametrize(("nodes", "words"), [(100, ()), (300, ("--scheduler-config", "all.yaml"))])
def test_where_all_nodes_are_scored_nothing_is_said_of_it(tmp_path: Path, nodes: int, words: Sequence[str]) -> None:
    (tmp_path / "all.yaml").write_text(ALL_SCORED, encoding="utf-8")
    words = [str(tmp_path / word) if word.endswith(".yaml") else word for word in words]
    objects = cluster(a=nodes - 20, b=10, c=10)
    (item,) = report(tmp_path, "check", objects, *words, manifests=[WEB])["items"]
    assert (item["sampled"], item["ranges"]) == (False, [])
    assert NOT_PROVED not in asked(tmp_path, "check", objects, *words, manifests=[WEB]).stdout


def test_simulate_has_ranges_of_what_is_scored(tmp_path: Path) -> None:
    objects = [*cluster(a=281, b=10, c=10), *deployed(*["a-000"] * 3, pods=SOFT)]
    (step,) = report(tmp_path, "simulate", objects, "--scale", "deployment/web=9")["steps"]
    ranges = step["items"][0]["ranges"]
    assert ranges["b"][0] < ranges["b"][1]
    assert any(note.startswith(NOT_PROVED) for note in step["notes"])


def test_rebalance_says_that_a_soft_plan_is_not_proved(tmp_path: Path) -> None:
    objects = [*cluster(a=101, b=100, c=100), *deployed(*[f"a-{number:03}" for number in range(6)], pods=SOFT)]
    found = report(tmp_path, "rebalance", objects, "--soft")
    assert (len(found["evictions"]), found["scored"], found["orders"]) == (4, "some", "sampled")
    assert NOT_PROVED in asked(tmp_path, "rebalance", objects, "--soft").stdout


def test_a_hard_constraint_that_leaves_few_nodes_is_proved(tmp_path: Path) -> None:
    """Of 301 nodes 144 are scored, and of those the constraint leaves no more than 100."""
    hard = template(spread(ZONE, selector=app("web")))
    on = ["a-000", "a-001", "a-002", "b-000"]
    found = report(tmp_path, "rebalance", [*cluster(a=151, b=150), *deployed(*on[:3], *on[3:], pods=hard)])
    assert (len(found["evictions"]), found["scored"]) == (1, "some")
    three = [*cluster(a=101, b=100, c=100), *deployed("a-000", "a-001", "b-000", pods=hard)]
    found = report(tmp_path, "rebalance", three)
    assert (len(found["evictions"]), found["scored"]) == (1, "all")


FULL = [
    namespace("default"),
    *(node(f"{zone}1", zone=zone, allocatable={"cpu": "1"}) for zone in "ab"),
    *(
        pod(
            f"low-{zone}",
            on=f"{zone}1",
            requests={"cpu": "1"},
            priority=-1,
            status={"startTime": "2026-01-01T00:00:00Z"},
        )
        for zone in "ab"
    ),
]
"""Two nodes, on each of which a Pod would be preempted that is no better than the other."""


def test_check_names_the_pods_that_are_preempted_by_chance(tmp_path: Path) -> None:
    web = workload("Deployment", "web", pods=template(requests={"cpu": "1"}), replicas=1)
    told = asked(tmp_path, "check", FULL, manifests=[web]).stdout
    assert "it preempts default/low-a on a1, or by chance default/low-b instead." in told
    assert "Some nodes are equal, so the scheduler may use one for the other: a1 or b1." in told
    (item,) = report(tmp_path, "check", FULL, manifests=[web])["items"]
    assert item["placements"][0]["preemptsInstead"] == [{"namespace": "default", "name": "low-b"}]


def test_simulate_names_the_pods_that_are_preempted_by_chance(tmp_path: Path) -> None:
    web = deployed(pods=template(requests={"cpu": "1"}))
    told = asked(tmp_path, "simulate", [*FULL, *web], "--scale", "deployment/web=1").stdout
    assert "Preempted by Pods of higher priority: default/low-a." in told
    assert "In other random orders default/low-b is preempted instead." in told


def test_why_pending_names_the_other_node(tmp_path: Path) -> None:
    waits = pod("web", requests={"cpu": "1"})
    told = asked(tmp_path, "why-pending", [*FULL, waits], "web").stdout
    assert "low-a would be evicted from a1; the scheduler may also choose b1" in told
    first, fix = "1. Wait for the scheduler to evict {} at its next attempt.", "2. Uncordon: uncordon c1."
    assert first.format("Pods of a lower priority from a1 or b1") in told
    one = [node("c1", allocatable={"cpu": "1"}, unschedulable=True), *FULL[:2], FULL[3], waits]
    told = asked(tmp_path, "why-pending", one, "web").stdout
    assert told.index(first.format("default/low-a from a1")) < told.index(fix)


def test_where_a_pod_may_come_back_no_eviction_is_planned(tmp_path: Path) -> None:
    """From most starts the scheduler comes upon no node of the small zones."""
    on = [f"a-{number:03}" for number in range(6)]
    (item,) = report(tmp_path, "rebalance", [*cluster(a=281, b=10, c=10), *deployed(*on, pods=SOFT)], "--soft")["items"]
    assert item["verdict"] == "Incomplete"
    assert item["reason"].startswith("a Pod evicted in a may go to a, b and c by chance")


@pytest.mark.parametrize("command", [["why-pending"], ["show", "deployment/web"]], ids=["why-pending", "show"])
@pytest.mark.parametrize(("most", "scored"), [(33, None), (70, 102)])
def test_a_ranking_of_more_nodes_than_are_scored_says_so(
    tmp_path: Path, command: Sequence[str], most: int, scored: int | None
) -> None:
    objects = [*cluster(a=most, b=most, c=most), *deployed("")]
    (item,) = report(tmp_path, command[0], objects, *command[1:])["items"]
    told = asked(tmp_path, command[0], objects, *command[1:]).stdout
    says = "The scheduler scores only 102 of these 210 nodes, chosen by chance." in told
    assert (item.get("scored"), says) == (scored, bool(scored))
