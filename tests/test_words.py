"""Names and numbers as they stand in a sentence."""

from __future__ import annotations

import pytest

from kubectl_spread.words import between, count_of, did_you_mean, enumerated, first_and_more, listed


@pytest.mark.parametrize(
    ("names", "comma", "and_"),
    [
        ("", "", ""),
        ("a", "a", "a"),
        ("ab", "a, b", "a and b"),
        ("abc", "a, b, c", "a, b and c"),
        ("abcd", "a, b and 2 more", "a, b and 2 more"),
        ("abcdefg", "a, b and 5 more", "a, b and 5 more"),
    ],
)
def test_the_first_names_and_how_many_more(names: str, comma: str, and_: str) -> None:
    assert listed(list(names), 2) == comma
    assert enumerated(tuple(names), 2) == and_


def test_the_first_name_alone() -> None:
    assert [first_and_more(names) for names in ("a", "ab", "abc")] == ["a", "a and 1 more", "a and 2 more"]


def test_one_pod_and_several_pods() -> None:
    assert [count_of(n, "Pod") for n in (0, 1, 2)] == ["0 Pods", "1 Pod", "2 Pods"]
    assert [count_of(n, "fix") for n in (1, 2)] == ["1 fix", "2 fixes"]


def test_a_number_that_is_not_known_is_a_range() -> None:
    assert [between(*bounds) for bounds in ((3, 3), (3, 5))] == ["3", "3..5"]


NODES = ("node-a1", "node-b1", "node-c2", "ip-10-0-1-17.eu-central-1.compute.internal")


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("node-c22", NODES, "node-c2"),
        ("ndoe-c2", NODES, "node-c2"),
        ("ip-10-0-1-17.eu-central-1.compute.intenral", NODES, NODES[-1]),
        ("ip-10-0-1-17", NODES, NODES[-1]),
        ("wbe", ["web"], "web"),
        ("deploymnet/wbe", ["deployment/web", "job/wbe"], "deployment/web"),
        ("deployment/wbe", ["deployment/web", "job/wbe"], "deployment/web"),
        ("node-zz", NODES, ""),
        ("node-c9", NODES, ""),
        ("nod", NODES, ""),
        ("z", ["a"], ""),
        ("", ["a"], ""),
        ("checkout", ["cart"], ""),
    ],
)
def test_what_hardly_differs_may_be_meant(word: str, known: tuple[str, ...], meant: str) -> None:
    assert did_you_mean(word, known) == (f"did you mean {meant}?" if meant else "")
