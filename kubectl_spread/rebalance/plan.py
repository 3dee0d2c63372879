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
from kubectl_spread.rebalance.problem import Problem
from kubectl_spread.rebalance.search import Ended, Eviction, Found, Limits, Search, State, followed_through
from kubectl_spread.scheduler import nodeaffinity, nodename, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.cycle import feasible_nodes
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import Snapshot

BY_NODE_ALONE = frozenset(plugin.NAME for plugin in (nodeunschedulable, nodename, tainttoleration, nodeaffinity))
"""Filters that judge a node by what no eviction changes."""
UNLIMITED = 10**9
"""Evictions (count), where there may be as many as it takes."""
MOST_WORK, PER_PLACEMENT, FEWEST_PLACEMENTS = 120_000, 30, 40
"""Verdicts on single nodes in the search for one group, about a second's; what a placement costs besides; and how many
placements there are in any case (counts)."""
FEW, MANY = (8, 1_500), (200, 2_000)
"""Ways the Pods may lie that are followed in a search, and in its proof: how many, and times nodes (counts)."""


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
        self._open: dict[bytes, tuple[str, ...]] = {}
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
        before = replace(self._state, arrangements=tuple(replace(a, counts=start) for a in self._state.arrangements))
        found, movables = Found(before, Ended.FOUND_ALL), tuple[Movable, ...]()
        if any(goal.wanted and goal.is_violated for goal in goals):
            problem = self._problem(goals)
            found, movables = self._best(problem, before), problem.movables
        self._state = found.state
        gone = {each.movable.pod.key for each in found.state.evictions}
        left = tuple(each for each in movables if each.pod.key not in gone)
        for at, goal in enumerate(goals):
            worst = max(found.state.arrangements, key=lambda each: goal.skew(each.counts[at]))
            holds = goal.excess(worst.counts[at]) == 0
            yield Outcome(goal, worst.counts[at], worst, left, () if holds else self._staying(goal), found.ended)

    def _best(self, problem: Problem, before: State) -> Found:
        """Return the best plan for a group: looked for in few arrangements, then followed in as many as may be."""
        few, many = (max(1, min(most, verdicts // self._nodes)) for most, verdicts in (FEW, MANY))
        first = before.with_most(1, problem.goals)
        found = Search(problem, first, self._limits(few)).run()
        followed = self._followed(found, before, problem, many)
        if followed is None:
            found = Search(problem, before.with_most(many, problem.goals), self._limits(many)).run()
            followed = self._followed(found, before, problem, many)
        return Found(before, Ended.PLACEMENTS) if followed is None else Found(followed, found.ended)

    def _followed(self, found: Found, before: State, problem: Problem, most: int) -> State | None:
        """Return the state that was found, followed in as many arrangements as may be; None where it is worse then."""
        if most == 1:
            return found.state
        evictions = found.state.evictions[len(before.evictions) :]
        followed = followed_through(evictions, before, problem.goals, most)
        is_no_worse = followed is not None and _is_no_worse(followed, found.state, problem.goals)
        return followed if is_no_worse else None

    @property
    def _nodes(self) -> int:
        """How many nodes there are (count), but never none."""
        return max(1, len(self._snapshot.nodes))

    def _limits(self, arrangements: int) -> Limits:
        """Return how far the search for a group goes."""
        most = UNLIMITED if self._asked.most is None else self._asked.most
        placements = max(FEWEST_PLACEMENTS, MOST_WORK // (PER_PLACEMENT + self._nodes))
        return Limits(evictions=most, placements=placements, arrangements=arrangements)

    def _problem(self, goals: Sequence[Goal]) -> Problem:
        """Return what is to be solved for one group."""
        matched = {pod.key: pod for goal in goals for pod in self._matched(goal) if self._asked.may_go(pod)}
        movables = tuple(self._movables.of(goals, list(matched.values()), self._handle))
        return Problem(tuple(goals), movables, tuple(self._shut(goals, movables)))

    def _staying(self, goal: Goal) -> tuple[tuple[Pod, str], ...]:
        """Return the Pods that the goal counts and that are not to be evicted, and why."""
        return tuple((pod, why) for pod in self._matched(goal) if (why := self._movables.why_not(pod.key)))

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
        spec = pod.spec
        asked = msgspec.json.encode((spec.scheduler_name, spec.node_selector, spec.tolerations, spec.affinity))
        if asked not in self._open:
            handle = self._handle(spec.scheduler_name)
            filters = tuple(name for name in handle.profile.filters if name in BY_NODE_ALONE)
            profile = replace(handle.profile, filters=filters, weights={})
            self._open[asked] = feasible_nodes(pod, replace(handle, profile=profile))
        return self._open[asked]


def _is_no_worse(followed: State, searched: State, goals: Sequence[Goal]) -> bool:
    """Whether no goal stands worse in more arrangements than it does in few."""
    return all(followed.worst(goal, at) <= searched.worst(goal, at) for at, goal in enumerate(goals))
