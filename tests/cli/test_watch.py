"""``show --watch``: what is printed where, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kubectl_spread.cli import watch
from kubectl_spread.cli.watch import ERASE_BELOW, ERASE_LINE, HOME, Printing, fitting, news, screen
from kubectl_spread.commands.show import ShowAnswer
from kubectl_spread.commands.view import SchedulerOptions, look
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import owned, template, workload
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.cluster.watched import Watched, watched
from tests.commands.memory import Memory
from tests.controlplane.waiting import wait_for
from tests.diagnosis.judged import METADATA
from tests.program import INSTALLED, valid
from tests.program import spread as run

NODES = [node("a1", zone="a"), node("b1", zone="b")]
WEB = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"))))
HEADER = "WORKLOAD "
INTERRUPTED, CLOSED_PIPE = 130, 141


def replica(number: int, *, on: str) -> Object:
    return owned(f"web-{number}", "Deployment", "web", on=on)


class Running:
    """The program, watching."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.shown = ""

    def wait_for(self, pattern: str) -> str:
        """Return what was printed since the last call, to the end of the pattern."""

        def found() -> re.Match[str] | None:
            assert self.process.stdout is not None
            with suppress(BlockingIOError, OSError):
                self.shown += os.read(self.process.stdout.fileno(), 1 << 16).decode()
            match = re.search(pattern, self.shown)
            if match is None and self.process.poll() is not None:
                assert self.process.stderr is not None
                pytest.fail(f"it ended with {self.process.returncode}: {self.process.stderr.read().decode()}")
            return match

        match = wait_for(found, what=f"{pattern} in what was printed")
        before, self.shown = self.shown[: match.end()], self.shown[match.end() :]
        return before

    def end(self, number: signal.Signals) -> tuple[int, float, str]:
        """Return the exit code after a signal, how long that took (seconds), and what was said on standard error."""
        began = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(30)
        took = time.monotonic() - began
        assert self.process.stderr is not None
        return code, took, self.process.stderr.read().decode()


@pytest.fixture
def cluster_and_url() -> Iterator[tuple[Watched, str]]:
    """Yield a cluster with a Deployment, and the URL of its server."""
    with watched() as (cluster, url):
        cluster.put(*NODES, WEB)
        yield cluster, url


@pytest.fixture
def cluster(cluster_and_url: tuple[Watched, str]) -> Watched:
    return cluster_and_url[0]


@pytest.fixture
def environment(cluster_and_url: tuple[Watched, str], tmp_path: Path) -> dict[str, str]:
    """Return surroundings in which the only kubeconfig leads to the cluster."""
    path = write_kubeconfig(tmp_path / "config", server=cluster_and_url[1], name="test")
    return {"PATH": os.defpath, "HOME": str(tmp_path), "KUBECONFIG": str(path), "TERM": "xterm"}


@contextmanager
def watching(environment: dict[str, str], *words: str) -> Iterator[Running]:
    """Yield the program, which writes to pipes."""
    command = [str(INSTALLED), "show", "--watch", *words]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        try:
            yield Running(process)
        finally:
            process.kill()


def test_rows_that_change_follow_the_table(cluster: Watched, environment: dict[str, str]) -> None:
    with watching(environment) as running:
        table = running.wait_for(r"a:0 b:0.*\n")
        assert table.startswith(HEADER)
        cluster.put(replica(1, on="a1"))
        assert HEADER not in running.wait_for(r"a:1 b:0.*\n")
        cluster.delete(WEB)
        cluster.delete(replica(1, on="a1"))
        running.wait_for(r"deployment/web .* Gone .*\n")
        assert running.end(signal.SIGINT)[::2] == (INTERRUPTED, "")


