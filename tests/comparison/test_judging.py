"""An answer is judged by what it says, and by nothing else."""

from __future__ import annotations

import pytest

from tests.comparison.judging import Merit, cell, first_fix, merits
from tests.comparison.situations import Situation
from tests.comparison.tools import Answer

SITUATION = Situation(
    name="A tainted zone",
    nodes=(),
    revisions=(),
    decision="1 of 3 Pending",
    cause="north.*dedicated",
    counts={"east": 1, "north": 0},
)


@pytest.mark.parametrize(
    ("text", "says_pending", "held"),
    [
        ("", None, ()),
        ("", False, ()),
        ("", True, (Merit.DECISION,)),
        ("north is dedicated", True, (Merit.DECISION, Merit.CAUSE)),
        ("north\nis dedicated", True, (Merit.DECISION,)),
        ("east 2 1\nnorth 2 0", False, (Merit.COUNTS,)),
        ("east 10\nnorth 0", False, ()),
        ("1 east\nnorth 0", False, ()),
        ("northern 0 dedicated\neast 1", False, (Merit.CAUSE,)),
    ],
)
def test_an_answer_holds_what_it_says(text: str, *, says_pending: bool | None, held: tuple[Merit, ...]) -> None:
    assert tuple(merits(SITUATION, Answer(text, 0), says_pending=says_pending)) == held


def test_the_first_fix_is_the_first_commands_that_follow_each_other() -> None:
    text = "  1. Add a node\n  2. Tolerate\n     kubectl patch a\n     kubectl patch b\n     (both)\n     kubectl c\n"
    assert first_fix(Answer(text, 1)) == ["kubectl patch a", "kubectl patch b"]


@pytest.mark.parametrize("text", ["", "kubectl get pods", "add a toleration"])
def test_words_are_no_fix_that_can_be_tried(text: str) -> None:
    assert first_fix(Answer(text, 1)) == ()


def test_a_cell_lists_what_is_held() -> None:
    assert (cell(()), cell((Merit.CAUSE, Merit.FIX))) == ("none", "cause, fix")
