"""``kubectl spread snapshot``."""

from __future__ import annotations

from typing import Annotated

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ConnectionFlags, Flags, Option, SchedulerFlags, ScopeFlags
from kubectl_spread.errors import UsageError

EPILOG = """
\b
Examples:
  kubectl spread snapshot -o cluster.json.gz          # for later, or for a bug report
  kubectl spread show -A --from cluster.json.gz       # and this is how it is read
  kubectl spread snapshot --from dump/ -o small.json  # what is read of a dump, and nothing else

\b
It holds what the other commands read: never a Secret, a ConfigMap, the value of an environment variable, an argument,
or an annotation that none of them reads. Names, labels, images and the scheduler's messages are in it.
"""


class SnapshotFlags(Flags):
    """The flags of ``snapshot`` alone."""

    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="The file to write, compressed where it ends in .gz.")
    ] = ""


def snapshot(flags: SnapshotFlags, scope: ScopeFlags, scheduler: SchedulerFlags, connection: ConnectionFlags) -> None:
    """Write what the other commands read of the cluster, as a List for --from."""
    from kubectl_spread.commands import snapshot as command

    if scope.selector:
        raise UsageError("--selector cannot be used here", hint="a part of a cluster answers for none of it")
    source = inputs.source_of(connection, scope, scheduler)
    taken = command.take(source, scope.namespace)
    output.write_file(flags.output, taken.text) if flags.output else output.write(taken.text)
    for note in taken.notes:
        output.note(note)
    raise typer.Exit(taken.exit_code)
