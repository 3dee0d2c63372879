"""Tools asked about situations, and what came out: one row a situation, one cell a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.comparison.judging import Merit, first_fix, merits
from tests.comparison.situations import Situation
from tests.comparison.stage import Scene, fix_works, staged
from tests.comparison.tools import Answer, Tool, ask
from tests.controlplane.client import Client


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What a situation came to."""

    situation: str
    decision: str
    held: Mapping[str, Sequence[Merit]]
    """Tool's name → what its answer holds."""
    answers: Mapping[str, Answer]


def compare(client: Client, situations: Sequence[Situation], tools: Sequence[Tool]) -> Iterator[Row]:
    """Yield a row for each situation, as they are set up one after another."""
    for situation in situations:
        with staged(client, situation) as scene:
            answers = {tool.name: _answer(client, tool, scene) for tool in tools}
            held = {tool.name: _held(situation, tool, scene=scene, answer=answers[tool.name]) for tool in tools}
        fixing = {tool.name for tool in tools if first_fix(answers[tool.name]) and _fixes(client, situation, tool)}
        yield Row(
            situation=situation.name,
            decision=scene.decision,
            held={name: (*found, Merit.FIX) if name in fixing else found for name, found in held.items()},
            answers=answers,
        )


def _answer(client: Client, tool: Tool, scene: Scene) -> Answer:
    """Return what a tool answers about a scene."""
    return ask(tool, scene.question, environment=client.kubectl.environment())


def _held(situation: Situation, tool: Tool, *, scene: Scene, answer: Answer) -> Sequence[Merit]:
    """Return what an answer holds, but for a fix."""
    return merits(situation, answer, says_pending=tool.says_pending(scene.question, answer))


def _fixes(client: Client, situation: Situation, tool: Tool) -> bool:
    """Set the situation up again, for this tool alone; return whether the first fix it prints works."""
    with staged(client, situation) as scene:
        commands = first_fix(_answer(client, tool, scene))
        return fix_works(client, scene.question.namespace, commands)
