"""By hand: ``python -m tests.controlplane build`` fills the cache, ``up`` runs a control plane until Ctrl-C."""

import argparse
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.controlplane.binaries import build_binaries
from tests.controlplane.cluster import Options, control_plane
from tests.controlplane.component import ControlPlaneError
from tests.gobuild import BuildError

_NICENESS = 10


def main() -> None:
    """Do what the command line says; a failure to build or to start is the exit text."""
    arguments = _parse()
    # Ended by a process supervisor or a closed terminal, it stops its components as it does on Ctrl-C.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            _build() if arguments.verb == "build" else _up(arguments.scheduler_config)
    except (BuildError, ControlPlaneError) as error:
        sys.exit(str(error))


def _parse() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("build", help="build etcd and the Kubernetes commands into the cache")
    up = verbs.add_parser("up", help="run a control plane in the foreground")
    up.add_argument("--scheduler-config", type=Path, help="a KubeSchedulerConfiguration")
    return parser.parse_args()


def _build() -> None:
    """Build at low priority: it takes minutes and every core."""
    os.nice(_NICENESS)
    _say(f"{build_binaries().kubectl.parent}")


def _up(scheduler_config: Path | None) -> None:
    """Run until interrupted, after saying how to reach it."""
    binaries = build_binaries()
    began = time.monotonic()
    with control_plane(Options(scheduler_config=scheduler_config), binaries=binaries) as plane:
        _say(f"# ready after {time.monotonic() - began:.1f} s; Ctrl-C stops it\nexport KUBECONFIG={plane.kubeconfig}")
        signal.pause()


def _say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
