"""``kubectl spread show``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import clusters, inputs, output
from kubectl_spread.cli import flags as groups
from kubectl_spread.cli.flags import Defaults, Flags, Option, check_choice
from kubectl_spread.wording.words import did_you_mean, listed

if TYPE_CHECKING:
    from kubectl_spread.commands.scope import Named, Scope
    from kubectl_spread.commands.show import ShowAnswer, ShowOptions
    from kubectl_spread.commands.source import Source
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

WITH_HEADROOM = frozenset(("wide", "json", "yaml"))  # The formats that show headroom


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
    connection: groups.ClustersFlags,
) -> None:
    """Show how Pods are spread over the domains of their topology spread constraints."""
    from msgspec.structs import replace

    from kubectl_spread.commands import exit_codes
    from kubectl_spread.commands import show as command
    from kubectl_spread.commands.scope import parse_names
    from kubectl_spread.contract.skew import SkewReport
    from kubectl_spread.diagnosis.skew import Detail
    from kubectl_spread.render.cells import clean
    from kubectl_spread.render.outline.access import node_names

    if flags.watch:
        _watch(flags, scope, reading, printing, scheduler, connection)
        return
    named = parse_names(tuple(flags.resources or ()))
    whole_file = scheduler.from_ and not (named.names or scope.namespace or scope.all_namespaces)
    scope = groups.ScopeFlags(**vars(scope) | {"all_namespaces": scope.all_namespaces or bool(whole_file)})

    def text(report: SkewReport, *, wide: bool) -> str:
        every = (name for each in found.each.values() for name in each.view.snapshot.nodes)
        nodes = node_names(report) if wide else frozenset(every)
        lead = ""
        if whole_file and report.items and not printing.no_headers:
            namespaces = listed(sorted({item.namespace for item in report.items}))
            lead = f"All namespaces of {clean(report.metadata.source)}: {namespaces}. To show one, use -n.\n"
        return lead + _text(flags, printing, found.scope, report, nodes, wide=wide)

    def question(source: Source, asked: Scope, named: Named) -> ShowAnswer:
        detail = {"prom": Detail.NODES, "prom-by-node": Detail.NODES}.get(printing.output, Detail.REASONS)
        if printing.output == "table" and not _detailed(flags, asked):
            detail = Detail.BRIEF
        options = replace(_options(flags, reading, printing.output, named.names), detail=detail)
        ask = command.overview if detail is Detail.BRIEF else command.show
        return ask(source, asked, options, inputs.scheduler_of(scheduler))

    printed = output.printer(text, printing)
    found = clusters.ask((connection, scope, scheduler), flags.resources, question)
    report = found.report(SkewReport)
    report = replace(report, items=tuple(command.sort(report.items, flags.sort_by)))
    output.write(printed(report))
    for note in _notes(flags, found.scope, report, found.each):
        output.note(note)
    codes = (exit_codes.of_show(each.report, one_more=flags.next) for each in found.each.values())
    raise typer.Exit(found.exit_code(codes if flags.exit_code else ()))


def _watch(
    flags: ShowFlags,
    scope: groups.ScopeFlags,
    reading: groups.ReadFlags,
    printing: groups.ShowOutput,
    scheduler: groups.SchedulerFlags,
    connection: groups.ClustersFlags,
) -> None:
    from kubectl_spread.cli import watch
    from kubectl_spread.commands import show as command
    from kubectl_spread.render.outline.access import node_names

    watch.refuse(printing.output, exit_code=flags.exit_code, several=connection.all_contexts)

    def follow(named: Named) -> None:
        def text(report: SkewReport, *, wide: bool) -> str:
            return _text(flags, printing, asked, report, node_names(report), wide=wide)

        options, printed = _options(flags, reading, printing.output, named.names), output.printer(text, printing)
        source = inputs.source_of(connection, scope, scheduler)
        asked, rules = inputs.scope_of(scope, source, named), inputs.scheduler_of(scheduler)
        rows = None if _detailed(flags, asked) else partial(_changed, printing, asked)
        how = watch.Printing(
            format=printing.output,
            whole=printed,
            rows=rows,
            notes=lambda answer: _notes(flags, asked, answer.report, {"": answer}),
        )
        watch.print_each(command.follow(source, asked, options, rules, say=output.note), how)

    inputs.first_found(flags.resources, follow)


def _detailed(flags: ShowFlags, asked: Scope) -> bool:
    return flags.by_node or bool(asked.names)


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


def _text(
    flags: ShowFlags,
    printing: groups.ShowOutput,
    asked: Scope,
    report: SkewReport,
    nodes: Collection[str],
    *,
    wide: bool,
) -> str:
    from kubectl_spread.render.text.show import show_details, show_table

    screen = output.screen_for(printing, asked.namespace)
    if _detailed(flags, asked):
        return show_details(report, screen, wide=wide, by_node=flags.by_node)
    totals = not (asked.namespace or printing.no_headers)
    return show_table(report, screen, wide=wide, headers=not printing.no_headers, nodes=nodes, totals=totals)


def _notes(flags: ShowFlags, scope: Scope, report: SkewReport, answers: Mapping[str, ShowAnswer]) -> Iterator[str]:
    from kubectl_spread.commands.scope import namespaces_with_pods, nothing_found
    from kubectl_spread.commands.show import how_read

    read = [each.view.snapshot for each in answers.values()]
    if answers and not report.items:
        what = "problems" if flags.problems else "workloads with topology spread constraints"
        what += f" on {flags.topology_key}" if flags.topology_key else ""
        yield nothing_found(scope, what, sorted({name for each in read for name in namespaces_with_pods(each)}))
        labels = {key for each in read for node in each.nodes.values() for key in node.metadata.labels}
        if flags.topology_key not in labels and (near := did_you_mean(flags.topology_key, labels)):
            yield f"No node has the label {flags.topology_key}: {near}"
    for context, answer in answers.items():
        yield from (f"{context}: {note}" if context else note for note in how_read(answer))
