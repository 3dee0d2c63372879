"""Each target stands a few inputs, always the same, and those that once broke it."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import strategies as st

from tests.fuzz import __main__ as program
from tests.fuzz import run
from tests.fuzz.run import CORPUS, kept, look, look_long
from tests.fuzz.targets import TARGETS, Target

SEED = 1
FEW, FEWER = 60, 8
EXPENSIVE = {"almost-right", "objects", "manifest-objects", "configurations", "kubeconfigs"}
each_target = pytest.mark.parametrize("name", TARGETS)


@each_target
def test_a_target_stands_a_few_inputs(name: str) -> None:
    outcome = look(TARGETS[name], number=SEED, examples=FEWER if name in EXPENSIVE else FEW)
    assert outcome.finding is None, outcome.finding


@each_target
def test_a_target_stands_what_once_broke_it(name: str) -> None:
    for value in kept(name):
        TARGETS[name].check(value)


def test_the_corpus_is_of_targets_alone() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= set(TARGETS)


def _refuse_large(value: int) -> None:
    if value >= 10:
        raise RuntimeError(value)


def _accept(_: object) -> None:
    """Stand anything."""


def _break(_: object) -> NoReturn:
    raise RuntimeError


FRAGILE = Target(st.integers(0, 1000), _refuse_large)


def test_the_smallest_input_that_breaks_is_found_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "CORPUS", tmp_path)
    monkeypatch.setitem(TARGETS, "fragile", FRAGILE)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--seconds", "60", "--target", "fragile"])
    monkeypatch.setattr(sys, "stdout", said := io.StringIO())
    assert program.main() == 1
    assert "fragile breaks on 10\n" in said.getvalue()
    assert list(kept("fragile")) == [10]


def test_looking_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "sound", Target(st.integers(), _accept))
    monkeypatch.setattr(sys, "argv", ["fuzz", "--seconds", "0.01", "--target", "sound"])
    monkeypatch.setattr(sys, "stdout", said := io.StringIO())
    assert program.main() == 0
    assert " examples in " in said.getvalue()


def test_the_same_number_gives_the_same_inputs() -> None:
    assert look(FRAGILE, number=3, examples=50).examples == look(FRAGILE, number=3, examples=50).examples
    assert look_long(Target(st.none(), _break), number=1, seconds=1).finding is not None
