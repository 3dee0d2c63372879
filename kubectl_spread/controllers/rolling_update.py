"""How many Pods more and fewer than its replicas a workload may have during a rollout.

Source: apimachinery pkg/util/intstr GetScaledValueFromIntOrPercent (v1.36).
"""

import re

from kubectl_spread.objects.workloads import DaemonSet, RollingUpdate, StatefulSet, UpdateStrategy

DEFAULT_PORTION = "25%"


def fenceposts(strategy: UpdateStrategy, replicas: int) -> tuple[int, int]:
    """Return (surge, unavailable): how many Pods more and fewer than its replicas a Deployment may have (counts).

    Raises:
        ValueError: one of them is neither a number of Pods nor a percentage.

    Source: deployment/util/deployment_util.go ResolveFenceposts (v1.36).
    """
    rolling = strategy.rolling_update or RollingUpdate()
    max_surge = DEFAULT_PORTION if rolling.max_surge is None else rolling.max_surge
    max_unavailable = DEFAULT_PORTION if rolling.max_unavailable is None else rolling.max_unavailable
    surge = portion(max_surge, replicas, round_up=True)
    unavailable = portion(max_unavailable, replicas, round_up=False)
    return surge, unavailable or int(surge == 0)


def portion(given: int | str, whole: int, *, round_up: bool) -> int:
    """Return the number of Pods, which is given as a number or as a percentage of the whole (count).

    Raises:
        ValueError: it is neither.
    """
    if isinstance(given, int) and given >= 0:
        return given
    # Nine digits are more Pods than there can be.
    if not (percentage := re.fullmatch("0*([0-9]{1,9})[0-9]*%", str(given))):
        raise ValueError(f"{given!r} is neither a number of Pods nor a percentage")
    hundredfold = int(percentage[1]) * whole
    return -(-hundredfold // 100) if round_up else hundredfold // 100


def surge_of(owner: DaemonSet, nodes: int) -> int:
    """Return on how many nodes a DaemonSet may have a new Pod beside the old one at a time (count).

    Source: kube-controller-manager daemon/update.go updatedDesiredNodeCounts, util SurgeCount (v1.36).

    Raises:
        ValueError: maxSurge is neither a number nor a percentage.
    """
    rolling = owner.spec.update_strategy.rolling_update or RollingUpdate()
    return portion(rolling.max_surge or 0, nodes, round_up=True)


def unavailable_of(owner: DaemonSet | StatefulSet, number: int) -> int:
    """Return how many Pods, or nodes of a DaemonSet, may be unavailable at a time during a rollout (count).

    Source: kube-controller-manager daemon/update.go updatedDesiredNodeCounts, util UnavailableCount,
    statefulset/stateful_set_utils.go getStatefulSetMaxUnavailable (v1.36).

    Raises:
        ValueError: maxUnavailable is neither a number nor a percentage.
    """
    rolling = owner.spec.update_strategy.rolling_update or RollingUpdate()
    most = 1 if rolling.max_unavailable is None else rolling.max_unavailable
    return portion(most, number, round_up=isinstance(owner, DaemonSet)) or 1
