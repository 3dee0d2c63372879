"""The log of ``-v``, and the progress of a read, on one line of a terminal.

The levels of the log are kubectl's: 6 logs each request, 7 its headers too, 8 its body too.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterable
from typing import TextIO

READS = 1
"""What is read, which rules apply, and what is tried again."""
REQUESTS = 6
HEADERS = 7
BODIES = 8
LONG_BODIES = 9


class Log:
    """Writes lines up to a level; ``write`` must escape control characters."""

    def __init__(self, write: Callable[[str], object], level: int) -> None:
        self._write = write
        self._level = level
        self._lock = threading.Lock()

    def logs(self, level: int) -> bool:
        """Whether lines of the level are written."""
        return level <= self._level

    def say(self, level: int, *lines: str) -> None:
        """Write the lines if the level is logged; no other thread writes between them."""
        if self.logs(level):
            with self._lock:
                for line in lines:
                    self._write(line)

    def close(self) -> None:
        """Stop all writing: the interpreter crashes if a thread writes while it exits."""
        self._lock.acquire()


SILENT = Log(lambda _: None, 0)

DELAY_SECONDS = 0.5


class Progress:
    """A line that appears when a read takes long, is updated, and is erased at the end."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._due = clock() + DELAY_SECONDS
        self._enabled = stream.isatty()
        self._shown = 0

    def show(self, *, kinds: Iterable[str], objects: int, received_bytes: int) -> None:
        """Show which kinds are still being read, and how much has arrived."""
        if not self._enabled or self._clock() < self._due:
            return
        text = f"reading {', '.join(kinds)}: {objects:,} objects, {received_bytes / 1e6:,.1f} MB"
        text = text[: shutil.get_terminal_size().columns - 1]
        self._write(f"\r{text:<{self._shown}}")
        self._shown = len(text)

    def close(self) -> None:
        """Erase the line."""
        if self._shown:
            self._write(f"\r{'':<{self._shown}}\r")
            self._shown = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
