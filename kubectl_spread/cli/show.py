"""``kubectl spread show``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ConnectionFlags, Option, SchedulerFlags, ScopeFlags, ShowOutput

if TYPE_CHECKING:
    from kubectl_spread.report import SkewReport

EPILOG = """
\b
Examples:
  kubectl spread show                      # the current namespace, worst first
  kubectl spread show -A --problems        # what is wrong anywhere
  kubectl spread show deployment/web       # domains, ghosts and the next node of one workload
  kubectl spread show --from dump/ -A      # a cluster-info dump instead of a cluster
"""


@dataclass(frozen=True, slots=True)
class ShowFlags:
    """The flags of ``show`` alone."""

    resources: Annotated[list[str] | None, typer.Argument(metavar="[TYPE/NAME | TYPE [NAME...]]")] = None
    by_node: Annotated[bool, Option("--by-node", help="Unfold domains to nodes.")] = False
    defaults: Annotated[
        bool, Option("--defaults", help="Show workloads that only have the cluster's default constraints.")
    ] = False
    full: Annotated[bool, Option("--full", help="Evaluate every filter, however large the cluster.")] = False
    problems: Annotated[bool, Option("--problems", help="Leave out what is OK.")] = False
    sort_by: Annotated[str, Option("--sort-by", metavar="status|skew|name", help="What comes first.")] = "status"
    exit_code: Annotated[
        bool, Option("--exit-code", help="Exit with 1 when something is Blocked, Violated or NoEffect.")
    ] = False


def show(
    flags: ShowFlags,
    scope: ScopeFlags,
    printing: ShowOutput,
    scheduler: SchedulerFlags,
    connection: ConnectionFlags,
) -> None:
    """Show how Pods lie over the domains of their topology spread constraints."""
    from kubectl_spread.commands import show as command
    from kubectl_spread.commands.scope import namespaces_with_pods, nothing_found
    from kubectl_spread.render import table

    kind, names = command.parse_names(tuple(flags.resources or ()))
    options = command.ShowOptions(
        names=names,
        kind=kind,
        defaults=flags.defaults,
        full=flags.full,
        problems=flags.problems,
        sort_by=command.sort_key(flags.sort_by),
    )

    def text(report: SkewReport, *, wide: bool) -> str:
        colors = output.wants_color(printing.color, sys.stdout)
        if names or flags.by_node:
            return table.show_details(report, wide=wide, by_node=flags.by_node, colors=colors)
        return table.show_table(report, wide=wide, headers=not printing.no_headers, colors=colors)

    printed = output.printer(text, printing)
    source = inputs.source_of(connection, scope, scheduler)
    asked = inputs.scope_of(scope, source, names=tuple(name for _, name in names))
    answer = command.show(source, asked, options, inputs.scheduler_of(scheduler))
    report = answer.report
    if not report.items:
        what = "problems" if flags.problems else "workloads with topology spread constraints"
        output.note(nothing_found(asked, what, namespaces_with_pods(answer.view.snapshot)))
    output.write(printed(report))
    if answer.counted_only:
        output.note(command.COUNTED_ONLY)
    raise typer.Exit(command.exit_code(report) if flags.exit_code else 0)
