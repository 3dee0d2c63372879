"""``kubectl spread snapshot``."""

from typing import Annotated

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ConnectionFlags, Flags, Option, SchedulerFlags, ScopeFlags
from kubectl_spread.errors import UsageError

EPILOG = """
\b
Examples:
  kubectl spread snapshot -o cluster.json.gz          # for later, or for a bug report
  kubectl spread show -A --from cluster.json.gz       # read it
  kubectl spread snapshot --from dump/ -o small.json  # reduce a dump to what is used

\b
The file holds what the other commands read. It never holds Secrets, the values of environment variables,
or arguments. It holds an annotation only if a command reads it. The only ConfigMap in it is the status of
cluster-autoscaler. The file has names, labels, images and the scheduler's messages. It also has the time, the context,
the cluster and the API server's URL, but no credentials. Commands printed from the file use that context.

\b
For fields of Pod templates that no command reads, the file has only digests. check and simulate --apply use them to
detect what a manifest changes. The file also has the random key of the digests. Anyone who has the file can guess a
value and test the guess. --no-digests leaves the digests out.
"""


class SnapshotFlags(Flags):
    """The flags of ``snapshot`` alone."""

    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="File to write. It is compressed when its name ends in .gz.")
    ] = ""
    no_digests: Annotated[bool, Option(help="Leave out the digests that detect later changes of a template.")] = False


def snapshot(flags: SnapshotFlags, scope: ScopeFlags, scheduler: SchedulerFlags, connection: ConnectionFlags) -> None:
    """Save the objects that the other commands read, as a file for --from."""
    from datetime import UTC, datetime
    from secrets import token_bytes

    from kubectl_spread.commands import exit_codes
    from kubectl_spread.commands import snapshot as command

    if scope.selector:
        raise UsageError("--selector cannot be used here", hint="answers need all Pods that count")
    source = inputs.source_of(connection, scope, scheduler)
    key = b"" if flags.no_digests else token_bytes(16)
    taken = command.take(source, scope.namespace, datetime.now(UTC), key=key)
    output.write_file(flags.output, taken.text) if flags.output else output.write(taken.text)
    output.note(f"The snapshot holds {taken.held}.")
    for note in taken.notes:
        output.note(note)
    raise typer.Exit(exit_codes.of_snapshot(taken))
