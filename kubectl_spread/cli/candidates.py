"""Shell completion of ``kubectl spread``.

Commands, flags and their helps come from the commands themselves; the values of a flag or argument go by its metavar.
The output is what kubectl expects of plugins: lines of candidate, tab and description, then a directive.

Source: kubectl pkg/cmd/plugin_completion.go (v1.36), cobra completions.go.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from kubectl_spread.cli.bool_flags import command_place
from kubectl_spread.cli.flags import taking_values
from kubectl_spread.cli.inputs import connection_options
from kubectl_spread.cluster.api import completion as names
from kubectl_spread.exit_code import ExitCode

if TYPE_CHECKING:
    from kubectl_spread.objects.kinds import Kind

Command: TypeAlias = TyperCommand | TyperGroup


class Directive(IntFlag):
    """What the shell does with the candidates. Without NO_FILES, it completes files when there are none."""

    FILES = 0
    NO_SPACE = 2
    NO_FILES = 4


@dataclass(frozen=True, slots=True)
class Completion:
    """The candidates for the next word → their descriptions, which may be empty; and what the shell does with them."""

    candidates: Mapping[str, str]
    directive: Directive = Directive.NO_FILES

    def __str__(self) -> str:
        """The lines that the shell's script reads."""
        lines = [f"{word}\t{about}" if about else word for word, about in self.candidates.items()]
        return "\n".join([*lines, f":{self.directive.value}", ""])


@dataclass(frozen=True, slots=True)
class Line:
    """The command line up to the cursor."""

    given: Mapping[str, Any]  # parameter → value, of the command's flags and arguments before the cursor
    earlier: tuple[str, ...]  # the values that the flag or argument already has
    typed: str  # the typed part of the next value

    def matching(self, words: Iterable[str], *, directive: Directive = Directive.NO_FILES) -> Completion:
        """Return the words that begin with what is typed."""
        fitting = (word for word in words if word.startswith(self.typed) and word not in self.earlier)
        return Completion(dict.fromkeys(fitting, ""), directive)


NOTHING = Completion({})


def answer(root: TyperGroup, words: Sequence[str]) -> NoReturn:
    """Print the candidates and end; nothing else is written to the terminal or read from it.

    The program ends at once: a running request or credential plugin may still use the streams, and if Python failed to
    flush them, that would be the exit code.
    """
    stdout = sys.stdout
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - credential plugins inherit its descriptor
        for descriptor in (0, 2):
            os.dup2(nothing.fileno(), descriptor)
    stdout.write(str(complete(root, words)))
    stdout.flush()
    os._exit(ExitCode.ANSWERED)


def complete(root: TyperGroup, words: Sequence[str]) -> Completion:
    """Return the candidates for the last word, which is being typed and may be empty."""
    *before, typed = words or ("",)
    place = command_place(before, taking_values() if before and before[0].startswith("-") else ())
    if place < len(before):
        command = root.commands.get(before[place])
        return _complete_command(command, before[place + 1 :], typed) if isinstance(command, TyperCommand) else NOTHING
    if typed.startswith("-"):
        return _flags(root, before, typed)
    shown = (command for command in root.commands.values() if not command.hidden)
    return Completion({f"{c.name}": c.get_short_help_str(100) for c in shown if f"{c.name}".startswith(typed)})


def _complete_command(command: Command, before: Sequence[str], typed: str) -> Completion:
    if "--" not in before:
        if before and (option := _flag_without_value(command, before[-1])):
            return _complete_value(command, option, before[:-1], typed)
        name, equals, value = typed.partition("=")
        if equals and (option := _flag_without_value(command, name)):
            return _complete_value(command, option, before, value)
        if typed.startswith("-"):
            return _flags(command, before, typed)
    argument = next((param for param in command.params if isinstance(param, TyperArgument)), None)
    return _complete_value(command, argument, before, typed) if argument else NOTHING


def _flag_without_value(command: Command, word: str) -> TyperOption | None:
    """Return the flag whose value follows the word, such as ``-f`` for ``-Rf``; None when there is none."""
    options = {name: param for param in command.params if isinstance(param, TyperOption) for name in param.opts}
    names = [word] if word.startswith("--") else [f"-{letter}" for letter in word[1:]]
    *switches, last = [options.get(name) for name in names] or [None]
    if last is None or last.is_flag or not all(option and option.is_flag for option in switches):
        return None
    return last


def _flags(command: Command, before: Sequence[str], typed: str) -> Completion:
    context = command.make_context(command.name, list(before), resilient_parsing=True)
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    options = (param for param in command.get_params(context) if isinstance(param, TyperOption))
    free = (option for option in options if option.multiple or option.name not in given)
    return Completion({name: f"{option.help}" for option in free for name in option.opts if name.startswith(typed)})


