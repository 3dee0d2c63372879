"""The plan for all wanted goals: group after group of workloads that count each other's Pods, each on the last result.

If few Pods are counted, and a better plan may exist, all groups are also planned together. The problem of a group is
built from the cluster: which Pods may be evicted, and which domains are shut. Notes on the plan name unknown owners,
Pods that also get a newer template, and constraints that it ignores.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, islice
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import is_upgraded
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, controller_of, owner_of, workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import grouped, name_order
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.rebalance.arrangements import Arrangement
from kubectl_spread.rebalance.goals import ANYWHERE, DomainPods, Goal, Reach, goals_of, groups_of
from kubectl_spread.rebalance.movable import Movable, Movables, StayCause, StayReason, Stays, Unknown
from kubectl_spread.rebalance.problem import Problem
from kubectl_spread.rebalance.search import Ended, Eviction, Search, SearchLimits, SearchResult, State
from kubectl_spread.rebalance.together import TogetherSearch
from kubectl_spread.scheduler import (
    nodeaffinity,
    nodename,
    nodeports,
    noderesources,
    nodeunschedulable,
    tainttoleration,
)
from kubectl_spread.scheduler.cycle import unscored_nodes
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.volumebinding import OF_VOLUMES
from kubectl_spread.simulation.placement import place_each
from kubectl_spread.snapshot import PodKey, Snapshot

Group: TypeAlias = tuple[Goal, ...]  # Goals that count Pods in common
UNLIMITED = 10**9  # Evictions (count) without a limit
# Verdicts on single nodes in the search for one group, about a second's; what a placement costs besides; and how many
# placements there are in any case (counts).
MOST_WORK, PER_PLACEMENT, FEWEST_PLACEMENTS = 120_000, 30, 40
MOST_IN_ALL = 20 * MOST_WORK  # The same for all groups together (count), about half a minute's
MOST_TOGETHER = 40  # Counted Pods (count) up to which groups make room for each other
MOST_WAITING = 8  # Templates of Pending Pods without a node (count) that are tried again after each eviction
# How a search ends before it is known that no plan is better.
CUT_SHORT = frozenset((Ended.PLACEMENTS, Ended.NOT_BEGUN))
# Filters whose verdict on a node no eviction changes.
BY_NODE_ALONE = frozenset(plugin.NAME for plugin in (nodeunschedulable, nodename, tainttoleration, nodeaffinity))
# Filters that reject a node as long as Pods are on it that stay.
BY_ROOM = frozenset((noderesources.NAME, nodeports.NAME))
# Arrangements followed in a search, and in its proof: how many, and times nodes (counts).
FEW, MANY = (8, 1_500), (200, 2_000)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan should reach."""

    wanted: Callable[[OwnedPods], bool]
    may_go: Callable[[Pod], bool]  # which Pods may be evicted for it, unless something keeps them
    # returns what is not known and decides where a Pod can go: such a Pod is not evicted
    unknown: Unknown = lambda _pod, _handle: None
    soft: bool = False
    most: int | None = None  # the limit of evictions (count); None for no limit


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of one goal."""

    goal: Goal
    before: Handles
    after: DomainPods  # the counts in the end, in the worst case
    arrangement: Arrangement
    left: tuple[Movable, ...]
    stay: tuple[tuple[Pod, StayReason], ...]  # the counted Pods that are not evicted, and why
    reach: Reach  # what no eviction could change; unknown where none was needed
    ended: Ended

    @property
    def skew(self) -> int:
        """The worst skew in the end (Pods)."""
        return self.goal.skew(self.after)

    @property
    def improves(self) -> bool:
        """Whether the plan lowers the skew."""
        return self.skew < self.goal.skew(self.goal.start)

    @property
    def fullest(self) -> tuple[str, ...]:
        """The domains with the most Pods in the end."""
        return tuple(self._domains_with(max(self.after, default=0)))

    @property
    def emptiest(self) -> Mapping[str, tuple[str, ...]]:
        """The domains with the fewest Pods in the end → their nodes."""
        return {
            domain: tuple(name for name, at in self.goal.place.items() if self.goal.domains[at] == domain)
            for domain in self._domains_with(min(self.after, default=0))
        }

    def _domains_with(self, number: int) -> Iterator[str]:
        return (domain for domain, pods in zip(self.goal.domains, self.after, strict=True) if pods == number)


class EvictionPlan(msgspec.Struct, frozen=True):
    """The evictions, and their outcome."""

    evictions: tuple[Eviction, ...]
    outcomes: tuple[Outcome, ...]
    # the Pending Pods that find a node now, and that node: the evictions come after them
    scheduled: tuple[tuple[Pod, str], ...]
    whole: bool  # whether every choice among equal nodes was followed
    sampled: bool  # whether the scheduler scores only some of the nodes that fit a Pod
    left_out: int  # the ScheduleAnyway constraints above maxSkew that were not asked about (count)


def plan(handles: Handles, asked: Asked, *, most_work: int = MOST_IN_ALL) -> EvictionPlan:
    """Return the fewest evictions after which the goals are satisfied, or as near to it as possible.

    No other group is begun after ``most_work`` verdicts on single nodes (count).
    """
    found = Planner(handles, replace(asked, most=None), most_work).run()
    if asked.most is None or len(found.evictions) <= asked.most:
        return found
    limited = Planner(handles, asked, most_work).run()
    more = {_key(each.goal): each for each in found.outcomes}
    outcomes = (_limited(each, more[_key(each.goal)]) for each in limited.outcomes)
    return replace(limited, outcomes=tuple(outcomes))


def _key(goal: Goal) -> tuple[object, ...]:
    return goal.workload.namespace, goal.workload.ref, goal.revision, goal.constraint.index


def _limited(outcome: Outcome, unlimited: Outcome) -> Outcome:
    return replace(outcome, ended=Ended.EVICTIONS if unlimited.skew < outcome.skew else unlimited.ended)


class Attempt(msgspec.Struct, frozen=True):
    """The result for one group, or for several; ``since`` is the state at its start."""

    goals: tuple[Goal, ...]
    since: State
    found: SearchResult
    problem: Problem = Problem((), (), (), ())

    @property
    def holds(self) -> bool:
        """Whether all wanted goals are satisfied then."""
        return not any(self.found.state.worst(goal, at) for at, goal in enumerate(self.goals) if goal.wanted)


class Planner:
    """Plans group after group, or for all together; for the arguments see ``plan``."""

    def __init__(self, handles: Handles, asked: Asked, most_work: int) -> None:
        self._asked = asked
        self._handles = handles
        self._snapshot = handles.snapshot
        self._movables = Movables(handles, asked.unknown)
        self._open: dict[bytes, tuple[str, ...]] = {}
        self._scheduled = place_each((), handles)
        self._state = State((Arrangement(handles, ()),))
        self._work_left = most_work
        self._left_out = 0

    def run(self) -> EvictionPlan:
        """Return the plan: group after group, or for all together if that leaves less excess."""
        groups = self._groups()
        start = self._state
        outcomes = self._plan_apart(groups)
        counted = sum(max(sum(goal.start) for goal in group) for group in groups)
        if len(groups) > 1 and counted <= MOST_TOGETHER:
            outcomes = self._plan_together(groups, start, outcomes)
        wanted = [each for each in outcomes if each.goal.wanted]
        state, scheduled = self._state, self._scheduled.nodes
        return EvictionPlan(state.evictions, tuple(wanted), scheduled, state.whole, state.sampled, self._left_out)

    def _plan_apart(self, groups: Sequence[Group]) -> list[Outcome]:
        """Return the outcomes, group after group; groups that stay unbalanced come last: others may make room."""
        outcomes: list[Outcome] = []
        postponed: list[Attempt] = []
        for group in groups:
            attempt = self._attempt([group])
            if attempt.holds:
                outcomes += self._accept(attempt)
            else:
                postponed.append(attempt)
        for attempt in postponed:
            moved = attempt.since.evictions != self._state.evictions
            outcomes += self._accept(self._attempt([attempt.goals]) if moved else attempt)
        return outcomes

    def _plan_together(self, groups: Sequence[Group], start: State, apart: list[Outcome]) -> list[Outcome]:
        before, rank = self._state, _rank(apart, self._state)
        # The fewest evictions that the counts of each group require.
        least = (max(g.moves_needed(g.start, g.constraint.max_skew) for g in group) for group in groups)
        if rank <= (0, 0, sum(least)):
            return apart
        self._state = start
        outcomes = [*self._accept(self._attempt(groups))]
        if _rank(outcomes, self._state) < rank:
            return outcomes
        self._state = before
        if not CUT_SHORT & {each.ended for each in outcomes}:
            return apart
        return [replace(each, ended=Ended.PLACEMENTS) if each.ended is Ended.FOUND_ALL else each for each in apart]

    def _groups(self) -> list[Group]:
        goals: list[Goal] = []
        for workload in workloads(self._snapshot):
            wanted = self._asked.wanted(workload)
            for goal in goals_of(workload, self._handles, wanted=wanted):
                if goal.constraint.hard or self._asked.soft:
                    goals.append(goal)
                else:
                    self._left_out += goal.wanted and goal.is_violated
        if any(goal.wanted and goal.is_violated for goal in goals):
            self._schedule_first()
            goals = [goal.with_scheduled(self._scheduled.nodes) for goal in goals]
        every = groups_of(goals, self._snapshot)
        return [tuple(group) for group in every if any(goal.wanted for goal in group)]

    def _schedule_first(self) -> None:
        """Place the Pending Pods that find a node now, the most important and oldest first."""
        waiting = (pod for pod in self._snapshot.all(Pod) if pod.waits and not pod.spec.scheduling_gates)
        queue = sorted(
            filter(lambda pod: self._handles.of(pod).decides(pod), waiting),
            key=lambda pod: (-(pod.spec.priority or 0), pod.metadata.creation_timestamp or "", name_order(pod)),
        )
        self._scheduled = found = place_each(queue, self._handles)
        templates: dict[bytes, Pod] = {}
        for pod in found.left:
            templates.setdefault(msgspec.json.encode((pod.metadata.namespace, pod.metadata.labels, pod.spec)), pod)
        arrangement = Arrangement(found.handles, (), waiting=tuple(islice(templates.values(), MOST_WAITING)))
        self._state = State((arrangement,), whole=found.certain)

    def _attempt(self, groups: Sequence[Group]) -> Attempt:
        goals = tuple(chain.from_iterable(groups))
        start = tuple(goal.start for goal in goals)
        before = replace(self._state, arrangements=tuple(replace(a, counts=start) for a in self._state.arrangements))
        if not any(goal.wanted and goal.is_violated for goal in goals):
            return Attempt(goals, self._state, SearchResult(before, Ended.FOUND_ALL))
        problem = self._problem(groups)
        return Attempt(goals, self._state, self._best(problem, before), problem)

    def _accept(self, attempt: Attempt) -> Iterator[Outcome]:
        self._state = after = attempt.found.state
        gone = {each.movable.pod.key for each in after.evictions}
        for at, goal in enumerate(attempt.goals):
            reach = attempt.problem.reach[at] if attempt.problem.reach else ANYWHERE
            left = tuple(each for each in attempt.problem.movables if each.pod.key not in gone | reach.bound)
            worst = max(after.arrangements, key=lambda each: goal.skew(each.counts[at]))
            stay = self._staying(goal, reach.bound) if goal.excess(worst.counts[at]) else ()
            ended = attempt.found.ended
            if ended is Ended.PLACEMENTS and not attempt.problem.may_lower(at, goal.skew(worst.counts[at]) - 1):
                ended = Ended.FOUND_ALL
            yield Outcome(goal, self._handles, worst.counts[at], worst, left, stay, reach, ended)

    def _best(self, problem: Problem, before: State) -> SearchResult:
        """Return the best plan for a group: one eviction after another, or at last some together if that is better."""
        if self._work_left <= 0:
            return SearchResult(before, Ended.NOT_BEGUN)
        found = self._one_by_one(problem, before)
        return self._together(problem, before, found) if problem.left(found.state.counted) else found

    def _together(self, problem: Problem, before: State, found: SearchResult) -> SearchResult:
        """Return the best plan that ends with evictions at the same time; what was found if there is none.

        They follow the single evictions or replace them. They satisfy all goals, or one that else keeps its skew.
        """
        most = UNLIMITED if self._asked.most is None else self._asked.most
        best: State | None = None
        for start, allowed in _tries(problem, before, found.state):
            if best is not None and allowed != problem.allowed:
                break
            search = TogetherSearch(problem, start, allowed, most - len(start.evictions))
            best = min(filter(None, (best, search.run(MOST_WORK))), key=State.size, default=None)
            self._work_left -= search.work
            if best is None and not search.exhausted:
                found = replace(found, ended=Ended.PLACEMENTS)
        return found if best is None else replace(found, state=best)

    def _one_by_one(self, problem: Problem, before: State) -> SearchResult:
        """Return the best plan of single evictions: searched in few arrangements, then followed in many."""
        few, many = (max(1, min(most, verdicts // self._nodes)) for most, verdicts in (FEW, MANY))
        if many < 2 * few:
            # The search follows about as much as its proof would.
            return self._search(problem, before.with_most(few, problem.goals), few)
        found = self._search(problem, before.with_most(1, problem.goals), few)
        followed = self._follow(found, before, problem, many)
        if followed is None:
            found = self._search(problem, before.with_most(many, problem.goals), many)
            followed = self._follow(found, before, problem, many)
        return SearchResult(before, Ended.PLACEMENTS) if followed is None else SearchResult(followed, found.ended)

    def _search(self, problem: Problem, before: State, arrangements: int) -> SearchResult:
        most = UNLIMITED if self._asked.most is None else self._asked.most
        placements = max(FEWEST_PLACEMENTS, MOST_WORK // (PER_PLACEMENT + self._nodes))
        limits = SearchLimits(evictions=most, placements=placements, arrangements=arrangements)
        found = Search(problem, before, limits).run()
        self._work_left -= found.placed * (PER_PLACEMENT + self._nodes)
        return found

    def _follow(self, found: SearchResult, before: State, problem: Problem, most: int) -> State | None:
        """Return the state after the evictions of a search, with at most ``most`` arrangements; None if it is worse."""
        state: State | None = before
        for each in found.state.evictions[len(before.evictions) :]:
            state = state and state.after(each.movable, problem.goals, most)
        return state if state is not None and state.is_no_worse_than(found.state, problem.goals) else None

    @property
    def _nodes(self) -> int:
        return max(1, len(self._snapshot.nodes))

    # The problems, built from the cluster.

    def _problem(self, groups: Sequence[Sequence[Goal]]) -> Problem:
        """Return the problem for groups of goals; the goals of a group count Pods in common."""
        goals = tuple(chain.from_iterable(groups))
        matched = {pod.key: pod for goal in goals for pod in self._matching_pods(goal) if self._asked.may_go(pod)}
        movables = tuple(self._movables.of(goals, list(matched.values())))
        places = count()
        parts = tuple(tuple(islice(places, len(group))) for group in groups)
        return Problem(goals, movables, tuple(self._reaches(goals, movables)), parts)

    def _staying(self, goal: Goal, bound: Container[PodKey]) -> tuple[tuple[Pod, StayReason], ...]:
        """Return the Pods that the goal counts and that do not leave their domain, and why; ``bound``: for volumes."""
        found: list[tuple[Pod, StayReason]] = []
        for pod in self._matching_pods(goal):
            if why := self._movables.why_not(pod.key):
                found.append((pod, why))
            elif not self._asked.may_go(pod):
                found.append((pod, Stays(StayCause.NOT_ASKED_ABOUT, str(owner_of(pod, self._snapshot)))))
            elif pod.key in bound:
                found.append((pod, Stays(StayCause.VOLUME_THERE)))
        return tuple(found)

    def _matching_pods(self, goal: Goal) -> Iterator[Pod]:
        for pod in self._snapshot.matching_pods(goal.workload.namespace, goal.selector):
            if not pod.terminating:
                yield pod

    def _reaches(self, goals: Sequence[Goal], movables: Sequence[Movable]) -> Iterator[Reach]:
        """Yield for each goal what no eviction changes: a domain is shut if no node in it takes any of the Pods.

        None does even once all that may be evicted are gone, unless there are too many of them to know.
        """
        ones, handles, by = {movable.like: movable for movable in movables}, self._handles, BY_NODE_ALONE
        if len(movables) * self._nodes <= MOST_WORK:
            handles, by = self._state.arrangements[0].handles, BY_NODE_ALONE | BY_ROOM
            for each in movables:
                handles = handles.each(partial(Handle.without_pod, pod=each.pod))
        takes: dict[bytes, tuple[str, ...]] = {}
        nodes: dict[int, tuple[str, ...]] = {}
        for like, one in ones.items():
            spec = msgspec.json.encode(replace(one.again.pod.spec, volumes=()))
            if spec not in takes:
                takes[spec] = _open_nodes(one.again.pod, handles, by)
            nodes[like] = takes[spec]
        with_volumes = [(each, found) for each in movables if (found := self._nodes_of_volumes(each.again.pod))]
        for at, goal in enumerate(goals):
            names = {name for like, one in ones.items() if at in one.joins for name in nodes[like]}
            shut = frozenset(range(len(goal.domains))) - {place for name, place in goal.place.items() if name in names}
            bound = frozenset(
                each.pod.key
                for each, found in with_volumes
                if {goal.place.get(name) for name in found} == {dict(each.leaves).get(at, -1)}
            )
            free = [each for each in movables if each.pod.key not in bound]
            leaves = Counter(place for each in free if (place := dict(each.leaves).get(at)) is not None)
            staying = tuple(pods - leaves[place] for place, pods in enumerate(goal.start))
            comes = sum(at in each.joins and at not in dict(each.leaves) for each in free)
            closed = names <= goal.place.keys() and all(at in each.joins for each in free if at in dict(each.leaves))
            yield Reach(shut, staying, bound, goal.highest_minimum(staying, leaves.total() + comes), closed)

    def _nodes_of_volumes(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes that can use the volumes of the Pod; none unless all its claims are bound, and stay.

        None either for more volumes in different places than there is time for: the search then tries those Pods.
        """
        claims = self._snapshot.claims_of(pod)
        names = [claim.spec.volume_name for claim in claims if claim and claim.fully_bound]
        volumes = [volume for name in names if (volume := self._snapshot.get(PersistentVolume, "", name))]
        if not volumes or len(volumes) < len(claims) or any(volume.ephemeral for volume in pod.spec.volumes):
            return ()
        where = msgspec.json.encode([(each.metadata.labels, each.spec.node_affinity) for each in volumes])
        if where not in self._open:
            if len(self._open) * len(self._snapshot.nodes) > MOST_WORK:
                return ()
            self._open[where] = _open_nodes(pod, self._handles, OF_VOLUMES)
        return self._open[where]


