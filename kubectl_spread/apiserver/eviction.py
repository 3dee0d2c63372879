"""Whether the API server lets a Pod be evicted, as ``kubectl drain`` and the Eviction API ask it.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go; kubectl pkg/drain/drain.go evictPods, of namespaces that
are being terminated (v1.36). Not modelled: a budget whose status lags.
"""

from __future__ import annotations

import msgspec

from kubectl_spread.apiserver.denials import ending
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.snapshot import Snapshot

ALWAYS_ALLOW = "AlwaysAllow"
MORE_THAN_ONE = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class EvictionRefused(msgspec.Struct, frozen=True):
    """The API server refuses the eviction, in these words."""

    message: str


def refusal(pod: Pod, snapshot: Snapshot) -> str:
    """Return why the API server would refuse to evict the Pod, empty where it would not.

    The PodDisruptionBudgets are among the kinds that were read.
    """
    if fault := "" if pod.terminating else ending(pod.metadata.namespace, snapshot):
        return fault
    if ignores_budgets(pod):
        return ""
    budgets = budgets_of(pod, snapshot)
    if len(budgets) > 1:
        return MORE_THAN_ONE
    # disruptionsAllowed >= 1, or no budget at all
    return next(
        (
            f"The disruption budget {budget.metadata.name} does not allow evicting pods currently"
            for budget in budgets
            if budget.status.disruptions_allowed < 1 and not _may_go_unready(pod, budget)
        ),
        "",
    )


def _may_go_unready(pod: Pod, budget: PodDisruptionBudget) -> bool:
    """Whether the Pod may go although the budget is used up: it is not ready, so that it serves nobody."""
    # upstream: by default only while the others are as healthy as they must be.
    if pod.ready:
        return False
    status = budget.status
    healthy = status.current_healthy >= status.desired_healthy > 0
    return healthy or budget.spec.unhealthy_pod_eviction_policy == ALWAYS_ALLOW


def ignores_budgets(pod: Pod) -> bool:
    """Whether no budget protects the Pod: it has not started, has ended, or is going already.

    Source: eviction.go canIgnorePDB (v1.36).
    """
    return pod.finished or pod.terminating or pod.status.phase == "Pending"


def budgets_of(pod: Pod, snapshot: Snapshot) -> tuple[PodDisruptionBudget, ...]:
    """Return the PodDisruptionBudgets that select the Pod.

    Source: eviction.go getPodDisruptionBudgets (v1.36).
    """
    return tuple(
        budget
        for budget in snapshot.all(PodDisruptionBudget)
        if budget.metadata.namespace == pod.metadata.namespace and budget.selector.matches(pod.metadata.labels)
    )
