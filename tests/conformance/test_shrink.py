"""What is left of a case once everything that does not matter is gone."""

from collections.abc import Sequence

import pytest

from tests.conformance.generate import SUITES, Case, cases
from tests.conformance.shrink import smallest


def _has_a_cordoned_node(case: Case) -> bool:
    return any(found["kind"] == "Node" and found["spec"].get("unschedulable") for found in case["objects"])


def _shows(asked: Sequence[Case]) -> list[bool]:
    return [_has_a_cordoned_node(case) for case in asked]


def test_only_what_shows_it_is_left() -> None:
    shows_it = filter(_has_a_cordoned_node, cases(suite="filters", minor=36, seed=1, count=200))
    case = next(shows_it)
    least = smallest(case, _shows)
    (node,) = least["objects"]
    assert (node["kind"], node["spec"]) == ("Node", {"unschedulable": True})
    assert set(node) == {"apiVersion", "kind", "metadata", "spec"}
    assert set(least["pod"]["spec"]) == {"schedulerName", "containers"}


def test_a_case_of_which_everything_matters_stays() -> None:
    case = next(cases(suite="spread", minor=36, seed=1, count=1))
    assert smallest(case, lambda asked: [one == case for one in asked]) == case


@pytest.mark.parametrize("suite", SUITES)
def test_a_case_is_the_same_wherever_the_drawing_starts(suite: str) -> None:
    drawn = list(cases(suite=suite, minor=36, seed=5, count=6))
    assert list(cases(suite=suite, minor=36, seed=5, first=4, count=2)) == drawn[4:]
