"""Looking only where something may be wrong finds what looking everywhere finds."""

import pytest

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, PreFilterResult
from kubectl_spread.scheduler.nodeinfo import NodeRoom
from tests.build import app, handle, node, pod, spread, typed_pod
from tests.conformance.answer import question
from tests.conformance.generate import SUITES, cases

ZONE = "topology.kubernetes.io/zone"


def questions(count: int) -> list[tuple[Pod, Handle]]:
    return [question(case) for suite in SUITES for case in cases(suite=suite, minor=36, seed=5, count=count)]


@pytest.fixture(scope="module")
def asked() -> list[tuple[Pod, Handle]]:
    return questions(60)


def test_no_filter_rejects_a_node_that_it_does_not_suspect(asked: list[tuple[Pod, Handle]]) -> None:
    spared = 0
    for incoming, seen in asked:
        for pre_filter in cycle.PRE_FILTERS.values():
            result = pre_filter(incoming, seen)
            if not isinstance(result, PreFilterResult) or result.suspects is None:
                continue
            for name in seen.index.names - result.suspects:
                spared += 1
                assert not result.filter_node(seen.node_infos[name]).rejected
            for name in result.suspects if result.certain else ():
                assert result.filter_node(seen.node_infos[name]).rejected
    assert spared > len(asked)


def test_one_feasible_node_is_found_where_there_is_any(asked: list[tuple[Pod, Handle]]) -> None:
    found = [(cycle.feasible_node(*each), cycle.feasible_nodes(*each)) for each in asked]
    assert all(one in every if every else not one for one, every in found)
    assert {bool(one) for one, _ in found} == {True, False}


def test_all_feasible_nodes_are_those_of_the_whole_evaluation(asked: list[tuple[Pod, Handle]]) -> None:
    for each in asked:
        assert cycle.feasible_nodes(*each) == cycle.evaluate(*each).feasible


def test_room_is_known_of_nodes_that_have_changed() -> None:
    full = pod("full", on="a", requests={"cpu": "3"})
    seen = handle([node("a", allocatable={"cpu": "4", "pods": "2"}), node("b", allocatable={"cpu": "2"}), full])
    room = NodeRoom(seen.node_infos)
    assert room.lacking("cpu", 2000) == {"a"}
    emptied = room.and_changed({"a": seen.node_infos["a"].without_pod(typed_pod(full))})
    assert emptied.lacking("cpu", 2000) == set()
    assert emptied.lacking("cpu", 2001) == {"b"}
    assert room.lacking("pods", 2) == {"a"}


def test_a_node_that_takes_its_last_pod_is_suspected_then() -> None:
    seen = handle([node("a", zone="a", allocatable={"cpu": "4", "pods": "1"}), node("b", zone="b")])
    incoming = typed_pod(pod("web", topologySpreadConstraints=[spread(ZONE, selector=app("web"))]))
    assert cycle.feasible_nodes(incoming, seen) == ("a", "b")
    assert cycle.feasible_nodes(incoming, seen.with_assigned(incoming, "a")) == ("b",)
