"""The problem for workloads that count each other's Pods, and what follows from the counts alone.

Arithmetic decides here what to try, and in which order; nothing is placed.
"""

from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product

import msgspec

from kubectl_spread.rebalance.arrangements import Arrangement, Counts
from kubectl_spread.rebalance.goals import UNREACHABLE, DomainPods, Goal, Reach, with_more
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.snapshot import PodKey

EXACT_PODS = 16  # Movable Pods for each part (count) up to which nodes with equal counts are told apart


class Hope(msgspec.Struct, frozen=True):
    """What is left to do after an eviction, as far as the counts show."""

    most: int  # the evictions that the most demanding goals require at least (count)
    together: int  # the sum of the evictions that the goals require (count)


class Problem(msgspec.Struct, frozen=True, dict=True):
    """The problem to solve."""

    goals: tuple[Goal, ...]
    movables: tuple[Movable, ...]
    reach: tuple[Reach, ...]  # for each goal, what no eviction can change
    parts: tuple[tuple[int, ...], ...]  # the places of the goals of each group

    # The fewest evictions.

    @cached_property
    def _needed(self) -> dict[tuple[int, DomainPods], int]:
        """Cache: a goal's place and its counts → moves (count)."""
        return {}

    @cached_property
    def allowed(self) -> tuple[int, ...]:
        """For each goal, the least skew from maxSkew on that moves can reach, as far as the counts show."""
        return tuple(map(self._least_skew, range(len(self.goals))))

    def _least_skew(self, at: int) -> int:
        goal = self.goals[at]
        most = goal.constraint.max_skew
        while goal.moves_needed(goal.start, most, self.reach[at]) >= UNREACHABLE:
            most += 1
        return most

    def _moves(self, at: int, counts: DomainPods) -> int:
        key = at, counts
        if key not in self._needed:
            self._needed[key] = self.goals[at].moves_needed(counts, self.allowed[at], self.reach[at])
        return self._needed[key]

    def left(self, counted: Collection[Counts]) -> int:
        """Return how many evictions are still needed at least, for any of these counts (count)."""
        return max(self._evictions([self._moves(at, found) for at, found in enumerate(counts)]) for counts in counted)

    def _evictions(self, moves: Sequence[int]) -> int:
        """Return how many evictions these moves of each goal take at least: no eviction serves goals of two parts."""
        return sum(max(moves[at] for at in part) for part in self.parts)

    def _moves_after(self, movable: Movable, at: int, counts: DomainPods) -> int:
        leaves = dict(movable.leaves).get(at)
        if leaves is None and at not in movable.joins:
            return self._moves(at, counts)
        after = counts if leaves is None else with_more(counts, leaves, -1)
        best = self._moves(at, after)
        if at in movable.joins and self._open[at]:
            if (at, counts) not in self._fewest_in:
                self._fewest_in[at, counts] = min(self._open[at], key=counts.__getitem__)
            emptiest = self._fewest_in[at, counts]
            if leaves is not None and leaves not in self.reach[at].shut and after[leaves] < after[emptiest]:
                emptiest = leaves
            # The replacement may also go to a node that is not counted.
            best = min(best, self._moves(at, with_more(after, emptiest, 1)))
        return best

    @cached_property
    def _fewest_in(self) -> dict[tuple[int, DomainPods], int]:
        """Cache: a goal's place and its counts → its emptiest domain."""
        return {}

    @cached_property
    def _open(self) -> tuple[tuple[int, ...], ...]:
        every = zip(self.goals, self.reach, strict=True)
        return tuple(tuple(at for at in range(len(goal.domains)) if at not in reach.shut) for goal, reach in every)

    # Evictions at the same time.

    def more_needed(self, counts: Counts, chosen: Sequence[Movable], allowed: Sequence[int]) -> int:
        """Return how many more evictions are needed at least if these Pods go together, for these skews (Pods).

        ``counts``: without them.
        """
        return self._evictions(
            [
                goal.moves_needed(counts[at], allowed[at], self.reach[at], sum(at in each.joins for each in chosen))
                for at, goal in enumerate(self.goals)
            ]
        )

    def fits(self, counts: Counts, chosen: Sequence[Movable], allowed: Sequence[int]) -> bool:
        """Whether the counts without these Pods leave places for replacements at once, for these skews (Pods)."""
        bound = {at for at in range(len(self.goals)) if all(at in each.bound_by for each in chosen if at in each.joins)}
        return all(self._fits(chain, counts, chosen, allowed, bound) for chain in self._chains)

    def may_lower(self, at: int, most: int) -> bool:
        """Whether a goal may reach this skew (Pods), as far as the counts show, while no other becomes worse."""
        start = tuple(goal.start for goal in self.goals)
        allowed = [max(goal.constraint.max_skew, goal.skew(goal.start)) for goal in self.goals]
        allowed[at] = most
        return all(self._fits(each, without(self.movables, start), self.movables, allowed, ()) for each in self._chains)

    @cached_property
    def _chains(self) -> Sequence[Sequence[tuple[int, Mapping[int, int]]]]:
        """The goals in chains: each counts the same Pods as the one before, and its domains are made of those.

        With each, domain of the one before → its own.
        """
        chains: list[list[tuple[int, Mapping[int, int]]]] = []
        for at in sorted(range(len(self.goals)), key=lambda at: -len(self.goals[at].domains)):
            for chain in chains:
                if parents := self._parents(chain[-1][0], at):
                    chain.append((at, parents))
                    break
            else:
                chains.append([(at, {})])
        return chains

    def _parents(self, fine: int, coarse: int) -> Mapping[int, int]:
        one, other = self.goals[fine], self.goals[coarse]
        counting = one.workload.namespace, str(one.selector), one.place.keys()
        if counting != (other.workload.namespace, str(other.selector), other.place.keys()):
            return {}
        found = {(place, other.place[name]) for name, place in one.place.items()}
        return dict(found) if len(found) == len(one.domains) else {}

    def _fits(
        self,
        chain: Sequence[tuple[int, Mapping[int, int]]],
        counts: Counts,
        chosen: Sequence[Movable],
        allowed: Sequence[int],
        bound: Container[int],
    ) -> bool:
        first, _ = chain[0]
        coming, closed = sum(first in each.joins for each in chosen), self.reach[first].closed
        total = sum(counts[first]) + coming
        levels = (self.goals[at].levels(counts[at], coming, allowed[at], closed=closed) for at, _ in chain)
        for chosen_levels in product(*levels):
            # For each domain, the fewest and the most Pods in the end.
            ranges = [(pods, total) for pods in counts[first]]
            for (at, parents), level in zip(chain, chosen_levels, strict=True):
                ranges = _merged(ranges, parents, len(counts[at])) if parents else ranges
                most, full = (
                    level + allowed[at],
                    level + (self.goals[at].constraint.max_skew if at in bound else allowed[at]),
                )
                shut = self.reach[at].shut
                # A domain that takes a Pod ends with at most maxSkew more Pods than the global minimum.
                ends = [pods if place in shut or pods > full else full for place, pods in enumerate(counts[at])]
                ranges = [
                    (max(least, level), min(high, end, most)) for (least, high), end in zip(ranges, ends, strict=True)
                ]
                if any(least > high for least, high in ranges):
                    break
            else:
                least, high = (sum(each) for each in zip(*ranges, strict=True)) if ranges else (0, total)
                if least <= total <= (high if closed else total):
                    return True
        return False

    # The candidates.

    def moves(self, gone: Collection[PodKey], counted: Collection[Counts]) -> Iterator[tuple[int, Movable, Hope]]:
        """Yield the Pods that may be evicted next, one of each kind, with their ranks and what is left to do then."""
        tried: set[Hashable] = set()
        hopes: dict[Hashable, Hope] = {}
        for rank, movable in enumerate(self.movables):
            kind = self._kind_of(movable, counted)
            if movable.pod.key in gone or kind in tried:
                continue
            tried.add(kind)
            counting = movable.leaves, movable.joins
            if counting not in hopes:
                each = [
                    [self._moves_after(movable, at, found) for at, found in enumerate(counts)]  # goal by goal
                    for counts in counted
                ]
                hopes[counting] = Hope(max(map(self._evictions, each)), max(map(sum, each)))
            yield rank, movable, hopes[counting]

    @cached_property
    def _is_small(self) -> bool:
        return len(self.movables) <= EXACT_PODS * len(self.parts)

    def _kind_of(self, movable: Movable, counted: Collection[Counts]) -> Hashable:
        """Return what Pods have in common of which only one needs to be tried."""
        if self._is_small or not all(self._closes_behind(movable, counts) for counts in counted):
            return movable.like, movable.pod.spec.node_name
        if len(counted) > 1:
            return movable.like, movable.leaves
        counts, own = next(iter(counted)), self._has_own
        # Domains with a single node differ only in their counts.
        return movable.like, tuple((at, counts[at][place] if own[at] else place) for at, place in movable.leaves)

    def _closes_behind(self, movable: Movable, counts: Counts) -> bool:
        """Whether the replacement cannot return to the Pod's domain, because its own constraints forbid it.

        Then nothing on that node decides where it goes: of alike Pods, in domains with equal counts, any will do.
        """
        for at, place in movable.leaves:
            if at in movable.bound_by:
                goal, found = self.goals[at], counts[at]
                # the count without it + the replacement - global minimum > maxSkew
                if found[place] - goal.least(with_more(found, place, -1)) > goal.constraint.max_skew:
                    return True
        return False

    @cached_property
    def _has_own(self) -> tuple[bool, ...]:
        return tuple(len(goal.domains) == len(goal.place) for goal in self.goals)

    def comes_back(
        self, movable: Movable, lands: Sequence[str], before: Collection[Counts], after: Collection[Counts]
    ) -> bool:
        """Whether the eviction gains nothing because the replacement returns: of many Pods, where it counts the same.

        ``lands``: the nodes that the replacement may go to.
        """
        is_there_again = not self._is_small or lands == (movable.pod.spec.node_name,)
        return len(before) == 1 and after == before and is_there_again

    def sign_of(self, gone: Sequence[Movable], arrangements: Sequence[Arrangement]) -> Hashable:
        """Return what states have in common from which the same can be reached: of many Pods, all except node names."""
        if self._is_small:
            evicted = sorted((each.like, each.pod.spec.node_name) for each in gone)
            return tuple(evicted), frozenset(each.landed for each in arrangements)
        return tuple(sorted(each.like for each in gone)), frozenset(self._shape(each.counts) for each in arrangements)

    def _shape(self, counts: Counts) -> Hashable:
        """Return the counts, with nodes in the same domains interchangeable."""
        shared = tuple(found for found, own in zip(counts, self._has_own, strict=True) if not own)
        nodes = Counter((shared_by, tuple(counts[at][place] for at, place in own)) for shared_by, own in self._nodes)
        return shared, frozenset(nodes.items())

    @cached_property
    def _nodes(self) -> tuple[tuple[tuple[int | None, ...], tuple[tuple[int, int], ...]], ...]:
        """For each node with its own domains: the domains that it shares, and its own (goal and place)."""
        owning = [at for at, own in enumerate(self._has_own) if own]
        sharing = [at for at, own in enumerate(self._has_own) if not own]
        names = sorted({name for at in owning for name in self.goals[at].place})
        return tuple(
            (
                tuple(self.goals[at].place.get(name) for at in sharing),
                tuple((at, self.goals[at].place[name]) for at in owning if name in self.goals[at].place),
            )
            for name in names
        )


def without(chosen: Iterable[Movable], counts: Counts) -> Counts:
    """Return the counts without these Pods."""
    after = list(counts)
    for at, place in (leaves for each in chosen for leaves in each.leaves):
        after[at] = with_more(after[at], place, -1)
    return tuple(after)


def _merged(ranges: Sequence[tuple[int, int]], parents: Mapping[int, int], domains: int) -> list[tuple[int, int]]:
    """Return the sums of the ranges for each of the larger domains, of which there are so many (count)."""
    merged = [(0, 0)] * domains
    for place, parent in parents.items():
        merged[parent] = merged[parent][0] + ranges[place][0], merged[parent][1] + ranges[place][1]
    return merged