def test_each_report_is_a_line_of_json(cluster: Watched, environment: dict[str, str]) -> None:
    with watching(environment, "-o", "json") as running:
        first = valid(json.loads(running.wait_for("\n")))
        cluster.put(replica(1, on="b1"))
        second = valid(json.loads(running.wait_for("\n")))
    assert [report["items"][0]["pods"] for report in (first, second)] == [0, 1]
    assert first["metadata"]["resourceVersions"]["pods"] < second["metadata"]["resourceVersions"]["pods"]


def test_details_come_again_as_a_whole(cluster: Watched, environment: dict[str, str]) -> None:
    with watching(environment, "deployment/web") as running:
        running.wait_for(r"DOMAIN .*\n(.*\n)*Headroom: .*\n")
        cluster.put(replica(1, on="a1"))
        again = running.wait_for(r"Headroom: .*\n")
        assert again.startswith("\ndefault/deployment/web: ")
        assert re.search(r"a +1 +1 ", again)


def test_an_empty_answer_is_said_once(cluster: Watched, environment: dict[str, str]) -> None:
    cluster.delete(WEB)
    with watching(environment) as running:
        assert running.process.stderr is not None
        said = running.process.stderr.readline().decode()
        assert said == "No workloads with topology spread constraints found in default namespace.\n"
        cluster.put(WEB)
        assert running.wait_for(r"deployment/web .*\n").startswith(HEADER)
        code, _, further = running.end(signal.SIGINT)
    assert (code, further) == (INTERRUPTED, "")


def test_ctrl_c_ends_at_once(environment: dict[str, str]) -> None:
    with watching(environment) as running:
        running.wait_for(r"a:0 b:0.*\n")
        code, took, said = running.end(signal.SIGINT)
    assert (code, said) == (INTERRUPTED, "")
    assert took < 0.5


def test_it_ends_when_nobody_reads_on(environment: dict[str, str]) -> None:
    with watching(environment) as running:
        running.wait_for(r"a:0 b:0.*\n")
        assert running.process.stdout is not None
        running.process.stdout.close()
        assert running.process.wait(30) == CLOSED_PIPE
        assert running.process.stderr is not None
        assert running.process.stderr.read() == b""


def test_a_terminal_shows_the_newest_answer(cluster: Watched, environment: dict[str, str]) -> None:
    controller, end = pty.openpty()
    command = [str(INSTALLED), "show", "-w"]
    with subprocess.Popen(
        command, env=environment, stdin=end, stdout=end, stderr=end, start_new_session=True
    ) as process:
        try:
            shown = _until(controller, rb"watching until Ctrl-C")
            assert HOME.encode() + HEADER.encode() in shown
            cluster.put(replica(1, on="a1"))
            again = _until(controller, rb"changed: default/deployment/web")
            assert b"\n\n" not in again.replace(b"\r", b"")
            assert HOME.encode() + HEADER.encode() in again
            assert b"a:1 b:0" in again
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == INTERRUPTED
        finally:
            process.kill()
            os.close(controller)
            os.close(end)


def _until(descriptor: int, pattern: bytes) -> bytes:
    """Return what a terminal shows up to the pattern."""
    shown = b""
    os.set_blocking(descriptor, False)

    def found() -> bool:
        nonlocal shown
        with suppress(BlockingIOError):
            shown += os.read(descriptor, 1 << 16)
        return bool(re.search(pattern, shown))

    wait_for(found, what=f"{pattern!r} on the terminal")
    return shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "none"), "--watch and --from cannot be used together; files do not change"),
        (("--exit-code",), "--watch and --exit-code cannot be used together; a watch does not end"),
        (("-o", "html"), f"--watch cannot be used with --output html; must be one of: {', '.join(watch.FORMATS)}"),
        (("-o", "name"), f"--watch cannot be used with --output name; must be one of: {', '.join(watch.FORMATS)}"),
        (("-A", "deployment/web"), "a resource cannot be retrieved by name across all namespaces; use -n with a name"),
    ],
)
def test_what_makes_no_sense_is_refused(words: Sequence[str], said: str) -> None:
    ended = run("show", "-w", "--server", "http://127.0.0.1:1", *words)
    assert (ended.code, ended.error) == (2, f"error: {said}")


