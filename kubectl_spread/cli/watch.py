"""``--watch``: prints one answer after another; on a terminal, each replaces the one before."""

from __future__ import annotations

import os
import re
import select
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from kubectl_spread.cli import output
from kubectl_spread.errors import UsageError
from kubectl_spread.exit_code import ExitCode

if TYPE_CHECKING:
    from kubectl_spread.commands.show import ShowAnswer
    from kubectl_spread.commands.why_pending import PendingAnswer
    from kubectl_spread.contract.pending import PendingReport
    from kubectl_spread.contract.skew import SkewReport

    Answer: TypeAlias = ShowAnswer | PendingAnswer
    Watched: TypeAlias = SkewReport | PendingReport

TEXT = ("table", "wide")
FORMATS = (*TEXT, "json", "yaml", "jsonpath=")  # The formats that can be printed repeatedly
# ECMA-48: move to the upper left corner; erase the rest of the line; erase everything below.
HOME, ERASE_LINE, ERASE_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"

_COLOR = re.compile(r"\x1b\[\d*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """How answers are printed.

    ``rows`` prints those that differ from the answer before; None where answers have no rows.
    """

    format: str
    whole: Callable[[Any], str]
    rows: Callable[[Any, Any], str] | None
    notes: Callable[[Any], Iterable[str]]


def refuse(output_format: str, *, exit_code: bool = False, several: bool = False) -> None:
    """Refuse flags that cannot be used with ``--watch``, by a UsageError."""
    if several:
        raise UsageError("--watch and --all-contexts cannot be used together", hint="follow one cluster")
    if exit_code:
        raise UsageError("--watch and --exit-code cannot be used together", hint="a watch does not end")
    if not any(output_format == name or (name[-1] == "=" and output_format.startswith(name)) for name in FORMATS):
        hint = f"must be one of: {', '.join(FORMATS)}"
        raise UsageError(f"--watch cannot be used with --output {output_format}", hint=hint)


def print_each(answers: Iterable[Answer], printing: Printing) -> None:
    """Print the answers as they arrive; they have no end."""
    on_screen = printing.format in TEXT and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    previous: Answer | None = None
    for answer in answers:
        if on_screen:
            output.write(screen(printing, previous, answer))
        else:
            output.write(news(printing, previous.report if previous else None, answer.report))
        if previous is None:
            _end_with_reader()
            for note in () if on_screen else printing.notes(answer):
                output.note(note)
        previous = answer


def news(printing: Printing, previous: Watched | None, now: Watched) -> str:
    """Return the text to print for an answer after the previous one."""
    from kubectl_spread.render.structured import to_json, to_yaml

    if printing.format == "json":
        return to_json(now, lines=False)
    if printing.format == "yaml":
        return f"---\n{to_yaml(now)}"
    if printing.rows and previous and previous.items:
        return printing.rows(previous, now)
    before, text = printing.whole(previous) if previous else "", printing.whole(now)
    if text == before:
        return ""
    return f"\n{text}" if before and printing.format in TEXT else text


def screen(printing: Printing, previous: Answer | None, now: Answer) -> str:
    """Return the text that replaces the previous answer on the screen, with a last line for the time and the changes.

    The screen is never empty in between. The text before the first answer scrolls up, so nothing must be restored.
    """
    from kubectl_spread.render.cells import clean
    from kubectl_spread.render.text.show import summary

    columns, lines = shutil.get_terminal_size()
    happened = summary(previous.report, now.report) if previous else "watching until Ctrl-C"
    footer = f"{time.strftime('%H:%M:%S')} {happened}"[:columns]
    whole = [*printing.whole(now.report).splitlines(), *map(clean, printing.notes(now))]
    shown = [*fitting(whole, columns=columns, lines=lines - 2), footer]
    begin = "" if previous else "\n" * lines
    return "".join((begin, HOME, *(f"{line}{ERASE_LINE}\n" for line in shown), ERASE_BELOW))


def fitting(text: Sequence[str], *, columns: int, lines: int) -> Iterator[str]:
    """Yield the lines that fit the screen, where long ones wrap, and one with the number of lines left out."""
    heights = [max(-(-len(_COLOR.sub("", line)) // columns), 1) for line in text]
    if sum(heights) <= lines:
        yield from text
        return
    free = lines - 1
    for number, line in enumerate(text):
        free -= heights[number]
        if free < 0:
            yield f"... and {len(text) - number} more lines: the screen is too small"[:columns]
            return
        yield line


def _end_with_reader() -> None:
    """End the program silently when the reader of the pipe ends; else it would notice only at the next change."""
    if not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode) or not hasattr(select, "poll"):
        return
    closed = select.poll()
    closed.register(sys.stdout.fileno(), 0)

    def end() -> None:
        closed.poll()
        os._exit(ExitCode.CLOSED_PIPE)

    threading.Thread(target=end, daemon=True).start()
