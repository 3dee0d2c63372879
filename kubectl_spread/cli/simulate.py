"""``kubectl spread simulate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ConnectionFlags, Flags, Option, SchedulerFlags, ScopeFlags, SimulateOutput

if TYPE_CHECKING:
    from kubectl_spread.contract.simulate import SimulateReport

EPILOG = """
\b
Examples:
  kubectl spread simulate --drain n1                          # before you drain
  kubectl spread simulate --lose topology.kubernetes.io/zone=c -A
  kubectl spread simulate --scale deployment/web=12           # will they all find a node
  kubectl spread simulate --cordon n1 --restart deployment/web
  kubectl spread simulate --apply web.yaml                    # a rollout to its end, or to where it sticks
  kubectl spread simulate -f scenario.yaml -o json            # steps from a file
  kubectl spread simulate --drain n1 --from dump/ -A          # a file instead of a cluster

\b
Steps are done in the order in which they are given, and each sees what the earlier ones leave; a file lists them as
"- drain: n1" under "steps:". Nothing is sent to the cluster. Where the scheduler or a controller may choose, several
orders are tried: ranges are what was seen in them.
"""

STEPS = (
    "filename",
    "drain",
    "remove",
    "lose",
    "return",
    "cordon",
    "uncordon",
    "add-node",
    "scale",
    "restart",
    "delete",
    "apply",
)
"""The flags that are steps."""


class SimulateFlags(Flags):
    """The flags of ``simulate`` alone."""

    drain: Annotated[
        list[str] | None, Option("--drain", metavar="NODE", help="Drain a node as kubectl does (repeatable).")
    ] = None
    remove: Annotated[
        list[str] | None, Option("--remove", metavar="NODE", help="Drain a node and take it away (repeatable).")
    ] = None
    lose: Annotated[
        list[str] | None,
        Option("--lose", metavar="NODE|KEY=VALUE", help="Let nodes stop answering, such as a zone (repeatable)."),
    ] = None
    return_: Annotated[
        list[str] | None, Option("--return", metavar="NODE|KEY=VALUE", help="Let lost nodes answer again (repeatable).")
    ] = None
    cordon: Annotated[list[str] | None, Option("--cordon", metavar="NODE", help="Cordon a node (repeatable).")] = None
    uncordon: Annotated[
        list[str] | None, Option("--uncordon", metavar="NODE", help="Uncordon a node (repeatable).")
    ] = None
    add_node: Annotated[
        list[str] | None, Option("--add-node", metavar="LIKE[=N]", help="Add nodes like one there is (repeatable).")
    ] = None
    scale: Annotated[
        list[str] | None, Option("--scale", metavar="[NS/]TYPE/NAME=N", help="Scale a workload (repeatable).")
    ] = None
    restart: Annotated[
        list[str] | None, Option("--restart", metavar="[NS/]TYPE/NAME", help="Roll a workload out anew (repeatable).")
    ] = None
    delete: Annotated[
        list[str] | None, Option("--delete", metavar="[NS/]pod/NAME", help="Delete a Pod (repeatable).")
    ] = None
    apply: Annotated[
        list[str] | None,
        Option("--apply", metavar="FILE", help="Apply a manifest as kubectl does (repeatable)."),
    ] = None
    filename: Annotated[
        list[str] | None, Option("--filename", "-f", metavar="FILE", help="File that lists steps (repeatable).")
    ] = None
    force: Annotated[bool, Option("--force", help="Let drains evict Pods that nothing makes again.")] = False
    all: Annotated[bool, Option("--all", help="Print constraints that do not change, too.")] = False
    defaults: Annotated[
        bool, Option("--defaults", help="Follow workloads that only have the cluster's default constraints.")
    ] = False
    in_order: tuple[tuple[str, str], ...] = ()


def simulate(
    flags: SimulateFlags,
    scope: ScopeFlags,
    printing: SimulateOutput,
    scheduler: SchedulerFlags,
    connection: ConnectionFlags,
) -> None:
    """Tell what becomes of Pods and their spread when nodes go, workloads are scaled or Pods deleted."""
    from kubectl_spread.commands import simulate as command
    from kubectl_spread.render.outline import Extent
    from kubectl_spread.render.outline.simulate import simulated_outline
    from kubectl_spread.render.text import outline_text

    def text(report: SimulateReport, *, wide: bool) -> str:
        screen = output.screen_for(printing, asked.namespace)
        return outline_text(simulated_outline(report, Extent(wide=wide or flags.all)), screen)

    printed = output.printer(text, printing)
    source = inputs.source_of(connection, scope, scheduler)
    options = command.SimulateOptions(
        steps=tuple((flag, value) for flag, value in flags.in_order if flag in STEPS),
        force=flags.force,
        namespace=scope.namespace or source.namespace,
        defaults=flags.defaults,
    )
    asked, rules, stdin = inputs.scope_of(scope, source), inputs.scheduler_of(scheduler), inputs.standard_input()
    report = command.simulate(source, asked, options, rules, stdin=stdin)
    output.write(printed(report))
    raise typer.Exit(command.exit_code(report))
