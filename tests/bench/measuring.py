"""How long commands take, how much of the processor, and how much memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

_REPEATS = 5
_ANSWERS = frozenset((0, 1))
_LONGEST_S = 300.0
_LAUNCHER = """
import json, os, subprocess, sys, threading, time
begun = time.perf_counter()
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
ending = threading.Timer(float(sys.argv[1]), process.kill)
ending.start()
_, status, usage = os.wait4(process.pid, 0)
seconds = time.perf_counter() - begun
ending.cancel()
process.returncode = os.waitstatus_to_exitcode(status)
print(json.dumps([process.returncode, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""
"""A small program between us and what is measured: on Linux a process's peak begins with that of its parent."""
_BARE_READ = """
import sys, urllib3
server, token, authority, *paths = sys.argv[1:]
pool = urllib3.PoolManager(ca_certs=authority, headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"})
for path in paths:
    fields, received, following = {"limit": "500"}, 0, True
    while following:
        body = pool.request("GET", server + path, fields=fields).data
        received += len(body)
        head = body[:1000].decode(errors="replace")
        fields["continue"] = following = head.partition('"continue":"')[2].partition('"')[0]
    print(f"read {path.rpartition('/')[2]}: {received / 1e6:,.1f} MB in pages", file=sys.stderr)
"""
"""A program that receives lists page by page, and makes nothing of them."""


def bare_read(server: str, token: str, authority: str, *paths: str) -> Sequence[str]:
    """Return the command that receives these lists, with which others are compared."""
    return (sys.executable, "-c", _BARE_READ, server, token, authority, *paths)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """How one command went."""

    name: str  # of the command
    seconds: float  # the fastest of its runs; infinite where none came to an end in time
    cpu_seconds: float  # the least that a run took of the processors
    memory: float  # the most that a run had (MiB)
    said: str  # what it said on stderr, the last time


def measure(
    commands: Mapping[str, Sequence[str]],
    environment: Mapping[str, str],
    *,
    turns: int = _REPEATS,
    answers: frozenset[int] = _ANSWERS,
) -> Iterator[Measured]:
    """Yield how each command goes; they take turns, so that a busy machine is busy for all of them.

    Args:
        commands: name → command line.
        environment: of all commands.
        turns: how often each runs; a run that takes five minutes is ended.
        answers: the codes that an answer may end with.

    Raises:
        CalledProcessError: a command ended with another code, so that it gave no answer.
    """
    rounds = [[_run(name, commands[name], environment, answers) for name in commands] for _ in range(turns)]
    for runs in zip(*rounds, strict=True):
        yield Measured(
            name=runs[0].name,
            seconds=min(run.seconds for run in runs),
            cpu_seconds=min(run.cpu_seconds for run in runs),
            memory=max(run.memory for run in runs),
            said=runs[-1].said,
        )


def _run(name: str, command: Sequence[str], environment: Mapping[str, str], answers: frozenset[int]) -> Measured:
    """Return how one run of a command went."""
    launcher = (sys.executable, "-c", _LAUNCHER, str(_LONGEST_S))
    ran = subprocess.run((*launcher, *command), env={**environment}, capture_output=True, text=True, check=True)
    code, seconds, cpu_seconds, memory = json.loads(ran.stdout)
    if code == -signal.SIGKILL:
        seconds = inf
    elif code not in answers:
        raise subprocess.CalledProcessError(code, [*command], stderr=ran.stderr)
    return Measured(name=name, seconds=seconds, cpu_seconds=cpu_seconds, memory=memory, said=ran.stderr)
