"""What the scheduler itself last said of a Pod."""

from __future__ import annotations

import msgspec

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.pending import EventReport
from kubectl_spread.objects.core import FAILED_SCHEDULING, Event, Pod
from kubectl_spread.snapshot import Snapshot

_GAVE_UP = "binding volumes"
"""What the message of a Pod has that was to be bound, but for its volumes.

Source: kube-scheduler volumebinding/volume_binding.go PreBind, binder.go BindPodVolumes (v1.36).
"""


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


def compared(event: EventReport | None, report: EvaluationReport, *, known: bool) -> EventReport | None:
    """Return the scheduler's last word with why it differs from what is said here; empty where it does not.

    Args:
        event: the scheduler's last word.
        report: what is said here.
        known: whether the rules of the Pod's scheduler are known.
    """
    said = report.message
    # None: what the scheduler would say is not known, so there is nothing to compare.
    if event is None or said is None or (said and event.message.startswith(said.removesuffix("."))):
        return event
    if not known:
        differs = "another scheduler said it, by rules that are not known here"
    elif _GAVE_UP in event.message:
        differs = "it says that the scheduler had chosen a node and gave up waiting for volumes there; it tries again"
    elif report.assumed:
        differs = "it is out of date: the scheduler has chosen a node since"
    elif report.feasible:
        differs = (
            "it is out of date: the Pod can be scheduled now, and the scheduler has not tried since or is backing off"
        )
    else:
        differs = "the cluster has changed since, or while it was read"
    return msgspec.structs.replace(event, differs=differs)


def _is_failure_of(pod: Pod, event: Event) -> bool:
    """Whether the Event says that the Pod could not be scheduled."""
    about = event.involved_object
    same = (about.kind, about.namespace, about.name) == ("Pod", pod.metadata.namespace, pod.metadata.name)
    return same and event.reason == FAILED_SCHEDULING and about.uid in {"", pod.metadata.uid}


def _time(event: Event) -> str:
    """Return when the Event last happened, RFC 3339 text; empty when it does not say."""
    series = event.series.last_observed_time if event.series else None
    return series or event.last_timestamp or event.event_time or event.first_timestamp or ""
