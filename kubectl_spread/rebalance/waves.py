"""Which evictions of a plan may follow one another at once, and before which all that came has to be ready.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction takes one of disruptionsAllowed,
which comes back once the budget's Pods are healthy again; pkg/controller/statefulset/stateful_set_control.go: one Pod
after another; pkg/scheduler/backend/cache/cache.go: a Pod that is being deleted takes room until it is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from kubectl_spread.apiserver.eviction import budgets_of, ignores_budgets
from kubectl_spread.controllers.statefulset_control import comes_after
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.snapshot import Snapshot


def waves(evictions: Iterable[tuple[Pod, Collection[str]]], snapshot: Snapshot) -> Iterator[int]:
    """Yield for each eviction, in their order, which wave it belongs to, counted from 1.

    A wave takes no more Pods of a budget than it allows at its beginning, none in whose place another comes only once
    one of the wave is ready, and none in whose place one comes to a node that another of the wave may not have left.

    Args:
        evictions: (the Pod, the nodes that the one in its place may go to).
        snapshot: the cluster before.
    """
    wave, taken, gone = 1, Counter[str](), list[Pod]()
    for pod, lands in evictions:
        budgets = () if ignores_budgets(pod) else budgets_of(pod, snapshot)
        names = {f"{each.metadata.namespace}/{each.metadata.name}": each for each in budgets}
        used_up = any(taken[name] >= max(each.status.disruptions_allowed, 1) for name, each in names.items())
        takes_their_place = any(other.spec.node_name in lands for other in gone)
        if used_up or takes_their_place or _waits_for(pod, gone, snapshot):
            wave, taken, gone = wave + 1, Counter[str](), []
        taken.update(names.keys())
        gone.append(pod)
        yield wave


def _waits_for(pod: Pod, gone: Iterable[Pod], snapshot: Snapshot) -> bool:
    """Whether another comes in place of the Pod only once one is ready that comes in place of those that have gone."""
    owner = controller_of(pod, snapshot)
    own = (each for each in gone if each.metadata.namespace == pod.metadata.namespace)
    return isinstance(owner, StatefulSet) and bool(comes_after(owner, pod, own))
