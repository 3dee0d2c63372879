"""The conflict core: the fewest requirements that together leave no node."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement, conflict_cores
from tests.build import HOSTNAME, ZONE, Object, app, configured_profile, node, spread
from tests.diagnosis.judged import ABC, GPU, TAINTED, incoming, report_of, web
from tests.naming import in_order


def requirement(name: str) -> Requirement:
    """Return a constraint by its index, or a filter by its name."""
    if name.isdecimal():
        return ConstraintRequirement(int(name))
    return FilterRequirement(name)


@pytest.mark.parametrize(
    ("rejected", "nodes", "core"),
    [
        ({}, "abc", ()),
        ({"0": "ab"}, "abc", ()),
        ({"0": "abc"}, "", ()),
        ({"0": "abc"}, "abc", ("0",)),
        ({"0": "ab", "Taint": "abc"}, "abc", ("Taint",)),
        ({"0": "abc", "1": "abc", "Taint": "abc"}, "abc", ("0",)),
        ({"0": "ab", "1": "bc", "Taint": "c"}, "abc", ("0", "1")),
        ({"0": "a", "1": "ab", "Taint": "c"}, "abc", ("1", "Taint")),
        # What looks best first is not among the fewest: b alone rejects the most, a and c are enough.
        ({"0": "abc", "1": "bcde", "Taint": "def"}, "abcdef", ("0", "Taint")),
        ({"0": "a", "1": "b", "Taint": "c", "Ports": "abcd"}, "abc", ("Ports",)),
    ],
    ids=in_order,
)
def test_the_fewest_in_the_given_order(rejected: dict[str, str], nodes: str, core: tuple[str, ...]) -> None:
    found = conflict_cores({requirement(name): frozenset(on) for name, on in rejected.items()}, nodes)
    assert next(iter(found), ()) == tuple(requirement(name) for name in core)


def test_a_profile_without_the_filter_heeds_no_constraint() -> None:
    disabled: Object = {"filter": {"disabled": [{"name": "PodTopologySpread"}]}}
    profile = configured_profile({"profiles": [{"plugins": disabled}]})
    report = report_of(incoming(spread(ZONE, selector=app("web"))), [*TAINTED, *web("a1", "b1")], profile)
    assert (report.verdict, report.conflict, {*report.feasible}) == (Verdict.SCHEDULABLE, (), {"a1", "a2", "b1"})


NODES = "abcde"


@given(st.lists(st.frozensets(st.sampled_from(NODES)), max_size=6))
def test_no_smaller_set_would_do_and_none_before_it(rejected: list[frozenset[str]]) -> None:
    named = {requirement(str(index)): nodes for index, nodes in enumerate(rejected)}
    subsets = chain.from_iterable(combinations(named, size) for size in range(1, len(named) + 1))
    covering = [subset for subset in subsets if frozenset().union(*(named[each] for each in subset)) == set(NODES)]
    assert conflict_cores(named, NODES) == tuple(core for core in covering if len(core) == len(covering[0]))


@pytest.mark.parametrize(
    ("rejected", "nodes", "cores"),
    [
        ({"0": "abc", "1": "abc", "Taint": "ab"}, "abc", (("0",), ("1",))),
        ({"0": "ab", "1": "bc", "Taint": "c"}, "abc", (("0", "1"), ("0", "Taint"))),
        ({"0": "a", "Taint": "b", "Fit": "b"}, "ab", (("0", "Taint"), ("0", "Fit"))),
    ],
    ids=in_order,
)
def test_every_core_of_that_size_is_told(
    rejected: dict[str, str], nodes: str, cores: tuple[tuple[str, ...], ...]
) -> None:
    found = conflict_cores({requirement(name): frozenset(on) for name, on in rejected.items()}, nodes)
    assert found == tuple(tuple(map(requirement, core)) for core in cores)


def test_what_rejects_ten_thousand_nodes_of_few_kinds() -> None:
    kinds = [frozenset(str(each) for each in range(15) if (number >> each) & 1) for number in range(1, 200)]
    nodes = {f"n{number}": kinds[number % len(kinds)] for number in range(10_000)}
    rejected = {
        requirement(str(each)): frozenset(name for name, against in nodes.items() if str(each) in against)
        for each in range(15)
    }
    assert conflict_cores(rejected, nodes)[0] == tuple(requirement(str(each)) for each in range(8))


ZONES_AND_HOSTS = (spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web")))


@pytest.mark.parametrize(
    ("objects", "fields", "core"),
    [
        ([*ABC, *web("a1", "b1")], {}, ()),
        ([*TAINTED, *web("a1", "b1")], {}, ("0", "TaintToleration")),
        ([*TAINTED], {"nodeSelector": {"disk": "ssd"}}, ("NodeAffinity",)),
        ([node("x", taints=[GPU]), node("y", unschedulable=True)], {}, ("0",)),
        (
            [node("x", zone="a", taints=[GPU]), node("y", zone="a", unschedulable=True)],
            {},
            ("NodeUnschedulable", "TaintToleration"),
        ),
        ([], {}, ()),
    ],
    ids=in_order,
)
def test_the_core_of_a_cluster(objects: list[Object], fields: Object, core: tuple[str, ...]) -> None:
    report = report_of(incoming(**fields), objects)
    assert report.conflict == tuple(requirement(name) for name in core)
    assert bool(report.feasible) == (not core and bool(objects))


def test_two_constraints_that_leave_room_each_and_none_together() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    report = report_of(incoming(*ZONES_AND_HOSTS), [*nodes, *web("a1", "a1", "a2", "b1", "b1")])
    assert report.conflict == (requirement("0"), requirement("1"))


def test_soft_constraints_and_plugins_that_reject_nothing_are_no_requirements() -> None:
    described = incoming(spread(ZONE, selector=app("web"), soft=True), nodeSelector={"disk": "ssd"})
    assert report_of(described, ABC).conflict == (requirement("NodeAffinity"),)
