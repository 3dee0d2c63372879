"""Flags with an equals sign, as kubectl takes them: ``--insecure-skip-tls-verify=true``, ``-A=false``, ``-n=shop``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from kubectl_spread.wording.words import did_you_mean

# Source: Go strconv/atob.go ParseBool.
ON = frozenset(("1", "t", "T", "true", "TRUE", "True"))
OFF = frozenset(("0", "f", "F", "false", "FALSE", "False"))
NODE_TYPES = frozenset(("node", "nodes", "no"))


def command_place(words: Sequence[str], taking_values: Collection[str]) -> int:
    """Return which of the words is the command: the first that is neither a flag nor, of these flags, a value."""
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        place += 2 if words[place] in taking_values else 1
    return place


class Group(TyperGroup):
    """The program."""

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 - click's context; typer hides it
        """Return what ``--help`` prints."""
        from kubectl_spread.cli.help import group_help

        return group_help(self, ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - click's context; typer hides it
        """Return the command that the words name; an error says what else a word may mean."""
        name = args[0]
        if self.get_command(ctx, name) is None and not did_you_mean(name, self.commands):
            use = f'use "show {name}" for a workload, "check -f {name}" for a manifest'
            ctx.fail(f"No such command {name!r}: {use}.")
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command whose switches may be given a value."""

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 - click's context; typer hides it
        """Return what ``--help`` prints."""
        from kubectl_spread.cli.help import command_help

        return command_help(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's context; typer hides it
        """Return what is left of the words after the flags have been taken from them."""
        return super().parse_args(ctx, self.plain(args))

    def plain(self, args: Sequence[str]) -> list[str]:
        """Return the words with switches that have no values, and short flags that have theirs without a sign."""
        options = [option for option in self.params if isinstance(option, TyperOption)]
        switches = {name for option in options if option.is_flag for name in option.opts}
        short = {name for option in options for name in option.opts if not name.startswith("--")}
        return list(_plain(args, switches, short - switches))


class OrderedCommand(Command):
    """A command that is told in which order its repeatable options were given: as ``in_order``, (flag, value) each."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's context; typer hides it
        """Return what is left of the words after the flags have been taken from them."""
        args = list(_nodes_joined(args))
        left = super().parse_args(ctx, list(args))
        if not ctx.resilient_parsing:
            *_, given = self.make_parser(ctx).parse_args(self.plain(args))
            ctx.params["in_order"] = tuple(_in_order(given, ctx.params))
        return left


def _nodes_joined(words: Sequence[str]) -> Iterator[str]:
    """Yield the words; ``--drain node n1``, as kubectl takes it elsewhere, as ``--drain node/n1``."""
    left = iter(zip(words, ("", *words), (*words[1:], "-"), strict=False))
    for word, before, after in left:
        names_one = word in NODE_TYPES and before.startswith("--") and not after.startswith("-")
        yield f"{word}/{next(left)[0]}" if names_one else word


def _in_order(given: Sequence[Any], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield flag, without its dashes, and value of each repeatable option, as often as it was given."""
    of_option = {option.name: iter(values[option.name]) for option in given if getattr(option, "multiple", False)}
    for option in given:
        if option.name in of_option:
            yield option.opts[0].removeprefix("--"), next(of_option[option.name])


def _plain(words: Sequence[str], switches: Collection[str], short: Collection[str]) -> Iterator[str]:
    """Yield the words, a switch without its value, or not at all where that is false; ``-nshop`` for ``-n=shop``.

    Raises:
        typer.BadParameter: a value is neither true nor false.
    """
    for number, word in enumerate(words):
        if word == "--":
            yield from words[number:]
            return
        name, equals, value = word.partition("=")
        if value and name in short:
            yield name + value
        elif not equals or name not in switches:
            yield word
        elif value in ON:
            yield name
        elif value not in OFF:
            raise typer.BadParameter(f'invalid argument "{value}" for "{name}", want true or false')
