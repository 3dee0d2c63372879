"""Problems as a cluster poses them: which Pods may go for goals that count them, and which domains are shut."""

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
"""Filters that judge a node by what no eviction changes."""


class ProblemBuilder:
    """Builds the optimisation problem from the cluster.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
        may_go: which Pods may be evicted, if nothing else keeps them.
    """

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
        """Return what is to be solved for groups of goals, each of which count Pods in common."""
        goals = tuple(chain.from_iterable(groups))
        matched = {pod.key: pod for goal in goals for pod in self._matched(goal) if self._may_go(pod)}
        movables = tuple(self._movables.of(goals, list(matched.values())))
        places = count()
        parts = tuple(tuple(islice(places, len(group))) for group in groups)
        return Problem(goals, movables, tuple(self._shut(goals, movables)), parts)

    def staying(self, goal: Goal) -> tuple[tuple[Pod, StayReason], ...]:
        """Return the Pods that the goal counts and that are not to be evicted, and why."""
        reasons = ((pod, self._movables.why_not(pod.key) or self._not_asked(pod)) for pod in self._matched(goal))
        return tuple((pod, reason) for pod, reason in reasons if reason is not None)

    def _not_asked(self, pod: Pod) -> NotAskedAbout | None:
        return None if self._may_go(pod) else NotAskedAbout(owner_of(pod, self.snapshot))

    def _matched(self, goal: Goal) -> Iterator[Pod]:
        """Yield the Pods that the goal counts, or would count on other nodes."""
        for pod in self.snapshot.matching_pods(goal.workload.namespace, goal.selector):
            if not pod.terminating:
                yield pod

    def _shut(self, goals: Sequence[Goal], movables: Sequence[Movable]) -> Iterator[frozenset[int]]:
        """Yield for each goal the domains of which no node lets any of its Pods in, whatever lies there."""
        ones = {movable.like: movable for movable in movables}
        nodes = {like: self._open_nodes(one.again.pod) for like, one in ones.items()}
        for at, goal in enumerate(goals):
            names = {name for like, one in ones.items() if at in one.joins for name in nodes[like]}
            yield frozenset(range(len(goal.domains))) - {place for name, place in goal.place.items() if name in names}

    def _open_nodes(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes that let the Pod in by themselves, whatever lies on them."""
        spec = pod.spec
        asked = msgspec.json.encode((spec.scheduler_name, spec.node_selector, spec.tolerations, spec.affinity))
        if asked not in self._open:
            handle = self._handles.of(pod)
            filters = tuple(name for name in handle.profile.filters if name in BY_NODE_ALONE)
            profile = replace(handle.profile, filters=filters, weights={})
            self._open[asked] = feasible_nodes(pod, replace(handle, profile=profile))
        return self._open[asked]
