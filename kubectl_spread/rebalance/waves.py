"""Which evictions of a plan may follow one another at once, and before which all that came has to be ready.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction takes one of disruptionsAllowed,
which comes back once the budget's Pods are healthy again; pkg/controller/statefulset/stateful_set_control.go: one Pod
after another; pkg/scheduler/backend/cache/cache.go: a Pod that is being deleted takes room until it is gone;
interpodaffinity/filtering.go: it counts for anti-affinity until then, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from kubectl_spread.apiserver.eviction import budgets_of, ignores_budgets
from kubectl_spread.controllers.statefulset_control import comes_after
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.snapshot import Snapshot


def waves(evictions: Iterable[tuple[Pod, Pod, Collection[str]]], snapshot: Snapshot) -> Iterator[int]:
    """Yield for each eviction, in their order, which wave it belongs to, counted from 1.

    A wave takes no more Pods of a budget than it allows at its beginning, none in whose place another comes only once
    one of the wave is ready, and none in whose place one comes to a node that another of the wave may not have left,
    or where required anti-affinity, of either, keeps it apart from another of the wave.

    Args:
        evictions: (the Pod, the one in its place, the nodes that this may go to).
        snapshot: the cluster before.
    """
    wave, taken, gone = 1, Counter[str](), list[Pod]()
    for pod, again, lands in evictions:
        budgets = () if ignores_budgets(pod) else budgets_of(pod, snapshot)
        names = {f"{each.metadata.namespace}/{each.metadata.name}": each for each in budgets}
        used_up = any(taken[name] >= max(each.status.disruptions_allowed, 1) for name, each in names.items())
        takes_their_place = any(other.spec.node_name in lands for other in gone)
        kept_apart = any(_kept_apart(again, lands, other, snapshot) for other in gone)
        if used_up or takes_their_place or kept_apart or _waits_for(pod, gone, snapshot):
            wave, taken, gone = wave + 1, Counter[str](), []
        taken.update(names.keys())
        gone.append(pod)
        yield wave


def _kept_apart(again: Pod, lands: Collection[str], other: Pod, snapshot: Snapshot) -> bool:
    """Whether required anti-affinity keeps a Pod off any of these nodes while the other is still on its own."""
    keys = {
        term.topology_key
        for pod, near in ((again, other), (other, again))
        for term in readable_terms(pod).anti_affinity
        if term.matches(near, snapshot.namespace_labels(near.metadata.namespace))
    }
    there = snapshot.nodes.get(other.spec.node_name)
    domains = {(key, there.metadata.labels[key]) for key in keys if key in there.metadata.labels} if there else set()
    return any(not domains.isdisjoint(snapshot.nodes[name].metadata.labels.items()) for name in lands if domains)


def _waits_for(pod: Pod, gone: Iterable[Pod], snapshot: Snapshot) -> bool:
    """Whether another comes in place of the Pod only once one is ready that comes in place of those that have gone."""
    owner = controller_of(pod, snapshot)
    own = (each for each in gone if each.metadata.namespace == pod.metadata.namespace)
    return isinstance(owner, StatefulSet) and bool(comes_after(owner, pod, own))
