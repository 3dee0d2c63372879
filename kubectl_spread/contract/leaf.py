"""How ``-o json`` differs from a conclusion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

# A further field: its name, type and meaning are those of the function, which takes the conclusion. If the function has
# a second parameter, that is the connection flags of commands.
Add: TypeAlias = Callable[..., object]


class Leaf(msgspec.Struct, frozen=True):
    """How JSON differs from a conclusion."""

    added: tuple[Add, ...] = ()  # the fields that it has besides, or in the place of those of the same name
    left_out: frozenset[str] = frozenset()  # those that it has not

    def __or__(self, other: Leaf) -> Leaf:
        """Return the differences of both."""
        return Leaf((*self.added, *other.added), self.left_out | other.left_out)
