"""Looking for an input that breaks a target, for so many examples or so long."""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.targets import Target, Value

CORPUS = Path(__file__).parent / "corpus"
_BATCH = 250


@dataclass(frozen=True, slots=True)
class Finding:
    """The smallest input found that breaks a target."""

    value: Value
    error: Exception


@dataclass(slots=True)
class Outcome:
    """What came of looking."""

    examples: int = 0  # how many inputs were tried, those that made another one smaller among them
    finding: Finding | None = None  # what breaks the target, None if nothing was found


def look(target: Target, *, number: int, examples: int) -> Outcome:
    """Return what comes of so many examples, always the same for the same number."""
    outcome = Outcome()
    tried: list[Value] = [None]

    def attempt(value: Value) -> None:
        outcome.examples += 1
        tried[0] = value
        target.check(value)

    quiet = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
    )
    try:
        seed(number)(quiet(given(target.inputs)(attempt)))()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for; the smallest input came last
        outcome.finding = Finding(tried[0], error)
    return outcome


def look_long(target: Target, *, number: int, seconds: float) -> Outcome:
    """Return what comes of so many seconds, or of the first input that breaks the target."""
    total, deadline = Outcome(), time.monotonic() + seconds
    while total.finding is None and time.monotonic() < deadline:
        found = look(target, number=number, examples=_BATCH)
        total = Outcome(total.examples + found.examples, found.finding)
        number += 1
    return total


def save(name: str, value: Value) -> Path:
    """Return the file of the corpus that keeps an input of the target from now on."""
    text = f"{value!r}\n"
    path = CORPUS / name / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def kept(name: str) -> Iterator[Value]:
    """Yield the inputs that once broke the target."""
    for path in sorted((CORPUS / name).glob("*.txt")):
        yield ast.literal_eval(path.read_text())
