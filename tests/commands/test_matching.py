"""Of a large cluster only the Pods that matter are read, and the answer is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands import lists
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.watch import follow
from kubectl_spread.errors import ClusterError
from kubectl_spread.labels import parse_selector
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.snapshot import Inventory
from tests.build import ZONE, app, node, pod, snapshot, spread
from tests.build_workloads import owned, revision, template, workload
from tests.commands.memory import Memory

NODES = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c")]
ON_WEB = template(spread(ZONE, selector=app("web")))
ON_OTHERS = template(spread(ZONE, selector=app("cache")), labels={"app": "db"})
UNSELECTIVE = template(spread(ZONE, selector={}), labels={"app": "all"})
CLUSTER = [
    *NODES,
    workload("Deployment", "web", pods=ON_WEB),
    revision("web", 1, pods=ON_WEB),
    owned("web-1", "ReplicaSet", "web-h1", on="a1"),
    owned("web-2", "ReplicaSet", "web-h1", on="b1"),
    workload("StatefulSet", "db", pods=ON_OTHERS, selector=app("db")),
    owned("db-0", "StatefulSet", "db", on="a1", labels={"app": "db"}),
    *(pod(f"cache-{n}", on="b1", labels={"app": "cache"}) for n in range(3)),
    workload("StatefulSet", "all", pods=UNSELECTIVE, selector=app("all")),
    *(pod(f"noise-{n}", on="c1", labels={"app": f"noise-{n}"}) for n in range(20)),
]


@dataclass
class Large(Memory):
    """An API server with many Pods: it gives what the reads select."""

    pods: int = lists.WHOLE_CLUSTER_PODS + 1
    server: str = "https://api.example"
    said_version: str = "v1.36.0"
    given: int = 0

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, and count the Pods among it."""
        self.asked += reads
        everything = snapshot(self.objects).inventory.objects
        found = {read.kind.name: everything.get(read.kind.name, ()) for read in reads if read.kind != kinds.POD}
        wanted = [parse_selector(read.label_selector) for read in reads if read.kind == kinds.POD]
        if wanted:
            pods = cast("tuple[Pod, ...]", everything[kinds.POD.name])
            selected = (each for each in pods if any(selector.matches(each.metadata.labels) for selector in wanted))
            found[kinds.POD.name] = tuple(selected)
            self.given += len(found[kinds.POD.name])
        return Inventory(found, {read.kind.plural: "7" for read in reads})


@pytest.mark.parametrize(
    ("named", "given"),
    [
        pytest.param(("deployment", "web"), 2, id="its own Pods"),
        pytest.param(("replicaset", "web-h1"), 2, id="by way of its ReplicaSet"),
        pytest.param(("statefulset", "db"), 4, id="Pods of others that it counts"),
        pytest.param(("statefulset", "all"), 26, id="a constraint that counts all Pods"),
        pytest.param(("pod", "web-1"), 26, id="a Pod, whose owner is not known before"),
    ],
)
def test_the_pods_that_matter_are_enough(named: tuple[str, str], given: int) -> None:
    options, scope = ShowOptions(names=(named,)), Scope(namespace="default")
    large = Large(CLUSTER)
    report = show(large, scope, options, SchedulerOptions()).report
    assert report.items
    assert large.given == given
    small = show(Memory(CLUSTER), scope, options, SchedulerOptions(kube_version="v1.36.0")).report
    seen = [(row.workload, row.pods, row.own_pods, row.ghosts, row.constraint.domains) for row in report.items]
    assert seen == [(row.workload, row.pods, row.own_pods, row.ghosts, row.constraint.domains) for row in small.items]


def test_a_constraint_that_only_a_running_pod_has_is_read_too() -> None:
    older = spread(ZONE, selector=app("cache"))
    running = owned("web-0", "ReplicaSet", "web-h1", on="c1", topologySpreadConstraints=[older])
    large = Large([*CLUSTER, running])
    show(large, Scope(namespace="default"), ShowOptions(names=(("deployment", "web"),)), SchedulerOptions())
    assert [read.label_selector for read in large.asked if read.kind == kinds.POD] == ["app=web", "app=cache"]


def test_a_workload_that_there_is_not() -> None:
    with pytest.raises(ClusterError, match="not found"):
        show(Large(CLUSTER), Scope(namespace="default"), ShowOptions(names=(("deployment", "no"),)), SchedulerOptions())


def test_what_is_watched_is_asked_for_at_once() -> None:
    large = Large(CLUSTER, later=[[*CLUSTER, owned("web-3", "ReplicaSet", "web-h1", on="c1")]])
    options, scope = ShowOptions(names=(("deployment", "web"),)), Scope(namespace="default")
    answers = follow(large, scope, options, SchedulerOptions(), say=print)
    assert [next(answers).report.items[0].pods for _ in range(2)] == [2, 3]


def test_readings_of_two_moments_are_told() -> None:
    class Busy(Large):
        def read(self, reads: Sequence[Read]) -> Inventory:
            found = super().read(reads)
            return replace(found, resource_versions={read.kind.plural: str(len(self.asked)) for read in reads})

    options = ShowOptions(names=(("deployment", "web"),))
    (told,) = show(Busy(CLUSTER), Scope(namespace="default"), options, SchedulerOptions()).report.incomplete
    assert told.why == "read at different times"
