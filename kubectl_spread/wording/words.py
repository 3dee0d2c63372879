"""Names and numbers as sentences show them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from msgspec import UnsetType

    from kubectl_spread.controllers.horizontal import ReplicaBounds

LIST = "list "  # What begins the name of a list that was not read, or not all of it
FEW_LETTERS = 3  # Letters of a name below which nothing resembles it, and that may differ at most

EMPTY = '""'  # A name that is there and empty, as the value of a label may be
_NODE = r"[a-z0-9][a-z0-9.-]*"

# Well-known topology key → its short name in a sentence.
SHORT_KEYS = {
    "topology.kubernetes.io/zone": "zone",
    "topology.kubernetes.io/region": "region",
    "kubernetes.io/hostname": "hostname",
}
_PLACES = re.compile(rf"(\bon|\bin|\bover|\band) ({'|'.join(map(re.escape, SHORT_KEYS))})(?=[ ,.;:]|$)")
_TAINT_PREFIX = re.compile(r"(?<=taint )[\w.-]+/")


def with_short_keys(text: str) -> str:
    """Return the text with short names for the well-known topology keys of constraints and places."""
    return _PLACES.sub(lambda found: f"{found[1]} {SHORT_KEYS[found[2]]}", text)


def with_short_taints(text: str) -> str:
    """Return the text with the keys of taints without their prefix, as where there is little room."""
    return _TAINT_PREFIX.sub("", text)


def seen(name: str) -> str:
    """Return the name so that it can be seen where it is empty."""
    return name or EMPTY


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return ``a, b, c``, or ``a, b and 3 more``; empty without any, and quotes for an empty one.

    One more than ``most`` is named too, since "and 1 more" would be no shorter.
    """
    return _cut(names, most) or ", ".join(map(seen, names))


def enumerated(names: Sequence[str], most: int = 4, *, word: str = "and") -> str:
    """Return ``a, b and c``, or ``a, b and 3 more``; the arguments are those of ``listed``."""
    parts = (listed(names[:-1], len(names)), *map(seen, names[-1:]))
    return _cut(names, most, word) or f" {word} ".join(filter(None, parts))


def first_and_more(names: Sequence[str], *, word: str = "and") -> str:
    """Return ``a``, or ``a and 3 more``; there must be one."""
    return seen(names[0]) if len(names) == 1 else f"{seen(names[0])} {word} {len(names) - 1} more"


def some_run(pods: int, at_work: int) -> str:
    """Return how many of these Pods (count) run, of which not all do."""
    return "it does not run" if pods == 1 else f"{at_work or 'none'} of them {'runs' if at_work <= 1 else 'run'}"


def in_violation(violations: int, victims: int) -> str:
    """Return in brackets how many of the Pods that preemption evicts a budget protects (counts); empty if none."""
    of_them = "" if victims == 1 else f"{violations} of them "
    return f" ({of_them}in violation of a PodDisruptionBudget)" if violations else ""


def in_cluster(name: str, cluster: str | UnsetType) -> str:
    """Return a name with the context of its cluster, if several clusters were read."""
    return f"{name} ({cluster})" if cluster else name


def count_of(number: int, noun: str) -> str:
    """Return ``1 Pod`` or ``2 Pods``."""
    plural = f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def more_rows(number: int) -> str:
    """Return that so many rows (count) of a table, which are OK, are left out."""
    return f"and {count_of(number, 'more row')}, {'all ' * (number > 1)}OK; -o wide shows all"


def totals(what: str, each: Iterable[str]) -> str:
    """Return how many there are, and how many of each status, in the order in which these come first."""
    counts = ", ".join(f"{number} {status}" for status, number in Counter(each).items())
    return f"{what}: {counts}."


