"""Flags with an equals sign, as in kubectl: ``--insecure-skip-tls-verify=true``, ``-A=false``, ``-n=shop``."""

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
    """Return the index of the command: the first word that is neither a flag nor the value of one of these flags."""
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
        """Return the command of the words; the error for an unknown command names alternatives."""
        name = args[0]
        if self.get_command(ctx, name) is None and not did_you_mean(name, self.commands):
            use = f'use "show {name}" for a workload, "check -f {name}" for a manifest'
            ctx.fail(f"No such command {name!r}: {use}.")
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command whose boolean flags may have a value."""

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 - click's context; typer hides it
        """Return what ``--help`` prints."""
        from kubectl_spread.cli.help import command_help

        return command_help(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's context; typer hides it
        """Parse the flags and return the other words; the error for an unknown flag names only flags like it."""
        try:
            return super().parse_args(ctx, self.plain(args))
        except Exception as error:
            if near := getattr(error, "possibilities", None):  # click's NoSuchOption, which typer hides
                flag = vars(error)["option_name"]
                vars(error)["possibilities"] = [it for it in near if it.startswith(flag) or did_you_mean(flag, [it])]
            raise

    def plain(self, args: Sequence[str]) -> list[str]:
        """Return the words in the form that click parses: boolean flags without a value, ``-nshop`` for ``-n=shop``.

        BadParameter if the value of a boolean flag is neither true nor false.
        """
        options = [option for option in self.params if isinstance(option, TyperOption)]
        switches = {name for option in options if option.is_flag for name in option.opts}
        short = {name for option in options for name in option.opts if not name.startswith("--")}
        return list(_to_click(args, switches, short - switches))


class OrderedCommand(Command):
    """A command that gets its repeatable options in the order given: ``in_order``, with a (flag, value) for each."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's context; typer hides it
        """Parse the flags and return the other words."""
        args = list(_join_node_types(args))
        left = super().parse_args(ctx, list(args))
        if not ctx.resilient_parsing:
            *_, given = self.make_parser(ctx).parse_args(self.plain(args))
            ctx.params["in_order"] = tuple(_in_order(given, ctx.params))
        return left


def _join_node_types(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, with ``--drain node/n1`` for ``--drain node n1``."""
    left = iter(zip(words, ("", *words), (*words[1:], "-"), strict=False))
    for word, before, after in left:
        names_one = word in NODE_TYPES and before.startswith("--") and not after.startswith("-")
        yield f"{word}/{next(left)[0]}" if names_one else word


def _in_order(given: Sequence[Any], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (flag without dashes, value) for each time that a repeatable option was given."""
    of_option = {option.name: iter(values[option.name]) for option in given if getattr(option, "multiple", False)}
    for option in given:
        if option.name in of_option:
            yield option.opts[0].removeprefix("--"), next(of_option[option.name])


def _to_click(words: Sequence[str], switches: Collection[str], short: Collection[str]) -> Iterator[str]:
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
