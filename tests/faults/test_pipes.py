"""Whoever stops listening, on either stream, is no reason for a word; the exit code still tells what came of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cluster.api_server import ApiServer
from tests.faults.shop import SHOP, WHY, Program
from tests.program import INSTALLED

CLOSED_PIPE = 141
FILES = ("--from", str(SHOP))


def ended_without_reader(stream: str, *words: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Return (exit code, what the other stream says) of the program, one of whose streams nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    other = "stdout" if stream == "stderr" else "stderr"
    streams = {stream: writing, other: subprocess.PIPE}
    with os.fdopen(writing, "wb"):
        process = subprocess.Popen([str(INSTALLED), *words], env=environment, text=True, **streams)  # type: ignore[call-overload] # the streams' names
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout or stderr


@pytest.mark.parametrize("command", ["show -A", "why-pending -A", "version", "completion", "explain"])
def test_an_answer_that_nobody_reads(command: str) -> None:
    files = FILES if command.endswith("-A") else ()
    assert ended_without_reader("stdout", *command.split(), *files) == (CLOSED_PIPE, "")


@pytest.mark.parametrize("words", ["--help", "show --help"])
def test_a_help_that_nobody_reads(words: str) -> None:
    assert ended_without_reader("stdout", *words.split())[1] == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "-n", "nowhere", *FILES), 0),
        (("why-pending", "-n", "shop", *FILES, "-v", "9"), 1),
        (("why-pending", "--from", "nowhere.yaml"), 3),
        (("show", "-o", "xml", *FILES), 2),
    ],
    ids=["a note", "a log", "an error", "a usage error"],
)
def test_a_word_beside_the_answer_that_nobody_reads(words: tuple[str, ...], code: int) -> None:
    ended, answer = ended_without_reader("stderr", *words)
    assert ended == code
    assert bool(answer) == (code == 1)


def test_a_log_of_many_requests_that_nobody_reads(server: ApiServer, program: Program, whole: str) -> None:
    words = (*WHY, "-v", "9")
    assert ended_without_reader("stderr", *words, environment=dict(program.environment)) == (1, whole)
    assert len(server.seen) > 10


def test_the_first_line_of_a_log_is_enough_for_head(program: Program) -> None:
    line = f"{INSTALLED} why-pending -v 6 2>&1 | head -n 1"
    ended = subprocess.run(["/bin/sh", "-c", line], env=program.environment, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("the server is http://")
    assert (ended.stdout.count("\n"), ended.stderr) == (1, "")


@pytest.mark.parametrize("redirection", [">&- 2>&-", "2>&- | head -n 1", "2>&-"])
def test_streams_that_are_closed_from_the_start(redirection: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    line = f"exec 3>{said}; {INSTALLED} show -A --from {SHOP} -v 6 {redirection}; echo $? >&3"
    ended = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert said.read_text() == ("3\n" if redirection.startswith(">&-") else "0\n")
