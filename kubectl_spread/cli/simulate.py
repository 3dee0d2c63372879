"""``kubectl spread simulate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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


def _step(name: str, metavar: str, about: str) -> Any:  # noqa: ANN401 - as typer.Option returns it
    return Option(name, metavar=metavar, help=f"{about} (repeatable).")


class SimulateFlags(Flags):
    """The flags of ``simulate`` alone."""

    drain: Annotated[list[str] | None, _step("--drain", "NODE", "Drain a node as kubectl does")] = None
    remove: Annotated[list[str] | None, _step("--remove", "NODE", "Drain a node and take it away")] = None
    lose: Annotated[list[str] | None, _step("--lose", "NODE|KEY=VALUE", "Let nodes stop answering, such as a zone")] = (
        None
    )
    return_: Annotated[list[str] | None, _step("--return", "NODE|KEY=VALUE", "Let lost nodes answer again")] = None
    cordon: Annotated[list[str] | None, _step("--cordon", "NODE", "Cordon a node")] = None
    uncordon: Annotated[list[str] | None, _step("--uncordon", "NODE", "Uncordon a node")] = None
    add_node: Annotated[list[str] | None, _step("--add-node", "LIKE[=N]", "Add nodes like one there is")] = None
    scale: Annotated[list[str] | None, _step("--scale", "[NS/]TYPE/NAME=N", "Scale a workload")] = None
    restart: Annotated[list[str] | None, _step("--restart", "[NS/]TYPE/NAME", "Roll a workload out anew")] = None
    delete: Annotated[list[str] | None, _step("--delete", "[NS/]pod/NAME", "Delete a Pod")] = None
    apply: Annotated[list[str] | None, _step("--apply", "FILE", "Apply a manifest as kubectl does")] = None
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
