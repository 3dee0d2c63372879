"""``kubectl spread why-pending``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import clusters, inputs, output
from kubectl_spread.cli import flags as groups
from kubectl_spread.cli.flags import AllFixes, FixBudget, Flags, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_spread.commands.scope import Named, Scope
    from kubectl_spread.commands.source import Source
    from kubectl_spread.commands.why_pending import PendingAnswer
    from kubectl_spread.contract.pending import PendingReport

EPILOG = """
\b
Examples:
  kubectl spread why-pending                         # every Pending Pod of the current namespace
  kubectl spread why-pending web-5d9c7b6f4-x2x5q     # one Pod; a unique prefix is enough
  kubectl spread why-pending deployment/web          # the Pods of a workload; its name alone is enough
  kubectl spread why-pending -A -o json              # all Pending Pods, as JSON
  kubectl spread why-pending --from snapshot.yaml    # read a snapshot
  kubectl spread why-pending -A --watch              # follow changes until Ctrl-C
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
    watch: Annotated[bool, Option("--watch", "-w", help="Print changes after the first answer, until Ctrl-C.")] = False


def why_pending(
    flags: WhyPendingFlags,
    scope: groups.ScopeFlags,
    reading: groups.ReadFlags,
    printing: groups.PendingOutput,
    scheduler: groups.SchedulerFlags,
    autoscaler: groups.AutoscalerFlags,
    connection: groups.ClustersFlags,
) -> None:
    """Explain why Pods are Pending, and which changes help."""
    from kubectl_spread.commands import exit_codes
    from kubectl_spread.commands import why_pending as command
    from kubectl_spread.contract.pending import PendingReport
    from kubectl_spread.render.outline import Extent
    from kubectl_spread.render.outline.pending import pending_outline
    from kubectl_spread.render.text import text_on

    fix_format = inputs.fix_format_of(flags.fix_format)

    def text(report: PendingReport, *, wide: bool) -> str:
        screen = output.screen_for(printing)
        brief = not (wide or flags.all_fixes)
        extent = Extent(wide=wide, evidence=wide, brief=brief, every_fix=flags.all_fixes, fix_format=fix_format)
        return text_on(screen, partial(pending_outline, report), extent)

    printed = output.printer(text, printing)
    read = "watched" if flags.watch else inputs.read_mode_of(reading)
    autoscalers = inputs.autoscalers_of(autoscaler)
    explain = partial(command.why_pending, autoscalers=autoscalers, fix_budget=flags.fix_budget, read=read)
    if flags.watch:
        _watch(flags.pods, explain, (connection, scope, scheduler), printing, printed)
        return

    def question(source: Source, asked: Scope, _: Named) -> PendingAnswer:
        return explain(source, asked, inputs.scheduler_of(scheduler), say=say)

    with output.progress(wanted=connection.verbosity <= 0) as say:
        found = clusters.ask((connection, scope, scheduler), flags.pods, question)
    report = found.report(PendingReport)
    noted = False
    for context, answer in found.each.items():
        noted = noted or bool(answer.notes)
        for line in _notes(printing, answer):
            output.note(f"{context}: {line}" if context else line)
    if found.each and not (report.items or report.not_created or report.starting or noted):
        output.note(found.nothing_found("pending Pods"))
    output.write(printed(report))
    raise typer.Exit(found.exit_code(exit_codes.of_why_pending(each.report) for each in found.each.values()))


def _watch(
    pods: Sequence[str] | None,
    explain: Callable[..., PendingAnswer],
    cluster: clusters.CommandFlags,
    printing: groups.PendingOutput,
    printed: Callable[[PendingReport], str],
) -> None:
    from kubectl_spread.cli import watch
    from kubectl_spread.commands import why_pending as command

    connection, scope, scheduler = cluster
    watch.refuse(printing.output, several=connection.all_contexts)

    def follow(named: Named) -> None:
        source = inputs.source_of(connection, scope, scheduler)
        again = partial(explain, scope=inputs.scope_of(scope, source, named), scheduler=inputs.scheduler_of(scheduler))
        how = watch.Printing(format=printing.output, whole=printed, rows=None, notes=partial(_notes, printing))
        watch.print_each(command.follow(source, again, say=output.note), how)

    inputs.first_found(pods, follow)


def _notes(printing: groups.PendingOutput, answer: PendingAnswer) -> Sequence[str]:
    in_text = printing.output in {groups.OutputFlags.output, "wide"}
    return (*answer.notes, *(answer.starting if in_text else ()))
