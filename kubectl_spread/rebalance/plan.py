"""The plan for all that is asked about: group after group of workloads that count each other, each on what is left.

Where few Pods are counted, and that is not the best there can be, all groups are looked at together too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import OwnedPods, workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.arrangements import Arrangement
from kubectl_spread.rebalance.goals import DomainPods, Goal, goals_of, grouped
from kubectl_spread.rebalance.movable import Movable, StayReason
from kubectl_spread.rebalance.problem import Problem
from kubectl_spread.rebalance.problem_builder import ProblemBuilder
from kubectl_spread.rebalance.search import Ended, Eviction, Search, SearchLimits, SearchResult, State, followed_through
from kubectl_spread.scheduler.handles import Handles

Group: TypeAlias = tuple[Goal, ...]
"""Goals that count Pods in common."""
UNLIMITED = 10**9
"""Evictions (count), where there may be as many as it takes."""
MOST_WORK, PER_PLACEMENT, FEWEST_PLACEMENTS = 120_000, 30, 40
"""Verdicts on single nodes in the search for one group, about a second's; what a placement costs besides; and how many
placements there are in any case (counts)."""
MOST_IN_ALL = 20 * MOST_WORK
"""The same for all groups together (count), in some half a minute."""
MOST_TOGETHER = 40
"""Pods that are counted (count) up to which workloads that do not count each other make room for one another."""
CUT_SHORT = frozenset((Ended.PLACEMENTS, Ended.NOT_BEGUN))
"""How a search ends before it is known that there is nothing better."""
FEW, MANY = (8, 1_500), (200, 2_000)
"""Ways the Pods may be spread that are followed in a search, and in its proof: how many, and times nodes (counts)."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is to reach.

    Attributes:
        wanted: which workloads are asked about.
        may_go: which Pods may be evicted for it, if nothing else keeps them.
        soft: whether ScheduleAnyway constraints are to hold too.
        most: the evictions there may be (count); None for as many as it takes.
    """

    wanted: Callable[[OwnedPods], bool]
    may_go: Callable[[Pod], bool]
    soft: bool = False
    most: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What becomes of one goal.

    Attributes:
        goal: which.
        before: the cluster before any eviction.
        after: how the Pods are spread in the end, in the worst case.
        arrangement: the cluster then.
        left: the Pods that might still be evicted.
        stay: the Pods that the goal counts and that are not to be evicted, and why.
        ended: why no more is reached.
    """

    goal: Goal
    before: Handles
    after: DomainPods
    arrangement: Arrangement
    left: tuple[Movable, ...]
    stay: tuple[tuple[Pod, StayReason], ...]
    ended: Ended

    @property
    def skew(self) -> int:
        """The worst skew in the end (Pods)."""
        return self.goal.skew(self.after)

    @property
    def improves(self) -> bool:
        """Whether the plan makes the skew less."""
        return self.skew < self.goal.skew(self.goal.start)

    @property
    def fullest(self) -> tuple[str, ...]:
        """The domains that hold the most Pods in the end."""
        return tuple(self._holding(max(self.after, default=0)))

    @property
    def emptiest(self) -> Mapping[str, tuple[str, ...]]:
        """The domains that hold the fewest Pods in the end → their nodes."""
        return {
            domain: tuple(name for name, at in self.goal.place.items() if self.goal.domains[at] == domain)
            for domain in self._holding(min(self.after, default=0))
        }

    def _holding(self, number: int) -> Iterator[str]:
        """Yield the domains that hold so many Pods."""
        return (domain for domain, pods in zip(self.goal.domains, self.after, strict=True) if pods == number)

    def counted_in_fullest(self, pod: Pod) -> bool:
        """Whether the Pod is counted in a domain that holds the most in the end."""
        return self.goal.domain_of(pod) in self.fullest and self.goal.matches(pod)


class EvictionPlan(msgspec.Struct, frozen=True):
    """What is to be evicted, and what comes of it.

    Attributes:
        evictions: in order.
        outcomes: of each goal that is asked about.
        whole: whether every choice among equal nodes was followed.
        sampled: whether the scheduler scores only some of the nodes that a Pod fits on.
    """

    evictions: tuple[Eviction, ...]
    outcomes: tuple[Outcome, ...]
    whole: bool
    sampled: bool


def plan(handles: Handles, asked: Asked, *, most_work: int = MOST_IN_ALL) -> EvictionPlan:
    """Return the fewest evictions after which what is asked for holds, or comes as near as it can.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
        asked: what it is to reach.
        most_work: verdicts on single nodes (count) after which no other group is begun.
    """
    return Planner(handles, asked, most_work).run()


