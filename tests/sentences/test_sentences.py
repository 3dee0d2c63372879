"""What sentences say in numbers and names is what there is in the cluster; a number that is wrong is found."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.sentences.clusters import cluster
from tests.sentences.grammar import NAME, UNREAD, Facts, wrong
from tests.sentences.reading import misread, said
from tests.sentences.texts import RULES, not_so, texts

SEEDS = (*range(60), 350, 1070, 1465, 1494, 9180, 700290, 700777, 701009, 701613)
"""Seeds of which sentences are read; those after 59 have claims in zones, and three requirements in conflict."""
BY_TEXT = (0, 1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 17, 19, 49, 54, 63, 112, 187, 1484, 2188, 4127, 7318, 20401)
"""Seeds of which all texts are read, without those whose fixes take long, which ``tests.soak sentences`` reads.

In 1484 an evicted Pod of a StatefulSet comes back elsewhere.
"""
UNCOUNTED = "|".join((NAME.pattern, *UNREAD))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_number_is_counted_from_what_it_says(seed: int) -> None:
    assert list(misread(seed, fix_budget=0.2)) == []


@cache
def summaries() -> tuple[tuple[Facts, str], ...]:
    """Return the summaries with numbers that are said of the clusters."""
    found = [(facts, item.summary) for seed in SEEDS for facts, item in said(cluster(seed), fix_budget=0)]
    return tuple((facts, text) for facts, text in found if re.search(r"\d", re.sub(UNCOUNTED, "", text)))


def test_numbers_that_are_wrong_are_found() -> None:
    changed = [(facts, re.sub(r"(?<![\w-])\d+", lambda n: str(int(n[0]) + 7), text)) for facts, text in summaries()]
    assert len(changed) > 20
    assert all(list(wrong(text, facts)) for facts, text in changed)


def test_a_sentence_of_numbers_that_no_rule_reads_is_found() -> None:
    facts, _ = summaries()[0]
    assert list(wrong("It likes 7 nodes.", facts)) == ["no rule reads 'It likes 7 nodes.' of 'It likes 7 nodes.'"]


def test_numbers_of_texts_are_counted_and_those_that_are_wrong_are_found() -> None:
    """Each rule finds some line, and finds fault with it once its numbers are others."""
    found = {(command, pattern): 0 for command, rules in RULES.items() for pattern, _ in rules}
    for command, text, known in (each for seed in BY_TEXT for each in texts(seed)):
        assert list(not_so(command, text, known)) == []
        for pattern, rule in RULES[command]:
            for read in re.finditer(pattern, text, re.MULTILINE):
                line = re.sub(r"(?<![\w-])\d+(?!\w)", lambda n: str(int(n[0]) + 17), read[0])
                changed = f"{text[: read.start()]}{line}{text[read.end() :]}"
                again = re.compile(pattern, re.MULTILINE).search(changed, read.start())
                found[command, pattern] += bool(again and not rule(again, known, text))
    assert [each for each, number in found.items() if not number] == []
