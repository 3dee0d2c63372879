"""Clusters in which the Pods of a ReplicaSet lie unevenly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.plan import MOST_IN_ALL, Asked, EvictionPlan, plan
from kubectl_spread.scheduler.framework import Handles
from tests.build import ZONE, Object, app, handle, node, spread
from tests.build_workloads import owned, template, workload

BY_ZONE = spread(ZONE, selector=app("web"))


def zones(*names: str, each: int = 1) -> list[Object]:
    """Return nodes in these zones, named ``a1``, ``a2``..."""
    return [node(f"{name}{number}", zone=name) for name in names for number in range(1, each + 1)]


def web(
    on: Mapping[str, int],
    *constraints: Object,
    name: str = "web",
    kind: str = "ReplicaSet",
    labels: Mapping[str, str] | None = None,
    **fields: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> list[Object]:
    """Return a workload with so many Pods on each node, which is all it wants.

    Args:
        on: node's name → Pods.
        constraints: what its Pods ask for; one Pod more in a zone than in another unless said.
        name: the workload's.
        kind: the workload's.
        labels: of its Pods; those of the application web unless said.
        **fields: further fields of its Pods, as for a Pod.
    """
    asked = [*(constraints or (BY_ZONE,))]
    labels = labels or {"app": "web"}
    nodes = [node_name for node_name, number in on.items() for _ in range(number)]
    pods = [
        owned(f"{name}-{number}", kind, name, on=at, labels=labels, topologySpreadConstraints=asked, **fields)
        for number, at in enumerate(nodes)
    ]
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    made = workload(kind, name, pods=template(*asked, labels=labels, **fields), replicas=len(pods))
    for each in pods:
        # What other tests know Pods by is no time.
        del each["metadata"]["creationTimestamp"]
    return [made, *({**each, "status": status} for each in pods)]


def planned(
    objects: Iterable[Object],
    *,
    wanted: Callable[[OwnedPods], bool] = lambda _: True,
    may_go: Callable[[Pod], bool] = lambda _: True,
    soft: bool = False,
    most: int | None = None,
    most_work: int = MOST_IN_ALL,
) -> EvictionPlan:
    found = handle([*objects])
    asked = Asked(wanted=wanted, may_go=may_go, soft=soft, most=most)
    return plan(Handles(found), asked, most_work=most_work)


def gone(found: EvictionPlan) -> list[str]:
    """Return the Pods that a plan evicts, in order."""
    return [each.movable.pod.metadata.name for each in found.evictions]


def after(found: EvictionPlan) -> Sequence[tuple[int, ...]]:
    """Return how the Pods of each constraint lie in the end."""
    return [outcome.after for outcome in found.outcomes]
