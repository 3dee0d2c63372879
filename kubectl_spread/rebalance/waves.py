"""Which evictions of a plan may follow one another at once, and before which all that came has to be ready.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction takes one of disruptionsAllowed,
which comes back once the budget's Pods are healthy again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kubectl_spread.apiserver.eviction import budgets_of, ignores_budgets
from kubectl_spread.objects.core import Pod
from kubectl_spread.snapshot import Snapshot


def waves(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[int]:
    """Yield for each Pod, in the order of their evictions, which wave it belongs to, counted from 1.

    A wave takes no more Pods of a budget than it allows at its beginning.
    """
    wave, taken = 1, Counter[str]()
    for pod in pods:
        budgets = () if ignores_budgets(pod) else budgets_of(pod, snapshot)
        names = {f"{each.metadata.namespace}/{each.metadata.name}": each for each in budgets}
        if any(taken[name] >= max(each.status.disruptions_allowed, 1) for name, each in names.items()):
            wave, taken = wave + 1, Counter[str]()
        taken.update(names.keys())
        yield wave
