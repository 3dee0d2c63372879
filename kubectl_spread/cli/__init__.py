"""The command line: flags to options, one small file a command; no decisions."""

from __future__ import annotations

from collections.abc import Callable
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

app = typer.Typer(
    help=ABOUT,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings=HELP_NAMES,
)


@app.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Print the help when no command is given, as kubectl does."""
    if context.invoked_subcommand is None:
        output.write(context.get_help() + "\n")


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with its errors explained instead of raised."""

    @wraps(command)
    def run(**values: object) -> None:
        try:
            command(**values)
        except SpreadError as error:
            raise typer.Exit(output.explain(error)) from error

    return run


def _add(name: str, command: Callable[..., None], epilog: str = "", *, cls: type[Command] = Command) -> None:
    """Register a command."""
    register = app.command(name, cls=cls, epilog=epilog or None, context_settings=HELP_NAMES)
    register(_guarded(taking_flag_groups(command)))


root.__doc__ = ABOUT
_add("show", show.show, show.EPILOG)
_add("why-pending", why_pending.why_pending, why_pending.EPILOG)
_add("check", check.check, check.EPILOG)
_add("simulate", simulate.simulate, simulate.EPILOG, cls=OrderedCommand)
_add("rebalance", rebalance.rebalance, rebalance.EPILOG)
_add("snapshot", snapshot.snapshot, snapshot.EPILOG)
_add("explain", explain.explain, explain.EPILOG)
_add("completion", completion.completion, completion.EPILOG)
_add("version", version.version)
