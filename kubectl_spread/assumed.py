"""Pods that the scheduler has assumed on a node and not bound yet, because their volumes are being provisioned.

The scheduler writes the node into the Pod's claims, counts the Pod there, and binds it when the volumes exist. No
object states this: the claim keeps the node if the Pod is rejected later, or if another Pod with its name is created.

Source: kube-scheduler volumebinding/binder.go AssumePodVolumes, bindAPIUpdate, schedule_one.go assume (v1.36).
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from kubectl_spread.objects.core import Event, Pod
from kubectl_spread.objects.storage import ANN_SELECTED_NODE, PersistentVolumeClaim
from kubectl_spread.objects.times import moment

# Part of the message of a Pod whose volumes could not be bound: the scheduler tries the same node again.
#
# Source: kube-scheduler volumebinding/volume_binding.go PreBind, binder.go BindPodVolumes (v1.36).
GAVE_UP = "binding volumes"


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The node in the claims of a Pod without a node."""

    pod: Pod
    node_name: str
    # whether the scheduler counts the Pod there; None if it is not known whether it rejected the Pod since
    stands: bool | None


def choice_of(pod: Pod, claims: Sequence[PersistentVolumeClaim | None], refusals: Sequence[Event]) -> Choice | None:
    """Return the node that the Pod's claims name; None if they name none, or different ones.

    A claim that does not exist is None; ``refusals`` are the Events in which the scheduler could not schedule the Pod.
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
    """Return whether no rejection came after the choice; None if that is not known."""
    conditions = [each for each in pod.status.conditions if each.refuses and GAVE_UP not in each.message]
    reported = [moment(event.time) for event in events if GAVE_UP not in event.message]
    if not (conditions or reported):
        return True
    # If the Pod is newer than the choice, the choice was for an earlier Pod with its name.
    begun = (pod.metadata.creation_timestamp, *(condition.last_transition_time for condition in conditions))
    times = (*reported, *map(moment, begun))
    newer = chosen_at is not None and any(time > chosen_at for time in times if time)
    # Since v1.35 the Pod is nominated to the node while it is being bound.
    if pod.status.nominated_node_name == node_name:
        return None if newer else True
    if newer:
        return False
    # A condition has the time of the first rejection; only Events show that no later one came.
    return True if chosen_at and reported and all(time and time < chosen_at for time in reported) else None
