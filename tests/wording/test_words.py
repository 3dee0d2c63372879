"""Names and numbers as sentences show them."""

from __future__ import annotations

import pytest

from kubectl_spread.wording.words import (
    between,
    count_of,
    did_you_mean,
    enumerated,
    first_and_more,
    listed,
    moved,
    shared_suffix,
    shortening,
)


def test_what_has_not_moved_is_told_once() -> None:
    assert (moved("3", "2"), moved("3", "3")) == ("3→2", "3")


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


EKS = ("ip-10-0-3-7.eu-central-1.compute.internal", "ip-10-0-3-8.eu-central-1.compute.internal")


@pytest.mark.parametrize(
    ("names", "suffix"),
    [
        (EKS, ".eu-central-1.compute.internal"),
        ((*EKS, "ip-10-0-9-9.eu-west-1.compute.internal"), ".compute.internal"),
        ((*EKS, "gke-prod-pool-1-3f2a-x1b2"), ""),
        (("gke-prod-pool-1-3f2a-x1b2", "gke-prod-pool-1-3f2a-x1b3"), ""),
        (("a.b.c", "b.c"), ".c"),
        (EKS[:1], ""),
        ((), ""),
    ],
)
def test_the_suffix_begins_at_a_dot_and_leaves_a_name(names: tuple[str, ...], suffix: str) -> None:
    assert shared_suffix(names) == suffix


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Opens {EKS[0]}, {EKS[1]}.", "Opens ip-10-0-3-7, ip-10-0-3-8."),
        (f"{EKS[0]}:1", "ip-10-0-3-7:1"),
        ("db.eu-central-1.compute.internal", "db.eu-central-1.compute.internal"),
        (f"{EKS[0]}.example.com", f"{EKS[0]}.example.com"),
    ],
)
def test_only_names_of_nodes_are_shortened(text: str, told: str) -> None:
    _, short = shortening(EKS)
    assert short(text) == told


def test_what_ends_like_a_label_is_no_node() -> None:
    _, short = shortening(("n1.io", "n2.io"))
    assert short("topology.kubernetes.io/zone on n1.io") == "topology.kubernetes.io/zone on n1"


def test_a_command_in_a_sentence_keeps_whole_names() -> None:
    _, short = shortening(("n1.io", "n2.io"))
    assert short("n1.io: this is `kubectl drain n1.io`.") == "n1: this is `kubectl drain n1.io`."


def test_an_empty_name_is_seen() -> None:
    assert listed(["", "b"]) == '"", b'
    assert enumerated(["a", ""]) == 'a and ""'
    assert enumerated(["", "b", "c", "d"], most=1) == '"" and 3 more'
    assert first_and_more([""]) == '""'
    assert enumerated([]) == ""
