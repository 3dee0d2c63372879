"""NodeResourcesBalancedAllocation: prefers nodes whose resources would be used evenly.

Source: kube-scheduler noderesources/balanced_allocation.go (v1.36).
"""

import math
from collections.abc import Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Handle, score_each
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.noderesources import Usage, usages, weighed
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeResourcesBalancedAllocation"


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int] | None:
    """Return feasible node's name → score (0..100), None for a Pod that requests none of the balanced resources."""
    specs = handle.profile.balanced_allocation.resources
    requests = resource.pod_requests(pod, handle.profile, assigned=True)
    if not any(requests.get(spec.name, 0) for spec in specs):
        return None
    resources = weighed(specs, requests)
    score = improvement if handle.profile.does(Behaviour.BALANCE_BY_IMPROVEMENT) else balance_with_pod
    return score_each(nodes, (NAME, resources), lambda info: score(usages(resources, info.allocatable, info.requested)))


def improvement(found: Sequence[Usage]) -> int:
    """Return the score (50..100) by how the Pod changes the balance: 75 for no change (from 1.36).

    Source: noderesources/balanced_allocation.go balancedResourceScorer (v1.36).
    """
    # 50 + (50 + balance with the Pod - balance without it) / 2: only the change counts.
    without_pod = balance([allocated / capacity for _, capacity, allocated, _ in found])
    return MAX_NODE_SCORE // 2 + (MAX_NODE_SCORE // 2 + balance_with_pod(found) - without_pod) // 2


def balance_with_pod(found: Sequence[Usage]) -> int:
    """Return how evenly the node would be used with the Pod (0..100)."""
    return balance([requested / capacity for _, capacity, _, requested in found])


def balance(fractions: Sequence[float]) -> int:
    """Return how even the fractions are (0..100); more than 1 counts as 1.

    Source: noderesources/balanced_allocation.go balancedResourceScore (v1.36).
    """
    # 100 x (1 - standard deviation of requested / capacity): 100 where all are equally full.
    shares = [min(fraction, 1.0) for fraction in fractions]
    if len(shares) == 2:  # noqa: PLR2004 - the usual two resources; upstream's short form rounds differently
        deviation = abs((shares[0] - shares[1]) / 2)
    else:
        count = max(len(shares), 1)
        mean = sum(shares) / count
        deviation = math.sqrt(sum((share - mean) * (share - mean) for share in shares) / count)
    return int((1 - deviation) * MAX_NODE_SCORE)
