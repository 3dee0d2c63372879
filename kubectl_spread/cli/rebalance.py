"""``kubectl spread rebalance``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import flags as groups
from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import Flags, Option
from kubectl_spread.errors import UsageError

if TYPE_CHECKING:
    from kubectl_spread.commands.scope import Named
    from kubectl_spread.contract.rebalance import RebalanceReport

EPILOG = """
\b
Examples:
  kubectl spread rebalance                       # the current namespace
  kubectl spread rebalance deployment/web        # evict Pods of this workload only
  kubectl spread rebalance -A --max 5            # at most five evictions
  kubectl spread rebalance --soft                # include ScheduleAnyway constraints
  kubectl spread rebalance --script > plan.sh    # evict, wait, and stop if the cluster differs from the plan
  kubectl spread rebalance --from dump/ -A       # read a cluster-info dump
  kubectl spread rebalance -o 'jsonpath={range .evictions[*]}{.command}{"\\n"}{end}'

\b
It evicts no Pod. --script prints a script that does: it uses the Eviction API, which respects disruption budgets, waits
until replacements are Ready, and stops before an eviction if nodes or Pods differ from the plan. -o wide prints the
evictions as commands: run them in order, and after each wait until the replacement is Ready, unless some are made
together. Before a new wave (column WAVE), also wait until evicted Pods are gone. The exit code is 0 if no eviction is
needed, 1 if there is a plan or no eviction can lower the skew, and 3 if the answer is not known.
"""


class RebalanceFlags(Flags):
    """The flags of ``rebalance`` alone."""

    resources: Annotated[list[str] | None, typer.Argument(metavar="[TYPE/NAME | NAME | TYPE [NAME...]]")] = None
    soft: Annotated[bool, Option(help="Include ScheduleAnyway constraints.")] = False
    script: Annotated[
        bool, Option(help="Print the plan as a shell script, which stops if the cluster differs from it.")
    ] = False
    max: Annotated[int | None, Option(metavar="N", min=0, help="Maximum number of evictions.")] = None


def rebalance(
    flags: RebalanceFlags,
    scope: groups.ScopeFlags,
    printing: groups.RebalanceOutput,
    scheduler: groups.SchedulerFlags,
    connection: groups.ConnectionFlags,
) -> None:
    """Plan the fewest evictions that restore the spread."""

    def ask(named: Named) -> None:
        from msgspec.structs import replace

        from kubectl_spread.commands import exit_codes
        from kubectl_spread.commands import rebalance as command
        from kubectl_spread.render.outline import Extent
        from kubectl_spread.render.outline.rebalance import rebalance_outline
        from kubectl_spread.render.script import script_text
        from kubectl_spread.render.text import outline_text

        def text(report: RebalanceReport, *, wide: bool) -> str:
            return outline_text(
                rebalance_outline(report, Extent(wide=wide)), output.screen_for(printing, asked.namespace)
            )

        if flags.script and printing.output != groups.OutputFlags.output:
            raise UsageError("--script and --output cannot be used together")
        printed = output.printer(text, printing)
        source = inputs.source_of(connection, scope, scheduler)
        asked = inputs.scope_of(scope, source, named)
        options = command.RebalanceOptions(names=named.names, soft=flags.soft, most=flags.max)
        found = command.rebalance(source, asked, options, inputs.scheduler_of(scheduler))
        plan = replace(found.report, script=_script(flags, scope, scheduler, asked.namespace, found.report))
        output.write(script_text(plan, found.checkpoints) if flags.script else printed(plan))
        raise typer.Exit(exit_codes.of_rebalance(plan))

    inputs.first_found(flags.resources, ask)


def _script(
    flags: RebalanceFlags,
    scope: groups.ScopeFlags,
    scheduler: groups.SchedulerFlags,
    namespace: str,
    report: RebalanceReport,
) -> str:
    """Return the command that prints the script; empty without a plan, and where it could not ask the same again.

    Standard input can be read once, and a script names Pods by their UIDs.
    """
    from kubectl_spread.diagnosis.fixes.shell import kubectl

    if "-" in (scheduler.from_ or ()) or not (report.evictions and all(each.uid for each in report.evictions)):
        return ""
    valued = {
        "-n": namespace,
        "-l": scope.selector,
        "--max": "" if flags.max is None else str(flags.max),
        "--scheduler-config": scheduler.scheduler_config,
        "--feature-gates": scheduler.feature_gates,
        "--kube-version": scheduler.kube_version,
    }
    options = ["-A"] * (not namespace) + ["--soft"] * flags.soft
    options += [word for path in scheduler.from_ or () for word in ("--from", path)]
    options += [word for name, value in valued.items() if value for word in (name, value)]
    return kubectl(
        "spread rebalance", *(flags.resources or ()), flags=(*options, *report.metadata.connection_flags, "--script")
    )
