"""Switches that are given a value, as kubectl takes them: ``--insecure-skip-tls-verify=true``, ``-A=false``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

# Source: Go strconv/atob.go ParseBool.
ON = frozenset(("1", "t", "T", "true", "TRUE", "True"))
OFF = frozenset(("0", "f", "F", "false", "FALSE", "False"))


class Command(TyperCommand):
    """A command whose switches may be given a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's context; typer hides it
        """Return what is left of the words after the flags have been taken from them."""
        switches = {
            name for option in self.params if isinstance(option, TyperOption) and option.is_flag for name in option.opts
        }
        return super().parse_args(ctx, list(_without_values(args, switches)))


def _without_values(words: Sequence[str], switches: Collection[str]) -> Iterator[str]:
    """Yield the words, a switch without its value, or not at all where that is false.

    Raises:
        typer.BadParameter: a value is neither true nor false.
    """
    for number, word in enumerate(words):
        if word == "--":
            yield from words[number:]
            return
        name, equals, value = word.partition("=")
        if not equals or name not in switches:
            yield word
        elif value in ON:
            yield name
        elif value not in OFF:
            raise typer.BadParameter(f'invalid argument "{value}" for "{name}", want true or false')
