"""How many of the Pods that are to come the quotas of their namespace let in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from kubectl_spread.apiserver.resourcequotas import quota_fault
from kubectl_spread.controllers.rollout_plan import FailedCreate, PlannedPod, RolloutPlan
from kubectl_spread.objects.core import Pod, ResourceQuota
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import Snapshot


def failed_create(plan: RolloutPlan, before: Snapshot, handle: Handle) -> FailedCreate | None:
    """Return at which Pod the quotas end the plan, None where they do not.

    Args:
        plan: what comes and what goes, its Pods as admission has completed them.
        before: the cluster without any manifest, which the quotas' status speaks of.
        handle: the cluster with those before.
    """
    if not any(quota.metadata.namespace == _namespace(plan.steps) for quota in handle.snapshot.all(ResourceQuota)):
        return None
    # A Pod that is Pending has been let in.
    here = {step.pod.key for step in plan.steps if before.get(Pod, *step.pod.key) is not None}
    others = [(pod, 1) for pod in _new_pods(_namespace(plan.steps), before, handle.snapshot)]

    def fault(number: int) -> str:
        """Return what the API server says to the Pod of that number, counted from 0."""
        step = plan.steps[number]
        if step.pod.key in here:
            return ""
        new = sum(each.pod.key not in here for each in plan.steps[:number])
        gone = [(pod, -1) for pod in plan.old[: step.gone]]
        return quota_fault(step.pod, [*others, (step.pod, new), *gone], handle.snapshot, handle.profile.release)

    # Each Pod that comes leaves less room for the next.
    created = bisect_left(range(len(plan.steps)), 1, key=lambda number: bool(fault(number)))
    return FailedCreate(created=created, message=fault(created)) if created < len(plan.steps) else None


def _namespace(steps: Sequence[PlannedPod]) -> str:
    """Return the namespace of the Pods that come; empty where none does."""
    return steps[0].pod.metadata.namespace if steps else ""


def _new_pods(namespace: str, before: Snapshot, snapshot: Snapshot) -> list[Pod]:
    """Return the Pods of the namespace that other manifests have brought."""
    return [
        pod
        for pods in snapshot.assigned.values()
        for pod in pods
        if pod.metadata.namespace == namespace and before.get(Pod, *pod.key) is None
    ]
