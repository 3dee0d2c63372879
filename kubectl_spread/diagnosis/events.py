"""What the scheduler itself last said of a Pod."""

from __future__ import annotations

from kubectl_spread.objects.core import Event, Pod
from kubectl_spread.report import EventReport
from kubectl_spread.snapshot import Snapshot

FAILED_SCHEDULING = "FailedScheduling"


def last_failure(pod: Pod, snapshot: Snapshot) -> EventReport | None:
    """Return the last FailedScheduling message, from the newest Event or else the condition; None without either."""
    events = [event for event in snapshot.all(Event) if _is_failure_of(pod, event)]
    if events:
        newest = max(events, key=_time)
        count = newest.series.count if newest.series else newest.count
        return EventReport(message=newest.message, time=_time(newest), count=max(count, 1))
    for condition in pod.status.conditions:
        if (condition.type, condition.status, condition.reason) == ("PodScheduled", "False", "Unschedulable"):
            return EventReport(message=condition.message, time=condition.last_transition_time or "")
    return None


def _is_failure_of(pod: Pod, event: Event) -> bool:
    """Whether the Event says that the Pod could not be scheduled."""
    about = event.involved_object
    same = (about.kind, about.namespace, about.name) == ("Pod", pod.metadata.namespace, pod.metadata.name)
    return same and event.reason == FAILED_SCHEDULING and about.uid in {"", pod.metadata.uid}


def _time(event: Event) -> str:
    """Return when the Event last happened, RFC 3339 text; empty when it does not say."""
    series = event.series.last_observed_time if event.series else None
    return series or event.last_timestamp or event.event_time or event.first_timestamp or ""
