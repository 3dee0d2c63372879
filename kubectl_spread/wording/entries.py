"""The reference behind ``kubectl spread explain``: what the words in the reports mean, and what to do about them."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.wording.columns import COLUMNS
from kubectl_spread.wording.entry import Entry
from kubectl_spread.wording.fields import FIELDS
from kubectl_spread.wording.findings import FINDINGS
from kubectl_spread.wording.fixes import FIXES
from kubectl_spread.wording.outcomes import OUTCOMES
from kubectl_spread.wording.statuses import STATUSES, VERDICTS

ENTRIES: Sequence[Entry] = (
    *FINDINGS.entries,
    *FIXES.entries,
    *STATUSES.entries,
    *VERDICTS,
    *OUTCOMES,
    *FIELDS,
    *COLUMNS,
)
"""Everything there is to explain, in the order in which it is listed."""


def entries_named(name: str) -> tuple[Entry, ...]:
    """Return what the name means, in any case; of a path such as ``spec.x[0].maxSkew`` the last field counts."""
    wanted = name.rpartition(".")[2].lower()
    return tuple(entry for entry in ENTRIES if entry.name.lower() == wanted)


def similar_names(name: str) -> tuple[str, ...]:
    """Return the names that may be meant, the nearest first."""
    from difflib import get_close_matches

    names = {entry.name.lower(): entry.name for entry in ENTRIES}
    return tuple(names[near] for near in get_close_matches(name.rpartition(".")[2].lower(), names, n=3, cutoff=0.6))
