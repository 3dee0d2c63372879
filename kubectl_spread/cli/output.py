"""Printing an answer, and ending with its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TextIO

from kubectl_spread.errors import ManifestError, SpreadError, UsageError

COULD_NOT_DETERMINE = 3
USAGE = 2


def render(formats: Mapping[str, Callable[[], str]], wanted: str) -> str:
    """Return the answer in the wanted format.

    Raises:
        UsageError: there is no such format.
    """
    if wanted not in formats:
        raise UsageError(
            f'unable to match a printer suitable for the output format "{wanted}"',
            hint=f"allowed formats are: {', '.join(formats)}",
        )
    return formats[wanted]()


def write(text: str) -> None:
    """Print the answer."""
    sys.stdout.write(text)
    sys.stdout.flush()


def note(text: str) -> None:
    """Say something beside the answer."""
    sys.stderr.write(f"{text}\n")


def explain(error: SpreadError) -> int:
    """Say what went wrong and what to do, and return the exit code for it."""
    from kubectl_spread.render.cells import clean

    lines = [str(problem) for problem in error.problems] if isinstance(error, ManifestError) else [error.message]
    lines[-1] += f"; {error.hint}" if error.hint else ""
    for line in lines:
        note(f"error: {clean(line)}")
    return USAGE if isinstance(error, UsageError) else COULD_NOT_DETERMINE


def wants_color(choice: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what goes to the stream.

    ``--color`` decides; then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE where they are not empty; then a terminal has
    colour unless TERM is dumb or CLICOLOR is 0.

    Raises:
        UsageError: the choice is none of auto, always, never.
    """
    if choice not in {"auto", "always", "never"}:
        raise UsageError(f"invalid argument {choice!r} for --color", hint="must be one of: auto, always, never")
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return stream.isatty() and environment.get("TERM") != "dumb" and environment.get("CLICOLOR") != "0"
