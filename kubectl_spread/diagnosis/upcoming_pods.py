"""The Pods that a workload creates next: why the API server refuses them, and how many more find a node."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import Refusal
from kubectl_spread.controllers.job import at_once
from kubectl_spread.controllers.next_pod import NextPod, claims_of, next_pod, over_quota
from kubectl_spread.controllers.shortage import Shortage, failure_of
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.statuses import OK, BlockedBy, FailedCreate, Headroom, NoMoreWanted, Status, Unschedulable
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Job, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.simulation.placement import place_each, with_placed


class NotCreated(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A workload that lacks Pods because the API server refuses them."""

    namespace: str
    workload: WorkloadRef
    wanted: int  # the Pods that it, or the newest revision of a Deployment, should have (count)
    created: int  # how many of them exist
    message: str  # why the next one is refused
    # `condition` if it is the last message of the workload's own controller; absent if it follows from the quotas,
    # limits and other objects that were read
    message_from: Literal["condition"] | UnsetType = UNSET
    # what has to be created for that, as `ServiceAccount web`; absent if nothing has to
    missing: str | UnsetType = UNSET
    cluster: str | UnsetType = UNSET  # the context of its cluster; absent if one cluster was read


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
        missing=upcoming.refusals[0].missing or UNSET,
    )


MOST_TRIED = 100  # Replicas (count) that are tried
BESIDES = 50  # The cost of a trial besides its verdicts on nodes (count of such verdicts)


def headroom_of(workload: OwnedPods, upcoming: NextPod, handle: Handle, *, most_verdicts: int) -> Headroom | None:
    """Return how many more replicas find a node, with ties broken by name; None if the budget allows no trial.

    Its Pending Pods are placed first. The trials may cost at most ``most_verdicts`` verdicts on single nodes (count).
    """
    waiting = [pod for pod in workload.pods if pod.waits and pod.key not in handle.snapshot.assumed]
    most = min(MOST_TRIED, most_verdicts // (len(handle.node_infos) + BESIDES) - len(waiting))
    if most > 0 and waiting:
        ends = place_each(waiting, Handles(handle))
        handle = ends.handles.default
        if ends.left:
            return Headroom(more=0, tried=0, then=_what_stops(judge(ends.left[0], handle)))
        found = {pod.key: replace(pod, spec=replace(pod.spec, node_name=name)) for pod, name in ends.nodes}
        workload = OwnedPods(
            workload.namespace, workload.ref, workload.owner, tuple(found.get(pod.key, pod) for pod in workload.pods)
        )
        upcoming = next_pod(workload, handle.snapshot, handle.profile) or upcoming
    following: NextPod | None = upcoming
    before, created = handle, 0
    for number in range(most):
        if following is None or not following.comes:
            return Headroom(more=number, tried=number, then=NoMoreWanted())
        # Quotas already count a Pod that exists.
        if before.snapshot.get(Pod, *following.pod.key) is None:
            others = [(upcoming.pod, created)] if created else []
            refused = over_quota(following.pod, others, before.snapshot, before.profile) if others else ()
            following = replace(following, refusals=(*following.refusals, *refused))
            created += 1
        if following.refusals:
            then = FailedCreate(message=str(following.refusals[0]))
            return Headroom(more=number, tried=number + 1, then=then)
        handle = following.place(handle)
        best = cycle.best_nodes(following.pod, handle)
        if not best:
            stopped = judge(following.pod, handle)
            return Headroom(more=number, tried=number + 1, then=_what_stops(stopped))
        handle = with_placed(following.pod, best[0], handle)
        bound = replace(following.pod, spec=replace(following.pod.spec, node_name=best[0]))
        workload = OwnedPods(workload.namespace, workload.ref, workload.owner, (*workload.pods, bound))
        following = _pod_after(workload, following, number + 1, handle)
    return Headroom(more=most, tried=most) if most > 0 else None


def _pod_after(workload: OwnedPods, before: NextPod, number: int, handle: Handle) -> NextPod | None:
    """Return the next Pod, as the replica of this number; None if no more are wanted."""
    if isinstance(workload.owner, StatefulSet | Job) or (workload.owner is None and before.claims):
        return next_pod(workload, handle.snapshot, handle.profile)
    if isinstance(workload.owner, CronJob) and number >= at_once(workload.owner.spec.job_template.spec):
        return None  # The Pods of one run.
    # An owner without ordinals creates the same Pod again, with another name.
    pod = renamed(before.pod, f"{workload.ref.name}-{number}")
    return replace(before, pod=pod, claims=tuple(claims_of(workload.owner, pod)))


def _what_stops(decision: Judgement) -> Status | BlockedBy | None:
    blame = decision.blame
    if decision.preemption is not None:
        return OK(preemption=decision.preemption)
    if blame is None or not blame.blocking:
        return Unschedulable(blame=blame) if blame else None
    blocking = (each for each in decision.spread.constraints if each.index in blame.blocking)
    pinned = (tuple(d.value for d in each.held) if each.pinned else (each.topology_key,) for each in blocking)
    return BlockedBy(constraints=tuple(pinned))
