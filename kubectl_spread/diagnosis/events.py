"""The scheduler's last message about a Pod, and why it differs from ours."""

from __future__ import annotations

from enum import Enum, auto

import msgspec

from kubectl_spread.assumed import GAVE_UP
from kubectl_spread.objects.core import Pod
from kubectl_spread.snapshot import Snapshot


class LastFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's last message about a Pod that it could not schedule."""

    message: str  # as in the Event or the Pod's condition, with the part about preemption
    time: str = ""  # RFC 3339 text; empty if unknown
    count: int = 1  # how often it was reported
    differs: Difference | None = None  # why it differs from ours; None if it does not


class Difference(Enum):
    """Why the scheduler's last message differs from ours."""

    OTHER_SCHEDULER = auto()
    GAVE_UP_ON_VOLUMES = auto()  # It had chosen a node, and its wait for volumes there timed out
    NODE_CHOSEN = auto()
    NOT_ORDERED = auto()  # It had chosen a node too, before or after
    NOT_EVALUATED = auto()
    SCHEDULABLE_NOW = auto()
    CLUSTER_CHANGED = auto()


def last_failure(pod: Pod, snapshot: Snapshot) -> LastFailure | None:
    """Return the last FailedScheduling message, from the newest Event or else the condition; None without either."""
    if events := snapshot.refusals_of(pod):
        newest = max(events, key=lambda event: event.time)
        count = newest.series.count if newest.series else newest.count
        return LastFailure(message=newest.message, time=newest.time, count=max(count, 1))
    for condition in pod.status.conditions:
        if (condition.type, condition.status, condition.reason) == ("PodScheduled", "False", "Unschedulable"):
            return LastFailure(message=condition.message, time=condition.last_transition_time or "")
    return None


def difference(
    failure: LastFailure, message: str | None, *, chosen: bool | None, feasible: bool, known: bool, complete: bool
) -> Difference | None:
    """Return why the scheduler's last message differs from ours; None if it does not, or ours is unknown.

    ``chosen``: whether the scheduler has chosen a node since and waits to bind the Pod; None if unknown. ``known``:
    whether the rules of the Pod's scheduler are. ``complete``: whether everything was evaluated.
    """
    if message is None or (message and failure.message.startswith(message.removesuffix("."))):
        return None
    if not known:
        return Difference.OTHER_SCHEDULER
    if GAVE_UP in failure.message:
        return Difference.GAVE_UP_ON_VOLUMES
    if chosen:
        return Difference.NODE_CHOSEN
    if feasible and chosen is None:
        return Difference.NOT_ORDERED
    now = Difference.SCHEDULABLE_NOW if feasible else Difference.CLUSTER_CHANGED
    return now if complete else Difference.NOT_EVALUATED
