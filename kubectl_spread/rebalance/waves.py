"""Which evictions of a plan may directly follow each other, and before which all replacements must be Ready.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction uses one of disruptionsAllowed,
which is restored once the budget's Pods are healthy again; pkg/controller/statefulset/stateful_set_control.go: one Pod
after another; pkg/scheduler/backend/cache/cache.go: a Pod that is being deleted takes room until it is gone;
interpodaffinity/filtering.go: it counts for anti-affinity until then, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from kubectl_spread.apiserver.eviction import budgets_of, ignores_budgets
from kubectl_spread.controllers.statefulset import comes_after
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.snapshot import Snapshot


def waves(evictions: Iterable[tuple[Pod, Pod, Collection[str]]], snapshot: Snapshot) -> Iterator[int]:
    """Yield the wave of each eviction, in order, counted from 1.

    A wave takes at most as many Pods of a budget as it allows at the start. It takes no Pod whose replacement waits for
    a Ready Pod of the wave, may go to a node that another Pod of the wave is leaving, or is kept apart from such a Pod
    by required anti-affinity of either.

    Args:
        evictions: (the Pod, its replacement, the nodes that this may go to).
        snapshot: the cluster before.
    """
    wave, taken, gone = 1, Counter[str](), list[Pod]()
    for pod, again, lands in evictions:
        budgets = () if ignores_budgets(pod) else budgets_of(pod, snapshot)
        names = {f"{each.metadata.namespace}/{each.metadata.name}": each for each in budgets}
        used_up = any(taken[name] >= max(each.status.disruptions_allowed, 1) for name, each in names.items())
        takes_their_place = any(other.spec.node_name in lands for other in gone)
        kept_apart = any(_kept_apart(again, lands, other, snapshot) for other in gone)
        if used_up or takes_their_place or kept_apart or _comes_after(pod, gone, snapshot):
            wave, taken, gone = wave + 1, Counter[str](), []
        taken.update(names.keys())
        gone.append(pod)
        yield wave


def _kept_apart(again: Pod, lands: Collection[str], other: Pod, snapshot: Snapshot) -> bool:
    """Whether required anti-affinity keeps a Pod off any of these nodes while the other is still on its node."""
    keys = {
        term.topology_key
        for pod, near in ((again, other), (other, again))
        for term in readable_terms(pod).anti_affinity
        if term.matches(near, snapshot.namespace_labels(near.metadata.namespace))
    }
    there = snapshot.nodes.get(other.spec.node_name)
    domains = {(key, there.metadata.labels[key]) for key in keys if key in there.metadata.labels} if there else set()
    return any(not domains.isdisjoint(snapshot.nodes[name].metadata.labels.items()) for name in lands if domains)


def _comes_after(pod: Pod, gone: Iterable[Pod], snapshot: Snapshot) -> bool:
    owner = controller_of(pod, snapshot)
    own = (each for each in gone if each.metadata.namespace == pod.metadata.namespace)
    return isinstance(owner, StatefulSet) and bool(comes_after(owner, pod, own))
