"""Text as one line or one cell, or wrapped.

Labels, names and messages are written by others: nothing in them may move the cursor or forge a line.
"""

import re
import unicodedata

NONE = "<none>"

# Categories that draw nothing or reorder what is drawn: control, format (bidi marks among them), surrogate, separators.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def clean(text: str) -> str:
    """Return the text with everything a terminal would act on made visible."""
    if text.isprintable():
        return text
    return "".join(escape(character) for character in text)


def invisible(character: str) -> bool:
    """Whether a character draws nothing of its own, and may act on the terminal or on its neighbours instead."""
    return unicodedata.category(character) in _INVISIBLE


def escape(character: str) -> str:
    """Return the character, or its code where it draws nothing of its own."""
    if not invisible(character):
        return character
    if character == "\x1b":
        return "^["
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def cell(text: str) -> str:
    """Return the text as one cell: its first line, cleaned; ``<none>`` where it is empty."""
    first, *rest = text.splitlines() or [""]
    return clean(first) + ("..." if any(rest) else "") or NONE


# What wording.reasons.alike_text says of one number is read as one word.
_WORD = re.compile(r" *(?:\d+ (?:other )?[a-z]+: [\d.]+,?(?= |$)|[^ ]+)")
# Not within 0..1, nor before the number of Pods in a domain.
_BREAK = re.compile(r"(?<=[-/,=_ ])|(?<=[.:])(?=[A-Za-z])")


def least_width(text: str, longest: int) -> int:
    """Return how wide a cell has to be for its words, those that are longer broken at a sign within them."""
    words = (word.strip(" ") for word in _WORD.findall(text))
    least = (max(min(len(it), longest), *map(len, [it] if " " in it else _BREAK.split(it))) for it in words)
    return max(least, default=0)


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
            head = max((found.end() for found in _BREAK.finditer(line, 2, room)), default=max(room, 1))
            lines.append(line[:head])
            line, room = line[head:], width - hanging
    return [*lines, line] if line or not lines else lines
