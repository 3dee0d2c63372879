"""Pods that are not created: the API server refuses them, or did so last."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.controllers.next_pod import NextPod, next_pod
from kubectl_spread.controllers.shortage import Shortage, failure_of
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.scheduler.framework import Handle


class NotCreated(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A workload that lacks Pods because the API server refuses them.

    Attributes:
        wanted: the Pods that it, or the newest revision of a Deployment, should have (count).
        created: how many of them exist.
        message: why the next one is refused.
        message_from: ``condition`` if it is the last message of the workload's own controller; absent if it follows
            from the quotas, limits and other objects that were read.
    """

    namespace: str
    workload: WorkloadRef
    wanted: int
    created: int
    message: str
    message_from: Literal["condition"] | UnsetType = UNSET


def upcoming_pod(workload: OwnedPods, handle: Handle) -> NextPod | None:
    """Return the workload's next Pod, also refused if its controller could not create it at its last try.

    That reveals what no list shows, such as a webhook that denies it.
    """
    upcoming = next_pod(workload, handle.snapshot, handle.profile)
    if upcoming is None or upcoming.refusals or not upcoming.comes:
        return upcoming
    failure = failure_of(workload, handle.snapshot)
    return replace(upcoming, refusals=(Refusal("", failure),)) if failure else upcoming


def creation_failure(workload: OwnedPods, shortage: Shortage, handle: Handle) -> NotCreated | None:
    """Return why the Pods that the workload lacks are not created; None if nothing shows why."""
    upcoming = upcoming_pod(workload, handle)
    # A DaemonSet creates its missing Pods for their nodes, and has no next Pod.
    comes = upcoming is not None and (upcoming.comes or isinstance(workload.owner, DaemonSet))
    if upcoming is None or not (comes and upcoming.refusals):
        return None
    message = str(upcoming.refusals[0])
    return NotCreated(
        namespace=workload.namespace,
        workload=workload.ref,
        wanted=shortage.wanted,
        created=shortage.created,
        message=message,
        message_from="condition" if message == shortage.failure else UNSET,
    )
