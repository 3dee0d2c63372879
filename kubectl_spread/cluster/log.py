"""The log of ``-v``. The levels are kubectl's: 6 logs each request, 7 its headers too, 8 its body too."""

from __future__ import annotations

import threading
from collections.abc import Callable

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
        """Let no thread write any more: the interpreter crashes if one writes while it exits."""
        self._lock.acquire()


SILENT = Log(lambda _: None, 0)