@pytest.mark.parametrize("chosen", ["table", "wide", "json", "yaml", "jsonpath={.kind}"])
def test_what_can_be_printed_again_is_not_refused(chosen: str) -> None:
    watch.refuse(chosen, exit_code=False)


def report(*lines: str) -> SkewReport:
    """Return a report that reads as these lines."""
    return SkewReport(
        metadata=METADATA, items=(), incomplete=tuple(UnreadableManifest(place=line, why="") for line in lines)
    )


def whole(told: SkewReport) -> str:
    return "".join(f"{each.what}\n" for each in entries(told.incomplete))


def answer(*lines: str) -> ShowAnswer:
    """Return an answer that reads as these lines."""
    view = look(Memory(), (), SchedulerOptions())
    return ShowAnswer(report(*lines), counted_only=False, view=view)


TEXT = Printing(format="table", whole=whole, rows=None, notes=lambda _: ["\x1bnote"])


@pytest.mark.parametrize(
    ("chosen", "before", "now", "printed"),
    [
        ("table", (), ("a", "b"), "a\nb\n"),
        ("table", ("a",), ("b",), "\nb\n"),
        ("jsonpath={.kind}", ("a",), ("b",), "b\n"),
        ("table", ("a",), ("a",), ""),
    ],
    ids=["the first", "another stands apart", "of a template as it is", "the same is not printed"],
)
def test_what_is_printed_of_an_answer(chosen: str, before: Sequence[str], now: Sequence[str], printed: str) -> None:
    assert news(replace(TEXT, format=chosen), report(*before) if before else None, report(*now)) == printed


def test_programs_get_every_report() -> None:
    for chosen, begin in (("json", '{"apiVersion"'), ("yaml", "---\napiVersion")):
        printing = replace(TEXT, format=chosen)
        assert news(printing, report("a"), report("a")).startswith(begin)


@pytest.mark.usefixtures("screen_size")
def test_a_screen_is_drawn_over_the_one_before() -> None:
    first = screen(TEXT, None, answer("a", "b"))
    assert first.startswith("\n" * 8 + HOME + f"a{ERASE_LINE}\nb{ERASE_LINE}\n^[note{ERASE_LINE}\n")
    assert first.endswith(f" watching until Ctrl-C{ERASE_LINE}\n{ERASE_BELOW}")
    second = screen(TEXT, answer("a", "b"), answer("c"))
    assert second.startswith(f"{HOME}c{ERASE_LINE}\n")
    assert second.endswith(f" what could be read ha{ERASE_LINE}\n{ERASE_BELOW}")


@pytest.mark.usefixtures("screen_size")
def test_a_screen_holds_no_more_than_it_can() -> None:
    lines = screen(TEXT, None, answer(*map(str, range(20)))).split(HOME)[1].split(f"{ERASE_LINE}\n")
    assert lines[:6] == ["0", "1", "2", "3", "4", "... and 16 more lines: the scr"]
    assert len(lines) == 8


@pytest.fixture
def screen_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the screen have 8 lines of 30 columns."""
    monkeypatch.setenv("LINES", "8")
    monkeypatch.setenv("COLUMNS", "30")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ([], []),
        (["a", "b", "c"], ["a", "b", "c"]),
        (["a" * 10, "b", "c"], ["a" * 10, "b", "c"]),
        (["\x1b[31m" + "a" * 10 + "\x1b[0m", "b", "c"], ["\x1b[31m" + "a" * 10 + "\x1b[0m", "b", "c"]),
        (["a" * 11, "b", "c"], ["a" * 11, "... and 2 "]),
        (["", "", "", ""], ["", "", "... and 2 "]),
        (["a" * 100, "b"], ["... and 2 "]),
    ],
)
def test_long_lines_take_several(text: list[str], shown: list[str]) -> None:
    assert [*fitting(text, columns=10, lines=3)] == shown
