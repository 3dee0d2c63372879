"""The end of a process in an orderly way: however it is told to end, what it started ends before it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let a process supervisor or a closed terminal end the block as Ctrl-C does: by KeyboardInterrupt.

    Python delivers signals to the main thread alone; in another one they are left as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    """End once: an impatient second Ctrl-C would leave components behind."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
