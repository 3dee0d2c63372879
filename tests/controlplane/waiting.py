"""Waiting for something to become true, with a deadline and a name."""

import time
from collections.abc import Callable
from typing import TypeVar

_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.25

Answer = TypeVar("Answer")


def wait_for(ask: Callable[[], Answer | None], *, what: str, timeout_s: float = 30.0) -> Answer:
    """Return the first truthy answer of ``ask``.

    Args:
        ask: called again and again, at growing intervals.
        what: what is waited for, as the error says it.
        timeout_s: seconds until the wait is given up.

    Raises:
        TimeoutError: no truthy answer came in time; names ``what`` and the last answer.
    """
    deadline = time.monotonic() + timeout_s
    pause_s = _PAUSE_S
    while not (answer := ask()):
        if time.monotonic() > deadline:
            message = f"waited {timeout_s:g} s for {what}; the last answer was {answer!r}"
            raise TimeoutError(message)
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
    return answer
