"""Prints answers, notes and errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar

import typer

from kubectl_spread.cli.flags import OutputFlags, check_choice
from kubectl_spread.cli.formats import STRUCTURED, renderer_for
from kubectl_spread.errors import ManifestError, SpreadError
from kubectl_spread.exit_code import ExitCode

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport
    from kubectl_spread.render.text.screen import Screen

ReportT = TypeVar("ReportT", bound="AnyReport")
ReportT_contra = TypeVar("ReportT_contra", bound="AnyReport", contravariant=True)


class OutputError(SpreadError):
    """Standard output cannot be written."""


LONGEST_NOTE = 4000  # The longest note (characters); a label in it may have megabytes
PROGRESS_SECONDS = 1.0  # How long a command computes before it says what (seconds)
WIDE = 160  # The width (columns) of ``-o wide`` without a terminal


class TextPrinter(Protocol[ReportT_contra]):
    """Prints a report as text."""

    def __call__(self, report: ReportT_contra, /, *, wide: bool) -> str:
        """Return the text."""


def printer(text: TextPrinter[ReportT], flags: OutputFlags) -> Callable[[ReportT], str]:
    """Return what prints a report; commands call it before they read anything.

    Raises:
        UsageError: the format or the choice of color is unknown.
        OutputError: standard output is closed.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    check_choice("--color", flags.color, ("auto", "always", "never"))
    return renderer_for(flags.report, flags.output) or partial(text, wide=flags.output == "wide")


def screen_for(flags: OutputFlags, namespace: str = "") -> Screen:
    """Return the terminal with its current size; ``-o wide`` has no height, and ``WIDE`` without a terminal."""
    from kubectl_spread.render.text.screen import Screen

    colors, (width, height) = wants_color(flags.color, sys.stdout), terminal_size(sys.stdout)
    if flags.output == "wide":
        return Screen(colors=colors, width=width or WIDE, namespace=namespace, whole=width is None)
    return Screen(colors=colors, width=width, height=height, namespace=namespace)


def terminal_size(stream: TextIO) -> tuple[int | None, int]:
    """Return the columns of a terminal, None for other streams and if unknown, and its lines, else 0 (counts)."""
    try:
        columns, lines = os.get_terminal_size(stream.fileno()) if stream.isatty() else (0, 0)
    except OSError:
        return None, 0
    return columns or None, lines


def structured(values: Mapping[str, object], asked: str) -> str | None:
    """Return plain values as JSON or YAML; None where ``asked`` is empty, for text. UsageError for no such format."""
    from kubectl_spread.render import structured

    if not asked:
        return None
    check_choice("--output", asked, STRUCTURED)
    return structured.to_json(values) if asked == "json" else structured.to_yaml(values)


def write(text: str) -> None:
    """Print the answer; end silently where the pipe is closed. OutputError if standard output cannot be written."""
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
    """Write the answer to a file, compressed if its name ends in ``.gz``; equal answers give equal bytes.

    OutputError if it cannot be written.
    """
    from gzip import compress
    from pathlib import Path

    content = text.encode()
    try:
        Path(path).write_bytes(compress(content, mtime=0) if path.endswith(".gz") else content)
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror}") from error


def _encodable(text: str, encoding: str) -> str:
    """Return the text with escapes for characters that the encoding does not have."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def _discard(stream: TextIO) -> None:
    """Discard the buffered text, which Python would fail to flush at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def progress(*, wanted: bool) -> Iterator[Callable[[str], object]]:
    """Yield what sets a line on standard error: it is shown after a second, on a terminal, until the block ends."""
    from threading import Timer

    from kubectl_spread.cluster.log import Progress

    if not (wanted and sys.stderr is not None and sys.stderr.isatty()):
        yield lambda _: None
        return
    line, said = Progress(sys.stderr, delay=PROGRESS_SECONDS), [""]

    def say(text: str) -> None:
        said[0] = text
        line.show(text)

    timer = Timer(PROGRESS_SECONDS, lambda: line.show(said[0]))
    timer.daemon = True
    timer.start()
    try:
        yield say
    finally:
        timer.cancel()
        timer.join()
        line.close()


def note(text: str) -> None:
    """Print one line to standard error, if that is open."""
    from kubectl_spread.render.cells import clean

    if len(text) > LONGEST_NOTE:
        text = f"{text[: LONGEST_NOTE // 2]} ... {text[-LONGEST_NOTE // 2 :]}"
    if sys.stderr is not None:
        try:
            sys.stderr.write(f"{clean(text)}\n")
        except OSError:
            _discard(sys.stderr)


def explain(error: SpreadError, *, about: str = "") -> ExitCode:
    """Print the error and its hint, and before it what it is about; return its exit code."""
    lines = [str(problem) for problem in error.problems] if isinstance(error, ManifestError) else [error.message]
    lines[-1] += f"; {error.hint}" if error.hint else ""
    for line in lines:
        note(f"error: {about}{line}")
    return error.exit_code


def wants_color(choice: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to print in color.

    ``--color`` decides, then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE if they are not empty. Else a terminal gets
    colors unless TERM is dumb or CLICOLOR is 0.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return stream.isatty() and environment.get("TERM") != "dumb" and environment.get("CLICOLOR") != "0"
