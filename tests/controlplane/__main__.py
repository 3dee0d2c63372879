"""By hand: ``python -m tests.controlplane build`` fills the cache, ``up`` runs a control plane until Ctrl-C."""

import argparse
import os
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path

from tests.controlplane.binaries import build_binaries
from tests.controlplane.cluster import Options, control_plane
from tests.controlplane.component import ControlPlaneError
from tests.controlplane.ending import ending_in_order
from tests.controlplane.loading import load
from tests.gobuild import BuildError

_NICENESS = 10
_PAUSE_S = 1.0


def main() -> None:
    """Do what the command line says; a failure to build or to start is the exit text."""
    arguments = _parse()
    try:
        with suppress(KeyboardInterrupt), ending_in_order():
            _build() if arguments.verb == "build" else _up(arguments)
    except (BuildError, ControlPlaneError) as error:
        sys.exit(str(error))


def _parse() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("build", help="build etcd and the Kubernetes commands into the cache")
    up = verbs.add_parser("up", help="run a control plane in the foreground")
    up.add_argument("--scheduler-config", type=Path, help="a KubeSchedulerConfiguration")
    up.add_argument("--objects", type=Path, help="a List of Nodes and workloads to create")
    up.add_argument("--try", action="append", default=[], dest="commands", help="a command to suggest (repeatable)")
    return parser.parse_args()


def _build() -> None:
    """Build at low priority: it takes minutes and every core."""
    os.nice(_NICENESS)
    _say(f"{build_binaries().kubectl.parent}")


def _up(arguments: argparse.Namespace) -> None:
    """Run until interrupted, after saying how to reach it."""
    _say("# starting; the first time, building Kubernetes from its Go modules takes about ten minutes")
    binaries = build_binaries()
    began = time.monotonic()
    with control_plane(Options(scheduler_config=arguments.scheduler_config), binaries=binaries) as plane:
        client = plane.client()
        if arguments.objects:
            load(client, arguments.objects)
        client.act_as_kubelets()
        path = os.pathsep.join([sysconfig.get_path("scripts"), str(binaries.kubectl.parent), "$PATH"])
        _say(f"# ready after {time.monotonic() - began:.1f} s; Ctrl-C stops it. In another terminal:")
        _say(f'export KUBECONFIG={plane.kubeconfig}\nexport PATH="{path}"')
        _say("\n".join(arguments.commands))
        while True:
            time.sleep(_PAUSE_S)
            client.act_as_kubelets()


def _say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