def _open_nodes(pod: Pod, handles: Handles, by: frozenset[str]) -> tuple[str, ...]:
    return unscored_nodes(pod, handles.of(pod).with_filters(by))


def _tries(problem: Problem, before: State, found: State) -> Iterator[tuple[State, tuple[int, ...]]]:
    """Yield from where to evict Pods together, and for each goal the most skew (Pods) that this may leave."""
    yield found, problem.allowed
    if found.evictions != before.evictions:
        yield before, problem.allowed
    for at, goal in enumerate(problem.goals):
        if goal.wanted and goal.is_violated and found.worst(goal, at) >= before.worst(goal, at):
            skews = (goal.constraint.max_skew + found.worst(goal, each) for each, goal in enumerate(problem.goals))
            others = enumerate(map(max, problem.allowed, skews))
            yield found, tuple(problem.allowed[at] if at == each else most for each, most in others)


def _rank(outcomes: Sequence[Outcome], state: State) -> tuple[int, int, int]:
    return state.rank([outcome.goal.excess(outcome.after) for outcome in outcomes])


class UnknownOwner(msgspec.Struct, frozen=True):
    """The owner that recreates these Pods was not read, or its rules are unknown."""

    ref: WorkloadRef
    pods: tuple[PodKey, ...]


class UpgradedPods(msgspec.Struct, frozen=True):
    """The replacements of these Pods have a newer template of their owner, such as a StatefulSet with OnDelete."""

    ref: WorkloadRef
    pods: tuple[PodKey, ...]


