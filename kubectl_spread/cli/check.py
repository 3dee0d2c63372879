"""``kubectl spread check``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ConnectionFlags, Option, OutputFlags, SchedulerFlags, ScopeFlags

EPILOG = """
\b
Examples:
  kubectl spread check -f pod.yaml                       # will it schedule, and where
  kubectl spread check -f web.yaml --replicas 12         # how twelve replicas would lie
  helm template . | kubectl spread check -f -            # a rendered chart
  kubectl spread check -f web.yaml --from snapshot.yaml  # against a file instead of a cluster
"""


@dataclass(frozen=True, slots=True)
class CheckFlags:
    """The flags of ``check`` alone."""

    filenames: Annotated[
        list[str], Option("--filename", "-f", metavar="FILE", help="File, directory, URL or - (repeatable).")
    ]
    recursive: Annotated[bool, Option("--recursive", "-R", help="Read directories with all below.")] = False
    replicas: Annotated[
        int | None, Option("--replicas", min=1, help="How many replicas to place; by default what the manifest says.")
    ] = None


def check(
    flags: CheckFlags,
    scope: ScopeFlags,
    printing: OutputFlags,
    scheduler: SchedulerFlags,
    connection: ConnectionFlags,
) -> None:
    """Tell whether manifests schedule, on which nodes, and how their replicas would lie."""
    from kubectl_spread.commands import check as command
    from kubectl_spread.render import table

    printed = output.printer(table.check_text, printing)
    source = inputs.source_of(connection, scope, scheduler)
    options = command.CheckOptions(
        filenames=tuple(flags.filenames),
        namespace=scope.namespace or source.namespace,
        recursive=flags.recursive,
        replicas=flags.replicas,
    )
    report = command.check(source, options, inputs.scheduler_of(scheduler), stdin=inputs.standard_input()).report
    output.write(printed(report))
    raise typer.Exit(command.exit_code(report))
