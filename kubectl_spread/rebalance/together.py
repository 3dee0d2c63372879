"""The fewest Pods to evict at the same time, where a replacement only finds a node once another Pod is evicted too.

Sets are tried by size. The counts rule most of them out; the control loop confirms the others: in every order tried all
replacements find a node, and no goal is above its skew.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction uses one of disruptionsAllowed.
"""

import heapq
from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import budgets_of
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.objects.core import Pod, PodCondition
from kubectl_spread.objects.meta import name_order
from kubectl_spread.rebalance.arrangements import Arrangement, Counts, worst_of
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.rebalance.problem import Problem, without
from kubectl_spread.rebalance.search import Eviction, State
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.chance import ORDERS
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.control_loop import ControlLoop
from kubectl_spread.simulation.steps import evict

Chosen: TypeAlias = tuple[Movable, ...]  # The Pods that are evicted together
# What these cost, in verdicts on single nodes (counts): the arithmetic of one set, besides one for each two nodes, a
# Pod that is placed, and a Pod whose eviction the control loop plays.
PER_SET, PER_PLACEMENT, PER_EVICTION = 25, 40, 400
MOST_ARRANGEMENTS = 8  # Arrangements (count) that are followed after the step


class TogetherSearch:
    """One search for a step from the state ``start``.

    Args:
        problem: the goals and the Pods that may be evicted.
        start: the cluster before the step.
        allowed: for each goal, the most skew after it (Pods).
        most_pods: the most Pods of the step (count).
    """

    def __init__(self, problem: Problem, start: State, allowed: Sequence[int], most_pods: int) -> None:
        self._problem = problem
        self._start = start
        self._first = start.arrangements[0]
        self._allowed = allowed
        self._gone = {each.movable.pod.key for each in start.evictions}
        movables = [each for each in problem.movables if each.pod.key not in self._gone]
        pods = [each.pod for each in movables if each.pod.ready]
        self._budgets = {pod.key: budgets_of(pod, self._first.handles.snapshot) for pod in pods}
        self._most_pods = min(most_pods, len(movables))
        self._heap: list[tuple[int, int, int, Chosen, Counts]] = []
        self._serial = count()
        self._seen: set[object] = set()
        self.work = 0  # what was tried so far (verdicts on single nodes, count)
        if problem.fits(without(movables, self._first.counts), movables, allowed):
            self._branch((), self._first.counts)

    @property
    def exhausted(self) -> bool:
        """Whether no set is left to try."""
        return not self._heap

    def run(self, most_work: int) -> State | None:
        """Return the state after the smallest step that does; None if there is none, or after so much work."""
        while self._heap and self.work < most_work:
            *_, chosen, counts = heapq.heappop(self._heap)
            if len(chosen) > 1 and self._problem.fits(counts, chosen, self._allowed) and self._is_placed(chosen):
                state = self._confirmed(chosen)
                if state is not None:
                    return state
            self._branch(chosen, counts)
        return None

    def _branch(self, chosen: Chosen, counts: Counts) -> None:
        for _, movable, _ in self._problem.moves(self._gone.union(each.pod.key for each in chosen), {counts}):
            self.work += PER_SET + len(self._first.handles.default.node_infos) // 2
            more, after = (*chosen, movable), without([movable], counts)
            sign = self._problem.sign_of(more, [replace(self._first, counts=after)])
            bound = len(more) + self._problem.more_needed(after, more, self._allowed)
            if sign not in self._seen and bound <= self._most_pods and self._is_allowed(more):
                self._seen.add(sign)
                heapq.heappush(self._heap, (bound, -len(more), next(self._serial), more, after))

    def _is_allowed(self, chosen: Chosen) -> bool:
        budgets = [each for movable in chosen for each in self._budgets.get(movable.pod.key, ())]
        used = Counter(each.key for each in budgets)
        return all(used[each.key] <= each.status.disruptions_allowed for each in budgets)

    # The confirmation.

    def _is_placed(self, chosen: Chosen) -> bool:
        """Whether all replacements find a node, and no goal is above its skew, in the order of names."""
        arrangement = self._first
        for movable in chosen:
            arrangement = arrangement.without(movable)
        for movable in sorted(chosen, key=lambda each: name_order(each.pod)):
            handle = arrangement.handles.of(movable.again.pod)
            self.work += PER_PLACEMENT + len(handle.node_infos)
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
        found: dict[object, Arrangement] = {}
        lands: dict[object, set[str]] = {each.pod.metadata.controller_key: set() for each in chosen}
        likes = {each.pod.metadata.controller_key: each.like for each in chosen}
        whole = self._start.whole
        for arrangement in self._start.arrangements:
            for seed in range(ORDERS):
                cluster = ClusterState(_current(arrangement.handles), seed)
                new = _replaced(chosen, cluster)
                counts = tuple(goal.counts_in(cluster.snapshot) for goal in self._problem.goals)
                self.work += cluster.verdicts + PER_EVICTION * len(chosen) + len(cluster.pods)
                if len(new) < len(chosen) or not self._holds(counts):
                    return None
                for pod in new:
                    nodes = cluster.best.get(pod.key, ())
                    lands[pod.metadata.controller_key].update((pod.spec.node_name, *nodes))
                    whole = whole and len(nodes) <= 1 and not cluster.chance.sampled
                came = sorted((likes[pod.metadata.controller_key], pod.spec.node_name) for pod in new)
                after = replace(
                    arrangement,
                    handles=cluster.handles,
                    counts=counts,
                    landed=tuple(sorted((*arrangement.landed, *came))),
                )
                found[arrangement.landed, frozenset((pod.key, pod.spec.node_name) for pod in new)] = after
                if not cluster.chance.free:
                    break
        every = tuple(found.values())
        followed = worst_of(every, self._problem.goals, MOST_ARRANGEMENTS)
        step = 1 + max((each.step for each in self._start.evictions), default=0)
        made = [Eviction(each, tuple(sorted(lands[each.pod.metadata.controller_key])), step) for each in chosen]
        ends = ((goal, frozenset(each.counts[at] for each in every)) for at, goal in enumerate(self._problem.goals))
        made[-1] = replace(made[-1], ends=tuple(ends))
        whole = whole and len(followed) == len(every)
        return replace(self._start, arrangements=followed, evictions=(*self._start.evictions, *made), whole=whole)


