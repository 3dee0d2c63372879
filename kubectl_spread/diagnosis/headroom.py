"""How many more replicas of a workload find a node, one after another, and what stops the first that does not."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.contract.skew import Headroom
from kubectl_spread.controllers.job import at_once
from kubectl_spread.controllers.next_pod import NextPod, claims_of, next_pod, over_quota
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.diagnosis.causes import held, is_pinned
from kubectl_spread.diagnosis.constraint_state import SpreadStatus
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import CronJob, Job, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import place
from kubectl_spread.wording.words import enumerated

MOST_TRIED = 100
"""Replicas (count) that are tried."""
BESIDES = 50
"""What a trial costs beside its verdicts on nodes (count of such verdicts)."""
NO_MORE = "no more are wanted"


def headroom(workload: OwnedPods, upcoming: NextPod, handle: Handle, *, most_verdicts: int) -> Headroom | None:
    """Return how many more replicas find a node, ties broken by name; None where there is no time to try any.

    Args:
        workload: whose replicas.
        upcoming: the first of them.
        handle: the cluster as it is.
        most_verdicts: verdicts on single nodes (count) that it may cost.
    """
    most = min(MOST_TRIED, most_verdicts // (len(handle.node_infos) + BESIDES))
    following: NextPod | None = upcoming
    before, created = handle, 0
    for number in range(most):
        if following is None or not following.comes:
            return Headroom(more=number, tried=number, then=NO_MORE)
        # One that waits for a node already is in what quotas say is used.
        if before.snapshot.get(Pod, *following.pod.key) is None:
            following = _within_quota(following, [(upcoming.pod, created)] if created else [], before)
            created += 1
        if following.refusals:
            then = f"{SpreadStatus.FAILED_CREATE}: {following.refusals[0]}"
            return Headroom(more=number, tried=number + 1, then=then)
        handle = following.place(handle)
        binding = place(following.pod, handle)
        if binding is None:
            stopped = judge(cycle.evaluate(following.pod, handle), handle)
            return Headroom(more=number, tried=number + 1, then=_what_stops(stopped))
        handle = binding.handle
        workload = _after(workload, following.pod, binding.node)
        following = _following(workload, following, number + 1, handle)
    return Headroom(more=most, tried=most) if most > 0 else None


def _within_quota(following: NextPod, others: Sequence[tuple[Pod, int]], handle: Handle) -> NextPod:
    """Return the Pod, refused where quotas leave no room for it once the others are there."""
    refused = tuple(over_quota(following.pod, others, handle.snapshot, handle.profile)) if others else ()
    return replace(following, refusals=(*following.refusals, *refused))


def _after(workload: OwnedPods, placed: Pod, node_name: str) -> OwnedPods:
    """Return the workload with one more Pod, on that node."""
    bound = replace(placed, spec=replace(placed.spec, node_name=node_name))
    return OwnedPods(workload.namespace, workload.ref, workload.owner, (*workload.pods, bound))


def _following(workload: OwnedPods, before: NextPod, number: int, handle: Handle) -> NextPod | None:
    """Return the Pod that follows as the replica of that number, None where no more are wanted."""
    if isinstance(workload.owner, StatefulSet | Job) or (workload.owner is None and before.claims):
        return next_pod(workload, handle.snapshot, handle.profile)
    if isinstance(workload.owner, CronJob) and number >= at_once(workload.owner.spec.job_template.spec):
        return None  # The Pods of one run.
    # What has no ordinals makes the same Pod over again, under another name.
    pod = renamed(before.pod, f"{workload.ref.name}-{number}")
    return replace(before, pod=pod, claims=tuple(claims_of(workload.owner, pod)))


def _what_stops(decision: Judgement) -> str:
    """Return what keeps a replica from every node, in a few words."""
    if decision.preemption is not None:
        return decision.preempts
    blame = decision.blame
    if blame is None or not blame.blocking:
        return f"{SpreadStatus.UNSCHEDULABLE}: {blame.reason}" if blame else ""
    blocking = [each for each in decision.spread.constraints if each.index in blame.blocking]
    return f"{SpreadStatus.BLOCKED} by {enumerated(list(dict.fromkeys(map(_by, blocking))), most=2)}"


def _by(constraint: ConstraintReport) -> str:
    """Return the domains that keep the others from growing; the topology key where none is shut."""
    pinned = [domain.value for domain in held(constraint)] if is_pinned(constraint) else []
    return enumerated(pinned, most=2) or constraint.topology_key
