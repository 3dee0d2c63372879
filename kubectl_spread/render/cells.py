"""Text as one line or one cell.

Labels, names and messages are written by others: nothing in them may move the cursor or forge a line.
"""

from __future__ import annotations

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
