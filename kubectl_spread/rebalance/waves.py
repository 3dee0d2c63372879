"""Which evictions of a plan may follow one another at once, and before which all that came has to be ready.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction takes one of disruptionsAllowed,
which comes back once the budget's Pods are healthy again; pkg/controller/statefulset/stateful_set_control.go: one Pod
after another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kubectl_spread.apiserver.eviction import budgets_of, ignores_budgets
from kubectl_spread.controllers.statefulset_control import comes_after
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.snapshot import Snapshot


def waves(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[int]:
    """Yield for each Pod, in the order of their evictions, which wave it belongs to, counted from 1.

    A wave takes no more Pods of a budget than it allows at its beginning, and none in whose place another comes only
    once one of the wave is ready.
    """
    wave, taken, gone = 1, Counter[str](), list[Pod]()
    for pod in pods:
        budgets = () if ignores_budgets(pod) else budgets_of(pod, snapshot)
        names = {f"{each.metadata.namespace}/{each.metadata.name}": each for each in budgets}
        used_up = any(taken[name] >= max(each.status.disruptions_allowed, 1) for name, each in names.items())
        if used_up or _waits_for(pod, gone, snapshot):
            wave, taken, gone = wave + 1, Counter[str](), []
        taken.update(names.keys())
        gone.append(pod)
        yield wave


def _waits_for(pod: Pod, gone: Iterable[Pod], snapshot: Snapshot) -> bool:
    """Whether another comes in place of the Pod only once one is ready that comes in place of those that have gone."""
    owner = controller_of(pod, snapshot)
    own = (each for each in gone if each.metadata.namespace == pod.metadata.namespace)
    return isinstance(owner, StatefulSet) and bool(comes_after(owner, pod, own))
