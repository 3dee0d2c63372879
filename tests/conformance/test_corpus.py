"""The engine answers every recorded case as kube-scheduler did: node by node, reason by reason, score by score."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kubectl_spread.scheduler.cycle import evaluate, feasible_nodes
from tests.conformance.answer import Case, answer, question
from tests.conformance.compare import differences

CORPORA = sorted((Path(__file__).parent / "corpus").glob("*.jsonl.gz"))


def test_the_corpora_are_there() -> None:
    assert {path.name.partition("-")[0] for path in CORPORA} == {
        "devices",
        "filters",
        "nominated",
        "preemption",
        "release",
        "scores",
        "spread",
        "unreadable",
    }


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_corpus(corpus: Path) -> None:
    cases = read_cases(corpus)
    found = {case["id"]: differences(case["want"], answer(case)) for case in cases}
    assert cases
    assert {name: [*map(str, departed)] for name, departed in found.items() if departed} == {}


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_the_feasible_nodes_alone_are_the_same(corpus: Path) -> None:
    questions = [question(case) for case in read_cases(corpus)[::4]]
    assert [feasible_nodes(*asked) for asked in questions] == [evaluate(*asked).feasible for asked in questions]


def read_cases(corpus: Path) -> list[Case]:
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
