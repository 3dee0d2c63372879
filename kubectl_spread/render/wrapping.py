"""Text in lines of a width, broken at words."""

from __future__ import annotations

import re

_WORD = re.compile(r" *[^ ]+")
# Not within 0..1, nor before the number of Pods in a domain.
_BREAK = re.compile(r"[-/,=_]|[.:](?=[A-Za-z])")


def wrap(text: str, width: int, *, hanging: int = 0) -> list[str]:
    """Return the lines of a text, at least one, broken at words; a word that is too long, at a sign within it.

    The spaces it begins with stay. ``hanging``: how many characters fewer all lines but the first have.
    """
    lines, line, room = list[str](), "", width
    for word in _WORD.findall(text):
        if len(line) + len(word) > room and line.strip():
            lines.append(line)
            line, room = "", width - hanging
        line += word if line or not lines else word.lstrip()
        while len(line) > room:
            head = max((found.end() for found in _BREAK.finditer(line, 1, room)), default=max(room, 1))
            lines.append(line[:head])
            line, room = line[head:], width - hanging
    return [*lines, line] if line or not lines else lines