def _replaced(chosen: Chosen, cluster: ClusterState) -> list[Pod]:
    """Evict the Pods, and return those that came in their place; not all if more Pods wait then than before."""
    waiting, before = set(cluster.waiting), cluster.pods.keys() - {each.pod.key for each in chosen}
    loop = ControlLoop(cluster)
    loop.leave_others({(each.pod.metadata.namespace, owner_of(each.pod, cluster.snapshot)) for each in chosen})
    if evict([each.pod for each in chosen], cluster, loop) or not waiting.issuperset(cluster.waiting):
        return []
    owners = {each.pod.metadata.controller_key: None for each in chosen}
    pods = active(pod for key in owners for pod in cluster.owned[key].values())
    return [pod for pod in pods if pod.spec.node_name and pod.key not in before]


def _current(handles: Handles) -> Handles:
    """Return the cluster with the Pods that came in place of others among its objects, Ready."""
    snapshot = handles.snapshot
    pods = {pod.key: pod for pod in snapshot.all(Pod)}
    for pod in (pod for assigned in snapshot.assigned.values() for pod in assigned):
        if pods.get(pod.key) is not pod:
            ready = PodCondition(type="Ready", status="True")
            pods[pod.key] = replace(pod, status=replace(pod.status, phase="Running", conditions=(ready,)))
    gone = {key for key, pod in pods.items() if pod.spec.node_name and not pod.finished}
    gone -= {pod.key for assigned in snapshot.assigned.values() for pod in assigned}
    objects = {**snapshot.objects, Pod: {key: pod for key, pod in pods.items() if key not in gone}}
    return handles.with_snapshot(replace(snapshot, objects=objects))
