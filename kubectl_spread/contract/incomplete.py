"""What an answer could not take into account, as reports have it."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.contract.report import Incomplete
from kubectl_spread.gaps import Gap
from kubectl_spread.wording.incomplete import texts


def incomplete_entries(gaps: Iterable[Gap]) -> tuple[Incomplete, ...]:
    """Return an entry for each gap; gaps with the same text have one."""
    found = dict.fromkeys(map(texts, gaps))
    return tuple(Incomplete(what=what, why=why, consequence=consequence) for what, why, consequence in found)
