"""The ways the Pods may lie after some evictions: one for every choice that the scheduler has among equal nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.goals import DomainPods, Goal
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import with_placed

Counts: TypeAlias = tuple[DomainPods, ...]
"""For each goal, how the Pods lie that it counts."""


class Arrangement(msgspec.Struct, frozen=True):
    """One way the Pods may lie.

    Attributes:
        handles: scheduler's name → the cluster as its profile sees it.
        counts: how the goals count.
        landed: the Pods that came in the place of others: what is alike among them, and the node; sorted.
    """

    handles: Mapping[str, Handle]
    counts: Counts
    landed: tuple[tuple[int, str], ...] = ()

    def without(self, movable: Movable) -> Arrangement:
        """Return how they lie once the Pod is gone, and the one in its place waits for a node."""
        counts = list(self.counts)
        for goal, domain in movable.leaves:
            counts[goal] = _changed(counts[goal], domain, -1)
        handles = {name: movable.again.place(each.without_pod(movable.pod)) for name, each in self.handles.items()}
        return replace(self, handles=handles, counts=tuple(counts))

    def best_nodes(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes of which the Pod's scheduler takes one."""
        return cycle.best_nodes(pod, self.handle_of(pod))

    def feasible_nodes(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes that the Pod's scheduler may take at all."""
        return cycle.feasible_nodes(pod, self.handle_of(pod))

    def handle_of(self, pod: Pod) -> Handle:
        """Return the cluster as the Pod's scheduler sees it."""
        return self.handles.get(pod.spec.scheduler_name) or next(iter(self.handles.values()))

    def with_landed(self, movable: Movable, node_name: str, goals: Sequence[Goal]) -> Arrangement:
        """Return how they lie once the Pod in place of the evicted one is on the node."""
        counts = list(self.counts)
        for at in movable.joins:
            if node_name in goals[at].place:
                counts[at] = _changed(counts[at], goals[at].place[node_name], 1)
        pod = movable.again.pod
        return Arrangement(
            handles={name: with_placed(pod, node_name, each) for name, each in self.handles.items()},
            counts=tuple(counts),
            landed=tuple(sorted((*self.landed, (movable.like, node_name)))),
        )


def _changed(counts: DomainPods, domain: int, by: int) -> DomainPods:
    """Return the counts with so many Pods more in a domain."""
    return (*counts[:domain], counts[domain] + by, *counts[domain + 1 :])


class Landing(msgspec.Struct, frozen=True):
    """What comes of one eviction.

    Attributes:
        nodes: the nodes of which the Pod in its place goes to one, by name; none where it may be left without a node.
        arrangements: the ways the Pods may lie then.
        whole: whether these are all there are.
    """

    nodes: tuple[str, ...]
    arrangements: tuple[Arrangement, ...]
    whole: bool


NOWHERE = Landing((), (), whole=True)


def evict(
    movable: Movable, arrangements: Sequence[Arrangement], goals: Sequence[Goal], *, most: int, whole: bool
) -> Landing:
    """Return what comes of an eviction, on each of the highest-scored nodes, however the Pods lie before.

    Args:
        movable: the Pod that goes.
        arrangements: the ways they may lie.
        goals: what is counted.
        most: the ways (count) that are followed further.
        whole: whether the arrangements are all there are.
    """
    nodes: set[str] = set()
    after: dict[object, Arrangement] = {}
    for before in arrangements:
        gone = before.without(movable)
        best = gone.best_nodes(movable.again.pod)
        if not best:
            return NOWHERE
        # Where not every way was followed, any node that takes the Pod may have the highest score.
        nodes.update(best if whole else gone.feasible_nodes(movable.again.pod))
        for node_name in best:
            landed = gone.with_landed(movable, node_name, goals)
            after.setdefault(landed.landed, landed)
    kept = tuple(_spread_out(list(after.values()), most))
    return Landing(tuple(sorted(nodes)), kept, whole=whole and len(kept) == len(after))


def _spread_out(arrangements: list[Arrangement], most: int) -> Iterator[Arrangement]:
    """Yield at most so many of them: at first such that no two are counted alike."""
    seen: set[Counts] = set()
    alike: list[Arrangement] = []
    for each in arrangements:
        (alike.append(each) if each.counts in seen else seen.add(each.counts))
    fresh = [each for each in arrangements if not any(each is other for other in alike)]
    yield from (*fresh, *alike)[:most]
