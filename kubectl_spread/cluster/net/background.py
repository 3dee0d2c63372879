"""Calls in daemon threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A call in a daemon thread. Unlike an executor, it does not keep Ctrl-C from ending the program."""

    def __init__(self, work: Callable[[], T], finished: SimpleQueue[Background[T]] | None = None) -> None:
        self._work = work
        self._finished = finished
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ends_within(self, seconds: float) -> bool:
        """Wait for the call, but not longer; return whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> T:
        """Wait for the call; return or raise what it did."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 result() raises it
            self._error = error
        finally:
            if self._finished is not None:
                self._finished.put(self)
