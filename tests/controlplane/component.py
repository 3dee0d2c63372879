"""One program of the control plane: started in its own process group, ready or explained, and stopped by its pid."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_SHOWN_LINES = 15
_PAUSE_S = 0.05
_GRACE_S = 5.0


class ControlPlaneError(Exception):
    """Why a component did not start: its name, what happened, and the last lines of its log."""


class Component:
    """A running program and its log."""

    def __init__(
        self, command: Sequence[str | Path], *, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the program, its output going to ``log``; nothing is known about its readiness yet.

        ``environment`` adds to ours.
        """
        self.name = Path(command[0]).name
        self._log = log
        with log.open("ab") as output:
            # Its own process group: Ctrl-C reaches us alone, and we stop the components in order.
            self._process = subprocess.Popen(
                [*map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )

    def wait_until(self, is_ready: Callable[[], bool], *, timeout_s: float) -> None:
        """Return as soon as ``is_ready`` holds.

        Raises:
            ControlPlaneError: the program ended, or was not ready within ``timeout_s`` seconds.
        """
        deadline = time.monotonic() + timeout_s
        while not is_ready():
            if (code := self._process.poll()) is not None:
                raise ControlPlaneError(self._explain(f"ended with code {code}"))
            if time.monotonic() > deadline:
                raise ControlPlaneError(self._explain(f"was not ready within {timeout_s:g} s"))
            time.sleep(_PAUSE_S)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the program do nothing for the length of a block."""
        self._signal_group(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal_group(signal.SIGCONT)

    def stop(self) -> None:
        """End the program and whatever it started: politely first, then not."""
        self._signal_group(signal.SIGTERM)
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._signal_group(signal.SIGKILL)
            self._process.wait()

    def kill(self) -> None:
        """End the program at once, with what it has under way."""
        self._signal_group(signal.SIGKILL)
        self._process.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the process group, whose id is the pid of its first process."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _explain(self, happened: str) -> str:
        """Return what happened and the end of the log."""
        lines = self._log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
        return "\n".join([f"{self.name} {happened}; the last lines of its log:", *(f"  {line}" for line in lines)])


def free_port() -> int:
    """Return a TCP port of the loopback interface that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
