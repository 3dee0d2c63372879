"""Whether the Eviction API evicts a Pod.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go; kubectl pkg/drain/drain.go evictPods, for namespaces that
are being terminated (v1.36). Not modelled: a budget whose status is out of date.
"""

import msgspec

from kubectl_spread.apiserver.denials import ending
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.snapshot import Snapshot

ALWAYS_ALLOW = "AlwaysAllow"
MORE_THAN_ONE = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class EvictionRefused(msgspec.Struct, frozen=True):
    """The API server refuses the eviction with this message."""

    message: str


def refusal(pod: Pod, snapshot: Snapshot) -> str:
    """Return why the API server refuses to evict the Pod; empty where it evicts it.

    The snapshot must have the PodDisruptionBudgets.
    """
    if fault := "" if pod.terminating else ending(pod.metadata.namespace, snapshot):
        return fault
    if ignores_budgets(pod):
        return ""
    budgets = budgets_of(pod, snapshot)
    if len(budgets) > 1:
        return MORE_THAN_ONE
    for budget in budgets:
        status = budget.status
        # upstream: an unready Pod goes even if the budget is used up, by default only while enough others are healthy.
        healthy = status.current_healthy >= status.desired_healthy > 0
        unready = not pod.ready and (healthy or budget.spec.unhealthy_pod_eviction_policy == ALWAYS_ALLOW)
        if status.disruptions_allowed < 1 and not unready:
            return f"The disruption budget {budget.metadata.name} does not allow evicting pods currently"
    return ""


def ignores_budgets(pod: Pod) -> bool:
    """Whether no budget protects the Pod: it has not started, has ended, or is being deleted.

    Source: eviction.go canIgnorePDB (v1.36).
    """
    return pod.finished or pod.terminating or pod.status.phase == "Pending"


def budgets_of(pod: Pod, snapshot: Snapshot) -> tuple[PodDisruptionBudget, ...]:
    """Return the PodDisruptionBudgets that select the Pod. Source: eviction.go getPodDisruptionBudgets (v1.36)."""
    own = snapshot.within(PodDisruptionBudget, pod.metadata.namespace)
    return tuple(budget for budget in own if budget.selector.matches(pod.metadata.labels))
