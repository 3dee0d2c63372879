"""What a person at a terminal sees of a slow read: a progress line while it lasts, and nothing of it afterwards."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.cluster.api_server import ApiServer, Response, Seen, status
from tests.faults.shop import PODS, WHY, Program, Shop
from tests.program import INSTALLED

COLUMNS = 200
PROGRESS = "reading "


class Terminal:
    """The program at a terminal of its own.

    Args:
        program: with the kubeconfig to use.
        *words: its arguments.
    """

    def __init__(self, program: Program, *words: str) -> None:
        self._controller, end = pty.openpty()
        environment = {**program.environment, "COLUMNS": str(COLUMNS)}
        self._process = subprocess.Popen(
            [str(INSTALLED), *words], env=environment, stdin=end, stdout=end, stderr=end, start_new_session=True
        )
        os.close(end)
        self._written = ""

    def read_until(self, holds: Callable[[str], bool]) -> None:
        """Read what is written until it holds of that, or nothing more comes."""
        deadline = time.monotonic() + 20
        while not holds(self._written) and time.monotonic() < deadline:
            try:
                piece = os.read(self._controller, 4096)
            except OSError:  # how Linux says that the other end is closed
                piece = b""
            if not piece:
                return
            self._written += piece.decode()

    def end(self) -> tuple[int, str]:
        """Return (exit code, everything written) when it has ended."""
        self.read_until(lambda _: False)
        os.close(self._controller)
        return self._process.wait(20), self._written

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)


def screen(written: str) -> list[str]:
    """Return the lines that a terminal shows of what was written."""
    lines = [""]
    for piece in written.replace("\r\n", "\n").split("\n"):
        for text in piece.split("\r"):
            lines[-1] = text + lines[-1][len(text) :]
        lines.append("")
    return [line.rstrip() for line in lines[:-1]]


def slowly(answer: Callable[[Seen], Response], seconds: float = 1.2) -> Callable[[Seen], Response]:
    """Return the answer, which takes so long for Pods."""

    def answer_slowly(seen: Seen) -> Response:
        response = answer(seen)
        return replace(response, delay_seconds=seconds) if seen.path == PODS else response

    return answer_slowly


@pytest.fixture(autouse=True)
def slow(server: ApiServer) -> None:
    """Let the server take long."""
    server.answer = slowly(Shop(page=500))


def test_a_slow_read_shows_how_far_it_is_and_leaves_nothing_behind(program: Program, whole: str) -> None:
    code, written = Terminal(program, *WHY, "--color", "never").end()
    assert code == 1
    assert PROGRESS in written
    assert screen(written) == [*whole.splitlines(), ""]


def test_an_error_begins_at_the_beginning_of_a_line(server: ApiServer, program: Program) -> None:
    def gone(seen: Seen) -> Response:
        """Return no Pods to whoever lists them; whoever counts them asks for one."""
        return status(404, "NotFound", "gone") if seen.path == PODS and seen.query.get("limit") != "1" else Shop()(seen)

    server.answer = slowly(gone)
    code, written = Terminal(program, *WHY).end()
    assert code == 3
    assert PROGRESS in written
    assert screen(written) == ["error: cannot list pods in all namespaces: the server answered 404 NotFound: gone", ""]


def test_a_log_takes_the_place_of_progress(program: Program) -> None:
    _, written = Terminal(program, *WHY, "-v", "1").end()
    assert PROGRESS not in written
    where, *lines = screen(written)
    assert where.startswith("the server is ")
    assert any(line.startswith("read 6 nodes, 12 pods") for line in lines)


def test_ctrl_c_leaves_the_prompt_a_line_of_its_own(program: Program) -> None:
    terminal = Terminal(program, *WHY)
    terminal.read_until(lambda written: PROGRESS in written)
    terminal.interrupt()
    code, written = terminal.end()
    assert code == 130
    shown = screen(written)
    assert len(shown) == 2
    assert shown[0].startswith(PROGRESS)
    assert shown[1] == ""
