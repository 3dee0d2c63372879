"""Turns flags into what commands take: a source, a scope, the scheduler's rules."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from kubectl_spread.cli.flags import AutoscalerFlags, ConnectionFlags, LogFlags, ReadFlags, SchedulerFlags, ScopeFlags
from kubectl_spread.cli.output import note
from kubectl_spread.errors import ClusterError, SpreadError, UsageError

if TYPE_CHECKING:
    from kubectl_spread.cluster.access.options import ConnectionOptions
    from kubectl_spread.cluster.log import Log
    from kubectl_spread.commands.autoscaling import AutoscalerOptions
    from kubectl_spread.commands.scope import Named, Scope
    from kubectl_spread.commands.source import ReadMode, Source
    from kubectl_spread.commands.view import SchedulerOptions
    from kubectl_spread.render.outline import FixFormat

T = TypeVar("T")

NOT_FOUND = 404  # HTTP's status for a missing object


def source_of(
    connection: ConnectionFlags, scope: ScopeFlags, scheduler: SchedulerFlags, *, alone: bool = True
) -> Source:
    """Return where the cluster is read from; a kubeconfig is only read without ``--from``.

    ``alone``: whether no other cluster is read meanwhile, so that its progress can be shown.

    Raises:
        ClusterError: no cluster is configured, or its credentials cannot be used.
        UsageError: a flag has a malformed value, or names several contexts.
    """
    from kubectl_spread.commands.source import ClusterSource, FileSource

    if len(contexts := contexts_of(connection)) > 1:
        hint = "only show, why-pending and audit read several clusters, and none of files"
        raise UsageError(f"several contexts cannot be used here: {', '.join(contexts)}", hint=hint)
    options = connection_options(vars(connection) | {"namespace": scope.namespace, "context": contexts})
    if scheduler.from_:
        from kubectl_spread.cluster.access.options import connection_flags

        flags = tuple(connection_flags(options))
        return FileSource(scheduler.from_, stdin=standard_input(), log=log_of(connection), flags=flags)
    from kubectl_spread.cluster.access.client_config import connect
    from kubectl_spread.cluster.log import Progress

    # Log lines would break a progress line.
    shown = alone and not connection.verbosity and sys.stderr is not None
    progress = Progress(sys.stderr) if shown else None
    return ClusterSource(connect(options, log_of(connection)), progress=progress)


def contexts_of(connection: ConnectionFlags) -> tuple[str, ...]:
    """Return the given contexts, each once; a comma separates two unless a context is called so."""
    given = tuple(connection.context or ())
    if any("," in word for word in given):
        from kubectl_spread.cluster.access.kubeconfig import load

        known = load(connection.kubeconfig).contexts
        given = tuple(each for word in given for each in ([word] if word in known else word.split(",")))
    return tuple(dict.fromkeys(filter(None, given)))


def connection_options(given: Mapping[str, Any]) -> ConnectionOptions:
    """Return the connection flags among the given flags (name → value); of several contexts the last."""
    from kubectl_spread.cluster.access.options import ConnectionOptions

    known = ((name, given[name]) for name in ConnectionOptions.__struct_fields__ if given.get(name) is not None)
    options: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in known}
    return ConnectionOptions(**options | {"context": "".join(options.get("context", ())[-1:])})


def log_of(flags: LogFlags) -> Log:
    """Return the log on standard error; it is silent at level 0."""
    from kubectl_spread.cluster.log import SILENT, Log

    if flags.verbosity <= 0:
        return SILENT
    log = Log(note)
    atexit.register(log.close)
    return log


def standard_input() -> BinaryIO | None:
    """Return standard input as bytes; None where it is closed."""
    return None if sys.stdin is None else sys.stdin.buffer


def scope_of(flags: ScopeFlags, source: Source, named: Named | None = None) -> Scope:
    """Return what the command is about; UsageError for a bad selector, or names that contradict ``-A`` or ``-n``."""
    from kubectl_spread.commands.scope import Scope
    from kubectl_spread.labels import parse_selector

    kinds, names, own = (named.kinds, named.words, named.namespace) if named else ((), (), "")
    if names and flags.all_namespaces and not own:
        raise UsageError("a resource cannot be retrieved by name across all namespaces", hint="use -n with a name")
    if own and flags.namespace not in {"", own}:
        raise UsageError(
            f"the name is in namespace {own!r}, but --namespace is {flags.namespace!r}", hint="use one namespace"
        )
    namespace = own or ("" if flags.all_namespaces else flags.namespace or source.namespace)
    return Scope(namespace=namespace, selector=parse_selector(flags.selector), kinds=kinds, names=names)


def first_found(arguments: Sequence[str] | None, ask: Callable[[Named], T]) -> T:
    """Return the answer about the named objects: of ``X/NAME`` in the namespace X, or with X as a TYPE if not found."""
    from kubectl_spread.commands.scope import parse_names

    named = parse_names(tuple(arguments or ()))
    try:
        return ask(named)
    except ClusterError as error:
        if named.otherwise is None or error.status != NOT_FOUND:
            raise
        try:
            return ask(named.otherwise)
        except SpreadError:
            raise error from None


def scheduler_of(flags: SchedulerFlags) -> SchedulerOptions:
    """Return whose rules apply; UsageError if a feature gate is malformed."""
    from kubectl_spread.commands.view import SchedulerOptions

    gates = _parse_gates(flags.feature_gates)
    return SchedulerOptions(kube_version=flags.kube_version, configuration=flags.scheduler_config, feature_gates=gates)


def autoscalers_of(flags: AutoscalerFlags) -> AutoscalerOptions:
    """Return the flags about autoscalers."""
    from kubectl_spread.commands.autoscaling import AutoscalerOptions

    return AutoscalerOptions(instance_types=flags.instance_types, karpenter_version=flags.karpenter_version)


def _parse_gates(text: str) -> dict[str, bool]:
    """Return the feature gates of ``A=true,B=false``.

    Source: component-base featuregate/feature_gate.go Set (v1.36).
    """
    gates = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if not name.strip() or value.strip().lower() not in {"true", "false"}:
            raise UsageError(f"invalid feature gate {part!r}", hint="want Name=true or Name=false, separated by commas")
        gates[name.strip()] = value.strip().lower() == "true"
    return gates


def read_mode_of(flags: ReadFlags) -> ReadMode:
    """Return how much of a large cluster is read; UsageError if ``--read`` has another value."""
    match flags.read:
        case "auto" | "all" | "needed" as mode:
            return mode
        case _:
            raise UsageError(f"invalid --read {flags.read!r}", hint="want auto, all or needed")


def fix_format_of(text: str) -> FixFormat:
    """Return the format of fixes, UsageError for no such format.

    Empty for YAML where GitOps manages the workload, else commands.
    """
    match text:
        case "" | "yaml" | "commands":
            return text
        case _:
            raise UsageError(f"invalid --fix-format {text!r}", hint="want yaml or commands")
