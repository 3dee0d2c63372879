"""How many more replicas of a workload find a node, one after another, and what stops the next one."""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_spread.controllers.job import at_once
from kubectl_spread.controllers.next_pod import NextPod, claims_of, next_pod, over_quota
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.statuses import OK, BlockedBy, FailedCreate, Headroom, NoMoreWanted, Status, Unschedulable
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, Job, StatefulSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import place

MOST_TRIED = 100
"""Replicas (count) that are tried."""
BESIDES = 50
"""The cost of a trial besides its verdicts on nodes (count of such verdicts)."""


def headroom_of(workload: OwnedPods, upcoming: NextPod, handle: Handle, *, most_verdicts: int) -> Headroom | None:
    """Return how many more replicas find a node, with ties broken by name; None if the budget allows no trial.

    The trials may cost at most ``most_verdicts`` verdicts on single nodes (count).
    """
    most = min(MOST_TRIED, most_verdicts // (len(handle.node_infos) + BESIDES))
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
        placed = place(following.pod, handle)
        if placed is None:
            stopped = judge(following.pod, handle)
            return Headroom(more=number, tried=number + 1, then=_what_stops(stopped))
        node_name, handle = placed
        bound = replace(following.pod, spec=replace(following.pod.spec, node_name=node_name))
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
