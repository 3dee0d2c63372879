"""The rules that give a conclusion its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

TextT = TypeVar("TextT", bound=Callable[..., str])


class Rules:
    """The texts of one kind of conclusion, each by the type of the engine that it takes as its argument."""

    def __init__(self) -> None:
        self._texts: dict[str, Callable[..., str]] = {}

    def rule(self, text: TextT) -> TextT:
        """Register the text of the type that it takes."""
        self._texts[next(iter(text.__annotations__.values())).rpartition(".")[2]] = text
        return text

    def text(self, conclusion: object, *more: object) -> str:
        """Return the text of a conclusion; ``more``: what else its function takes."""
        return self._texts[type(conclusion).__name__](conclusion, *more)