def _complete_value(
    command: Command, param: TyperOption | TyperArgument, before: Sequence[str], typed: str
) -> Completion:
    given = command.make_context(command.name, list(before), resilient_parsing=True).params
    earlier = given[f"{param.name}"]
    line = Line(given, earlier if isinstance(earlier, tuple) else (), typed)
    metavar = (param.metavar or "").strip("[].")
    if noun := re.match("[A-Z/]+", metavar):
        complete = VALUES.get(noun[0])
        return complete(line) if complete else NOTHING
    if "|" not in metavar:
        return NOTHING
    found = line.matching(metavar.split("|"))
    # The shell adds no space after a choice that ends with "=".
    goes_on = found.candidates and all(word.endswith("=") for word in found.candidates)
    return Completion(found.candidates, Directive.NO_FILES | Directive.NO_SPACE) if goes_on else found


def _files(_: Line) -> Completion:
    return Completion({}, Directive.FILES)


def _configured(section: Literal["contexts", "clusters", "users"], line: Line) -> Completion:
    return line.matching(names.configured_names(section, path=line.given["kubeconfig"]))


def _contexts(line: Line) -> Completion:
    """Return the contexts; where several may be read, those that are not yet named after a comma."""
    earlier, comma, typed = line.typed.rpartition(",") if "all_contexts" in line.given else ("", "", line.typed)
    given = {*line.earlier, *earlier.split(",")}
    names_left = (
        name for name in names.configured_names("contexts", path=line.given["kubeconfig"]) if name not in given
    )
    return line.matching(f"{earlier}{comma}{name}" for name in names_left if name.startswith(typed))


def _explained(line: Line) -> Completion:
    from kubectl_spread.wording.reference import entries

    summaries = {entry.name: entry.summary for entry in entries()}
    return Completion({name: summaries[name] for name in line.matching(summaries).candidates})


def _risks(line: Line) -> Completion:
    from kubectl_spread.diagnosis.audit import RISKS

    return line.matching(RISKS)


def _objects(kind: str, line: Line, *, field_selector: str = "") -> Completion:
    from kubectl_spread.objects.kinds import BY_API

    return line.matching(_cluster_names(line, BY_API["v1", kind], field_selector=field_selector))


def _workloads(line: Line) -> Completion:
    """Return types of workloads as ``TYPE/``, after a type the names of that type, and names where no type fits."""
    from kubectl_spread.objects.kinds import DAEMON_SET, DEPLOYMENT, POD, STATEFUL_SET, WORKLOAD_KINDS, named

    word, slash, _ = line.typed.partition("/")
    prefix = f"{word}/" if slash else ""
    if line.earlier and "/" not in line.earlier[0]:
        word, prefix = line.earlier[0], ""
    elif not slash:
        types = (f"{kind.singular}/" for kind in (*WORKLOAD_KINDS, POD))
        found = line.matching(types, directive=Directive.NO_FILES | Directive.NO_SPACE)
        return found if found.candidates else line.matching(_cluster_names(line, DEPLOYMENT, STATEFUL_SET, DAEMON_SET))
    kind = named(word)
    if kind is None:
        return NOTHING
    given = {name for of, slash, name in (word.partition("/") for word in line.earlier) if slash and named(of) is kind}
    return line.matching(f"{prefix}{name}" for name in _cluster_names(line, kind) if name not in given)


def _topology_keys(line: Line) -> Completion:
    from kubectl_spread.objects.kinds import NODE

    return NOTHING if line.given["from_"] else line.matching(names.label_keys(connection_options(line.given), NODE))


def _cluster_names(line: Line, *kinds: Kind, field_selector: str = "") -> tuple[str, ...]:
    """Return names in the cluster that the line's flags mean; none when that is a file, or names make no sense."""
    if line.given["from_"] or (kinds[0].namespaced and line.given["all_namespaces"]):
        return ()
    return names.cluster_names(connection_options(line.given), *kinds, field_selector=field_selector)


# First word of a metavar → what completes it.
VALUES: Mapping[str, Callable[[Line], Completion]] = {
    "CLUSTER": partial(_configured, "clusters"),
    "CONTEXT": _contexts,
    "FILE": _files,
    "FINDING": _explained,
    "KEY": _topology_keys,
    "LIKE": partial(_objects, "Node"),
    "NAMESPACE": partial(_objects, "Namespace"),
    "NODE": partial(_objects, "Node"),
    "NS/": _workloads,
    "PATH": _files,
    "POD": partial(_objects, "Pod", field_selector=names.UNSCHEDULED),
    "RISK": _risks,
    "TYPE/NAME": _workloads,
    "USER": partial(_configured, "users"),
}
