"""The text of ``--help``, in kubectl's order: about, examples, flags, usage.

``options`` prints the flags for reaching a cluster, which all commands share.
"""

import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from kubectl_spread.cli.flags import ConnectionFlags, SchedulerFlags, ScopeFlags, taking_flag_groups
from kubectl_spread.cli.output import terminal_size
from kubectl_spread.render.cells import wrap

SHARED_MORE = 'Use "{root} options" for the connection flags of kubectl. They go before or after the subcommand.'
SHARED = "The following options can be passed to any command that reads a cluster:"
MORE = (
    'Use "{path} COMMAND --help" for more about a command, "{path} options" for the connection flags,'
    ' and "{path} explain" for the meaning of names in the output.'
)
NARROW, WIDE = 80, 120  # The width (characters) without a terminal, and the largest width
LONGEST_FORM = 34  # The longest flag with its value (characters) that has its description beside it
# Type of a value, as click names it → as kubectl names it.
TYPES = {"str": "string", "text": "string", "integer": "int", "integer range": "int", "float range": "float"}


def command_help(command: TyperCommand, context: Any) -> str:  # noqa: ANN401 - click's context; typer hides it
    """Return the help of one command."""
    width, every = _width(), command.get_params(context)
    options = [each for each in every if isinstance(each, TyperOption)]
    arguments = [f"{each.metavar}" for each in every if isinstance(each, TyperArgument)]
    reads = "kubeconfig" in {each.name for each in options}
    own = [each for each in options if not reads or each.name not in ConnectionFlags.names()]
    about, _, more = (command.epilog or "").replace("\b\n", "").strip().partition("\n\n")
    parts = [
        *(_paragraph(text, width) for text in inspect.cleandoc(command.help or "").split("\n\n")),
        about,
        *(_paragraph(" ".join(text.split()), width) for text in more.split("\n\n") if text),
        _section("Options:", own, width),
        f"Usage:\n  {' '.join((context.command_path, *arguments, '[options]'))}",
        _paragraph(SHARED_MORE.format(root=context.find_root().command_path), width) if reads else "",
    ]
    return "\n\n".join(filter(None, parts))


def group_help(group: TyperGroup, context: Any) -> str:  # noqa: ANN401 - as above
    """Return the help of the program: a sentence about each command, and its flags."""
    width, path = _width(), context.command_path
    about = [(name, f"{each.help}".strip().partition("\n\n")[0]) for name, each in group.commands.items()]
    flags = [each for each in group.get_params(context) if isinstance(each, TyperOption)]
    parts = [
        _paragraph(f"{group.help}", width),
        "\n".join(("Commands:", *_align(((name, " ".join(text.split())) for name, text in about), width))),
        _section("Options:", flags, width),
        f"Usage:\n  {path} COMMAND [options]",
        _paragraph(MORE.format(path=path), width),
    ]
    return "\n\n".join(parts)


def shared_help() -> str:
    """Return the text of ``options``: the flags of all commands that read a cluster."""

    def command(scope: ScopeFlags, scheduler: SchedulerFlags, connection: ConnectionFlags) -> None:
        """Take the flags."""

    app = typer.Typer(add_completion=False)
    app.command()(taking_flag_groups(command))
    width, params = _width(), typer.main.get_command(app).params
    every = [each for each in params if isinstance(each, TyperOption)]
    reach = ConnectionFlags.names()
    parts = [
        SHARED,
        _section("Objects and scheduler:", [each for each in every if each.name not in reach], width),
        _section("Connection, as for kubectl:", [each for each in every if each.name in reach], width),
    ]
    return "\n\n".join(parts)


def _width() -> int:
    return min(terminal_size(sys.stdout)[0] or NARROW, WIDE)


def takes(option: TyperOption) -> str:
    """Return the value of a flag in one word; the description of ``-o`` lists its formats."""
    if option.metavar:
        return "FORMAT" if len(option.metavar) > LONGEST_FORM else option.metavar
    kind = TYPES.get(option.type.name, option.type.name)
    return f"{kind}Array" if option.multiple else kind


def _paragraph(text: str, width: int) -> str:
    return "\n".join(wrap(" ".join(text.split()), width))


def _section(title: str, options: Iterable[TyperOption], width: int) -> str:
    rows = []
    for option in options:
        value, default, names = takes(option), option.default, ", ".join(sorted(option.opts, key=len))
        choices = f" One of: {', '.join((option.metavar or '').split('|'))}." if value == "FORMAT" else ""
        shown = option.show_default and default not in {None, "", False, "0"} and not callable(default)
        about = f"{option.help}{choices}{f' (default {default})' if shown else ''}"
        rows.append((names if option.is_flag else f"{names} {value}", about))
    return "\n".join((title, *_align(rows, width))) if rows else ""


def _align(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    every = list(rows)
    indent = 2 + max((len(name) for name, _ in every if len(name) <= LONGEST_FORM), default=0) + 2
    for name, text in every:
        beside = len(name) <= LONGEST_FORM
        if not beside:
            yield f"  {name}"
        first, *rest = wrap((f"  {name}" if beside else "").ljust(indent) + text, width, hanging=indent)
        yield first
        yield from (" " * indent + line for line in rest)
