"""The fewest Pods to evict at the same time, where no eviction helps while its replacement waits for another.

Sets are tried in the order of their size. The counts rule most of them out; the control loop confirms the others: in
every order tried all replacements find a node, and no goal is above its skew.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction uses one of disruptionsAllowed.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import budgets_of
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.objects.core import Pod, PodCondition
from kubectl_spread.objects.meta import name_order
from kubectl_spread.rebalance.arrangements import Arrangement, Counts, worst_of
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.rebalance.problem import Problem, without
from kubectl_spread.rebalance.search import Eviction, State
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.chance import ORDERS
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.control_loop import ControlLoop
from kubectl_spread.simulation.steps import evict
from kubectl_spread.snapshot import PodKey, Snapshot

Chosen: TypeAlias = tuple[Movable, ...]
"""The Pods that are evicted together."""
READY = PodCondition(type="Ready", status="True")
PER_SET, PER_PLACEMENT, PER_EVICTION = 10, 40, 400
"""What these cost, in verdicts on single nodes (counts): the arithmetic of one set, a Pod that is placed, and a Pod
whose eviction the control loop plays."""


class Together(msgspec.Struct, frozen=True):
    """The state after the step, None if there is none; whether every set was tried; the work for it (verdicts)."""

    state: State | None
    exhausted: bool
    work: int


class TogetherSearch:
    """One search for a step from the state ``start``.

    Args:
        problem: the goals and the Pods that may be evicted.
        start: the cluster before the step.
        allowed: for each goal, the most skew after it (Pods).
        limits: the most Pods of the step (count), the most work (verdicts), and the most arrangements after it (count).
    """

    def __init__(self, problem: Problem, start: State, allowed: Sequence[int], limits: tuple[int, int, int]) -> None:
        self._problem = problem
        self._start = start
        self._allowed = allowed
        self._most_pods, self._most_work, self._most_arrangements = limits
        gone = {each.movable.pod.key for each in start.evictions}
        self._movables = [each for each in problem.movables if each.pod.key not in gone]
        snapshot = start.arrangements[0].handles.snapshot
        self._budgets = {
            each.pod.key: budgets_of(each.pod, snapshot) if each.pod.ready else () for each in self._movables
        }
        self._heap: list[tuple[int, int, int, Chosen, Counts]] = []
        self._serial = count()
        self._seen: set[object] = set()
        self._work = 0

    def run(self) -> Together:
        """Return the state after the smallest step that does."""
        counts = self._start.arrangements[0].counts
        if self._problem.fits(without(self._movables, counts), self._movables, self._allowed):
            self._branch((), counts)
        while self._heap and self._work < self._most_work:
            *_, chosen, counts = heapq.heappop(self._heap)
            if len(chosen) > 1 and self._problem.fits(counts, chosen, self._allowed) and self._is_placed(chosen):
                state = self._confirmed(chosen)
                if state is not None:
                    return Together(state, exhausted=True, work=self._work)
            self._branch(chosen, counts)
        return Together(None, exhausted=not self._heap, work=self._work)

    def _branch(self, chosen: Chosen, counts: Counts) -> None:
        if len(chosen) == self._most_pods:
            return
        gone = {each.movable.pod.key for each in self._start.evictions} | {each.pod.key for each in chosen}
        for _, movable, _ in self._problem.moves(gone, {counts}):
            self._work += PER_SET
            more = (*chosen, movable)
            after = without([movable], counts)
            sign = self._problem.sign_of(more, [replace(self._start.arrangements[0], counts=after)])
            if sign in self._seen or not self._allowed_at_once(more):
                continue
            self._seen.add(sign)
            bound = len(more) + self._problem.more_needed(after, more, self._allowed)
            if bound <= min(self._most_pods, len(self._movables)):
                heapq.heappush(self._heap, (bound, -len(more), next(self._serial), more, after))

    def _allowed_at_once(self, chosen: Chosen) -> bool:
        budgets = [each for movable in chosen for each in self._budgets.get(movable.pod.key, ())]
        used = Counter((each.metadata.namespace, each.metadata.name) for each in budgets)
        return all(used[each.key] <= each.status.disruptions_allowed for each in budgets)

    # The confirmation.

    def _is_placed(self, chosen: Chosen) -> bool:
        """Whether all replacements find a node, and no goal is above its skew, in the order of names."""
        arrangement = self._start.arrangements[0]
        for movable in chosen:
            arrangement = arrangement.without(movable)
        for movable in sorted(chosen, key=lambda each: name_order(each.pod)):
            handle = arrangement.handles.of(movable.again.pod)
            self._work += PER_PLACEMENT + len(handle.node_infos)
            best = cycle.best_nodes(movable.again.pod, handle)[:1]
            if not best:
                return False
            arrangement = next(arrangement.landings(best, movable, self._problem.goals)).arrangement
        return self._holds(arrangement.counts)

    def _holds(self, counts: Counts) -> bool:
        every = zip(self._problem.goals, counts, self._allowed, strict=True)
        return all(goal.skew(found) <= most for goal, found, most in every)

    def _confirmed(self, chosen: Chosen) -> State | None:
        """Return the state after the step; None if in any order a Pod finds no node, or a goal is above its skew."""
        found: dict[object, tuple[Arrangement, bool]] = {}
        lands: dict[PodKey, set[str]] = {each.pod.key: set() for each in chosen}
        for arrangement in self._start.arrangements:
            for seed in range(ORDERS):
                loop = ControlLoop(ClusterState(_current(arrangement.handles), seed))
                ended = self._played(chosen, loop, lands)
                self._work += loop.cluster.verdicts + PER_EVICTION * len(chosen) + len(loop.cluster.pods)
                if ended is None:
                    return None
                counts, landed, certain = ended
                after = replace(
                    arrangement,
                    handles=loop.cluster.handles,
                    counts=counts,
                    landed=tuple(sorted((*arrangement.landed, *landed))),
                )
                found.setdefault(after.landed, (after, certain))
                if not loop.cluster.chance.free:
                    break
        every = [arrangement for arrangement, _ in found.values()]
        followed = worst_of(every, self._problem.goals, self._most_arrangements)
        certain = all(each for _, each in found.values()) and len(followed) == len(every)
        step = 1 + max((each.step for each in self._start.evictions), default=0)
        ends = tuple(
            (goal, frozenset(each.counts[at] for each in every)) for at, goal in enumerate(self._problem.goals)
        )
        evictions = [Eviction(each, tuple(sorted(lands[each.pod.key])), step) for each in chosen]
        evictions[-1] = replace(evictions[-1], ends=ends)
        return replace(
            self._start,
            arrangements=followed,
            evictions=(*self._start.evictions, *evictions),
            whole=self._start.whole and certain,
        )

    def _played(
        self, chosen: Chosen, loop: ControlLoop, lands: Mapping[PodKey, set[str]]
    ) -> tuple[Counts, list[tuple[int, str]], bool] | None:
        """Return the counts, the replacements with their nodes, and whether nothing else was possible in this order."""
        cluster = loop.cluster
        waiting, before = set(cluster.waiting), set(cluster.pods)
        owners = {each.pod.metadata.controller_key for each in chosen}
        here = {key: _placed(cluster, key) for key in owners}
        loop.leave_others({(each.pod.metadata.namespace, owner_of(each.pod, cluster.snapshot)) for each in chosen})
        refused = evict([each.pod for each in chosen], cluster, loop, by_deletion=False)
        there = {key: _placed(cluster, key) for key in owners}
        lost = any(len(there[key]) < len(here[key]) for key in owners)
        if refused or lost or not waiting.issuperset(cluster.waiting):
            return None
        counts = tuple(_counts(goal, cluster.snapshot) for goal in self._problem.goals)
        if not self._holds(counts):
            return None
        landed: list[tuple[int, str]] = []
        certain = not cluster.chance.sampled
        gone = {each.pod.key for each in chosen}
        for key in owners:
            new = [pod for pod in there[key] if pod.key not in before or pod.key in gone]
            nodes = {name for pod in new for name in cluster.best.get(pod.key, ())} | {p.spec.node_name for p in new}
            certain = certain and not any(cluster.best.get(pod.key, ())[1:] for pod in new)
            own = [each for each in chosen if each.pod.metadata.controller_key == key]
            for each in own:
                lands[each.pod.key].update(nodes)
            landed += zip((each.like for each in own), sorted(pod.spec.node_name for pod in new), strict=False)
        return counts, landed, certain


def _placed(cluster: ClusterState, key: tuple[str, str, str]) -> list[Pod]:
    return [pod for pod in active(cluster.owned.get(key, {}).values()) if pod.spec.node_name]


def _counts(goal: Goal, snapshot: Snapshot) -> tuple[int, ...]:
    pods = snapshot.matching_pods(goal.workload.namespace, goal.selector)
    found = Counter(goal.place.get(pod.spec.node_name) for pod in pods if not pod.terminating)
    return tuple(found[place] for place in range(len(goal.domains)))


def _current(handles: Handles) -> Handles:
    """Return the cluster with the Pods that came in place of others among its objects, Ready."""
    snapshot = handles.snapshot
    before: Mapping[PodKey, Pod] = {pod.key: pod for pod in snapshot.all(Pod)}
    bound = {pod.key: pod for pods in snapshot.assigned.values() for pod in pods}
    rest = {key: pod for key, pod in before.items() if pod.finished or not pod.spec.node_name}
    pods = rest | {key: pod if pod is before.get(key) else _started(pod) for key, pod in bound.items()}
    return handles.with_snapshot(replace(snapshot, objects={**snapshot.objects, Pod: pods}))


def _started(pod: Pod) -> Pod:
    return replace(pod, status=replace(pod.status, phase="Running", conditions=(READY,)))
