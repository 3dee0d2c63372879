"""Asks one cluster, or several side by side: those of ``--context A,B`` or ``--all-contexts``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from kubectl_spread.cli import inputs, output
from kubectl_spread.cli.flags import ClustersFlags, SchedulerFlags, ScopeFlags
from kubectl_spread.errors import SpreadError, UsageError
from kubectl_spread.exit_code import ExitCode

if TYPE_CHECKING:
    from kubectl_spread.cluster.access.options import ConnectionOptions
    from kubectl_spread.commands.clusters import ReportT
    from kubectl_spread.commands.scope import Named, Scope
    from kubectl_spread.commands.source import Source
    from kubectl_spread.commands.view import View

# The flags that say which clusters are read, and as what.
CommandFlags = tuple[ClustersFlags, ScopeFlags, SchedulerFlags]


class Answer(Protocol):
    """The answer of a command about one cluster."""

    @property
    def report(self) -> Any:  # noqa: ANN401 - the report of any command
        """The report."""

    @property
    def view(self) -> View:
        """The cluster."""


AnswerT = TypeVar("AnswerT", bound=Answer)


@dataclass(frozen=True, slots=True)
class Answers(Generic[AnswerT]):
    """What the clusters answered."""

    scope: Scope  # what is asked for; of several clusters only what the command line says
    each: Mapping[str, AnswerT]  # context → answer; of one cluster the only answer
    # context → error, of the clusters that gave no answer
    failed: Mapping[str, SpreadError] = field(default_factory=dict)
    options: ConnectionOptions | None = None  # with which several clusters are reached; None for one cluster

    def report(self, kind: type[ReportT]) -> ReportT:
        """Return the report; of several clusters, one in which each item names its own."""
        reports: Mapping[str, ReportT] = {context: answer.report for context, answer in self.each.items()}
        if self.options is None:
            return reports[""]
        from kubectl_spread.commands.clusters import together

        return together(kind, reports, self.failed, self.options)

    def nothing_found(self, what: str) -> str:
        """Return the note for an empty answer."""
        from kubectl_spread.commands.scope import namespaces_with_pods, nothing_found

        elsewhere = {name for each in self.each.values() for name in namespaces_with_pods(each.view.snapshot)}
        return nothing_found(self.scope, what, sorted(elsewhere))

    def exit_code(self, codes: Iterable[ExitCode]) -> ExitCode:
        """Return the exit code, given those of the answers: a cluster without an answer leaves it undetermined."""
        every = {*codes, *([ExitCode.UNDETERMINED] if self.failed else [])}
        return ExitCode.of_items(no=ExitCode.NO in every, incomplete=ExitCode.UNDETERMINED in every)


def ask(
    flags: CommandFlags, resources: Sequence[str] | None, question: Callable[[Source, Scope, Named], AnswerT]
) -> Answers[AnswerT]:
    """Return the answers about the named objects; the error of a cluster is printed where it is one of several.

    Raises:
        SpreadError: the only cluster fails, or all fail because the command line is wrong.
    """
    connection, scope, _ = flags
    contexts = _several(*flags)
    if not contexts:
        return inputs.first_found(resources, partial(_ask_one, flags, question))
    from kubectl_spread.commands.clusters import side_by_side
    from kubectl_spread.commands.scope import Scope, parse_names

    def ask_context(context: str) -> AnswerT:
        own = ClustersFlags(**{**vars(connection), "context": [context], "all_contexts": False})
        return inputs.first_found(resources, partial(_ask_one, (own, *flags[1:]), question, alone=False)).each[""]

    found = side_by_side(contexts, ask_context)
    failed = {context: answer for context, answer in found.items() if isinstance(answer, SpreadError)}
    wrong = [error for error in failed.values() if isinstance(error, UsageError)]
    if len(wrong) == len(found):
        raise wrong[0]
    for context, error in failed.items():
        output.explain(error, about=f"{context}: ")
    each = {context: answer for context, answer in found.items() if not isinstance(answer, SpreadError)}
    asked = Scope(namespace=scope.namespace, names=parse_names(tuple(resources or ())).words)
    return Answers(asked, each, failed, inputs.connection_options(vars(connection)))


def _ask_one(
    flags: CommandFlags, question: Callable[[Source, Scope, Named], AnswerT], named: Named, *, alone: bool = True
) -> Answers[AnswerT]:
    source = inputs.source_of(*flags, alone=alone)
    asked = inputs.scope_of(flags[1], source, named)
    return Answers(asked, {"": question(source, asked, named)})


def _several(connection: ClustersFlags, scope: ScopeFlags, scheduler: SchedulerFlags) -> Sequence[str]:
    """Return the contexts to read side by side; empty for one cluster."""
    contexts = inputs.contexts_of(connection)
    if not connection.all_contexts and len(contexts) < len(("A", "B")):
        return ()
    given = ("--from", scheduler.from_), ("--server", connection.server), ("--cluster", connection.cluster)
    clash = next((flag for flag, value in given if value), "--context" if connection.all_contexts and contexts else "")
    if clash:
        several = "--all-contexts" if connection.all_contexts else "several contexts"
        raise UsageError(f"{several} and {clash} cannot be used together", hint="each context means its own cluster")
    return contexts or _all_contexts(connection.kubeconfig, own=not (scope.all_namespaces or scope.namespace))


def _all_contexts(path: str, *, own: bool) -> Sequence[str]:
    """Return the contexts of the kubeconfig by name, one for each cluster, user and, if it is its ``own``, namespace.

    Of several it is the current one, or else the first.
    """
    from kubectl_spread.cluster.access.kubeconfig import load

    config, unique = load(path), dict[object, str]()
    for name in sorted(config.contexts, key=lambda name: (name != config.current_context, name)):
        context = config.contexts[name]
        unique.setdefault((context.cluster, context.user, context.namespace if own else ""), name)
    if not unique:
        raise UsageError("the kubeconfig has no contexts", hint="use --kubeconfig, or set KUBECONFIG")
    return sorted(unique.values())
