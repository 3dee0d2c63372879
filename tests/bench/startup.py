"""What it takes of the processor to start the program, as a multiple of the bare interpreter's, measured in turn.

Run it as ``python -m tests.bench.startup [--program PATH] [--runs 20]``; it ends with 1 when a budget is exceeded.
"""

from __future__ import annotations

import argparse
import compileall
import os
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import typer

import kubectl_spread
from tests.bench.measuring import measure
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
PENDING_POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: waiting, namespace: default, labels: {app: web}}
spec:
  containers: [{name: web, image: "registry.example/web:1", resources: {requests: {cpu: "8"}}}]
"""
NOTHING, TYPER = "python -c pass", "import typer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """One way to start the program."""

    what: str  # in words
    command: tuple[str, ...]  # what is run
    budget: float | None = None  # how often the bare interpreter's own time it may take; None for as long as it takes
    above: str = ""  # what may be taken on top of that: the time of the start of this name


def starts(program: str, *, bare: str, snapshot: str, server: str) -> tuple[Start, ...]:
    """Return what is measured: the interpreter first, then the program on two Pods, and on a live cluster without any.

    Args:
        program: the program.
        bare: a Python without any package, whose start nothing that is installed slows down.
        snapshot: path of a file with a Node and Pods.
        server: address of an API server.
    """
    return (
        Start(what=NOTHING, command=(bare, "-c", "pass")),
        Start(what=TYPER, command=(sys.executable, "-c", "import typer")),
        Start(what="--help", command=(program, "--help"), budget=3, above=TYPER),
        Start(what="completion of commands", command=(program, "__complete", ""), budget=12),
        Start(what="completion of flags", command=(program, "__complete", "show", "-"), budget=12),
        Start(what="completion of types", command=(program, "__complete", "show", ""), budget=12),
        Start(what="completion of namespaces", command=(program, "__complete", "show", "--server", server, "-n", "")),
        Start(what="version", command=(program, "version")),
        Start(what="show --from", command=(program, "show", "--from", snapshot), budget=14),
        Start(what="why-pending --from", command=(program, "why-pending", "--from", snapshot), budget=16),
        Start(what="show, live and empty", command=(program, "show", "--server", server), budget=30),
    )


@contextmanager
def bare_interpreter() -> Iterator[str]:
    """Yield this Python without any package."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=os.name != "nt")
        yield venv.EnvBuilder().ensure_directories(folder).env_exe


def empty_cluster(seen: Seen) -> Response:
    """Answer as a cluster without objects."""
    return Response(body={"gitVersion": "v1.36.2"} if seen.path == "/version" else {"metadata": {}, "items": []})


def measured(program: str, *, runs: int) -> Iterator[tuple[Start, float, float | None]]:
    """Yield each start with the processor time that it takes and that it may take (seconds), None where it may any."""
    with tempfile.TemporaryDirectory() as home, bare_interpreter() as bare, serving(empty_cluster) as server:
        snapshot = Path(home) / "snapshot.yaml"
        snapshot.write_text(NODE_AND_POD + PENDING_POD)
        every = starts(program, bare=bare, snapshot=str(snapshot), server=server.url)
        environment = {"HOME": home, "PATH": os.defpath}
        taken = measure({start.what: start.command for start in every}, environment, turns=runs)
        took = {each.name: each.cpu_seconds for each in taken}
    for start in every:
        allowed = None if start.budget is None else start.budget * took[NOTHING] + took.get(start.above, 0.0)
        yield start, took[start.what], allowed


def compiled() -> None:
    """Compile what is measured: where Python may not keep what it compiled, every start would compile it anew."""
    for package in (Path(kubectl_spread.__file__), Path(typer.__file__), Path(msgspec.__file__)):
        compileall.compile_dir(package.parent, quiet=1)


def main() -> int:
    """Print a table, and return 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(Path(sysconfig.get_path("scripts")) / "kubectl-spread"))
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    compiled()
    rows = list(measured(given.program, runs=given.runs))
    once = rows[0][1]
    sys.stdout.write(f"{'START':<28}{'CPU MS':>8}{'RATIO':>8}{'BUDGET':>8}\n")
    for start, took, allowed in rows:
        budget = "-" if allowed is None else f"{allowed / once:.1f}"
        sys.stdout.write(f"{start.what:<28}{took * 1000:>8.0f}{took / once:>8.1f}{budget:>8}\n")
    return int(any(took > allowed for _, took, allowed in rows if allowed is not None))


if __name__ == "__main__":
    sys.exit(main())
