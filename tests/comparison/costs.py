"""What one question costs on a cluster with many Pods: time and peak memory, beside reading all Pods with kubectl."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.live import ZONES, Measured, fill
from tests.comparison.stage import unborn
from tests.comparison.tools import Question, Tool
from tests.controlplane.cluster import ControlPlane
from tests.e2e.manifests import ZONE, constraint, match, pod

NODES, PODS = 300, 3_000
_REPEATS = 5
_NAMESPACE, _POD = "shop", "asked"
_WEB = {"app": "web"}
"""Pods with this label lie evenly in all zones."""
_READ_ALL = ("kubectl", "get", "pods", "-A", "-o", "json")
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


def costs(plane: ControlPlane, tools: Sequence[Tool]) -> Sequence[Measured]:
    """Return how reading all Pods goes, then each tool's question about a Pending Pod; all take turns."""
    fill(plane, nodes=NODES, pods=PODS)
    client = plane.client()
    # One zone more than there are: a minimum of 0, which no node meets, and fixes to look for.
    spread = constraint(ZONE, selector=match(**_WEB), minDomains=ZONES + 1)
    client.create_pods([pod(_NAMESPACE, _POD, labels=_WEB, spec={"topologySpreadConstraints": [spread]})])
    made = client.wait_for_decision(_NAMESPACE, _POD)
    with TemporaryDirectory() as folder:
        manifest = Path(folder) / "pod.json"
        manifest.write_text(json.dumps(unborn(made)))
        question = Question(namespace=_NAMESPACE, pod=_POD, pending=True, manifest=manifest, scheduler_config=None)
        commands = {f"`{' '.join(_READ_ALL)}`": _READ_ALL, **{tool.name: tool.command(question) for tool in tools}}
        return [*measure(commands, client.kubectl.environment())]


def measure(commands: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> Iterator[Measured]:
    """Yield the fastest run (seconds) and the most memory (MiB) of each command.

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
