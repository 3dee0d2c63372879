"""Printing an answer, and ending with its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar

import typer

from kubectl_spread.cli.flags import OutputFlags
from kubectl_spread.cli.formats import STRUCTURED, renderer_for
from kubectl_spread.errors import ExitCode, ManifestError, SpreadError, UsageError

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport
    from kubectl_spread.render.text.screen import Screen

ReportT = TypeVar("ReportT", bound="AnyReport")
ReportT_contra = TypeVar("ReportT_contra", bound="AnyReport", contravariant=True)


class OutputError(SpreadError):
    """Standard output takes nothing."""


LONGEST_NOTE = 4000
"""Characters of a note: what it names may be a label of megabytes."""
COLORS = ("auto", "always", "never")
WIDE = 160
"""Columns of ``-o wide`` where there is no terminal."""


class TextPrinter(Protocol[ReportT_contra]):
    """How a report reads for people."""

    def __call__(self, report: ReportT_contra, /, *, wide: bool) -> str:
        """Return it as text."""


def printer(text: TextPrinter[ReportT], flags: OutputFlags) -> Callable[[ReportT], str]:
    """Return how a report is to be printed, before anything is read for it.

    Raises:
        UsageError: there is no such format, or no such choice of colour.
        OutputError: there is nowhere to print it.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    if flags.color not in COLORS:
        raise UsageError(f"invalid argument {flags.color!r} for --color", hint=f"must be one of: {', '.join(COLORS)}")
    return renderer_for(flags.report, flags.output) or partial(text, wide=flags.output == "wide")


def screen_for(flags: OutputFlags, namespace: str = "") -> Screen:
    """Return what text is to fit: the terminal, as wide as it is now; where there is none, nothing, or ``WIDE``."""
    from kubectl_spread.render.text.screen import Screen

    colors, width = wants_color(flags.color, sys.stdout), terminal_width(sys.stdout)
    if width is None and flags.output == "wide":
        return Screen(colors=colors, width=WIDE, namespace=namespace, whole=True)
    return Screen(colors=colors, width=width, namespace=namespace)


def terminal_width(stream: TextIO) -> int | None:
    """Return the columns of a terminal (count); None of anything else, or where it does not tell."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or None) if stream.isatty() else None
    except OSError:
        return None


def structured(values: Mapping[str, object], asked: str) -> str | None:
    """Return plain values as JSON or YAML; None where text is asked for.

    Raises:
        UsageError: there is no such format.
    """
    from kubectl_spread.render import structured

    if asked not in {"", *STRUCTURED}:
        raise UsageError(f"invalid argument {asked!r} for --output", hint=f"must be one of: {', '.join(STRUCTURED)}")
    if not asked:
        return None
    return structured.to_json(values) if asked == "json" else structured.to_yaml(values)


def write(text: str) -> None:
    """Print the answer; where nobody reads on, end without a word.

    Raises:
        OutputError: standard output takes nothing.
    """
    try:
        sys.stdout.write(_encodable(text, sys.stdout.encoding or "utf-8"))
        sys.stdout.flush()
    except BrokenPipeError as error:
        _discard(sys.stdout)
        raise typer.Exit(ExitCode.CLOSED_PIPE) from error
    except OSError as error:
        _discard(sys.stdout)
        raise OutputError(f"cannot write to standard output: {error.strerror}") from error


def write_file(path: str, text: str) -> None:
    """Write the answer to a file, compressed where its name ends in ``.gz``: the same bytes for the same answer.

    Raises:
        OutputError: it cannot be written.
    """
    from gzip import compress
    from pathlib import Path

    content = text.encode()
    try:
        Path(path).write_bytes(compress(content, mtime=0) if path.endswith(".gz") else content)
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror}") from error


def _encodable(text: str, encoding: str) -> str:
    """Return the text with escapes in place of what the encoding does not have."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def _discard(stream: TextIO) -> None:
    """Let what is still buffered go nowhere: Python would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def note(text: str) -> None:
    """Say something beside the answer in one line, if anybody can hear it."""
    from kubectl_spread.render.cells import clean

    if len(text) > LONGEST_NOTE:
        text = f"{text[: LONGEST_NOTE // 2]} ... {text[-LONGEST_NOTE // 2 :]}"
    if sys.stderr is not None:
        try:
            sys.stderr.write(f"{clean(text)}\n")
        except OSError:
            _discard(sys.stderr)


def explain(error: SpreadError) -> ExitCode:
    """Say what went wrong and what to do, and return the exit code for it."""
    lines = [str(problem) for problem in error.problems] if isinstance(error, ManifestError) else [error.message]
    lines[-1] += f"; {error.hint}" if error.hint else ""
    for line in lines:
        note(f"error: {line}")
    return error.exit_code


def wants_color(choice: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what goes to the stream.

    ``--color`` decides; then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE where they are not empty; then a terminal has
    colour unless TERM is dumb or CLICOLOR is 0.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return stream.isatty() and environment.get("TERM") != "dumb" and environment.get("CLICOLOR") != "0"
