"""By hand: ``python -m tests.bench.large up`` runs the large cluster until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress

from tests.bench.large.cluster import large_cluster
from tests.bench.large.contents import Size
from tests.controlplane.binaries import build_binaries
from tests.controlplane.component import ControlPlaneError
from tests.controlplane.ending import ending_in_order
from tests.gobuild import BuildError


def main() -> None:
    """Do what the command line says; a failure to build or to start is the exit text."""
    size = _parse()
    try:
        with suppress(KeyboardInterrupt), ending_in_order():
            _up(size)
    except (BuildError, ControlPlaneError) as error:
        sys.exit(str(error))


def _parse() -> Size:
    """Return how large the cluster is to be."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.large", description=__doc__)
    parser.add_argument("verb", choices=("up",))
    usual = Size()
    parser.add_argument("--nodes", type=int, default=usual.nodes)
    parser.add_argument("--apps", type=int, default=usual.apps)
    parser.add_argument("--pods", type=int, default=usual.pods)
    asked = parser.parse_args()
    return Size(nodes=asked.nodes, apps=asked.apps, pods=asked.pods)


def _up(size: Size) -> None:
    """Run until interrupted, after saying how to reach it."""
    began = time.monotonic()
    with large_cluster(size, binaries=build_binaries()) as plane:
        _say(f"# ready after {time.monotonic() - began:.1f} s; Ctrl-C stops it. In another terminal:")
        _say(f"export KUBECONFIG={plane.kubeconfig}")
        while True:
            time.sleep(1)


def _say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
