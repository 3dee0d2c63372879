"""How many Pods more and fewer than its replicas a workload may have in a rollout, in numbers or percent.

Source: apimachinery pkg/util/intstr GetScaledValueFromIntOrPercent (v1.36).
"""

from __future__ import annotations

import re

from kubectl_spread.objects.workloads import DaemonSet, RollingUpdate, StatefulSet, UpdateStrategy

DEFAULT_PORTION = "25%"
"""The default of a Deployment's maxSurge and maxUnavailable: of its replicas."""


def fenceposts(strategy: UpdateStrategy, replicas: int) -> tuple[int, int]:
    """Return how many Pods more, and how many fewer, than the replicas a rollout may have at once (counts).

    Raises:
        ValueError: one of them is neither a number of Pods nor a percentage.

    Source: deployment/util/deployment_util.go ResolveFenceposts (v1.36).
    """
    rolling = strategy.rolling_update or RollingUpdate()
    most_more = DEFAULT_PORTION if rolling.max_surge is None else rolling.max_surge
    most_fewer = DEFAULT_PORTION if rolling.max_unavailable is None else rolling.max_unavailable
    surge = portion(most_more, replicas, round_up=True)
    unavailable = portion(most_fewer, replicas, round_up=False)
    return surge, unavailable or int(surge == 0)


def portion(given: int | str, whole: int, *, round_up: bool) -> int:
    """Return a number of Pods, given as such or in percent of the whole (count).

    Raises:
        ValueError: it is neither.
    """
    if isinstance(given, int) and given >= 0:
        return given
    # Of longer numbers, which are far beyond all Pods, the first digits say so too.
    if not (percentage := re.fullmatch("0*([0-9]{1,9})[0-9]*%", str(given))):
        raise ValueError(f"{given!r} is neither a number of Pods nor a percentage")
    hundredfold = int(percentage[1]) * whole
    return -(-hundredfold // 100) if round_up else hundredfold // 100


def surge_of(owner: DaemonSet, nodes: int) -> int:
    """Return on how many of its nodes (count) a DaemonSet has a new Pod beside the old one at once.

    Source: kube-controller-manager daemon/update.go updatedDesiredNodeCounts, util SurgeCount (v1.36).

    Raises:
        ValueError: maxSurge is neither a number nor a percentage.
    """
    rolling = owner.spec.update_strategy.rolling_update or RollingUpdate()
    return portion(rolling.max_surge or 0, nodes, round_up=True)


def unavailable_of(owner: DaemonSet | StatefulSet, number: int) -> int:
    """Return how many of its Pods, or of the nodes of a DaemonSet, may be missing at once in a rollout (count).

    Source: kube-controller-manager daemon/update.go updatedDesiredNodeCounts, util UnavailableCount,
    statefulset/stateful_set_utils.go getStatefulSetMaxUnavailable (v1.36).

    Raises:
        ValueError: maxUnavailable is neither a number nor a percentage.
    """
    rolling = owner.spec.update_strategy.rolling_update or RollingUpdate()
    most = 1 if rolling.max_unavailable is None else rolling.max_unavailable
    return portion(most, number, round_up=isinstance(owner, DaemonSet)) or 1