class Attempt(msgspec.Struct, frozen=True):
    """What was found for one group, or for several.

    Attributes:
        goals: of one group, or several.
        since: the state that it was looked for in.
        found: the best.
        movables: the Pods that might go.
    """

    goals: tuple[Goal, ...]
    since: State
    found: SearchResult
    movables: tuple[Movable, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all that is asked about holds then."""
        return not any(self.found.state.worst(goal, at) for at, goal in enumerate(self.goals) if goal.wanted)


class Planner:
    """Plans group after group, or for all together.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
        asked: what is to be reached.
        most_work: verdicts on single nodes (count) after which no other group is begun.
    """

    def __init__(self, handles: Handles, asked: Asked, most_work: int) -> None:
        self._asked = asked
        self._handles = handles
        self._builder = ProblemBuilder(handles, asked.may_go)
        self._state = State((Arrangement(handles, ()),))
        self._work_left = most_work

    def run(self) -> EvictionPlan:
        """Return the plan: group after group, or for all together where that leaves less."""
        groups, start = self._groups(), self._state
        outcomes = self._apart(groups)
        counted = sum(max(sum(goal.start) for goal in group) for group in groups)
        if len(groups) > 1 and counted <= MOST_TOGETHER:
            outcomes = self._together(groups, start, outcomes)
        wanted = [each for each in outcomes if each.goal.wanted]
        return EvictionPlan(self._state.evictions, tuple(wanted), self._state.whole, self._state.sampled)

    def _apart(self, groups: Sequence[Group]) -> list[Outcome]:
        """Return what becomes of group after group; those that cannot be balanced come last: others may make room."""
        outcomes: list[Outcome] = []
        postponed: list[Attempt] = []
        for group in groups:
            attempt = self._attempt([group])
            if attempt.holds:
                outcomes += self._taken(attempt)
            else:
                postponed.append(attempt)
        for attempt in postponed:
            moved = attempt.since.evictions != self._state.evictions
            outcomes += self._taken(self._attempt([attempt.goals]) if moved else attempt)
        return outcomes

    def _together(self, groups: Sequence[Group], start: State, apart: list[Outcome]) -> list[Outcome]:
        """Return what becomes of all groups where each may make room for others; as it was where that is no better."""
        before, rank = self._state, _rank(apart, self._state)
        # The evictions that the counts of each group ask for at least.
        least = (max(g.moves_needed(g.start, g.constraint.max_skew, (), ()) for g in group) for group in groups)
        if rank <= (0, 0, sum(least)):
            return apart
        self._state = start
        outcomes = [*self._taken(self._attempt(groups))]
        if _rank(outcomes, self._state) < rank:
            return outcomes
        self._state = before
        if not CUT_SHORT & {each.ended for each in outcomes}:
            return apart
        return [replace(each, ended=Ended.PLACEMENTS) if each.ended is Ended.FOUND_ALL else each for each in apart]

    def _groups(self) -> list[Group]:
        """Return the goals that count Pods in common, together, where any of them is asked about."""
        goals: list[Goal] = []
        for workload in workloads(self._builder.snapshot):
            wanted = self._asked.wanted(workload)
            goals += goals_of(workload, self._handles, soft=self._asked.soft, wanted=wanted)
        every = grouped(goals, self._builder.snapshot)
        return [tuple(group) for group in every if any(goal.wanted for goal in group)]

    def _attempt(self, groups: Sequence[Group]) -> Attempt:
        """Return what can be done for some groups as things are."""
        goals = tuple(chain.from_iterable(groups))
        start = tuple(goal.start for goal in goals)
        before = replace(self._state, arrangements=tuple(replace(a, counts=start) for a in self._state.arrangements))
        if not any(goal.wanted and goal.is_violated for goal in goals):
            return Attempt(goals, self._state, SearchResult(before, Ended.FOUND_ALL))
        problem = self._builder.problem(groups)
        return Attempt(goals, self._state, self._best(problem, before), problem.movables)

    def _taken(self, attempt: Attempt) -> Iterator[Outcome]:
        """Yield what becomes of the goals of one group, and go on from there."""
        self._state = after = attempt.found.state
        gone = {each.movable.pod.key for each in after.evictions}
        left = tuple(each for each in attempt.movables if each.pod.key not in gone)
        for at, goal in enumerate(attempt.goals):
            worst = max(after.arrangements, key=lambda each: goal.skew(each.counts[at]))
            stay = self._builder.staying(goal) if goal.excess(worst.counts[at]) else ()
            yield Outcome(goal, self._handles, worst.counts[at], worst, left, stay, attempt.found.ended)

    def _best(self, problem: Problem, before: State) -> SearchResult:
        """Return the best plan for a group: looked for in few arrangements, then followed in as many as may be."""
        if self._work_left <= 0:
            return SearchResult(before, Ended.NOT_BEGUN)
        few, many = (max(1, min(most, verdicts // self._nodes)) for most, verdicts in (FEW, MANY))
        if many < 2 * few:
            # What the search follows is about as much as its proof would.
            return self._searched(problem, before.with_most(few, problem.goals), few)
        found = self._searched(problem, before.with_most(1, problem.goals), few)
        followed = self._followed(found, before, problem, many)
        if followed is None:
            found = self._searched(problem, before.with_most(many, problem.goals), many)
            followed = self._followed(found, before, problem, many)
        return SearchResult(before, Ended.PLACEMENTS) if followed is None else SearchResult(followed, found.ended)

    def _searched(self, problem: Problem, before: State, arrangements: int) -> SearchResult:
        found = Search(problem, before, self._limits(arrangements)).run()
        self._work_left -= found.placed * (PER_PLACEMENT + self._nodes)
        return found

    def _followed(self, found: SearchResult, before: State, problem: Problem, most: int) -> State | None:
        """Return the state that was found, followed in as many arrangements as may be; None where it is worse then."""
        evictions = found.state.evictions[len(before.evictions) :]
        followed = followed_through(evictions, before, problem.goals, most)
        return followed if followed is not None and followed.is_no_worse_than(found.state, problem.goals) else None

    @property
    def _nodes(self) -> int:
        """How many nodes there are (count), but never none."""
        return max(1, len(self._builder.snapshot.nodes))

    def _limits(self, arrangements: int) -> SearchLimits:
        most = UNLIMITED if self._asked.most is None else self._asked.most
        placements = max(FEWEST_PLACEMENTS, MOST_WORK // (PER_PLACEMENT + self._nodes))
        return SearchLimits(evictions=most, placements=placements, arrangements=arrangements)


def _rank(outcomes: Sequence[Outcome], state: State) -> tuple[int, int, int]:
    """Return what plans are compared by: excess together, goals that do not hold, evictions."""
    excess = [outcome.goal.excess(outcome.after) for outcome in outcomes]
    return sum(excess), sum(map(bool, excess)), len(state.evictions)
