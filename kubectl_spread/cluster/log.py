"""The log of ``-v``, and the progress of a command, on one line of a terminal."""

import shutil
import threading
import time
from collections.abc import Callable, Iterable
from typing import TextIO


class Log:
    """Writes lines: requests, what is read, which rules apply; ``write`` must escape control characters."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._lock = threading.Lock()

    def say(self, line: str) -> None:
        """Write the line; no other thread writes within it."""
        with self._lock:
            self._write(line)

    def close(self) -> None:
        """Stop all writing: the interpreter crashes if a thread writes while it exits."""
        self._lock.acquire()


SILENT = Log(lambda _: None)

DELAY_SECONDS = 0.5


class Progress:
    """A line that appears when something takes long, is updated, and is erased at the end."""

    def __init__(
        self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic, delay: float = DELAY_SECONDS
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._due = clock() + delay
        self._enabled = stream.isatty()
        self._shown = 0

    def reading(self, *, kinds: Iterable[str], objects: int, received_bytes: int) -> None:
        """Show which kinds are still being read, and how much has arrived."""
        self.show(f"reading {', '.join(kinds)}: {objects:,} objects, {received_bytes / 1e6:,.1f} MB")

    def show(self, text: str) -> None:
        """Show the text, if the stream is a terminal and the delay (seconds) is over."""
        if not self._enabled or self._clock() < self._due:
            return
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
