"""How Pods lie, in the words of a table."""

from __future__ import annotations

import pytest

from kubectl_spread.render.outline.skew import moved_text
from tests.build import HOSTNAME

MANY = {f"n{i}": (1, 1) for i in range(8)}
EVENLY = dict.fromkeys(MANY, 1)
UNEVENLY = {f"n{i}": i for i in range(8)}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": 3, "b": 0}, {"a": (2, 2), "b": (1, 1)}, "a:3→2 b:0→1"),
        ({"a": 3, "b": 1}, {"a": (3, 3), "b": (0, 2)}, "a:3 b:1→0..2"),
        ({"a": 3, "": 1}, {"a": (3, 3), "c": (1, 1)}, '"":1→gone a:3 c:new→1'),
        ({}, {}, ""),
        (EVENLY, MANY | {"n0": (2, 2), "n1": (0, 1)}, "n0:1→2 n1:1→0..1, 6 other nodes: 1"),
        (EVENLY | {"n7": 5}, MANY | {"n0": (2, 2), "n7": (5, 5)}, "n0:1→2, 6 other nodes: 1, 1 other node: 5"),
        (UNEVENLY, {each: (n, n) for each, n in UNEVENLY.items()} | {"n0": (9, 9)}, "n0:0→9, 7 other nodes: 1..7"),
        (EVENLY, MANY, "8 nodes: 1"),
        (dict.fromkeys(MANY, 0), MANY, "8 nodes: 0 → 8 nodes: 1"),
        (dict.fromkeys(MANY, 0), MANY | {"n0": (0, 2)}, "8 nodes: 0 → 1 node: 0..2, 7 nodes: 1"),
        (EVENLY, {}, "8 nodes: 1 → -"),
    ],
)
def test_counts_before_lead_to_those_after(
    before: dict[str, int], after: dict[str, tuple[int, int]], told: str
) -> None:
    assert moved_text(before, after, HOSTNAME) == told
