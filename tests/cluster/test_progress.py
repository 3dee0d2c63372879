"""The progress line."""

from __future__ import annotations

import io

import pytest

from kubectl_spread.cluster.log import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def progress_at(stream: io.StringIO, *times: float) -> Progress:
    """Return a progress line whose clock shows these seconds, one after another."""
    return Progress(stream, clock=iter(times).__next__)


def show(progress: Progress, *kinds: str, objects: int = 12_345) -> None:
    progress.reading(kinds=kinds or ("pods",), objects=objects, received_bytes=45_678_901)


def test_a_line_says_what_how_many_and_how_much() -> None:
    terminal = Terminal()
    show(progress_at(terminal, 0, 1), "pods", "nodes")
    assert terminal.getvalue() == "\rreading pods, nodes: 12,345 objects, 45.7 MB"


def test_a_quick_read_shows_nothing() -> None:
    terminal = Terminal()
    progress = progress_at(terminal, 10, 10.4)
    show(progress)
    progress.close()
    assert terminal.getvalue() == ""


def test_what_is_no_terminal_stays_clean() -> None:
    stream = io.StringIO()
    progress = progress_at(stream, 0, 9)
    show(progress)
    progress.close()
    assert stream.getvalue() == ""


def test_a_shorter_line_covers_the_longer_one() -> None:
    terminal = Terminal()
    progress = progress_at(terminal, 0, 1, 2)
    show(progress, "pods", "nodes")
    show(progress, "pods")
    _, longer, shorter = terminal.getvalue().split("\r")
    assert len(shorter) == len(longer)


def test_the_line_is_erased_once_at_the_end() -> None:
    terminal = Terminal()
    progress = progress_at(terminal, 0, 1)
    show(progress)
    shown = terminal.getvalue()
    progress.close()
    progress.close()
    assert terminal.getvalue() == f"{shown}\r{' ' * (len(shown) - 1)}\r"


def test_a_narrow_terminal_gets_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    terminal = Terminal()
    show(progress_at(terminal, 0, 1))
    assert terminal.getvalue() == "\rreading pod"
