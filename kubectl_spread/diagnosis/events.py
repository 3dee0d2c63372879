"""The scheduler's own last message about a Pod, and why it differs from ours."""

from __future__ import annotations

from enum import Enum, auto

import msgspec

from kubectl_spread.objects.core import FAILED_SCHEDULING, Event, Pod
from kubectl_spread.snapshot import Snapshot

_GAVE_UP = "binding volumes"
"""What the message of a Pod has that was to be bound, but for its volumes.

Source: kube-scheduler volumebinding/volume_binding.go PreBind, binder.go BindPodVolumes (v1.36).
"""


class LastFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's last message about a Pod that it could not schedule.

    Attributes:
        message: as it stands in the Event or the Pod's condition, the part about preemption included.
        time: RFC 3339 text; empty when unknown.
        count: how often it was said.
    """

    message: str
    time: str = ""
    count: int = 1


class Difference(Enum):
    """Why the scheduler's last message differs from ours."""

    OTHER_SCHEDULER = auto()
    GAVE_UP_ON_VOLUMES = auto()
    """It had chosen a node, and its wait for volumes there timed out."""
    NODE_CHOSEN = auto()
    SCHEDULABLE_NOW = auto()
    CLUSTER_CHANGED = auto()


def last_failure(pod: Pod, snapshot: Snapshot) -> LastFailure | None:
    """Return the last FailedScheduling message, from the newest Event or else the condition; None without either."""
    events = [event for event in snapshot.all(Event) if _is_failure_of(pod, event)]
    if events:
        newest = max(events, key=_time)
        count = newest.series.count if newest.series else newest.count
        return LastFailure(message=newest.message, time=_time(newest), count=max(count, 1))
    for condition in pod.status.conditions:
        if (condition.type, condition.status, condition.reason) == ("PodScheduled", "False", "Unschedulable"):
            return LastFailure(message=condition.message, time=condition.last_transition_time or "")
    return None


def difference(
    failure: LastFailure, message: str | None, *, chosen: bool, feasible: bool, known: bool
) -> Difference | None:
    """Return why the scheduler's last message differs from ours; None where it does not, or ours is not known.

    Args:
        failure: the scheduler's last message.
        message: ours; None where it is not known.
        chosen: whether the scheduler has chosen a node since and waits to bind the Pod.
        feasible: whether some node takes the Pod.
        known: whether the rules of the Pod's scheduler are known.
    """
    if message is None or (message and failure.message.startswith(message.removesuffix("."))):
        return None
    if not known:
        return Difference.OTHER_SCHEDULER
    if _GAVE_UP in failure.message:
        return Difference.GAVE_UP_ON_VOLUMES
    if chosen:
        return Difference.NODE_CHOSEN
    return Difference.SCHEDULABLE_NOW if feasible else Difference.CLUSTER_CHANGED


def _is_failure_of(pod: Pod, event: Event) -> bool:
    about = event.involved_object
    same = (about.kind, about.namespace, about.name) == ("Pod", pod.metadata.namespace, pod.metadata.name)
    return same and event.reason == FAILED_SCHEDULING and about.uid in {"", pod.metadata.uid}


def _time(event: Event) -> str:
    series = event.series.last_observed_time if event.series else None
    return series or event.last_timestamp or event.event_time or event.first_timestamp or ""
