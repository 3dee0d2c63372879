"""How the Pods may be spread after some evictions: one way for every choice that the scheduler has.

Where it scores only some of the nodes, these are the choices that were seen in several orders of chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.goals import DomainPods, Goal, with_more
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.simulation.chance import Chance
from kubectl_spread.simulation.placement import with_placed

Counts: TypeAlias = tuple[DomainPods, ...]
"""For each goal, how the Pods that it counts are spread."""
SAMPLES = 8
"""Orders of chance (count) in which a Pod is placed, where only some of the nodes that it fits on are scored."""


class Arrangement(msgspec.Struct, frozen=True):
    """One way in which the Pods may be spread.

    Attributes:
        handles: the cluster as each profile of the scheduler sees it.
        counts: how the goals count.
        landed: the Pods that came in the place of others: what is alike among them, and the node; sorted.
    """

    handles: Handles
    counts: Counts
    landed: tuple[tuple[int, str], ...] = ()

    def without(self, movable: Movable) -> Arrangement:
        """Return how they are spread once the Pod is gone, and its replacement waits for a node."""
        counts = list(self.counts)
        for goal, domain in movable.leaves:
            counts[goal] = with_more(counts[goal], domain, -1)
        handles = self.handles.each(lambda handle: movable.again.place(handle.without_pod(movable.pod)))
        return replace(self, handles=handles, counts=tuple(counts))

    def choices(self, movable: Movable, goals: Sequence[Goal]) -> Choices:
        """Return where the Pod that comes in place of one may go."""
        pod = movable.again.pod
        handle = self.handles.of(pod)
        totals = cycle.total_scores(pod, handle)
        sampled = len(totals) > handle.profile.nodes_to_score(len(handle.node_infos))
        # Where it counts the same on all of them, it makes no difference which are scored.
        if sampled and len({movable.places(name, goals) for name in totals}) > 1:
            return Choices(tuple(totals), seen_best(pod, handle), sampled=True, scored=1 + SAMPLES)
        return Choices(tuple(totals), cycle.best_of(totals, pod), sampled=sampled)

    def landings(self, nodes: Iterable[str], movable: Movable, goals: Sequence[Goal]) -> Iterator[Landed]:
        """Yield how they are spread once the replacement is on each of these nodes."""
        counted: dict[tuple[int | None, ...], Counts] = {}
        for node_name in nodes:
            places = movable.places(node_name, goals)
            if places not in counted:
                counted[places] = self._joined(movable.joins, places)
            landed = tuple(sorted((*self.landed, (movable.like, node_name))))
            yield Landed(self, movable.again.pod, node_name, counted[places], landed)

    def _joined(self, joins: Iterable[int], places: Iterable[int | None]) -> Counts:
        """Return how the goals count with one Pod more in each of these places; None where it does not count."""
        counts = list(self.counts)
        for at, place in zip(joins, places, strict=True):
            if place is not None:
                counts[at] = with_more(counts[at], place, 1)
        return tuple(counts)


class Choices(msgspec.Struct, frozen=True):
    """Where a Pod may go.

    Attributes:
        fitting: the nodes that it fits on.
        best: those of them that were seen to have the highest score.
        sampled: whether the scheduler scores only some of the first, so that others may have it.
        scored: how often nodes were scored for it (count).
    """

    fitting: tuple[str, ...]
    best: tuple[str, ...]
    sampled: bool
    scored: int = 1


def seen_best(pod: Pod, handle: Handle) -> tuple[str, ...]:
    """Return the nodes that have the highest score in any of some orders of chance, by name."""
    found: set[str] = set()
    for chance in map(Chance, range(SAMPLES)):
        found.update(cycle.best_nodes(pod, handle, chance.sample))
        if not chance.sampled:
            break
    return tuple(sorted(found))


class Landed(msgspec.Struct, frozen=True):
    """A Pod on a node, of which all is known but what the cluster is like then: that is made of few of many choices.

    Attributes:
        before: how the Pods were spread.
        pod: the Pod.
        node: where it is.
        counts: how the goals count then.
        landed: the Pods that came in the place of others, as in an arrangement.
    """

    before: Arrangement
    pod: Pod
    node: str
    counts: Counts
    landed: tuple[tuple[int, str], ...]

    @property
    def arrangement(self) -> Arrangement:
        """How the Pods are spread then."""
        handles = self.before.handles.each(lambda handle: with_placed(self.pod, self.node, handle))
        return Arrangement(handles, self.counts, self.landed)


class Landing(msgspec.Struct, frozen=True):
    """What comes of one eviction.

    Attributes:
        nodes: the nodes of which the Pod in its place goes to one, by name; none where it may be left without a node.
        choices: what may have come of it, each once.
        sampled: whether the scheduler scores only some of the nodes, so that something else may come of it.
        scored: how often nodes were scored for it (count).
    """

    nodes: tuple[str, ...]
    choices: tuple[Landed, ...]
    sampled: bool = False
    scored: int = 0


NOWHERE = Landing((), ())


def evict(movable: Movable, before: Sequence[Arrangement], goals: Sequence[Goal], *, whole: bool) -> Landing:
    """Return what comes of an eviction, on each of the highest-scored nodes, for each way they may be spread before.

    Args:
        movable: the Pod that goes.
        before: the ways they may be spread.
        goals: what is counted.
        whole: whether these are all there are.
    """
    nodes, sampled, scored = set[str](), False, 0
    choices: dict[object, Landed] = {}
    for arrangement in before:
        gone = arrangement.without(movable)
        found = gone.choices(movable, goals)
        if not found.best:
            return NOWHERE
        sampled, scored = sampled or found.sampled, scored + found.scored
        # Where not every way is followed, any node that takes the Pod may have the highest score.
        nodes.update(found.best if whole and not found.sampled else found.fitting)
        for landed in gone.landings(found.best, movable, goals):
            choices.setdefault(landed.landed, landed)
    return Landing(tuple(sorted(nodes)), tuple(choices.values()), sampled, scored)


class Counted(Protocol):
    """What is counted: an arrangement, or a Pod that has landed."""

    @property
    def counts(self) -> Counts:
        """How the goals count."""


ChoiceT = TypeVar("ChoiceT", bound=Counted)


def worst_of(choices: Sequence[ChoiceT], goals: Sequence[Goal], most: int) -> tuple[ChoiceT, ...]:
    """Return at most so many of the choices: the worst first, and such that are counted differently before others."""
    if len(choices) <= most:
        return tuple(choices)
    # By how much all goals together exceed maxSkew (Pods), and then each.
    each_excess = {
        counts: [-goal.excess(found) for goal, found in zip(goals, counts, strict=True)]
        for counts in {each.counts for each in choices}
    }
    excess = {counts: (sum(found), *found) for counts, found in each_excess.items()}
    worst = sorted(choices, key=lambda each: excess[each.counts])
    seen: set[Counts] = set()
    first: list[ChoiceT] = []
    others: list[ChoiceT] = []
    for each in worst:
        (others if each.counts in seen else first).append(each)
        seen.add(each.counts)
    return (*first, *others)[:most]
