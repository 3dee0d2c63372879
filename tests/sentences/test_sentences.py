"""What sentences say in numbers and names is what there is in the cluster; a number that is wrong is found."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.sentences.clusters import cluster
from tests.sentences.grammar import NAME, Facts, wrong
from tests.sentences.reading import misread, said

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_number_is_counted_from_what_it_says(seed: int) -> None:
    assert list(misread(seed, fix_budget=0.2)) == []


@cache
def summaries() -> tuple[tuple[Facts, str], ...]:
    """Return the summaries with numbers that are said of the clusters."""
    found = [(facts, item.summary) for seed in SEEDS for facts, item in said(cluster(seed), fix_budget=0)]
    return tuple((facts, text) for facts, text in found if re.search(r"\d", NAME.sub("", text)))


def test_numbers_that_are_wrong_are_found() -> None:
    changed = [(facts, re.sub(r"(?<![\w-])\d+", lambda n: str(int(n[0]) + 7), text)) for facts, text in summaries()]
    assert len(changed) > 20
    assert all(list(wrong(text, facts)) for facts, text in changed)


def test_a_sentence_of_numbers_that_no_rule_reads_is_found() -> None:
    facts, _ = summaries()[0]
    assert list(wrong("It likes 7 nodes.", facts)) == ["no rule reads 'It likes 7 nodes.' of 'It likes 7 nodes.'"]
