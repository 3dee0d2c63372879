"""The tools that are asked, how each is asked, and how its answer says whether a Pod is without a Node."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.comparison.situations import DEPLOYMENT

_LONGEST_S = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One Pod on a cluster: what a person has in hand when asking."""

    namespace: str
    pod: str
    pending: bool
    manifest: Path
    """The Pod as one would create it again."""
    scheduler_config: Path | None
    """Given where the scheduler's configuration has a part in the decision."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool printed, and the code it ended with."""

    text: str
    code: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One way to ask.

    Attributes:
        name: heads its column.
        command: the question → the command line.
        says_pending: the answer → whether the Pod is without a Node; None where the tool does not say.
    """

    name: str
    command: Callable[[Question], Sequence[str]]
    says_pending: Callable[[Question, Answer], bool | None]


def ask(tool: Tool, question: Question, *, environment: Mapping[str, str]) -> Answer:
    """Return what a tool answers."""
    command = [*map(str, tool.command(question))]
    ended = subprocess.run(
        command, env={**environment}, capture_output=True, text=True, timeout=_LONGEST_S, check=False
    )
    return Answer(ended.stdout + ended.stderr, ended.returncode)


def at_hand_everywhere() -> Sequence[Tool]:
    """Return kubectl's own answers and ours."""
    return (
        Tool(
            name="`kubectl get pods -o wide`",
            command=lambda question: ("kubectl", "get", "pods", "-o", "wide", "-n", question.namespace),
            says_pending=lambda question, answer: _is(rf"^{question.pod} +\S+ +(\w+)", answer, pending="Pending"),
        ),
        Tool(
            name="`kubectl describe pod`",
            command=lambda question: ("kubectl", "describe", "pod", question.pod, "-n", question.namespace),
            says_pending=lambda _, answer: _is(r"^Node: +(\S+)", answer, pending="<none>"),
        ),
        Tool(name="`kubectl spread`", command=_spread, says_pending=_spread_says_pending),
    )


def _spread(question: Question) -> Sequence[str]:
    """Return why-pending for a Pod without a Node, else show for its Deployment."""
    asked = ("why-pending", question.pod) if question.pending else ("show", f"deployment/{DEPLOYMENT}")
    config = ("--scheduler-config", str(question.scheduler_config)) if question.scheduler_config else ()
    return ("kubectl", "spread", *asked, "-n", question.namespace, *config)


def _spread_says_pending(question: Question, answer: Answer) -> bool | None:
    """Return what the first line says: of a Pod that it is Pending, of a Deployment whether it is Blocked."""
    if question.pending:
        return _is(rf"\A\S+/{question.pod} is (\w+)", answer, pending="Pending")
    return _is(rf"\A\S+/{DEPLOYMENT}: (\w+)", answer, pending="Blocked")


def _is(pattern: str, answer: Answer, *, pending: str) -> bool | None:
    """Return whether the first word that the pattern finds is the one for Pending; None when there is none."""
    found = re.search(pattern, answer.text, re.MULTILINE)
    return None if found is None else found[1] == pending
