"""Numbers and names of conclusions are what there is in the cluster; one that is wrong is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.build import Object
from tests.counted.wrong import (
    CHECKS,
    pending,
    wrong_causes,
    wrong_constraints,
    wrong_facts,
    wrong_nodes,
    wrong_numbers,
)

SEEDS = (*range(60), 350, 1070, 1465, 1494, 9180, 700290, 700777, 701009, 701613)
"""Those after 59 have claims in zones, and three requirements in conflict."""


@pytest.mark.parametrize("seed", SEEDS)
def test_every_fact_is_so(seed: int) -> None:
    assert list(wrong_facts(seed)) == []


def test_facts_that_are_wrong_are_found() -> None:
    for item, facts in (known for seed in range(20) for known in pending(seed) if not known[0]["feasible"]):
        assert list(wrong_nodes({**item, "feasible": [next(iter(facts.nodes))]}, facts))
        assert list(wrong_numbers(f"{item['summary']} 97 nodes.", item["cause"]))
        for constraint in item["constraints"]:
            assert list(wrong_constraints([{**constraint, "globalMinimum": 97}], facts))
        for wrong in changed(item["cause"]):
            assert list(wrong_causes(wrong, facts)), wrong


def test_every_check_reads_some_cause() -> None:
    causes = [item.get("cause") for seed in SEEDS for item, _ in pending(seed)]
    assert [sorted(names) for names in CHECKS if not any(names <= part.keys() for part in parts(causes))] == []


def parts(of: Any) -> Iterator[Object]:  # noqa: ANN401 - any JSON
    """Yield every object in the value."""
    if isinstance(of, dict):
        yield of
    for inner in of.values() if isinstance(of, dict) else of if isinstance(of, list) else ():
        yield from parts(inner)


def changed(cause: Object) -> Iterator[Object]:
    """Yield the cause with another number or name in each part that a check reads."""
    if "constraint" in cause:
        yield {**cause, "constraint": {**cause["constraint"], "globalMinimum": 97}}
    if cause["kind"] == "PinnedDomain":
        yield {**cause, "nodes": 97}
    yield from ({**cause, field: ["x"]} for field in ("eligible",) if field in cause)
    for requirement in cause.get("requirements", ()):
        yield {**cause, "requirements": [{**requirement, "leaves": ["x"]}]}
