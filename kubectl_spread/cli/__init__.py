"""The command line: flags to options, one small file a command; no decisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps

import typer

from kubectl_spread.cli import (
    check,
    completion,
    explain,
    output,
    rebalance,
    show,
    simulate,
    snapshot,
    version,
    why_pending,
)
from kubectl_spread.cli.flags import HELP_NAMES, taking_flag_groups
from kubectl_spread.cli.switches import Command, OrderedCommand
from kubectl_spread.errors import SpreadError

PROGRAM = "kubectl spread"
ABOUT = "Answers about Pod topology spread constraints: how Pods lie, why one is Pending, where a manifest would go."

COMMANDS: Mapping[str, tuple[Callable[..., None], str, type[Command]]] = {
    "show": (show.show, show.EPILOG, Command),
    "why-pending": (why_pending.why_pending, why_pending.EPILOG, Command),
    "check": (check.check, check.EPILOG, Command),
    "simulate": (simulate.simulate, simulate.EPILOG, OrderedCommand),
    "rebalance": (rebalance.rebalance, rebalance.EPILOG, Command),
    "snapshot": (snapshot.snapshot, snapshot.EPILOG, Command),
    "explain": (explain.explain, explain.EPILOG, Command),
    "completion": (completion.completion, completion.EPILOG, Command),
    "version": (version.version, "", Command),
}
"""Name of a command → what runs, what its help ends with, and how its words are parsed."""


def application(words: Collection[str] = tuple(COMMANDS)) -> typer.Typer:
    """Return the program for a command line of these words.

    A command that none of them names is there for the help alone: to make the flags of all takes a third of the time
    in which the help is printed.
    """
    app = typer.Typer(
        help=ABOUT,
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings=HELP_NAMES,
    )
    app.callback(invoke_without_command=True)(root)
    for name, (command, epilog, cls) in COMMANDS.items():
        run = _guarded(taking_flag_groups(command)) if name in words else _named_only(command)
        app.command(name, cls=cls, epilog=epilog or None, context_settings=HELP_NAMES)(run)
    return app


def root(context: typer.Context) -> None:
    """Print the help when no command is given, as kubectl does."""
    if context.invoked_subcommand is None:
        output.write(context.get_help() + "\n")


root.__doc__ = ABOUT


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with its errors explained instead of raised."""

    @wraps(command)
    def run(**values: object) -> None:
        try:
            command(**values)
        except SpreadError as error:
            raise typer.Exit(output.explain(error)) from error

    return run


def _named_only(command: Callable[..., None]) -> Callable[[], None]:
    """Return the command without its flags, for a help that has a line for each."""

    def run() -> None:
        """Do nothing: it was not named."""

    run.__doc__ = command.__doc__
    return run
