"""Work in a thread of its own that nobody has to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """One call, made in a daemon thread: Ctrl-C ends the program without waiting for it, as an executor would."""

    def __init__(self, work: Callable[[], T], finished: SimpleQueue[Background[T]] | None = None) -> None:
        self._work = work
        self._finished = finished
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Return what the call returned, or raise what it raised; wait for its end first."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value

    def _run(self) -> None:
        """Make the call; what it raises is for whoever asks for the result."""
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 handed on to the thread that waits
            self._error = error
        finally:
            if self._finished is not None:
                self._finished.put(self)
