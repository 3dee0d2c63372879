"""Printing: colours, notes, closed pipes and full disks."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Mapping

import pytest

from kubectl_spread.cli.flags import PendingOutput
from kubectl_spread.cli.output import LONGEST_NOTE, OutputError, explain, note, printer, progress, wants_color, write
from kubectl_spread.errors import ClusterError, ManifestError, UsageError
from kubectl_spread.manifest_problem import ManifestProblem
from tests.render.reports import pending_text


class Screen(io.StringIO):
    """A stream that is, or is not, a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("choice", "terminal", "environment", "expected"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"TERM": "xterm"}, True),
        ("auto", True, {"CLICOLOR": "0"}, False),
        ("auto", True, {"CLICOLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": ""}, False),
        ("auto", False, {"CLICOLOR_FORCE": "1"}, True),
        ("auto", False, {"CLICOLOR_FORCE": "0"}, False),
        ("auto", False, {"CLICOLOR_FORCE": ""}, False),
        ("auto", False, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
    ids=str,
)
def test_when_there_are_colours(choice: str, environment: Mapping[str, str], *, terminal: bool, expected: bool) -> None:
    assert wants_color(choice, Screen(terminal=terminal), environment) == expected


def test_there_is_nowhere_to_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match="standard output is closed"):
        printer(pending_text, PendingOutput())


@pytest.mark.parametrize(
    ("error", "lines", "code"),
    [
        (UsageError("no such flag"), ["error: no such flag"], 2),
        (UsageError("no such flag", hint="try another"), ["error: no such flag; try another"], 2),
        (ClusterError("no answer", what="list pods", status=500, hint="wait"), ["error: no answer; wait"], 3),
        (OutputError("full"), ["error: full"], 3),
        (
            ManifestError(
                [ManifestProblem("a.yaml", "wrong", document=2, field="spec"), ManifestProblem("b.yaml", "gone")],
                hint="see",
            ),
            ["error: a.yaml, document 2, spec: wrong", "error: b.yaml: gone; see"],
            3,
        ),
        (ClusterError("two\nlines \x1b[2J"), ["error: two\\nlines ^[[2J"], 3),
    ],
    ids=str,
)
def test_errors_are_explained(
    error: UsageError | ClusterError, lines: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(error) == code
    assert capsys.readouterr().err.splitlines() == lines


def test_notes_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    note("a Pod named x\x1b[2J\ny")
    assert capsys.readouterr().err == "a Pod named x^[[2J\\ny\n"


def test_what_a_note_names_may_be_enormous(capsys: pytest.CaptureFixture[str]) -> None:
    note("begin" + "x" * 10**6 + "end")
    said = capsys.readouterr().err
    assert said.startswith("beginx")
    assert said.endswith("xend\n")
    assert len(said) == LONGEST_NOTE + len(" ... \n")


@pytest.mark.parametrize(("encoding", "printed"), [("ascii", b"\\xe9 \\u6771"), ("latin-1", b"\xe9 \\u6771")])
def test_what_standard_output_cannot_say_is_escaped(
    encoding: str, printed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(taken, encoding=encoding))
    write("\u00e9 \u6771")
    assert taken.getvalue() == printed


@pytest.mark.parametrize(("terminal", "takes", "shown"), [(True, 0.2, True), (True, 0.0, False), (False, 0.2, False)])
def test_what_takes_long_is_said_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, takes: float, *, terminal: bool, shown: bool
) -> None:
    stream = Screen(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("kubectl_spread.cli.output.PROGRESS_SECONDS", 0.05)
    with progress(wanted=True) as say:
        say("5 Pod templates; looking for fixes")
        time.sleep(takes)
    assert ("5 Pod templates; looking for fixes" in stream.getvalue()) is shown
    assert stream.getvalue().endswith(" \r" if shown else "")