def capital_sentence(text: str) -> str:
    """Return a clause as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:]}."


def between(low: int, high: int) -> str:
    """Return ``3``, or ``3..5`` where it is not known which."""
    return str(low) if low == high else f"{low}..{high}"


def scores_some(orders: int) -> str:
    """Return that the scheduler scores only some of the nodes, and in how many orders of chance that was tried."""
    seen = f"this is the result of {orders} orders" if orders > 1 else "this is one possible result"
    return f"The scheduler scores only some of the nodes that fit, chosen by chance: {seen} and is not proved"


def scores_few(scored: int, feasible: int) -> str:
    """Return that the scheduler scores so many (count) of the nodes that take the Pod."""
    return (
        f"The scheduler scores only {scored} of these {feasible} nodes, chosen by chance. So it may choose another than"
        " the first."
    )


def moved(was: str, now: str) -> str:
    """Return ``3→2``, or ``3`` where that is the same: no place to break a line."""
    return was if was == now else f"{was}→{now}"


def scaled_by(bounds: ReplicaBounds) -> str:
    """Return which autoscaler decides the replicas of which workload, within which bounds."""
    between = f"between {bounds.least} and {bounds.most} replicas"
    return f"HorizontalPodAutoscaler {bounds.name} scales {bounds.ref} {between}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question that a misspelt name raises, such as ``did you mean web?``; empty where none is near.

    What stands before a slash, a type or a domain, is right where any has it.
    """
    every = sorted(set(known))
    begin = "".join(word.rpartition("/")[:2])
    alike = [each.removeprefix(begin) for each in every if each.startswith(begin)]
    near = _nearest(word.removeprefix(begin), alike) if alike else _nearest(word, every)
    return f"did you mean {begin if alike else ''}{near}?" if near else ""


def _nearest(word: str, known: Sequence[str]) -> str:
    """Return the one name that begins so, or else one in which no more than every fourth letter is another, if any."""
    from difflib import get_close_matches  # Most names are right.

    from kubectl_spread.apimachinery import edit_distance

    begun = [name for name in known if name.startswith(word)] if len(word) >= FEW_LETTERS else []
    if len(begun) == 1:
        return begun[0]
    most = min(len(word) // 4 or len(word) // FEW_LETTERS, FEW_LETTERS)
    return next(
        (name for name in get_close_matches(word, known) if edit_distance(word, name, swaps=True, digit=2) <= most), ""
    )


def _cut(names: Sequence[str], most: int, word: str = "and") -> str:
    return f"{', '.join(map(seen, names[:most]))} {word} {len(names) - most} more" if len(names) > most + 1 else ""


def held_by_gates(names: Sequence[str]) -> str:
    """Return ``held by the scheduling gates a and b``; there must be one."""
    return f"held by the scheduling gate{'' if len(names) == 1 else 's'} {enumerated(names)}"


def held_back(gates: Sequence[str], verdict: str, *, stuck: bool) -> str:
    """Return the gates, at least one, that hold a Pod back, and the verdict without them.

    ``stuck``: whether the verdict is a sentence that says why no node fits.
    """
    one = len(gates) == 1
    if stuck:
        return f"{held_by_gates(gates)}. Removing {'it' if one else 'them'} is not enough. {verdict}"
    return f"{held_by_gates(gates)}. Once {'it is' if one else 'they are'} removed: {verdict}"


def shared_suffix(names: Collection[str]) -> str:
    """Return what all names end in from a dot on; empty where that is nothing, or there is but one."""
    if len(names) <= 1:
        return ""
    # What the first and the last share in the order of their ends, all between them share.
    ends = [name[::-1] for name in names]
    first, last = min(ends), max(ends)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    _, dot, shared = first[:same][::-1].partition(".")
    return dot + shared


def shortening(names: Collection[str]) -> tuple[str, Callable[[str], str]]:
    """Return the suffix that all nodes share, and what leaves it out of their names in a text."""
    suffix, known = shared_suffix(names), frozenset(names)
    if not suffix:
        return "", str
    named = re.compile(rf"{_NODE}{re.escape(suffix)}(?![\w/-]|\.\w)")

    def short(text: str) -> str:
        if suffix not in text:
            return text
        # A command is to be copied.
        return "`".join(part if at % 2 else named.sub(brief, part) for at, part in enumerate(text.split("`")))

    def brief(found: re.Match[str]) -> str:
        return found[0].removesuffix(suffix) if found[0] in known else found[0]

    return suffix, short


def capital(sentence: str, names: Collection[str] = ()) -> str:
    """Return our own sentence as it begins a line; ``names`` of the cluster keep their case, as does ``a-b``."""
    first, _, rest = sentence.partition(" ")
    ours = first.isalpha() and first.islower() and first not in names
    return f"{first.capitalize()} {rest}" if ours else sentence
