"""``kubectl spread rebalance``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ConnectionFlags, Flags, Option, RebalanceOutput, SchedulerFlags, ScopeFlags

if TYPE_CHECKING:
    from kubectl_spread.contract.rebalance import RebalanceReport

EPILOG = """
\b
Examples:
  kubectl spread rebalance                       # the current namespace
  kubectl spread rebalance deployment/web        # evict Pods of this workload alone
  kubectl spread rebalance -A --max 5            # at most five evictions
  kubectl spread rebalance --soft                # ScheduleAnyway constraints, too
  kubectl spread rebalance --from dump/ -A       # a file instead of a cluster
  kubectl spread rebalance -o 'jsonpath={range .evictions[*]}{.command}{"\\n"}{end}'

\b
Nothing is evicted: the commands are printed, and go through the Eviction API, so that disruption budgets hold when you
run them. Run them in order, each once the Pod in place of the one before has a node; before a new wave let the
evicted be gone and all be ready. Exit codes: 0 all is balanced, 1 there is a plan or no way to one, 3 not everything
could be read.
"""


class RebalanceFlags(Flags):
    """The flags of ``rebalance`` alone."""

    resources: Annotated[list[str] | None, typer.Argument(metavar="[TYPE/NAME | TYPE [NAME...]]")] = None
    soft: Annotated[bool, Option("--soft", help="Let ScheduleAnyway constraints hold, too.")] = False
    max: Annotated[int | None, Option("--max", metavar="N", min=0, help="Evict at most so many Pods.")] = None


def rebalance(
    flags: RebalanceFlags,
    scope: ScopeFlags,
    printing: RebalanceOutput,
    scheduler: SchedulerFlags,
    connection: ConnectionFlags,
) -> None:
    """Tell the fewest evictions, each proved to land, after which topology spread constraints hold again."""
    from kubectl_spread.commands import rebalance as command
    from kubectl_spread.commands.arguments import parse_names
    from kubectl_spread.render.outline import Extent
    from kubectl_spread.render.outline.rebalance import rebalanced_outline
    from kubectl_spread.render.text import outline_text

    def text(report: RebalanceReport, *, wide: bool) -> str:
        screen = output.screen_for(printing, asked.namespace)
        return outline_text(rebalanced_outline(report, Extent(wide=wide)), screen)

    printed = output.printer(text, printing)
    kind, names = parse_names(tuple(flags.resources or ()))
    source = inputs.source_of(connection, scope, scheduler)
    asked = inputs.scope_of(scope, source, names=tuple(name for _, name in names))
    options = command.RebalanceOptions(kind=kind, names=names, soft=flags.soft, most=flags.max)
    report = command.rebalance(source, asked, options, inputs.scheduler_of(scheduler))
    output.write(printed(report))
    raise typer.Exit(command.exit_code(report))
