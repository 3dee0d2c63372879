"""`make cluster`: a shop to try the plugin on, which Ctrl-C takes away without a trace."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.waiting import wait_for

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
COMPONENTS = {"etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"}
READY_S = 120.0


@dataclass(frozen=True, slots=True)
class Started:
    """A cluster that was started by hand."""

    process: subprocess.Popen[str]  # what runs in the foreground, the first of its process group
    exports: list[str]  # lines to run in another terminal first
    commands: list[str]  # what is suggested then

    @property
    def folder(self) -> Path:
        """Where everything of the cluster lies."""
        return Path(self.exports[0].partition("=")[2]).parent

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Return how a command ended in that other terminal."""
        script = "\n".join([*self.exports, command])
        environment = {"PATH": os.defpath, "HOME": str(self.folder)}
        return subprocess.run(
            ["/bin/sh", "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)


@pytest.fixture
def started(binaries: Binaries) -> Iterator[Started]:  # noqa: ARG001 - are to be there before the clock starts
    """Yield the cluster that `make cluster` starts."""
    command = ["make", "cluster"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield Started(process, *_told(process))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            process.wait(READY_S)


def _told(process: subprocess.Popen[str]) -> tuple[list[str], list[str]]:
    """Return the exports and then the commands that are printed once the cluster is ready."""
    exports: list[str] = []
    commands: list[str] = []
    while len(commands) < 3:
        assert process.stdout is not None
        line = process.stdout.readline().rstrip()
        assert line or process.poll() is None, "it ended without suggesting three commands"
        if line.startswith("export "):
            exports.append(line)
        elif exports:
            commands.append(line)
    return exports, commands


def mentioning(text: str) -> set[str]:
    """Return the names of running programs whose command line holds the text."""
    lines = (_command_line(process) for process in Path("/proc").glob("[0-9]*"))
    return {Path(line.partition("\0")[0]).name for line in lines if text in line}


def _command_line(process: Path) -> str:
    """Return a process' command line, empty once it has ended."""
    try:
        return (process / "cmdline").read_text(errors="replace")
    except OSError:
        return ""


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")
def test_the_shop_opens_is_looked_at_and_closes(started: Started) -> None:
    assert [export.partition("=")[0] for export in started.exports] == ["export KUBECONFIG", "export PATH"]
    folder = started.folder
    assert mentioning(str(folder)) == COMPONENTS
    why, show, check = map(started.run, started.commands)
    assert (why.returncode, show.returncode, check.returncode) == (1, 0, 0)
    assert re.match(
        r"shop/web-\w+-\w+ is Pending \(\w+ of 3.* runs?\)\. The Pod may only go to zone c, which", why.stdout
    )
    assert "taint dedicated=gpu:NoSchedule" in why.stdout
    assert "The scheduler reported (" in why.stdout
    assert re.search(r"deployment/web .* Blocked .* no Pod can go to c: taint dedicated=gpu", show.stdout)
    assert check.stdout.startswith("shop/deployment/checkout: all 4 replicas can be scheduled.")
    started.interrupt()
    started.process.wait(60)
    wait_for(lambda: not mentioning(str(folder)), what="the end of every component")
    assert not folder.exists()


def test_a_fix_that_is_taken_lets_the_pod_in(started: Started) -> None:
    fixes = started.run(started.commands[0]).stdout.split("HonorTaints", 1)[1]
    patch = next(line.strip() for line in fixes.splitlines() if line.strip().startswith("kubectl patch"))
    assert started.run(patch).returncode == 0
    rolled_out = started.run("kubectl rollout status deployment/web -n shop --timeout=50s")
    assert rolled_out.returncode == 0, rolled_out.stderr
    assert started.run(started.commands[0]).returncode == 0
