"""Names and numbers as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return ``a, b, c``, or ``a, b and 3 more``; empty without any.

    Args:
        names: to be listed.
        most: how many are named; one more is named too, since "and 1 more" would be no shorter.
    """
    return _cut(names, most) or ", ".join(names)


def enumerated(names: Sequence[str], most: int = 4) -> str:
    """Return ``a, b and c``, or ``a, b and 3 more``; the arguments are those of ``listed``."""
    return _cut(names, most) or " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def first_and_more(names: Sequence[str]) -> str:
    """Return ``a``, or ``a and 3 more``; there must be one."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def count_of(number: int, noun: str) -> str:
    """Return ``1 Pod`` or ``2 Pods``."""
    plural = f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def between(low: int, high: int) -> str:
    """Return ``3``, or ``3..5`` where it is not known which."""
    return str(low) if low == high else f"{low}..{high}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question that a misspelt name raises, such as ``did you mean web?``; empty where none is near.

    What stands before a slash, a type or a domain, is right where any has it.
    """
    from difflib import get_close_matches  # Most names are right.

    every = sorted(set(known))
    begin = "".join(word.rpartition("/")[:2])
    alike = [each.removeprefix(begin) for each in every if each.startswith(begin)]
    near = get_close_matches(word.removeprefix(begin), alike, n=1) if alike else get_close_matches(word, every, n=1)
    return f"did you mean {begin if alike else ''}{near[0]}?" if near else ""


def _cut(names: Sequence[str], most: int) -> str:
    """Return the first names and how many there are besides; empty where all are to be named."""
    return f"{', '.join(names[:most])} and {len(names) - most} more" if len(names) > most + 1 else ""


def held_by_gates(names: Sequence[str]) -> str:
    """Return ``held by the scheduling gate a, b``; there must be one."""
    return f"held by the scheduling gate {', '.join(names)}"
