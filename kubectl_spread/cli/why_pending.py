"""``kubectl spread why-pending``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import flags as groups
from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import AllFixes, FixBudget, Flags, Option

if TYPE_CHECKING:
    from kubectl_spread.commands.scope import Named
    from kubectl_spread.contract.pending import PendingReport

EPILOG = """
\b
Examples:
  kubectl spread why-pending                         # every Pending Pod of the current namespace
  kubectl spread why-pending web-5d9c7b6f4-x2x5q     # one Pod; a unique prefix is enough
  kubectl spread why-pending deployment/web          # the Pods of a workload; its name alone is enough
  kubectl spread why-pending -A -o json              # all Pending Pods, as JSON
  kubectl spread why-pending --from snapshot.yaml    # read a snapshot
"""


class WhyPendingFlags(Flags):
    """The flags of ``why-pending`` alone."""

    pods: Annotated[list[str] | None, typer.Argument(metavar="[POD | TYPE/NAME | TYPE [NAME...]]")] = None
    all_fixes: AllFixes = False
    fix_format: Annotated[
        str,
        Option(
            metavar="yaml|commands",
            help="Format of fixes. The default is YAML for workloads that GitOps tools manage, and commands otherwise.",
        ),
    ] = ""
    fix_budget: FixBudget = None


def why_pending(
    flags: WhyPendingFlags,
    scope: groups.ScopeFlags,
    reading: groups.ReadFlags,
    printing: groups.PendingOutput,
    scheduler: groups.SchedulerFlags,
    autoscaler: groups.AutoscalerFlags,
    connection: groups.ConnectionFlags,
) -> None:
    """Explain why Pods are Pending, and which changes help."""

    def ask(named: Named) -> None:
        from kubectl_spread.commands import exit_codes
        from kubectl_spread.commands import why_pending as command
        from kubectl_spread.commands.scope import namespaces_with_pods, nothing_found
        from kubectl_spread.render.outline import Extent
        from kubectl_spread.render.outline.pending import pending_outline
        from kubectl_spread.render.text import text_on

        def text(report: PendingReport, *, wide: bool) -> str:
            screen = output.screen_for(printing)
            brief = not (wide or flags.all_fixes)
            extent = Extent(wide=wide, evidence=wide, brief=brief, every_fix=flags.all_fixes, fix_format=fix_format)
            return text_on(screen, partial(pending_outline, report), extent)

        fix_format = inputs.fix_format_of(flags.fix_format)
        printed = output.printer(text, printing)
        read = inputs.read_mode_of(reading)
        source = inputs.source_of(connection, scope, scheduler)
        asked = inputs.scope_of(scope, source, named)
        rules = inputs.scheduler_of(scheduler)
        answer = command.why_pending(
            source, asked, rules, autoscalers=inputs.autoscalers_of(autoscaler), fix_budget=flags.fix_budget, read=read
        )
        report = answer.report
        in_text = printing.output in {groups.OutputFlags.output, "wide"}
        for line in (*answer.notes, *(answer.starting if in_text else ())):
            output.note(line)
        if not (report.items or report.not_created or answer.starting or answer.notes):
            output.note(nothing_found(asked, "pending Pods", namespaces_with_pods(answer.view.snapshot)))
        output.write(printed(report))
        raise typer.Exit(exit_codes.of_why_pending(report))

    inputs.first_found(flags.pods, ask)
