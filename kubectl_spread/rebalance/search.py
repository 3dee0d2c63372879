"""The search for the fewest evictions: A* over sets of arrangements, guided by the moves that the counts require.

``Goal.moves_needed`` gives the moves that the counts require, and no eviction makes more than one. So a plan with that
many evictions is the shortest, and is found first. The scheduler places the replacement only when no other state looks
better.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from enum import Enum, auto
from itertools import count

import msgspec
from msgspec.structs import replace

from kubectl_spread.rebalance.arrangements import Arrangement, Counts, Landed, worst_of
from kubectl_spread.rebalance.goals import DomainPods, Goal
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.rebalance.problem import Problem


class Eviction(msgspec.Struct, frozen=True):
    """One eviction of a plan."""

    movable: Movable
    lands: tuple[str, ...]  # the nodes that the replacement may go to
    step: int = 0  # evictions with the same number are made together, unless it is 0
    # the counts that each goal may have once the replacements of such a step are placed; only of its last
    ends: tuple[tuple[Goal, frozenset[DomainPods]], ...] = ()


class State(msgspec.Struct, frozen=True):
    """The cluster after some evictions."""

    arrangements: tuple[Arrangement, ...]
    evictions: tuple[Eviction, ...] = ()
    whole: bool = True  # whether the arrangements are all there are
    sampled: bool = False  # whether the scheduler scored only some of the nodes that fit a Pod
    scored: int = 0  # how often nodes were scored for the last eviction (count)

    def after(self, movable: Movable, goals: Sequence[Goal], most: int) -> State | None:
        """Return the state after one more eviction; None if a Pod may find no node.

        At most ``most`` arrangements are followed, the worst ones with different counts first.
        """
        lands, sampled, scored = set[str](), False, 0
        choices: dict[object, Landed] = {}
        for arrangement in self.arrangements:
            gone = arrangement.without(movable)
            found = gone.choices(movable, goals)
            if not found.best or gone.may_lose_its_place(movable):
                return None
            sampled, scored = sampled or found.sampled, scored + found.scored
            # If some arrangements are not followed, any feasible node may have the highest score.
            lands.update(found.best if self.whole and not found.sampled else found.fitting)
            for landed in gone.landings(found.best, movable, goals):
                choices.setdefault(landed.landed, landed)
        followed = tuple(each.arrangement for each in worst_of(tuple(choices.values()), goals, most))
        return State(
            arrangements=followed,
            evictions=(*self.evictions, Eviction(movable, tuple(sorted(lands)))),
            whole=self.whole and not sampled and len(followed) == len(choices),
            sampled=self.sampled or sampled,
            scored=scored,
        )

    def with_most(self, most: int, goals: Sequence[Goal]) -> State:
        """Return the state with at most ``most`` arrangements, the worst ones with different counts first."""
        followed = worst_of(self.arrangements, goals, most)
        return replace(self, arrangements=followed, whole=self.whole and len(followed) == len(self.arrangements))

    @property
    def counted(self) -> frozenset[Counts]:
        """The possible counts of the goals."""
        return frozenset(each.counts for each in self.arrangements)

    def rank(self, excess: Sequence[int]) -> tuple[int, int, int]:
        """Return the sort key of states: total excess of the goals, unsatisfied goals, evictions."""
        return sum(excess), sum(map(bool, excess)), len(self.evictions)

    def size(self) -> tuple[int, int]:
        """Return how many evictions are made together, and how many there are (counts)."""
        return sum(each.step > 0 for each in self.evictions), len(self.evictions)

    def is_no_worse_than(self, other: State, goals: Sequence[Goal]) -> bool:
        """Whether no goal has more excess than in the other state."""
        return all(self.worst(goal, at) <= other.worst(goal, at) for at, goal in enumerate(goals))

    def worst(self, goal: Goal, at: int) -> int:
        """Return the largest excess over maxSkew of the goal at this place (Pods)."""
        return max(goal.excess(each.counts[at]) for each in self.arrangements)


class SearchLimits(msgspec.Struct, frozen=True):
    """The limits of a search (counts): evictions of the plan, placed Pods, and arrangements followed in one state."""

    evictions: int
    placements: int
    arrangements: int


class Ended(Enum):
    """Why a search ended."""

    FOUND_ALL = auto()  # No plan is better
    PLACEMENTS = auto()  # The limit of placed Pods is reached
    EVICTIONS = auto()  # A better plan has more evictions than were asked for
    NOT_BEGUN = auto()  # The search for other workloads used up the time for all


class SearchResult(msgspec.Struct, frozen=True):
    """The best state, why the search ended, and how many Pods were placed for it (count)."""

    state: State
    ended: Ended
    placed: int = 0


class Search:
    """One search from the state ``start``."""

    def __init__(self, problem: Problem, start: State, limits: SearchLimits) -> None:
        self._problem = problem
        self._start = start
        self._limits = limits
        self._heap: list[tuple[int, int, int, int, int, State, Movable]] = []
        self._serial = count()
        self._seen: set[object] = set()
        self._placed = 0

    def run(self) -> SearchResult:
        """Return the best plan, or the best found within the limits."""
        best = self._start
        if not self._problem.left(best.counted):
            return SearchResult(best, Ended.FOUND_ALL)
        self._branch(best)
        while self._heap and self._placed < self._limits.placements:
            *_, state, movable = heapq.heappop(self._heap)
            after = self._after(state, movable)
            if after is None:
                continue
            if after.is_no_worse_than(self._start, self._problem.goals):
                best = min(best, after, key=self._rank)
                if not self._problem.left(after.counted):
                    return SearchResult(after, Ended.FOUND_ALL, self._placed)
            self._branch(after)
        return SearchResult(best, Ended.PLACEMENTS if self._heap else Ended.FOUND_ALL, self._placed)

    def _after(self, state: State, movable: Movable) -> State | None:
        """Return the state after one eviction; None if a Pod finds no node, or the state is not new."""
        after = state.after(movable, self._problem.goals, self._limits.arrangements)
        self._placed += after.scored if after else len(state.arrangements)
        if after is None:
            return None
        made = after.evictions[len(self._start.evictions) :]
        key = self._problem.sign_of([each.movable for each in made], after.arrangements)
        lands = after.evictions[-1].lands
        if key in self._seen or self._problem.comes_back(movable, lands, state.counted, after.counted):
            return None
        self._seen.add(key)
        return after

    def _branch(self, state: State) -> None:
        done = len(state.evictions) + 1
        if done > self._limits.evictions:
            return
        counts = state.counted
        least = len(state.evictions) + self._problem.left(counts)
        for rank, movable, hope in self._problem.moves({each.movable.pod.key for each in state.evictions}, counts):
            entry = max(least, done + hope.most), -done, hope.together, rank, next(self._serial), state, movable
            heapq.heappush(self._heap, entry)

    def _rank(self, state: State) -> tuple[int, int, int]:
        return state.rank([state.worst(goal, at) for at, goal in enumerate(self._problem.goals)])
