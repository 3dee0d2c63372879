"""How long the program takes to start, as a multiple of the bare interpreter's time, measured in turn beside it.

Run it as ``python -m tests.bench.startup [--program PATH] [--runs 20]``; it ends with 1 when a budget is exceeded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.api_server import Response, Seen, serving

NODE_AND_POD = """\
apiVersion: v1
kind: Node
metadata: {name: a1, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  nodeName: a1
  containers: [{name: web, image: "registry.example/web:1"}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
"""


@dataclass(frozen=True, slots=True)
class Start:
    """One way to start the program.

    Attributes:
        what: in words.
        arguments: of the program.
        budget: how often the interpreter's own time it may take; None for as long as it takes.
    """

    what: str
    arguments: tuple[str, ...]
    budget: float | None = None


def starts(snapshot: str, server: str) -> tuple[Start, ...]:
    """Return what is measured, on a snapshot of one Pod and on a live cluster without any."""
    return (
        Start("--help", ("--help",), 8),
        Start("completion of commands", ("__complete", ""), 12),
        Start("completion of flags", ("__complete", "show", "-"), 12),
        Start("completion of types", ("__complete", "show", ""), 12),
        Start("completion of namespaces", ("__complete", "show", "--server", server, "-n", "")),
        Start("version", ("version",)),
        Start("show --from", ("show", "--from", snapshot)),
        Start("show, live and empty", ("show", "--server", server), 30),
    )


def fastest(commands: Mapping[str, Sequence[str]], *, runs: int, environment: Mapping[str, str]) -> dict[str, float]:
    """Return the shortest time of each command (seconds); they take turns, so that all meet the same noise."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(runs):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, env=environment, capture_output=True, check=True)
            best[name] = min(best[name], time.perf_counter() - started)
    return best


@contextmanager
def bare_interpreter() -> Iterator[str]:
    """Yield this Python without any package, whose start nothing that is installed slows down."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=os.name != "nt")
        yield venv.EnvBuilder().ensure_directories(folder).env_exe


def empty_cluster(seen: Seen) -> Response:
    """Answer as a cluster without objects."""
    return Response(body={"gitVersion": "v1.36.2"} if seen.path == "/version" else {"metadata": {}, "items": []})


def measure(program: str, *, runs: int) -> Iterator[tuple[Start, float, float]]:
    """Yield each start with its time (seconds) and its ratio to that of the bare interpreter, which is the first."""
    with tempfile.TemporaryDirectory() as home, bare_interpreter() as python, serving(empty_cluster) as server:
        snapshot = Path(home) / "snapshot.yaml"
        snapshot.write_text(NODE_AND_POD)
        nothing = Start("python -c pass", ())
        measured = starts(str(snapshot), server.url)
        commands = {start.what: (program, *start.arguments) for start in measured}
        environment = {"HOME": home, "PATH": os.defpath}
        best = fastest({nothing.what: (python, "-c", "pass"), **commands}, runs=runs, environment=environment)
        for start in (nothing, *measured):
            yield start, best[start.what], best[start.what] / best[nothing.what]


def main() -> int:
    """Print a table, and return 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(Path(sysconfig.get_path("scripts")) / "kubectl-spread"))
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    exceeded = False
    sys.stdout.write(f"{'START':<28}{'MS':>6}{'RATIO':>8}{'BUDGET':>8}\n")
    for start, seconds, ratio in measure(given.program, runs=given.runs):
        sys.stdout.write(f"{start.what:<28}{seconds * 1000:>6.0f}{ratio:>8.1f}{start.budget or '-':>8}\n")
        exceeded |= ratio > (start.budget or ratio)
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
