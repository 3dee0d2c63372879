"""NodeResourcesBalancedAllocation: prefers nodes whose resources the Pod would fill evenly.

Source: kube-scheduler noderesources/balanced_allocation.go (v1.36).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Handle, NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.resource_allocation import usages, weighed

NAME = "NodeResourcesBalancedAllocation"


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int] | None:
    """Return feasible node's name → score (0..100), None for a Pod that requests nothing of what is balanced."""
    specs = handle.profile.balanced_allocation.resources
    requests = resource.pod_requests(pod, handle.profile, assigned=True)
    if not any(requests.get(spec.name, 0) for spec in specs):
        return None
    resources = weighed(specs, requests)
    by_improvement = handle.profile.does(Behaviour.BALANCE_BY_IMPROVEMENT)
    scores = {}
    for info in nodes:
        found = usages(resources, pod_requests=requests, allocatable=info.allocatable, allocated=info.requested)
        score = balance([usage.requested / usage.capacity for usage in found])
        if by_improvement:
            score = _improvement(score, balance([usage.allocated / usage.capacity for usage in found]))
        scores[info.name] = score
    return scores


def _improvement(score_with_pod: int, score_without_pod: int) -> int:
    """Return the score (50..100) of what the Pod changes: 75 when it changes nothing."""
    return MAX_NODE_SCORE // 2 + (MAX_NODE_SCORE // 2 + score_with_pod - score_without_pod) // 2


def balance(fractions: Sequence[float]) -> int:
    """Return how even the fractions are (0..100): 100 less their standard deviation in per cent; over 1 counts as 1.

    Source: noderesources/balanced_allocation.go balancedResourceScore (v1.36).
    """
    used = [min(fraction, 1.0) for fraction in fractions]
    return int((1 - _deviation(used)) * MAX_NODE_SCORE)


def _deviation(fractions: Sequence[float]) -> float:
    """Return the standard deviation."""
    if len(fractions) == 2:  # noqa: PLR2004 - the formula below, in upstream's short form: rounding differs
        return abs((fractions[0] - fractions[1]) / 2)
    if not fractions:
        return 0.0
    mean = sum(fractions) / len(fractions)
    return math.sqrt(sum((fraction - mean) * (fraction - mean) for fraction in fractions) / len(fractions))
