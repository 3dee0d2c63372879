"""``kubectl spread check``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import flags as groups
from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import AllFixes, FixBudget, Flags, Option, check_choice
from kubectl_spread.errors import UsageError

if TYPE_CHECKING:
    from kubectl_spread.commands.applying import Applying
    from kubectl_spread.commands.manifest_answers import Create
    from kubectl_spread.commands.source import Source
    from kubectl_spread.contract.check import CheckReport

EPILOG = """
\b
Examples:
  kubectl spread check -f pod.yaml                       # can it be scheduled, and on which node?
  kubectl spread check -f web.yaml --replicas 12         # where twelve replicas are scheduled
  helm template . | kubectl spread check -f -            # a rendered chart
  kubectl spread check -k overlays/production            # the output of kustomize
  kubectl spread check -f web.yaml --from snapshot.yaml  # against a snapshot
"""


class CheckFlags(Flags):
    """The flags of ``check`` alone."""

    filenames: Annotated[
        list[str] | None,
        Option("--filename", "-f", metavar="FILE", help="File, directory, URL, or - for standard input (repeatable)."),
    ] = None
    kustomize: Annotated[
        str, Option("--kustomize", "-k", metavar="PATH", help="Directory to build with kubectl kustomize.")
    ] = ""
    recursive: Annotated[bool, Option("--recursive", "-R", help="Read subdirectories too.")] = False
    dry_run: Annotated[
        str,
        Option(
            metavar="none|server",
            help="With server, the API server validates all fields, by a dry run, and check judges its result. Without"
            " it, check refuses unknown fields, and validates those that decide where Pods go.",
        ),
    ] = "none"
    server_side: Annotated[
        bool, Option(help="Merge as kubectl apply --server-side does, by a dry run on the server.")
    ] = False
    force_conflicts: Annotated[bool, Option(help="With --server-side, take over fields that others manage.")] = False
    fail_on: Annotated[str, Option(metavar="error|warning", help="With warning, exit with 1 for warnings too.")] = (
        "error"
    )
    all_fixes: AllFixes = False
    fix_budget: FixBudget = None
    assume_autoscaling: Annotated[
        bool, Option(help="Exit with 0 if new nodes would help and nothing that was read forbids them.")
    ] = False
    replicas: Annotated[
        int | None,
        Option(
            metavar="N", min=1, max=150_000, help="Number of replicas to place. The default is that of the manifest."
        ),
    ] = None


def _filenames(flags: CheckFlags) -> tuple[str, ...]:
    """Return the files of ``-f``, which may be lists separated by commas; errors are in kubectl's words.

    Source: cli-runtime pkg/genericclioptions/resource/builder.go FilenameOptions (v1.36).
    """
    filenames = tuple(name for names in flags.filenames or () for name in names.split(","))
    if filenames and flags.kustomize:
        raise UsageError("only one of -f or -k can be specified")
    if flags.kustomize and flags.recursive:
        raise UsageError("the -k flag can't be used with -f or -R")
    if not (filenames or flags.kustomize):
        raise UsageError("must specify one of -f and -k")
    return filenames


def _dry_runs(flags: CheckFlags, source: Source) -> tuple[Create | None, Applying]:
    """Return what sends dry runs of creates (None for no dry run), and how manifests are applied to live objects."""
    from kubectl_spread.commands.applying import Applying
    from kubectl_spread.commands.source import ClusterSource

    check_choice("--dry-run", flags.dry_run, ("none", "server"))
    asks = flags.dry_run == "server"
    if asks and not isinstance(source, ClusterSource):
        raise UsageError("--dry-run=server asks an API server", hint="leave out --from")
    if flags.force_conflicts and not flags.server_side:
        raise UsageError("--force-conflicts only works with --server-side")
    if not isinstance(source, ClusterSource) or not (asks or flags.server_side):
        return None, Applying(None, flags.server_side, flags.force_conflicts)
    from kubectl_spread.cluster.api.dry_run import create, patch, stored

    patched, read = partial(patch, source.connection), partial(stored, source.connection)
    how = Applying(patched, flags.server_side, flags.force_conflicts, read)
    return partial(create, source.connection) if asks else None, how


def check(
    flags: CheckFlags,
    scope: groups.ScopeFlags,
    reading: groups.ReadFlags,
    printing: groups.CheckOutput,
    scheduler: groups.SchedulerFlags,
    autoscaler: groups.AutoscalerFlags,
    connection: groups.ConnectionFlags,
) -> None:
    """Check whether the Pods of manifests can be scheduled, on which nodes, and how they are spread."""
    from kubectl_spread.commands import check as command
    from kubectl_spread.commands import exit_codes
    from kubectl_spread.labels import parse_selector
    from kubectl_spread.render.outline import Extent
    from kubectl_spread.render.outline.check import check_outline
    from kubectl_spread.render.text import outline_text

    filenames = _filenames(flags)
    check_choice("--fail-on", flags.fail_on, ("error", "warning"))

    def text(report: CheckReport, *, wide: bool) -> str:
        screen = output.screen_for(printing)
        return outline_text(check_outline(report, Extent(wide=wide, evidence=wide, every_fix=flags.all_fixes)), screen)

    printed = output.printer(text, printing)
    read = inputs.read_mode_of(reading)
    source, rules = inputs.source_of(connection, scope, scheduler), inputs.scheduler_of(scheduler)
    options = command.CheckOptions(
        filenames=filenames,
        recursive=flags.recursive,
        kustomize=flags.kustomize,
        namespace=scope.namespace or source.namespace,
        enforce_namespace=bool(scope.namespace),
        replicas=flags.replicas,
        fix_budget=flags.fix_budget,
        autoscalers=inputs.autoscalers_of(autoscaler),
        read=read,
        selector=parse_selector(scope.selector),
    )
    create, how = _dry_runs(flags, source)
    answer = command.check(source, options, rules, stdin=inputs.standard_input(), create=create, how=how)
    report = answer.report
    for line in answer.notes:
        output.note(line)
    assumed = flags.assume_autoscaling and any(map(exit_codes.may_get_a_node, report.items))
    if assumed:
        output.note(
            "Autoscaling is assumed: a Pod counts as placed if nothing that was read forbids a new node for it."
        )
    output.write(printed(report))
    raise typer.Exit(exit_codes.of_check(report, warnings=flags.fail_on == "warning", autoscaling=assumed))
