"""What is left to chance: which of equal nodes the scheduler takes, and which sample of the nodes it scores.

Each order of chance comes from a seed, so it is the same for the same cluster. Orders are stratified: each of k equal
choices is taken in one of the first k orders, and the node where the scheduler starts is spread over all nodes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from math import isqrt
from typing import TypeAlias

from kubectl_spread.controllers.nodelifecycle import zone_of
from kubectl_spread.objects.core import Node
from kubectl_spread.objects.meta import grouped
from kubectl_spread.scheduler.framework import Handle

Order: TypeAlias = Callable[[str], str]  # Name → sort key, used if nothing else decides between two names

ORDERS = 16  # Orders (count) that are simulated if anything is left to chance
# How many nodes the scheduler filters at the same time (count). Source: apis/config/v1/defaults.go (v1.36).
PARALLELISM = 16
# Of four orders, the one in which each Pod starts where the last one stopped, and the one in which enough CPUs filter
# PARALLELISM nodes at the same time. In the others each Pod starts at the same node, which finds the extremes.
_ADVANCING, _PARALLEL = 0, 2
# The orders that favour no node: each choice is made anew, as the scheduler does. The others find the extremes.
_ANEW = (11, 13, 15)
_GOLDEN = 0.618_034  # The fractional parts of its multiples are spread evenly between 0 and 1, for any number of them


def seeded(seed: int) -> Order:
    """Return an order that looks random, and is the same for the same seed."""
    from hashlib import blake2b  # Most clusters leave nothing to chance.

    return lambda name: blake2b(f"{seed}/{name}".encode(), digest_size=8).hexdigest()


class Chance:
    """One order of all that is left to chance.

    Most orders hold for all Pods: they favour the same nodes each time, and so find the extremes.

    Args:
        seed: its number; 0 is the order of names.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.order: Order = seeded(seed) if seed else str  # the sort key if only names decide
        self.free = False  # whether anything was chosen that could have been chosen otherwise
        self.sampled = False  # whether feasible nodes were not scored
        # looked: how many nodes were filtered since the start (count), in orders in which the start moves
        # chosen: how many choices were made anew (count)
        self.looked = self.chosen = 0
        self._listed: tuple[Mapping[str, Node], Sequence[str]] = {}, ()

    def choose(self, names: Collection[str], nodes: Mapping[str, Node]) -> str:
        """Return one of equal nodes: each of them in one of the first orders, with zones in turn."""
        if len(names) == 1:
            return next(iter(names))
        self.free = True
        if self.seed < len(names):
            return _zones_in_turn(sorted(names), nodes)[self.seed]
        if self.seed in _ANEW:
            self.chosen += 1
            return min(names, key=lambda name: self.order(f"{self.chosen}/{name}"))
        return min(names, key=self._by_zone(nodes))

    def sample(self, left: Collection[str], wanted: int, handle: Handle) -> Collection[str]:
        """Return the feasible nodes that the scheduler finds first, as many as it wants to score (count).

        It starts where it stopped for the previous Pod. ``left`` are all feasible nodes.

        Source: kube-scheduler schedule_one.go findNodesThatPassFilters, parallelize/parallelism.go (v1.36).
        """
        self.free = self.sampled = True
        names = self._list(handle)
        start = (int(self.seed * _GOLDEN % 1 * len(names)) + self.looked) % len(names)
        turned = [*names[start:], *names[:start]]
        if self.seed % 4 == _PARALLEL:
            chunk = max(1, min(isqrt(len(names)), len(names) // PARALLELISM + 1))
            places = sorted(range(len(names)), key=lambda at: (at // (chunk * PARALLELISM), at % chunk))
            turned = [turned[at] for at in places]
        found = list(islice((name for name in turned if name in left), wanted))
        if self.seed % 4 == _ADVANCING:
            self.looked += turned.index(found[-1]) + 1
        return found

    def _list(self, handle: Handle) -> Sequence[str]:
        """Return all nodes in the scheduler's order: zones in turn, and in each zone by name or at random."""
        nodes = handle.snapshot.nodes
        if self._listed[0] is not nodes:
            names = sorted(nodes, key=self._by_zone(nodes)) if self.seed % 2 else sorted(nodes)
            self._listed = nodes, _zones_in_turn(names, nodes)
        return self._listed[1]

    def _by_zone(self, nodes: Mapping[str, Node]) -> Callable[[str], tuple[str, str]]:
        return lambda name: (self.order("/".join(zone_of(nodes[name]))), self.order(name))


def _zones_in_turn(names: Iterable[str], nodes: Mapping[str, Node]) -> list[str]:
    """Source: kube-scheduler backend/cache/node_tree.go list (v1.36)."""
    by_zone = grouped(names, lambda name: zone_of(nodes[name]))
    placed = [(at, turn, name) for turn, found in enumerate(by_zone.values()) for at, name in enumerate(found)]
    return [name for _, _, name in sorted(placed)]
