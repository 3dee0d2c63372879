"""How long commands take, and how much memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_REPEATS = 5
_LAUNCHER = """
import json, os, subprocess, sys, time
begun = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(json.dumps([time.perf_counter() - begun, usage.ru_maxrss / 1024]))
process.returncode = os.waitstatus_to_exitcode(status)
sys.exit(process.returncode not in (0, 1))
"""
"""A small program between us and what is measured: on Linux a process's peak begins with that of its parent.

It fails where the command neither answered nor answered no.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """How one command went: the fastest of its runs (seconds), and the most memory (MiB)."""

    name: str
    seconds: float
    memory: float


def measure(commands: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> Iterator[Measured]:
    """Yield how each command goes; they take turns, so that a busy machine is busy for all of them.

    Raises:
        CalledProcessError: a command ended with a code other than 0 and 1, so that it gave no answer.
    """
    turns = [[_run(command, environment) for command in commands.values()] for _ in range(_REPEATS)]
    for name, runs in zip(commands, zip(*turns, strict=True), strict=True):
        yield Measured(name, min(seconds for seconds, _ in runs), max(memory for _, memory in runs))


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Return how long a command took (seconds) and the most memory it had (MiB)."""
    ran = subprocess.run(
        (sys.executable, "-c", _LAUNCHER, *command), env={**environment}, capture_output=True, text=True, check=True
    )
    seconds, memory = json.loads(ran.stdout)
    return seconds, memory
