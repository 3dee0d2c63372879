"""Builds the optimisation problem from the cluster: which Pods may be evicted, and which domains are shut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, islice

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.rebalance.movable import Movable, Movables, NotAskedAbout, StayReason
from kubectl_spread.rebalance.problem import Problem
from kubectl_spread.scheduler import nodeaffinity, nodename, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.cycle import feasible_nodes
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.snapshot import Snapshot

BY_NODE_ALONE = frozenset(plugin.NAME for plugin in (nodeunschedulable, nodename, tainttoleration, nodeaffinity))
"""Filters whose verdict on a node no eviction changes."""


class ProblemBuilder:
    """Builds the optimisation problem from the cluster; ``may_go``: which Pods may be evicted, unless kept."""

    def __init__(self, handles: Handles, may_go: Callable[[Pod], bool]) -> None:
        self._handles = handles
        self._may_go = may_go
        self._movables = Movables(handles)
        self._open: dict[bytes, tuple[str, ...]] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The cluster."""
        return self._handles.snapshot

    def problem(self, groups: Sequence[Sequence[Goal]]) -> Problem:
        """Return the problem for groups of goals; the goals of a group count Pods in common."""
        goals = tuple(chain.from_iterable(groups))
        matched = {pod.key: pod for goal in goals for pod in self._matching_pods(goal) if self._may_go(pod)}
        movables = tuple(self._movables.of(goals, list(matched.values())))
        places = count()
        parts = tuple(tuple(islice(places, len(group))) for group in groups)
        return Problem(goals, movables, tuple(self._shut_domains(goals, movables)), parts)

    def staying(self, goal: Goal) -> tuple[tuple[Pod, StayReason], ...]:
        """Return the Pods that the goal counts and that are not evicted, and why."""
        return tuple((pod, reason) for pod in self._matching_pods(goal) if (reason := self._why_not(pod)) is not None)

    def _why_not(self, pod: Pod) -> StayReason | None:
        not_asked = None if self._may_go(pod) else NotAskedAbout(owner_of(pod, self.snapshot))
        return self._movables.why_not(pod.key) or not_asked

    def _matching_pods(self, goal: Goal) -> Iterator[Pod]:
        for pod in self.snapshot.matching_pods(goal.workload.namespace, goal.selector):
            if not pod.terminating:
                yield pod

    def _shut_domains(self, goals: Sequence[Goal], movables: Sequence[Movable]) -> Iterator[frozenset[int]]:
        """Yield for each goal the domains in which no node takes any of its Pods, whatever Pods are on it."""
        ones = {movable.like: movable for movable in movables}
        nodes = {like: self._open_nodes(one.again.pod) for like, one in ones.items()}
        for at, goal in enumerate(goals):
            names = {name for like, one in ones.items() if at in one.joins for name in nodes[like]}
            yield frozenset(range(len(goal.domains))) - {place for name, place in goal.place.items() if name in names}

    def _open_nodes(self, pod: Pod) -> tuple[str, ...]:
        spec = pod.spec
        asked = msgspec.json.encode((spec.scheduler_name, spec.node_selector, spec.tolerations, spec.affinity))
        if asked not in self._open:
            handle = self._handles.of(pod)
            filters = tuple(name for name in handle.profile.filters if name in BY_NODE_ALONE)
            profile = replace(handle.profile, filters=filters, weights={})
            self._open[asked] = feasible_nodes(pod, replace(handle, profile=profile))
        return self._open[asked]
