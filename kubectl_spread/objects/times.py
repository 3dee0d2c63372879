"""Times as API servers write them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kubectl_spread.objects.core import Pod


def moment(text: str | None) -> datetime | None:
    """Return the time that RFC 3339 text says, None where it says none."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def written(time: datetime) -> str:
    """Return the time as an API server writes it."""
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


def last_told(pods: Iterable[Pod]) -> datetime | None:
    """Return the last time that Pods tell of, of what was made or became of them; None where they tell none."""
    # A Pod's conditions change together, and so do many Pods.
    told: set[str | None] = set()
    for pod in pods:
        told.add(pod.metadata.creation_timestamp)
        told.update(condition.last_transition_time for condition in pod.status.conditions)
    return max(filter(None, map(moment, told)), default=None)
