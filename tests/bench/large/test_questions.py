"""Costs are multiples of the bare read's, and each budget that is not kept is named."""

from __future__ import annotations

from math import inf

import pytest

from tests.bench.large.questions import BARE_READ, QUESTIONS, Question, costs, table
from tests.bench.measuring import Measured

NAMES = [question.name for question in QUESTIONS]


def measured(name: str, *, seconds: float, memory: float = 100, said: str = "") -> Measured:
    """Return how a command went."""
    return Measured(name=name, seconds=seconds, cpu_seconds=seconds / 2, memory=memory, said=said)


BARE = measured(BARE_READ, seconds=10, said="read pods: 1,000.0 MB in pages\n")


def question(name: str) -> Question:
    """Return the question of that name."""
    return next(asked for asked in QUESTIONS if asked.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_what_keeps_to_its_budget_exceeds_nothing(name: str) -> None:
    asked = question(name)
    mb = 1_000 * min(asked.read, 2)
    said = f"the server is there\nread 5 nodes: {mb / 2:,.1f} MB in 1.00 s\nread 1 pods: {mb / 2:,.1f} MB in 1.00 s\n"
    _, cost = costs([BARE, measured(name, seconds=asked.time * 10, memory=asked.memory, said=said)])
    assert cost.exceeded == ()
    assert cost.time == pytest.approx(asked.time)


@pytest.mark.parametrize("name", NAMES)
def test_what_takes_more_than_it_may_says_of_what(name: str) -> None:
    asked = question(name)
    said = "read 5 nodes: 1,000.0 MB in 1.00 s\n"
    too_much = measured(name, seconds=asked.time * 11, memory=asked.memory + 1, said=said)
    _, cost = costs([BARE, too_much])
    wanted = ("time", "memory", "read") if asked.read < inf else ("time", "memory")
    assert cost.exceeded == wanted


def test_the_table_has_a_line_for_each_command_and_a_verdict_for_each_question() -> None:
    other = measured("another plugin", seconds=20)
    header, bare, *asked, rival = table([BARE, *(measured(name, seconds=1) for name in NAMES), other]).splitlines()
    assert header.split()[0] == "QUESTION"
    assert bare.startswith(BARE_READ)
    assert [line[: len(name)] for line, name in zip(asked, NAMES, strict=True)] == NAMES
    assert [line.endswith("yes") for line in asked] == [True] * len(NAMES)
    assert rival.split()[-4:] == ["20.00", "2.00", "10.00", "100"]
