"""The search for the fewest evictions: best first by what the counts ask for at least, each step placed for real.

A* over sets of arrangements. How many Pods must move is told from the counts (``Goal.moves_needed``), and no eviction
moves more than one: a plan with as few evictions as that is the shortest there is, and is the first to be found. What
an eviction leads to is asked of the scheduler only once no other looks better.
"""

from __future__ import annotations

import heapq
from enum import Enum
from itertools import count

import msgspec
from msgspec.structs import replace

from kubectl_spread.rebalance.arrangements import Arrangement, Counts, evict
from kubectl_spread.rebalance.goals import UNREACHABLE, DomainPods, Goal
from kubectl_spread.rebalance.movable import Movable


class Eviction(msgspec.Struct, frozen=True):
    """One eviction of a plan.

    Attributes:
        movable: the Pod that goes.
        lands: the nodes of which the Pod in its place goes to one.
    """

    movable: Movable
    lands: tuple[str, ...]


class State(msgspec.Struct, frozen=True):
    """The cluster after some evictions.

    Attributes:
        arrangements: the ways the Pods may lie.
        evictions: those made, in order.
        whole: whether the arrangements are all there are.
    """

    arrangements: tuple[Arrangement, ...]
    evictions: tuple[Eviction, ...] = ()
    whole: bool = True

    def after(self, earlier: State) -> State:
        """Return the same, the evictions that an earlier state tells of made before."""
        return replace(self, evictions=(*earlier.evictions, *self.evictions))

    def worst(self, goal: Goal, at: int) -> int:
        """Return the largest excess over maxSkew of a goal, which stands at a place among them (Pods)."""
        return max(goal.excess(each.counts[at]) for each in self.arrangements)


class Limits(msgspec.Struct, frozen=True):
    """How far a search goes.

    Attributes:
        evictions: how many there may be (count).
        placements: how many Pods are placed, for the sake of the search (count).
        arrangements: how many are followed of one state (count).
    """

    evictions: int
    placements: int
    arrangements: int


class Ended(Enum):
    """Why a search ended."""

    FOUND_ALL = "there is nothing better"
    PLACEMENTS = "as many Pods were placed as may be"
    EVICTIONS = "no more evictions are allowed"


class Found(msgspec.Struct, frozen=True):
    """What a search found.

    Attributes:
        state: the best: the least excess, then the fewest evictions.
        ended: why it looked no further.
    """

    state: State
    ended: Ended


class Problem(msgspec.Struct, frozen=True, dict=True):
    """What is to be solved.

    Attributes:
        goals: what is to hold; they count Pods in common.
        movables: the Pods that may go.
        shut: for each goal, the domains no Pod can come to.
    """

    goals: tuple[Goal, ...]
    movables: tuple[Movable, ...]
    shut: tuple[frozenset[int], ...]


