"""Twice as many nodes, workloads and Pods are at most about twice as much work, whatever is asked of all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, overview
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.diagnosis.skew import Detail
from kubectl_spread.scheduler import cycle
from tests.bench.large import contents
from tests.bench.large.contents import Size
from tests.bench.large.pending import pending_pods
from tests.build import Object, handle, node, pod, typed_pod
from tests.commands.large import Large

SMALL, TWICE = Size(nodes=120, apps=48, pods=480), Size(nodes=240, apps=96, pods=960)
MOST = 2.2  # How many times the work it may be: twice, and what order costs


def cluster(size: Size) -> Iterator[Object]:
    """Yield the objects of a cluster like the large one, which teams of as many apps share."""
    yield from map(contents.node, contents.node_places(size))
    for app, places in contents.placements(size):
        yield contents.deployment(app)
        yield contents.replica_set(app, owner=app.name)
        for number, place in enumerate(places):
            made = contents.pod(app, place, owner=app.revision)
            yield {**made, "metadata": {**made["metadata"], "name": app.pod_name(number)}}
    yield from pending_pods()


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called, those of Python itself too."""
    called = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal called
        called += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called


def show_all(source: Large) -> object:
    """Ask how all workloads are spread."""
    return overview(source, Scope(namespace=""), ShowOptions(detail=Detail.BRIEF), SchedulerOptions())


def explain_all(source: Large) -> object:
    """Ask why the Pods wait, without fixes: how many of those are found the clock says."""
    return why_pending(source, Scope(namespace=""), SchedulerOptions(), fix_budget=0)


def drain_one(source: Large) -> object:
    """Ask what the drain of a node does."""
    name = contents.node_places(SMALL)[0].name
    return simulate(source, Scope(namespace=""), SimulateOptions(steps=(("drain", name),)), SchedulerOptions())


@pytest.mark.parametrize("ask", [show_all, explain_all, drain_one])
def test_work_grows_as_the_cluster_does(ask: Callable[[Large], object]) -> None:
    few, many = (Large([*cluster(size)]) for size in (SMALL, TWICE))
    ask(few)  # what is loaded and remembered once is not counted
    assert calls(lambda: ask(many)) <= MOST * calls(lambda: ask(few))


def test_a_node_is_found_in_no_more_steps_where_more_before_it_are_full() -> None:
    def steps(full: int) -> int:
        nodes = [node(f"node-{number:04}", allocatable={"cpu": "1" if number < full else "8"}) for number in range(99)]
        seen, asked = handle(nodes), typed_pod(pod("asked", requests={"cpu": "4"}))
        assert cycle.feasible_node(asked, seen) == f"node-{full:04}"
        return calls(lambda: cycle.feasible_node(asked, seen))

    assert steps(90) <= 1.1 * steps(1)
