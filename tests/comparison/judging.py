"""What an answer holds, judged for every tool by the same rules, from the text alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from tests.comparison.situations import Situation
from tests.comparison.tools import Answer


class Merit(Enum):
    """One thing a good answer holds, as the table says it."""

    DECISION = "decision"
    CAUSE = "cause"
    COUNTS = "counts"
    FIX = "fix"


def merits(situation: Situation, answer: Answer, *, says_pending: bool | None) -> Sequence[Merit]:
    """Return what the answer holds, but for a fix: whether that works only the cluster can tell."""
    judged = {
        Merit.DECISION: says_pending is situation.pending,
        Merit.CAUSE: re.search(situation.cause, answer.text) is not None,
        Merit.COUNTS: bool(situation.counts) and all(_counts(answer.text, *each) for each in situation.counts.items()),
    }
    return [merit for merit, holds in judged.items() if holds]


def first_fix(answer: Answer) -> Sequence[str]:
    """Return the commands of the first fix that the answer prints: lines of kubectl that follow each other."""
    lines = answer.text.splitlines()
    commands = [bool(re.match(r"\s+kubectl ", line)) for line in lines]
    if True not in commands:
        return ()
    first = commands.index(True)
    end = [*commands[first:], False].index(False)
    return [line.strip() for line in lines[first : first + end]]


def cell(held: Sequence[Merit]) -> str:
    """Return a cell of the table."""
    return ", ".join(merit.value for merit in held) or "none"


def _counts(text: str, domain: str, pods: int) -> bool:
    """Return whether a line has a domain and, after it, its number of Pods."""
    return re.search(rf"\b{domain}\b.*\b{pods}\b", text) is not None
