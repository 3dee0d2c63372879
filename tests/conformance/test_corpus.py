"""The engine answers every recorded case as kube-scheduler did: node by node, reason by reason, score by score."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.conformance.answer import answer
from tests.conformance.compare import differences

CORPORA = sorted((Path(__file__).parent / "corpus").glob("*.jsonl.gz"))


def test_the_corpora_are_there() -> None:
    assert {path.name.partition("-")[0] for path in CORPORA} == {
        "filters",
        "nominated",
        "preemption",
        "release",
        "scores",
        "spread",
    }


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_corpus(corpus: Path) -> None:
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    found = {case["id"]: differences(case["want"], answer(case)) for case in cases}
    assert cases
    assert {name: [*map(str, departed)] for name, departed in found.items() if departed} == {}
