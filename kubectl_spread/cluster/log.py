"""What is done on the way to an answer, told to whoever asks for it with ``-v``.

The levels are kubectl's: a line for each request from 6 on, headers from 7 on, bodies from 8 on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

READS = 1
"""What was read, under whose rules, and what had to be tried again."""
REQUESTS = 6
HEADERS = 7
BODIES = 8
LONG_BODIES = 9


class Log:
    """Lines for one who watches, what steers a terminal in them is ``write``'s to escape."""

    def __init__(self, write: Callable[[str], object], level: int) -> None:
        self._write = write
        self._level = level
        self._lock = threading.Lock()

    def tells(self, level: int) -> bool:
        """Whether what is of the level is told."""
        return level <= self._level

    def say(self, level: int, *lines: str) -> None:
        """Tell the lines, with none of another thread between them, if the level is told."""
        if self.tells(level):
            with self._lock:
                for line in lines:
                    self._write(line)

    def close(self) -> None:
        """Let no thread tell anything more: the interpreter does not survive one that is writing as it ends."""
        self._lock.acquire()


SILENT = Log(lambda _: None, 0)
