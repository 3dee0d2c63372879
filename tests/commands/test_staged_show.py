"""Of a large cluster ``show`` reads a namespace and few nodes, and its rows are those of the whole cluster."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import COUNTED_ONLY, COUNTING_FILTERS, ShowAnswer, ShowOptions, follow, how_read, show
from kubectl_spread.commands.source import ReadMode
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.skew import status_reason
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import SpreadStatus
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, revision, template, workload
from tests.commands.large import Large
from tests.commands.memory import Memory

NODES = [node(f"{zone}{number}", zone=zone) for number in range(30) for zone in "abc"]
BUSY = {"name": "c", "image": "c", "resources": {"requests": {"cpu": "2"}}}
ON_WEB = template(spread(ZONE, selector=app("web")), containers=[BUSY])
ON_OTHERS = template(spread(ZONE, selector=app("cache")), labels={"app": "db"})
WEB = [workload("Deployment", "web", pods=ON_WEB), revision("web", 1, pods=ON_WEB)]
CLUSTER = [
    *NODES,
    *WEB,
    owned("web-1", "ReplicaSet", "web-h1", on="a1"),
    owned("web-2", "ReplicaSet", "web-h1", on="b1"),
    workload("StatefulSet", "db", pods=ON_OTHERS, selector=app("db")),
    owned("db-0", "StatefulSet", "db", on="a1", labels={"app": "db"}),
    *(pod(f"cache-{n}", on="b1", labels={"app": "cache"}) for n in range(3)),
    *(pod(f"noise-{n}", on=f"c{n}", namespace="other", labels={"app": "web"}) for n in range(20)),
]
SCOPE = Scope(namespace="default")


def full(*names: str) -> list[Object]:
    """Return Pods of another namespace that take all of these nodes."""
    return [pod(f"big-{name}", on=name, namespace="other", requests={"cpu": "8"}) for name in names]


def shown(large: Memory, read: ReadMode = "auto", most_nodes: int = 500, **options: object) -> ShowAnswer:
    wanted = ShowOptions(read=read, most_nodes=most_nodes, **options)  # type: ignore[arg-type] # options of the test
    return show(large, SCOPE, wanted, SchedulerOptions(kube_version="v1.36.0"))


@pytest.mark.parametrize("names", [(), (("deployment", "web"),), (("pod", "web-1"),), (("statefulset", "db"),)])
def test_rows_are_those_of_the_whole_cluster(names: tuple[tuple[str, str], ...]) -> None:
    large = Large(CLUSTER)
    rows = shown(large, names=names).report.items
    whole = shown(Memory(CLUSTER), names=names).report.items
    assert rows
    assert [(r.workload, r.status, r.pods, r.own_pods, r.constraint.domains) for r in rows] == [
        (r.workload, r.status, r.pods, r.own_pods, r.constraint.domains) for r in whole
    ]
    assert not large.whole_asked
    assert 0 < len(large.nodes_asked) < len(NODES)
    for row, of_all in zip(rows, whole, strict=True):
        assert set(row.next) <= set(of_all.next) & large.nodes_asked
        assert (row.proved_on, of_all.proved_on) == ("read", UNSET)
        assert row.evaluated_filters == of_all.evaluated_filters


def row_of(answer: ShowAnswer) -> SkewItem:
    """Return the row of the next Pod's own constraint."""
    (row,) = (each for each in answer.report.items if not each.default)
    return row


def test_where_those_tried_first_are_full_more_are_tried() -> None:
    large = Large([*CLUSTER, *full(*(f"c{n}" for n in range(29)))])
    row = row_of(shown(large, names=(("deployment", "web"),)))
    assert (row.status, row.next) == (SpreadStatus.OK, ("c29",))
    assert not large.whole_asked


@pytest.mark.parametrize(("most_nodes", "whole"), [(500, False), (20, True)])
def test_a_replica_without_a_node_has_all_read_that_might_take_it(most_nodes: int, whole: bool) -> None:  # noqa: FBT001
    names = [f"c{n}" for n in range(30)]
    large = Large([*CLUSTER, *full(*names)])
    row = row_of(shown(large, most_nodes=most_nodes, names=(("deployment", "web"),)))
    assert row.status is SpreadStatus.BLOCKED
    assert large.whole_asked is whole
    assert whole or set(names) <= large.nodes_asked


def test_whom_a_replica_would_evict_is_read_before_it_is_called_blocked() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    important = template(spread(ZONE, selector=app("web")), containers=[BUSY], priorityClassName="high")
    web = [workload("Deployment", "web", pods=important), revision("web", 1, pods=important)]
    there = [owned(f"web-{zone}", "ReplicaSet", "web-h1", on=f"{zone}0") for zone in "ab"]
    cluster = [*NODES, high, *web, *there, *full(*(f"c{n}" for n in range(30)))]
    large, names = Large(cluster), (("deployment", "web"),)
    row, of_all = row_of(shown(large, names=names)), row_of(shown(Memory(cluster), names=names))
    assert (row.status, status_reason(row)) == (of_all.status, status_reason(of_all))
    assert status_reason(row).startswith("preempts ")


@pytest.mark.parametrize("read", ["all"])
def test_everything_is_read_where_that_is_asked_for(read: ReadMode) -> None:
    large = Large(CLUSTER)
    answer = shown(large, read)
    assert large.whole_asked
    assert list(how_read(answer)) == []


def test_how_far_it_was_read_is_told() -> None:
    (told,) = how_read(shown(Large(CLUSTER), names=(("deployment", "web"),)))
    assert "simulated on the 16 of 90 nodes whose Pods were read" in told


def test_what_is_followed_is_counted_and_asked_for_at_once() -> None:
    large = Large(CLUSTER, later=[[*CLUSTER, owned("web-3", "ReplicaSet", "web-h1", on="c1")]])
    options = ShowOptions(names=(("deployment", "web"),))
    answers = follow(large, SCOPE, options, SchedulerOptions(), say=print)
    first = next(answers)
    assert first.report.items[0].evaluated_filters == COUNTING_FILTERS
    assert list(how_read(first)) == [COUNTED_ONLY]
    assert not large.nodes_asked
