"""By hand: ``python -m tests.bench.large up`` runs the large cluster until Ctrl-C, ``measure`` asks it questions."""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.bench.large.asking import ask
from tests.bench.large.cluster import running
from tests.bench.large.contents import Size
from tests.bench.large.questions import table
from tests.bench.large.serving import NAME, serving_costs
from tests.controlplane.component import ControlPlaneError
from tests.controlplane.ending import ending_in_order
from tests.gobuild import BuildError


def main() -> None:
    """Do what the command line says; a failure to build or to start is the exit text."""
    asked = _parse()
    try:
        size = Size(nodes=asked.nodes, apps=asked.apps, pods=asked.pods)
        with suppress(KeyboardInterrupt), ending_in_order(), running(asked.kubeconfig, size) as kubeconfig:
            _up(kubeconfig) if asked.verb == "up" else _measure(kubeconfig, asked)
    except (BuildError, ControlPlaneError) as error:
        sys.exit(str(error))


def _parse() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.large", description=__doc__)
    parser.add_argument("verb", choices=("up", "measure"))
    usual = Size()
    parser.add_argument("--nodes", type=int, default=usual.nodes)
    parser.add_argument("--apps", type=int, default=usual.apps)
    parser.add_argument("--pods", type=int, default=usual.pods)
    parser.add_argument("--kubeconfig", type=Path, help="measure on a cluster that is up")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="", help="the questions whose names contain this")
    return parser.parse_args()


def _up(kubeconfig: Path) -> None:
    """Run until interrupted, after saying how to reach the cluster."""
    _say(f"# Ctrl-C stops it. In another terminal:\nexport KUBECONFIG={kubeconfig}")
    while True:
        time.sleep(1)


def _measure(kubeconfig: Path, asked: argparse.Namespace) -> None:
    """Print what the questions cost, and how busy the machine was."""
    before = os.getloadavg()
    measured = ask(kubeconfig, turns=asked.turns, only=asked.only)
    _say(table(measured))
    if asked.only in NAME:
        for line in serving_costs(kubeconfig):
            _say(line)
    load = " → ".join(f"{load[0]:.1f}" for load in (before, os.getloadavg()))
    _say(f"{os.cpu_count()} processors, load {load}; the fastest of {asked.turns} turns")


def _say(text: str) -> None:
    """Print at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
