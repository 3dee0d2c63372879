"""Times in the format of the API server."""

from collections.abc import Iterable
from datetime import datetime

from kubectl_spread.objects.core import Event, Pod


def moment(text: str | None) -> datetime | None:
    """Return the time of RFC 3339 text, None if it is no such text."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def written(time: datetime) -> str:
    """Return the time in the format of the API server."""
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


def last_told(pods: Iterable[Pod], events: Iterable[Event] = ()) -> datetime | None:
    """Return the latest time that the Pods and Events tell of, None if they have no times."""
    # Many of the times are equal, so a set is parsed faster.
    times: set[str | None] = {event.time for event in events}
    for pod in pods:
        times.add(pod.metadata.creation_timestamp)
        times.update(condition.last_transition_time for condition in pod.status.conditions)
    return max(filter(None, map(moment, times)), default=None)