class SoftLeftOut(msgspec.Struct, frozen=True):
    """So many ScheduleAnyway constraints (count) are above maxSkew, and the plan ignores them."""

    number: int


PlanNote: TypeAlias = UnknownOwner | UpgradedPods | SoftLeftOut


def plan_notes(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[PlanNote]:
    """Yield the notes on the plan; ``snapshot`` is the cluster before."""
    pods = [each.movable.pod for each in plan.evictions]
    unknown = (pod for pod in pods if controller_of(pod, snapshot) is None)
    yield from (UnknownOwner(ref, keys) for ref, keys in _by_owner(unknown, snapshot))
    yield from upgraded_pods(pods, snapshot)
    if plan.left_out:
        yield SoftLeftOut(plan.left_out)


def upgraded_pods(evicted: Iterable[Pod], snapshot: Snapshot) -> Iterator[UpgradedPods]:
    """Yield which of these Pods their eviction also upgrades; ``snapshot`` is the cluster before."""
    upgraded = (pod for pod in evicted if is_upgraded(pod, snapshot))
    yield from (UpgradedPods(ref, keys) for ref, keys in _by_owner(upgraded, snapshot))


def _by_owner(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[tuple[WorkloadRef, tuple[PodKey, ...]]]:
    found = grouped(pods, lambda pod: (pod.metadata.namespace, owner_of(pod, snapshot)))
    return ((ref, tuple(pod.key for pod in own)) for (_, ref), own in found.items())
