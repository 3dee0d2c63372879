"""Pods that the scheduler has put on a node and not bound yet, for their volumes are being made.

The scheduler writes the node into the Pod's claims, counts the Pod there, and binds it once the volumes are made. No
object says so outright: the claim keeps the node after the Pod was refused again, or is another one of that name.

Source: kube-scheduler volumebinding/binder.go AssumePodVolumes, bindAPIUpdate, schedule_one.go assume (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from kubectl_spread.objects.core import Event, Pod
from kubectl_spread.objects.storage import ANN_SELECTED_NODE, PersistentVolumeClaim
from kubectl_spread.objects.times import moment

GAVE_UP = "binding volumes"
"""What the message of a Pod has that was to be bound, but for its volumes: the scheduler tries that node again.

Source: kube-scheduler volumebinding/volume_binding.go PreBind, binder.go BindPodVolumes (v1.36).
"""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A node that claims of a Pod name, which has none.

    Attributes:
        stands: whether the scheduler counts the Pod there; None where nothing says whether it refused the Pod since.
    """

    pod: Pod
    node_name: str
    stands: bool | None


def choice_of(pod: Pod, claims: Sequence[PersistentVolumeClaim | None], refusals: Sequence[Event]) -> Choice | None:
    """Return the node that the Pod's claims name; None where they name none, or not the same one.

    Args:
        pod: a Pod that waits for a node.
        claims: its claims; None for one that does not exist.
        refusals: the Events in which the scheduler says that it could not schedule the Pod.
    """
    unbound = [claim for claim in claims if claim is None or not claim.fully_bound]
    chosen = {claim and claim.metadata.annotations.get(ANN_SELECTED_NODE) for claim in unbound}
    node_name = chosen.pop() if len(chosen) == 1 else None
    if not node_name or pod.spec.scheduling_gates:
        return None
    times = [claim.node_chosen_at for claim in unbound if claim]
    chosen_at = None if None in times else max(filter(None, times))
    return Choice(pod=pod, node_name=node_name, stands=_stands(pod, node_name, chosen_at, refusals))


def _stands(pod: Pod, node_name: str, chosen_at: datetime | None, events: Sequence[Event]) -> bool | None:
    """Return whether no refusal came after the choice; None where that is not known."""
    conditions = [each for each in pod.status.conditions if each.refuses and GAVE_UP not in each.message]
    events = [event for event in events if GAVE_UP not in event.message]
    if not (conditions or events):
        return True
    told = [moment(event.time) for event in events]
    # One that was refused and is newer than the choice has it from a Pod of its name before it.
    begun = (pod.metadata.creation_timestamp, *(condition.last_transition_time for condition in conditions))
    times = (*told, *map(moment, begun))
    newer = chosen_at is not None and any(time > chosen_at for time in times if time)
    # From v1.35 on the scheduler nominates the Pod to the node while it is being bound, and takes that back.
    if pod.status.nominated_node_name == node_name:
        return None if newer else True
    if newer:
        return False
    # A condition has the time of the first refusal alone: only Events tell that none came later.
    return True if chosen_at and told and all(time and time < chosen_at for time in told) else None
