"""How long the search for fixes may take. The engine has no clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from kubectl_spread.contract.report import ClusterAccess, Metadata
from kubectl_spread.diagnosis.fixes.situation import Spent
from kubectl_spread.objects.times import written

T = TypeVar("T")

SECONDS = 30.0  # The default for all searches for fixes together
SECONDS_WHERE_LARGE = 2.5  # The same in a large cluster, where most of the time would go into many similar fixes
LARGE = 1_000  # Nodes (count) above which a cluster is large


def seconds_for(asked: float | None, nodes: int) -> float:
    """Return how long the search for fixes may take (seconds): what is asked, else by the nodes of the cluster."""
    if asked is not None:
        return asked
    return SECONDS_WHERE_LARGE if nodes > LARGE else SECONDS


class FixBudget:
    """The time for all searches for fixes, shared among Pod templates; what one leaves, later ones may use.

    Only the searches count, not the work between them.
    """

    def __init__(self, seconds: float, templates: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = seconds
        self._to_come = templates

    def within(self, search: Callable[[Spent], T]) -> T:
        """Return the result of the next template's search, which can ask whether its share is spent."""
        began = self._clock()
        until = began + self._left / self._to_come
        self._to_come -= 1
        found = search(lambda: self._clock() > until)
        self._left = max(self._left - (self._clock() - began), 0)
        return found


def now(metadata: Metadata) -> str:
    """Return the time of the cluster that was read, as the API writes it; files may be older than this clock."""
    if metadata.server:
        return written(datetime.now(UTC))
    taken_at = metadata.access.taken_at if isinstance(metadata.access, ClusterAccess) else ""
    return taken_at or metadata.as_of
