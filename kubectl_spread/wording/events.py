"""Why the scheduler's last message differs from ours, in words."""

from __future__ import annotations

from kubectl_spread.diagnosis.events import Difference

DIFFERENCES = {
    Difference.OTHER_SCHEDULER: "another scheduler said it, by rules that are not known here",
    Difference.GAVE_UP_ON_VOLUMES: (
        "it says that the scheduler had chosen a node and gave up waiting for volumes there; it tries again"
    ),
    Difference.NODE_CHOSEN: "it is out of date: the scheduler has chosen a node since",
    Difference.SCHEDULABLE_NOW: (
        "it is out of date: the Pod can be scheduled now, and the scheduler has not tried since or is backing off"
    ),
    Difference.CLUSTER_CHANGED: "the cluster has changed since, or while it was read",
}
"""Difference → its text."""
