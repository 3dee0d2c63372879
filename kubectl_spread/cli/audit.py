"""``kubectl spread audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import clusters, inputs, output
from kubectl_spread.cli import flags as groups
from kubectl_spread.cli.flags import Flags, Option, check_choice

if TYPE_CHECKING:
    from kubectl_spread.commands.scope import Named, Scope
    from kubectl_spread.commands.source import Source

EPILOG = """
\b
Examples:
  kubectl spread audit -A                      # every workload, the worst first
  kubectl spread audit deployment/web          # one workload: each topology key
  kubectl spread audit -n shop --suggest       # constraints that lower the loss, verified by simulation
  kubectl spread audit -A --fail-on Majority   # exit 1 if one domain has most Pods of a workload
  kubectl spread audit --key example.com/rack  # another topology key
  kubectl spread audit --from dump/ -A         # read a cluster-info dump
"""


class AuditFlags(Flags):
    """The flags of ``audit`` alone."""

    resources: Annotated[list[str] | None, typer.Argument(metavar="[TYPE/NAME | NAME | TYPE [NAME...]]")] = None
    key: Annotated[
        list[str] | None,
        Option(
            metavar="KEY", help="Audit these topology keys instead of zone, hostname and those in use (repeatable)."
        ),
    ] = None
    all_: Annotated[bool, Option("--all", help="Include workloads with one Pod.")] = False
    suggest: Annotated[
        bool, Option(help="Suggest constraints, verified by simulation, as is done for named workloads.")
    ] = False
    fail_on: Annotated[str, Option(metavar="RISK", help="Exit with 1 when a risk is this one or worse.")] = ""


def audit(
    flags: AuditFlags,
    scope: groups.ScopeFlags,
    printing: groups.AuditOutput,
    scheduler: groups.SchedulerFlags,
    connection: groups.ClustersFlags,
) -> None:
    """Report what an outage of one zone or node would take of each workload, and whether that can be helped."""
    from msgspec.structs import replace

    from kubectl_spread.commands import audit as command
    from kubectl_spread.commands import exit_codes
    from kubectl_spread.contract.audit import AuditReport
    from kubectl_spread.diagnosis.audit import RISKS, Risk
    from kubectl_spread.render.text.audit import audit_text

    def text(report: AuditReport, *, wide: bool) -> str:
        screen = output.screen_for(printing, found.scope.namespace)
        detailed = flags.suggest or bool(found.scope.names)
        return audit_text(report, screen, detailed=detailed, wide=wide, headers=not printing.no_headers)

    def question(source: Source, asked: Scope, named: Named) -> command.AuditAnswer:
        options = command.AuditOptions(
            names=named.names,
            keys=tuple(flags.key or ()),
            every=flags.all_,
            after_loss=printing.output == "wide",
            suggest=flags.suggest,
        )
        return command.audit(source, asked, options, inputs.scheduler_of(scheduler))

    if flags.fail_on:
        check_choice("--fail-on", flags.fail_on, RISKS)
    printed = output.printer(text, printing)
    found = clusters.ask((connection, scope, scheduler), flags.resources, question)
    report = found.report(AuditReport)
    report = replace(report, items=command.worst_first(report.items))
    if found.each and not (report.items or report.left_out):
        output.note(found.nothing_found("workloads to audit"))
    output.write(printed(report))
    fails = Risk(flags.fail_on) if flags.fail_on else None
    codes = (exit_codes.of_audit(each.report, fails) for each in found.each.values() if fails)
    raise typer.Exit(found.exit_code(codes))
