"""PodDisruptionBudgets: how many evictions each allows as things are.

Source: kube-controller-manager pkg/controller/disruption/disruption.go trySync, getExpectedPodCount, updatePdbStatus
(v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.kinds import WORKLOADS
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.workloads import Deployment, ReplicaSet, StatefulSet
from kubectl_spread.snapshot import Snapshot

_SCALED = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


def with_status(budget: PodDisruptionBudget, pods: Sequence[Pod], snapshot: Snapshot) -> PodDisruptionBudget:
    """Return the budget as its controller leaves it.

    Args:
        budget: the budget.
        pods: the Pods it selects, finished ones too.
        snapshot: the cluster with what owns them.
    """
    healthy = sum(pod.ready and not pod.terminating for pod in pods)
    expected, desired = _expected(budget, pods, snapshot)
    # An error of the controller's leaves no eviction.
    allowed = max(healthy - desired, 0) if expected else 0
    status = replace(
        budget.status,
        disruptions_allowed=allowed,
        disrupted_pods={},
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
    )
    return replace(budget, status=status)


def _expected(budget: PodDisruptionBudget, pods: Sequence[Pod], snapshot: Snapshot) -> tuple[int, int]:
    """Return (Pods that there should be, healthy ones that there must be), counts; 0 and 0 where that is unknown."""
    least, most = budget.spec.min_available, budget.spec.max_unavailable
    if most is not None:
        scale = _scale(pods, snapshot)
        return scale, max(scale - _portion(most, scale), 0)
    if isinstance(least, int):
        return len(pods), least
    scale = _scale(pods, snapshot)
    return scale, _portion(least or 0, scale)


def _portion(given: int | str, whole: int) -> int:
    """Return a number of Pods, given as such or in percent of the whole, rounded up (counts)."""
    text = str(given).removesuffix("%")
    number = int(text) if text.isdecimal() else 0
    return -(-number * whole // 100) if str(given).endswith("%") else number


def _scale(pods: Iterable[Pod], snapshot: Snapshot) -> int:
    """Return how many Pods the owners of these are to have together (count); 0 where one of them has no such number.

    Source: disruption.go getExpectedScale.
    """
    scales: dict[tuple[str, str, str], int] = {}
    for pod in pods:
        owner = pod.metadata.controller
        passed = 0
        while owner is not None and passed < len(WORKLOADS):
            struct = WORKLOADS.get(owner.kind)
            found = snapshot.get(struct, pod.metadata.namespace, owner.name) if struct else None
            if not isinstance(found, _SCALED):
                return 0
            key, owner, passed = (owner.kind, pod.metadata.namespace, owner.name), found.metadata.controller, passed + 1
            if owner is None:
                scales[key] = found.spec.replicas_wanted
    return sum(scales.values())