class Search:
    """One search.

    Args:
        problem: what is to be solved.
        start: the cluster before.
        limits: how far it goes.
    """

    def __init__(self, problem: Problem, start: State, limits: Limits) -> None:
        self._problem = problem
        self._start = start
        self._limits = limits
        self._needed: dict[tuple[int, DomainPods], int] = {}
        self._staying = tuple(self._staying_of(at) for at in range(len(problem.goals)))
        self._allowed = tuple(self._least_skew(at) for at in range(len(problem.goals)))
        self._heap: list[tuple[int, int, int, int, int, State, Movable]] = []
        self._serial = count()
        self._seen: set[object] = set()
        self._placed = 0
        self._cut = False

    # What the counts say.

    def _staying_of(self, at: int) -> DomainPods:
        """Return how many Pods of each domain of a goal cannot be moved."""
        staying = list(self._problem.goals[at].start)
        for movable in self._problem.movables:
            for goal, domain in movable.leaves:
                if goal == at:
                    staying[domain] -= 1
        return tuple(staying)

    def _least_skew(self, at: int) -> int:
        """Return the least skew, of maxSkew and more, that moves can bring about as far as the counts tell."""
        goal, shut, staying = self._problem.goals[at], self._problem.shut[at], self._staying[at]
        most = goal.constraint.max_skew
        while goal.moves_needed(goal.start, most, shut, staying) >= UNREACHABLE:
            most += 1
        return most

    def _moves(self, at: int, counts: DomainPods) -> int:
        """Return how many moves a goal asks for at least (count)."""
        key = at, counts
        if key not in self._needed:
            goal = self._problem.goals[at]
            self._needed[key] = goal.moves_needed(counts, self._allowed[at], self._problem.shut[at], self._staying[at])
        return self._needed[key]

    def _left(self, state: State) -> int:
        """Return how many evictions are still needed at least (count)."""
        return max(self._moves(at, found) for each in state.arrangements for at, found in enumerate(each.counts))

    def _hope(self, movable: Movable, counts: Counts) -> tuple[int, int]:
        """Return how many evictions are needed after this one at least, and what all goals ask for together."""
        most = together = 0
        leaves = dict(movable.leaves)
        for at, found in enumerate(counts):
            needed = self._moves(at, found)
            if at in leaves or at in movable.joins:
                needed = self._at_best(at, found, leaves.get(at), joins=at in movable.joins)
            most, together = max(most, needed), together + needed
        return most, together

    def _at_best(self, at: int, counts: DomainPods, leaves: int | None, *, joins: bool) -> int:
        """Return what a goal asks for at least once a Pod has left a domain, and come to whichever is best."""
        after = list(counts)
        if leaves is not None:
            after[leaves] -= 1
        best = self._moves(at, tuple(after))
        open_domains = [place for place in range(len(after)) if place not in self._problem.shut[at]]
        if joins and open_domains:
            after[min(open_domains, key=after.__getitem__)] += 1
            best = min(best, self._moves(at, tuple(after)))
        return best

    # The search itself.

    def run(self) -> Found:
        """Return the best plan there is, or that was found within the limits."""
        best, least = self._start, self._left(self._start)
        if not least:
            return Found(best, Ended.FOUND_ALL)
        self._branch(best)
        while self._heap and self._placed < self._limits.placements:
            *_, state, movable = heapq.heappop(self._heap)
            after = self._after(state, movable)
            if after is None:
                continue
            if self._is_harmless(after):
                best = min(best, after, key=self._rank)
                if not self._left(after):
                    return Found(after, Ended.FOUND_ALL)
            self._branch(after)
        if self._heap:
            return Found(best, Ended.PLACEMENTS)
        return Found(best, Ended.EVICTIONS if self._cut else Ended.FOUND_ALL)

    def _after(self, state: State, movable: Movable) -> State | None:
        """Return the state after one eviction; None where a Pod is left without a node, or nothing is new."""
        self._placed += len(state.arrangements)
        limits = self._limits
        landing = evict(movable, state.arrangements, self._problem.goals, most=limits.arrangements, whole=state.whole)
        if not landing.nodes:
            return None
        eviction = Eviction(movable, landing.nodes)
        after = State(landing.arrangements, (*state.evictions, eviction), landing.whole)
        evicted = tuple(sorted((each.movable.like, each.movable.pod.spec.node_name) for each in after.evictions))
        key = evicted, frozenset(each.landed for each in after.arrangements)
        counted = {each.counts for each in state.arrangements}
        if key in self._seen or (len(counted) == 1 and {each.counts for each in after.arrangements} == counted):
            return None
        self._seen.add(key)
        return after

    def _branch(self, state: State) -> None:
        """Remember each eviction that may follow, the most promising first."""
        done = len(state.evictions) + 1
        if done > self._limits.evictions:
            self._cut = True
            return
        gone = {each.movable.pod.key for each in state.evictions}
        counts = {each.counts for each in state.arrangements}
        hopes: dict[object, tuple[int, int]] = {}
        tried: set[object] = set()
        least = len(state.evictions) + self._left(state)
        for rank, movable in enumerate(self._problem.movables):
            alike = movable.like, movable.pod.spec.node_name
            if movable.pod.key in gone or alike in tried:
                continue
            tried.add(alike)
            key = movable.leaves, movable.joins
            if key not in hopes:
                each = [self._hope(movable, found) for found in counts]
                hopes[key] = max(most for most, _ in each), max(together for _, together in each)
            most, together = hopes[key]
            entry = max(least, done + most), -done, together, rank, next(self._serial), state, movable
            heapq.heappush(self._heap, entry)

    def _is_harmless(self, state: State) -> bool:
        """Whether no goal is further from holding than at the start."""
        return all(state.worst(goal, at) <= self._start.worst(goal, at) for at, goal in enumerate(self._problem.goals))

    def _rank(self, state: State) -> tuple[int, int, int]:
        """Return what states are compared by: excess together, goals that do not hold, evictions."""
        excess = [state.worst(goal, at) for at, goal in enumerate(self._problem.goals)]
        return sum(excess), sum(map(bool, excess)), len(state.evictions)
