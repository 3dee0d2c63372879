"""The command line: turns flags into options, with one small file for each command."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Annotated

import typer

from kubectl_spread.cli import output
from kubectl_spread.cli.bool_flags import Command, Group, OrderedCommand, command_place
from kubectl_spread.cli.flags import HELP_NAMES, LogFlags, Option, StructuredOutput, taking_flag_groups, taking_values
from kubectl_spread.errors import SpreadError

PROGRAM = "kubectl spread"
ABOUT = (
    "Explains Pod topology spread constraints: how Pods are spread, why a Pod is Pending, and where a manifest's Pods"
    " can be scheduled."
)

# Name of a command (its module has underscores) → the class that parses its words.
COMMANDS: Mapping[str, type[Command]] = {
    "show": Command,
    "why-pending": Command,
    "audit": Command,
    "check": Command,
    "simulate": OrderedCommand,
    "rebalance": Command,
    "snapshot": Command,
    "serve": Command,
    "explain": Command,
    "options": Command,
    "completion": Command,
    "version": Command,
}

ALIASES: Mapping[str, str] = {"pending": "why-pending"}  # Word that people type as a command → the command

FILES = (".yaml", ".yml", ".json")


def application(words: Sequence[str] | None = None) -> typer.Typer:
    """Return the program for a command line of these words; None for any.

    Where the first word is a command, the program has only this one. Where it is none, the program has all commands
    without their flags, only for the help: the flags would take a third of its time.
    """
    app = typer.Typer(
        cls=Group,
        help=ABOUT,
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings=HELP_NAMES,
    )
    app.callback(invoke_without_command=True)(root)
    named = COMMANDS.keys() if words is None else COMMANDS.keys() & words[:1]
    for name, cls in COMMANDS.items():
        if name in named or not named:
            module = import_module(f"{__name__}.{name.replace('-', '_')}")
            command: Callable[..., None] = getattr(module, name.replace("-", "_"))
            run = _explaining_errors(taking_flag_groups(command)) if named else _without_flags(command)
            epilog: str | None = getattr(module, "EPILOG", None)
            app.command(name, cls=cls, epilog=epilog, context_settings=HELP_NAMES)(run)
    return app


def in_order(words: Sequence[str]) -> Sequence[str]:
    """Return the words in the parser's order: flags before the command move after it, and ``--`` ends none."""
    words = words[1:] if words[:1] == ["--"] else words
    if not words[:1] or not words[0].startswith("-") or COMMANDS.keys().isdisjoint(words):
        return words
    place = command_place(words, taking_values())
    if words[place : place + 1] and words[place] in COMMANDS:
        return [words[place], *words[:place], *words[place + 1 :]]
    return words


def add_missing_command(words: Sequence[str]) -> Sequence[str]:
    """Return the words with the missing command: ``show`` for a workload, ``--help`` for ``help``."""
    ordered = in_order([ALIASES.get(word, word) if at == 0 else word for at, word in enumerate(words)])
    if ordered[:1] == ["help"]:
        return [*ordered[1:2], "--help"]
    if all(word.startswith("-") for word in ordered) or ordered[0] in COMMANDS:
        return ordered
    place = command_place(ordered, taking_values())
    first = ordered[place] if place < len(ordered) else ""
    if first and not first.endswith(FILES):
        from kubectl_spread.commands.scope import names_type

        return ["show", *ordered] if names_type(first) else ordered
    return ordered


def root(
    context: typer.Context,
    *,
    version: Annotated[bool, Option("--version", help="Print the version.")] = False,
) -> None:
    """Print the help when no command is given, as kubectl does."""
    if version:
        from kubectl_spread.cli import version as command

        command.version(StructuredOutput(), LogFlags())
    elif context.invoked_subcommand is None:
        output.write(context.get_help() + "\n")


root.__doc__ = ABOUT


def _explaining_errors(command: Callable[..., None]) -> Callable[..., None]:

    @wraps(command)
    def run(**values: object) -> None:
        try:
            command(**values)
        except SpreadError as error:
            raise typer.Exit(output.explain(error)) from error

    return run


def _without_flags(command: Callable[..., None]) -> Callable[[], None]:
    def run() -> None:
        """Do nothing: the help only needs the command's name and docstring."""

    run.__doc__ = command.__doc__
    return run
