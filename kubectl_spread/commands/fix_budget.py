"""How long the search for fixes may take, and when it begins: what the engine cannot know."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from kubectl_spread.diagnosis.fixes.search import Spent

T = TypeVar("T")

SECONDS = 30.0
"""For the search for fixes in all, unless somebody says otherwise."""
SECONDS_WHERE_LARGE = 5.0
"""The same in a large cluster: what takes longer there is to try the many alike, and the first ones are told."""
LARGE = 1_000
"""Nodes (count) above which a cluster is."""


def seconds_for(asked: float | None, nodes: int) -> float:
    """Return how long the search for fixes may take (seconds).

    Args:
        asked: what somebody said; None where nobody did.
        nodes: of the cluster (count).
    """
    if asked is not None:
        return asked
    return SECONDS_WHERE_LARGE if nodes > LARGE else SECONDS


class FixBudget:
    """The time that the search for fixes may take, shared among templates; what one leaves is for those to come.

    Only searching counts, and not what else is found out of each template in between.

    Args:
        seconds: for all of them.
        templates: how many there are (count).
        clock: seconds that only increase.
    """

    def __init__(self, seconds: float, templates: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = seconds
        self._to_come = templates

    def within(self, search: Callable[[Spent], T]) -> T:
        """Return what the next template's search finds, which is told whether its share is used up."""
        began = self._clock()
        until = began + self._left / self._to_come
        self._to_come -= 1
        found = search(lambda: self._clock() > until)
        self._left = max(self._left - (self._clock() - began), 0)
        return found


def now() -> str:
    """Return the moment as the API writes it: files have none of their own, and what they hold is past."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
