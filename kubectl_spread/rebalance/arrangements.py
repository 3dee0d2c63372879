"""How the Pods may be spread after some evictions: one arrangement for every choice of the scheduler.

If it scores only some of the nodes, these are the choices seen in several orders of chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.goals import DomainPods, Goal, with_more
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.simulation.chance import Chance
from kubectl_spread.simulation.placement import place_each, with_placed

Counts: TypeAlias = tuple[DomainPods, ...]  # For each goal, the counts of its domains
SAMPLES = 8  # Orders of chance (count) in which a Pod is placed if only some of its feasible nodes are scored


class Arrangement(msgspec.Struct, frozen=True):
    """One way in which the Pods may be spread."""

    handles: Handles
    counts: Counts  # the counts of the goals
    landed: tuple[tuple[int, str], ...] = ()  # the replacement Pods: what is alike among them, and the node; sorted
    waiting: tuple[Pod, ...] = ()  # Pending Pods that find no node before any eviction

    def without(self, movable: Movable) -> Arrangement:
        """Return the arrangement after the eviction, while the replacement is Pending."""
        counts = list(self.counts)
        for goal, domain in movable.leaves:
            counts[goal] = with_more(counts[goal], domain, -1)
        handles = self.handles.each(lambda handle: movable.again.place(handle.without_pod(movable.pod)))
        return replace(self, handles=handles, counts=tuple(counts))

    def may_lose_its_place(self, movable: Movable) -> bool:
        """Whether a Pod that waits may be scheduled first, so that the replacement finds no node."""
        placed = place_each(self.waiting, self.handles)
        again = movable.again.pod
        return bool(placed.nodes) and not cycle.feasible_nodes(again, placed.handles.of(again))

    def choices(self, movable: Movable, goals: Sequence[Goal]) -> Choices:
        """Return the nodes that the replacement may go to."""
        pod = movable.again.pod
        handle = self.handles.of(pod)
        totals = cycle.total_scores(pod, handle)
        sampled = len(totals) > handle.profile.nodes_to_score(len(handle.node_infos))
        # If the counts are the same on all of them, it does not matter which are scored.
        if sampled and len({movable.places(name, goals) for name in totals}) > 1:
            return Choices(tuple(totals), seen_best(pod, handle), sampled=True, scored=1 + SAMPLES)
        return Choices(tuple(totals), cycle.best_of(totals, pod), sampled=sampled)

    def landings(self, nodes: Iterable[str], movable: Movable, goals: Sequence[Goal]) -> Iterator[Landed]:
        """Yield the result for the replacement on each of these nodes."""
        counted: dict[tuple[int | None, ...], Counts] = {}
        for node_name in nodes:
            places = movable.places(node_name, goals)
            if places not in counted:
                counts = list(self.counts)
                for at, place in zip(movable.joins, places, strict=True):
                    if place is not None:
                        counts[at] = with_more(counts[at], place, 1)
                counted[places] = tuple(counts)
            landed = tuple(sorted((*self.landed, (movable.like, node_name))))
            yield Landed(self, movable.again.pod, node_name, counted[places], landed)


class Choices(msgspec.Struct, frozen=True):
    """The nodes that a Pod may go to."""

    fitting: tuple[str, ...]
    best: tuple[str, ...]  # those of them that had the highest score in some order
    sampled: bool  # whether the scheduler scores only some of the feasible nodes, so that others may be best
    scored: int = 1  # how often nodes were scored for it (count)


def seen_best(pod: Pod, handle: Handle) -> tuple[str, ...]:
    """Return the nodes with the highest score in any of some orders of chance, by name."""
    found: set[str] = set()
    for chance in map(Chance, range(SAMPLES)):
        found.update(cycle.best_nodes(pod, handle, chance.sample))
        if not chance.sampled:
            break
    return tuple(sorted(found))


class Landed(msgspec.Struct, frozen=True):
    """A Pod on a node; the cluster with it is built on demand, because few of many choices are followed."""

    before: Arrangement
    pod: Pod
    node: str
    counts: Counts
    landed: tuple[tuple[int, str], ...]

    @property
    def arrangement(self) -> Arrangement:
        """The arrangement with the Pod on the node."""
        handles = self.before.handles.each(lambda handle: with_placed(self.pod, self.node, handle))
        return replace(self.before, handles=handles, counts=self.counts, landed=self.landed)


ChoiceT = TypeVar("ChoiceT", bound=Arrangement | Landed)


def worst_of(choices: Sequence[ChoiceT], goals: Sequence[Goal], most: int) -> tuple[ChoiceT, ...]:
    """Return at most ``most`` of the choices: the worst first, and one of each counts before others like it."""
    if len(choices) <= most:
        return tuple(choices)
    # The excess of each goal (Pods), negated.
    each_excess = {
        counts: [-goal.excess(found) for goal, found in zip(goals, counts, strict=True)]
        for counts in {each.counts for each in choices}
    }
    excess = {counts: (sum(found), *found) for counts, found in each_excess.items()}
    first: dict[Counts, ChoiceT] = {}
    worst = sorted(choices, key=lambda each: excess[each.counts])
    others = [each for each in worst if first.setdefault(each.counts, each) is not each]
    return (*first.values(), *others)[:most]
