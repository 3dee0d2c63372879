"""The plan for all that is asked about: group after group of workloads that count each other, each on what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import OwnedPods, workloads
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.arrangements import Arrangement
from kubectl_spread.rebalance.goals import DomainPods, Goal, goals_of, grouped
from kubectl_spread.rebalance.movable import Movable, Movables
from kubectl_spread.rebalance.search import Ended, Eviction, Found, Limits, Problem, Search, State
from kubectl_spread.scheduler import nodeaffinity, nodename, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.cycle import feasible_nodes
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import Snapshot

BY_NODE_ALONE = frozenset(plugin.NAME for plugin in (nodeunschedulable, nodename, tainttoleration, nodeaffinity))
"""Filters that judge a node by what no eviction changes."""
MOST_PLACEMENTS = 4_000
"""Pods (count) that are placed in the search for one group."""
MOST_ARRANGEMENTS = 8
"""Ways the Pods may lie (count) that are followed further."""


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
        after: how the Pods lie in the end, where they lie worst.
        arrangement: the cluster then.
        left: the Pods that might still be evicted.
        stay: the Pods that the goal counts and that are not to be evicted, and why.
        ended: why no more is reached.
    """

    goal: Goal
    after: DomainPods
    arrangement: Arrangement
    left: tuple[Movable, ...]
    stay: tuple[tuple[Pod, str], ...]
    ended: Ended

    @property
    def skew(self) -> int:
        """The worst skew in the end (Pods)."""
        return self.goal.skew(self.after)

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
        at = self.goal.place.get(pod.spec.node_name)
        return at is not None and self.goal.domains[at] in self.fullest and self.goal.matches(pod)


class Plan(msgspec.Struct, frozen=True):
    """What is to be evicted, and what comes of it.

    Attributes:
        evictions: in order.
        outcomes: of each goal that is asked about.
        whole: whether every choice among equal nodes was followed.
    """

    evictions: tuple[Eviction, ...]
    outcomes: tuple[Outcome, ...]
    whole: bool


def plan(handles: Mapping[str, Handle], asked: Asked) -> Plan:
    """Return the fewest evictions after which what is asked for holds, or comes as near as it can.

    Args:
        handles: scheduler's name → the cluster as its profile sees it.
        asked: what it is to reach.
    """
    return Planner(handles, asked).run()


class Planner:
    """Plans group after group.

    Args:
        handles: scheduler's name → the cluster as its profile sees it.
        asked: what is to be reached.
    """

    def __init__(self, handles: Mapping[str, Handle], asked: Asked) -> None:
        self._handles = handles
        self._asked = asked
        self._snapshot: Snapshot = self._handle().snapshot
        self._movables = Movables(self._snapshot)
        self._state = State((Arrangement(handles, ()),))

    def _handle(self, scheduler_name: str = DEFAULT_SCHEDULER) -> Handle:
        """Return the cluster as the scheduler sees it, or as the first does."""
        return self._handles.get(scheduler_name) or next(iter(self._handles.values()))

    def run(self) -> Plan:
        """Return the plan."""
        outcomes: list[Outcome] = []
        for goals in self._groups():
            outcomes += self._solved(goals)
        wanted = [each for each in outcomes if each.goal.wanted]
        return Plan(self._state.evictions, tuple(wanted), self._state.whole)

    def _groups(self) -> list[list[Goal]]:
        """Return the goals that count Pods in common, together, where any of them is asked about."""
        goals: list[Goal] = []
        for workload in workloads(self._snapshot):
            goals += goals_of(workload, self._handle, soft=self._asked.soft, wanted=self._asked.wanted(workload))
        every = grouped(goals, self._snapshot)
        return [group for group in every if any(goal.wanted for goal in group)]

    def _solved(self, goals: Sequence[Goal]) -> Iterator[Outcome]:
        """Yield what becomes of the goals of one group, and go on from there."""
        start = tuple(goal.start for goal in goals)
        arrangements = tuple(replace(each, counts=start) for each in self._state.arrangements)
        before = State(arrangements, (), self._state.whole)
        found = Found(before, Ended.FOUND_ALL)
        movables: tuple[Movable, ...] = ()
        if any(goal.wanted and goal.is_violated for goal in goals):
            problem = self._problem(goals)
            found, movables = Search(problem, before, self._limits()).run(), problem.movables
        self._state = found.state.after(self._state)
        gone = {each.movable.pod.key for each in found.state.evictions}
        left = tuple(each for each in movables if each.pod.key not in gone)
        for at, goal in enumerate(goals):
            worst = max(found.state.arrangements, key=lambda each: goal.skew(each.counts[at]))
            yield Outcome(goal, worst.counts[at], worst, left, self._staying(goal), found.ended)

    def _limits(self) -> Limits:
        """Return how far the search for a group goes."""
        most = 10**9 if self._asked.most is None else self._asked.most - len(self._state.evictions)
        return Limits(evictions=most, placements=MOST_PLACEMENTS, arrangements=MOST_ARRANGEMENTS)

    def _problem(self, goals: Sequence[Goal]) -> Problem:
        """Return what is to be solved for one group."""
        matched = {pod.key: pod for goal in goals for pod in self._matched(goal) if self._asked.may_go(pod)}
        movables = tuple(self._movables.of(goals, list(matched.values()), self._handle))
        return Problem(tuple(goals), movables, tuple(self._shut(goals, movables)))

    def _staying(self, goal: Goal) -> tuple[tuple[Pod, str], ...]:
        """Return the Pods that the goal counts and that are not to be evicted, and why."""
        if not goal.is_violated:
            return ()
        return tuple((pod, why) for pod in self._matched(goal) if (why := self._movables.why_not(pod)))

    def _matched(self, goal: Goal) -> Iterator[Pod]:
        """Yield the Pods that the goal counts, or would count on other nodes."""
        for pod in self._snapshot.matching_pods(goal.workload.namespace, goal.selector):
            if not pod.terminating:
                yield pod

    def _shut(self, goals: Sequence[Goal], movables: Sequence[Movable]) -> Iterator[frozenset[int]]:
        """Yield for each goal the domains in which nothing of each node lets any of its Pods in."""
        ones = {movable.like: movable for movable in movables}
        nodes = {like: self._open_nodes(one.again.pod) for like, one in ones.items()}
        for at, goal in enumerate(goals):
            is_open = {
                goal.place[name]
                for like, one in ones.items()
                if at in one.joins
                for name in nodes[like]
                if name in goal.place
            }
            yield frozenset(range(len(goal.domains))) - is_open

    def _open_nodes(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes that let the Pod in by themselves, whatever lies on them."""
        handle = self._handle(pod.spec.scheduler_name)
        filters = tuple(name for name in handle.profile.filters if name in BY_NODE_ALONE)
        profile = replace(handle.profile, filters=filters, weights={})
        return feasible_nodes(pod, replace(handle, profile=profile))
