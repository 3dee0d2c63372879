"""``kubectl spread show``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import flags as groups
from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import Defaults, Flags, Option, check_choice
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.wording.words import did_you_mean

if TYPE_CHECKING:
    from kubectl_spread.commands.scope import Named, Scope
    from kubectl_spread.commands.show import ShowAnswer, ShowOptions
    from kubectl_spread.contract.skew import SkewReport

EPILOG = """
\b
Examples:
  kubectl spread show                      # the current namespace, most severe status first
  kubectl spread show -A --problems        # every constraint that is not OK
  kubectl spread show deployment/web       # one workload: its domains and nodes, and where the next Pod can go
  kubectl spread show --from dump/ -A      # read a cluster-info dump
  kubectl spread show -A --problems -w     # follow changes until Ctrl-C
  kubectl spread show -w -o json           # one report per line, after each change

\b
With --watch, a terminal shows the latest answer. A pipe gets the table, then each row that changes; a removed row has
the status Gone. -o json prints one report per line, -o yaml one document per report. --watch needs the RBAC verb watch.
"""

WITH_HEADROOM = frozenset(("wide", "json", "yaml"))
"""The formats that show headroom."""


class ShowFlags(Flags):
    """The flags of ``show`` alone."""

    resources: Annotated[list[str] | None, typer.Argument(metavar="[TYPE/NAME | NAME | TYPE [NAME...]]")] = None
    by_node: Annotated[bool, Option(help="Show the nodes of each domain.")] = False
    defaults: Defaults = False
    full: Annotated[bool, Option(help="Same as --read=all.")] = False
    problems: Annotated[bool, Option(help="Show only constraints that are not OK.")] = False
    next: Annotated[bool, Option(help="With --problems and --exit-code: problems of one more Pod too.")] = False
    topology_key: Annotated[str, Option(metavar="KEY", help="Show only constraints with this topologyKey.")] = ""
    sort_by: Annotated[str, Option(metavar="status|skew|name", help="Sort order.")] = "status"
    watch: Annotated[bool, Option("--watch", "-w", help="Print changes after the first answer, until Ctrl-C.")] = False
    exit_code: Annotated[bool, Option(help="Exit with 1 when a status is NoEffect or worse. See explain STATUS.")] = (
        False
    )


def show(
    flags: ShowFlags,
    scope: groups.ScopeFlags,
    reading: groups.ReadFlags,
    printing: groups.ShowOutput,
    scheduler: groups.SchedulerFlags,
    connection: groups.ConnectionFlags,
) -> None:
    """Show how Pods are spread over the domains of their topology spread constraints."""
    if flags.watch:
        from kubectl_spread.cli import watch

        watch.refuse(printing.output, exit_code=flags.exit_code)

    def ask(named: Named) -> None:
        from kubectl_spread.commands import exit_codes
        from kubectl_spread.commands import show as command
        from kubectl_spread.render.outline.access import node_names
        from kubectl_spread.render.text.show import show_details

        options = _options(flags, reading, printing.output, named.names)
        detailed = flags.by_node or bool(options.names)

        def whole(report: SkewReport, *, wide: bool) -> str:
            if not detailed:
                return _table(printing, asked, report, node_names(report), wide=wide)
            return show_details(report, output.screen_for(printing, asked.namespace), wide=wide, by_node=flags.by_node)

        printed = output.printer(whole, printing)
        source = inputs.source_of(connection, scope, scheduler)
        asked, rules = inputs.scope_of(scope, source, named), inputs.scheduler_of(scheduler)
        notes = partial(_notes, flags, asked)
        if flags.watch:
            rows = None if detailed else partial(_changed, printing, asked)
            how = watch.Printing(format=printing.output, whole=printed, rows=rows, notes=notes)
            watch.print_each(command.follow(source, asked, options, rules, say=output.note), how)
        if printing.output == "table" and not detailed:
            answer = command.overview(source, asked, options, rules)
            output.write(_table(printing, asked, answer.report, frozenset(answer.view.snapshot.nodes), wide=False))
        else:
            answer = command.show(source, asked, options, rules)
            output.write(printed(answer.report))
        for note in notes(answer):
            output.note(note)
        code = exit_codes.of_show(answer.report, one_more=flags.next)
        raise typer.Exit(code if flags.exit_code else ExitCode.ANSWERED)

    inputs.first_found(flags.resources, ask)


def _changed(printing: groups.ShowOutput, asked: Scope, previous: SkewReport, now: SkewReport) -> str:
    from kubectl_spread.render.text.show import changed_rows

    screen = output.screen_for(printing, asked.namespace)
    return changed_rows(previous, now, screen, wide=printing.output == "wide")


def _options(
    flags: ShowFlags, reading: groups.ReadFlags, output: str, names: tuple[tuple[str, str], ...]
) -> ShowOptions:
    from kubectl_spread.commands.show import ShowOptions

    options = ShowOptions(
        names=names,
        defaults=flags.defaults,
        read="all" if flags.full else inputs.read_mode_of(reading),
        problems=flags.problems,
        one_more=flags.next,
        topology_key=flags.topology_key,
        sort_by=flags.sort_by,
        headroom=output in WITH_HEADROOM,
    )
    check_choice("--sort-by", flags.sort_by, ("status", "skew", "name"))
    return options


def _table(printing: groups.ShowOutput, asked: Scope, report: SkewReport, nodes: Collection[str], *, wide: bool) -> str:
    from kubectl_spread.render.text.show import show_table

    screen = output.screen_for(printing, asked.namespace)
    totals = not (asked.namespace or printing.no_headers)
    return show_table(report, screen, wide=wide, headers=not printing.no_headers, nodes=nodes, totals=totals)


def _notes(flags: ShowFlags, scope: Scope, answer: ShowAnswer) -> Iterator[str]:
    from kubectl_spread.commands.scope import namespaces_with_pods, nothing_found
    from kubectl_spread.commands.show import how_read

    if not answer.report.items:
        what = "problems" if flags.problems else "workloads with topology spread constraints"
        what += f" on {flags.topology_key}" if flags.topology_key else ""
        snapshot = answer.view.snapshot
        yield nothing_found(scope, what, namespaces_with_pods(snapshot))
        labels = {key for node in snapshot.nodes.values() for key in node.metadata.labels}
        if flags.topology_key not in labels and (near := did_you_mean(flags.topology_key, labels)):
            yield f"No node has the label {flags.topology_key}: {near}"
    yield from how_read(answer)
