"""Many Pods that wait for few causes: each cause stands once on top, and one Pod of each is explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.render.html import to_html
from kubectl_spread.render.markdown import to_markdown
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.pending import pending_outline
from kubectl_spread.render.text import outline_text
from kubectl_spread.render.text.screen import Screen
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, template, workload
from tests.commands.memory import Memory

DOWN = "node.kubernetes.io/not-ready:NoExecute"
BRIEF = Extent(brief=True)
RS = "default/replicaset"
REGION = "eu-west-1"


def cluster() -> Iterator[Object]:
    """Yield an outage: zone c is down, a quota is used up, and one workload asks for more CPU than any node has."""
    for zone in "abc":
        for number in range(10):
            taints = [DOWN, *["pool=spot:NoSchedule"] * (number == 0)] if zone == "c" else []
            yield node(f"n{zone}{number}", zone=f"{REGION}{zone}", cpu="8", pods=110, taints=taints)
    for name, waiting in {"web": 6, "cart": 5, "api": 5, "search": 4}.items():
        even = spread(ZONE, selector=app(name))
        yield workload("ReplicaSet", name, pods=template(even, labels={"app": name}), replicas=waiting + 2)
        for number in range(waiting + 2):
            on = f"n{'ab'[number]}{number}" if number < 2 else ""
            yield owned(
                f"{name}-{number}", "ReplicaSet", name, on=on, labels={"app": name}, topologySpreadConstraints=[even]
            )
    yield workload("StatefulSet", "db", pods=template(labels={"app": "db"}), replicas=16)
    for number in range(16):
        labels = {"app": "db", "apps.kubernetes.io/pod-index": str(number)}
        yield owned(f"db-{number}", "StatefulSet", "db", labels=labels, hostname=f"db-{number}", requests={"cpu": "9"})
    limits = {"hard": {"pods": "0"}}
    yield {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "compute", "namespace": "ml"},
        "spec": limits,
        "status": {**limits, "used": {"pods": "0"}},
    }
    yield workload("ReplicaSet", "train", pods=template(labels={"app": "train"}), replicas=4, namespace="ml")


@pytest.fixture(name="report", scope="module")
def fixture_report() -> PendingReport:
    """Return why each Pod of the outage waits."""
    return why_pending(Memory([*cluster()]), Scope(namespace=""), SchedulerOptions()).report


def test_an_outage_fits_a_screen(report: PendingReport) -> None:
    narrow, lines = (
        outline_text(pending_outline(report, BRIEF), Screen(width=width)).splitlines() for width in (100, 120)
    )
    assert len(narrow) <= 40
    assert lines[:6] == [
        f"zone {REGION}c: NotReady (10 of 10 nodes); Pending: 20 Pods of 4 workloads",
        f"  {RS}/api (5), {RS}/cart (5), {RS}/search (4), {RS}/web (6)",
        "too little cpu free; Pending: 16 Pods of default/statefulset/db",
        "quota compute in ml; not created: 4 Pods of ml/replicaset/train",
        "One Pod of each cause follows. -o wide explains every Pod, with tables of nodes and domains.",
        "",
    ]


def test_pods_of_a_statefulset_are_told_once(report: PendingReport) -> None:
    items = pending_outline(report, Extent()).items
    assert [item.pods for item in items if "/db-" in item.headline.subject] == [16]


def test_all_formats_say_the_same(report: PendingReport) -> None:
    for cause in pending_outline(report, BRIEF).causes:
        assert f"- {cause.text}" in to_markdown(report).replace("\\", "")
        assert f"<li>{cause.text}" in to_html(report)


def test_one_explanation_needs_no_summary() -> None:
    report = why_pending(Memory([pod("p", cpu="1")]), Scope(namespace=""), SchedulerOptions()).report
    assert pending_outline(report, BRIEF).causes == ()


def causes_of(objects: Sequence[Object]) -> list[str]:
    """Return the line of each cause, in their order."""
    report = why_pending(Memory(objects), Scope(namespace=""), SchedulerOptions(), fix_budget=0).report
    return [cause.line for cause in pending_outline(report, BRIEF).causes]


def pending(name: str, number: int, *on: str, key: str = ZONE, **spec: Any) -> Iterator[Object]:  # noqa: ANN401 - any field of a Pod
    """Yield a ReplicaSet whose first Pods are on these nodes, while so many wait (count)."""
    labels, even = {"app": name}, spread(key, selector=app(name))
    yield workload("ReplicaSet", name, pods=template(even, labels=labels, **spec), replicas=len(on) + number)
    for ordinal, where in enumerate([*on, *[""] * number]):
        fields: Any = {"topologySpreadConstraints": [even], **spec}
        yield owned(f"{name}-{ordinal}", "ReplicaSet", name, on=where, labels=labels, **fields)


def test_what_all_nodes_of_a_zone_have_or_are() -> None:
    nodes = [node("a", zone="a"), *(node(f"c{i}", zone="c", taints=["gpu:NoSchedule"]) for i in range(2))]
    workloads = [*pending("web", 2, "a"), *pending("api", 3, key="rack")]
    assert causes_of([*nodes, *workloads]) == [
        f"no node has rack; Pending: 3 Pods of {RS}/api",
        f"zone c: taint gpu:NoSchedule (2 of 2 nodes); Pending: 2 Pods of {RS}/web",
    ]
    ports = [{"name": "main", "image": "app:v1", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    full = [pod(f"on-{name}", on=name, containers=ports) for name in ("c0", "c1")]
    nodes = [node("a", zone="a"), *(node(f"c{i}", zone="c") for i in range(2))]
    assert causes_of([*nodes, *full, *pending("web", 1, "a", containers=ports), *pending("api", 1, key="rack")])[1] == (
        f"host port 80/TCP in use; Pending: 1 Pod of {RS}/web"
    )


def test_pods_that_can_be_scheduled_come_last_unless_some_of_them_cannot() -> None:
    nodes = [node(name, zone=name, allocatable={"cpu": "3"}) for name in "ab"]
    small: Any = {"requests": {"cpu": "1"}}
    large: Any = {"requests": {"cpu": "9"}}
    assert causes_of([*nodes, *pending("web", 3, **small), *pending("big", 1, **large)]) == [
        f"too little cpu free; Pending: 1 Pod of {RS}/big",
        f"can be scheduled now; Pending: 3 Pods of {RS}/web",
    ]
    assert causes_of([*nodes, *pending("web", 9, **small), *pending("big", 1, **large)]) == [
        f"can be scheduled now, but not all of them; Pending: 9 Pods of {RS}/web",
        f"too little cpu free; Pending: 1 Pod of {RS}/big",
    ]


@pytest.mark.parametrize(
    ("names", "cordoned", "told"),
    [
        ("pq", False, [f"{RS}/q needs one of its own"]),
        ("pqrstu", False, [f"{RS}/q, {RS}/r, {RS}/s and 2 more need one each"]),
        ("pq", True, []),  # One uncordoned node takes the Pods of all.
    ],
)
def test_workloads_that_need_a_fix_each_are_named(names: str, cordoned: bool, told: Sequence[str]) -> None:  # noqa: FBT001 - a case
    taints = [] if cordoned else ["gpu:NoSchedule"]
    nodes = [node("a", zone="a"), node("c", zone="c", unschedulable=cordoned, taints=taints)]
    objects = [*nodes, *(each for name in names for each in pending(name, 1, "a"))]
    report = why_pending(Memory(objects), Scope(namespace=""), SchedulerOptions()).report
    lines = outline_text(pending_outline(report, BRIEF), Screen(width=200)).splitlines()
    found = [line.strip() for line in lines if "These steps" in line]
    assert found == [f"These steps are for {RS}/p only: {each}, see -o wide." for each in told]
