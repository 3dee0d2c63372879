"""What is to hold in the end: each constraint of each workload, and how many moves the counts alone ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers.next_pod import next_pod
from kubectl_spread.controllers.workloads import OwnedPods, scheduler_of
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.scheduler.podtopologyspread import (
    Constraint,
    DomainCounts,
    count_all,
    counting_selector,
    parsable_constraints,
)
from kubectl_spread.snapshot import Snapshot

DomainPods: TypeAlias = tuple[int, ...]
"""Matching Pods (count) in each domain of a goal, in its order."""
UNREACHABLE = 10**9
"""Moves (count) where no number of them is enough."""


def with_more(counts: DomainPods, place: int, by: int) -> DomainPods:
    """Return the counts with so many Pods more in the domain of a place."""
    return (*counts[:place], counts[place] + by, *counts[place + 1 :])


class Goal(msgspec.Struct, frozen=True, dict=True):
    """One constraint of one workload.

    Attributes:
        workload: whose.
        pod: the Pod that stands for the workload's.
        constraint: which.
        selector: which Pods of its namespace are counted.
        domains: the eligible domains, by value.
        place: counted node's name → its domain's place among them.
        start: how the Pods are spread before anything is moved.
        wanted: whether it is asked about, or only must not get worse.
    """

    workload: OwnedPods
    pod: Pod
    constraint: Constraint
    selector: Selector
    domains: tuple[str, ...]
    place: Mapping[str, int]
    start: DomainPods
    wanted: bool

    @cached_property
    def _is_below_min_domains(self) -> bool:
        """Whether there are fewer domains than the constraint wants, so that the minimum is 0 whatever they hold."""
        return self.constraint.hard and len(self.domains) < self.constraint.min_domains

    def least(self, counts: DomainPods) -> int:
        """Return the global minimum (Pods)."""
        return 0 if self._is_below_min_domains else min(counts, default=0)

    def skew(self, counts: DomainPods) -> int:
        """Return the most Pods in any domain minus the global minimum (Pods)."""
        least = self.least(counts)
        return max(counts, default=least) - least

    def excess(self, counts: DomainPods) -> int:
        """Return by how much the skew exceeds maxSkew (Pods)."""
        return max(0, self.skew(counts) - self.constraint.max_skew)

    @cached_property
    def is_violated(self) -> bool:
        """Whether it does not hold as things are."""
        return self.excess(self.start) > 0

    def matches(self, pod: Pod) -> bool:
        """Whether the constraint counts the Pod on a node that counts."""
        return pod.metadata.namespace == self.workload.namespace and self.selector.matches(pod.metadata.labels)

    def domain_of(self, pod: Pod) -> str | None:
        """Return the eligible domain that the Pod is in; None where its node is in none."""
        at = self.place.get(pod.spec.node_name)
        return None if at is None else self.domains[at]

    def moves_needed(self, counts: DomainPods, most: int, shut: Collection[int], staying: DomainPods) -> int:
        """Return how many Pods must at least move until the skew is at most so much.

        Args:
            counts: how the Pods are spread.
            most: the skew that is allowed (Pods).
            shut: the domains no Pod can come to.
            staying: the Pods of each domain that cannot be moved (count).
        """
        if self.skew(counts) <= most:
            return 0
        highest = 0 if self._is_below_min_domains else min((counts[each] for each in shut), default=max(counts))
        lowest = 0 if self._is_below_min_domains else max(min(counts), max(staying, default=0) - most)
        if self._is_below_min_domains and max(staying, default=0) > most:
            return UNREACHABLE
        numbers = Counter(counts)
        return min((_moves(numbers, level, level + most) for level in range(lowest, highest + 1)), default=UNREACHABLE)


def _moves(numbers: Mapping[int, int], least: int, most: int) -> int:
    """Return how many Pods move at least until every domain holds so many (counts): a move takes one and brings one.

    Args:
        numbers: Pods → domains that hold so many (counts).
        least: what a domain holds at least.
        most: what it holds at most.
    """
    too_many = sum((pods - most) * domains for pods, domains in numbers.items() if pods > most)
    too_few = sum((least - pods) * domains for pods, domains in numbers.items() if pods < least)
    return max(too_many, too_few)


def goals_of(workload: OwnedPods, handles: Handles, *, soft: bool, wanted: bool) -> Iterator[Goal]:
    """Yield what a workload's constraints ask for; nothing of daemon and static Pods, which stay with their nodes.

    Args:
        workload: whose.
        handles: the cluster as each profile of the scheduler sees it.
        soft: whether ScheduleAnyway constraints are to hold too.
        wanted: whether it is asked about.
    """
    if workload.static or workload.ref.kind == DAEMON_SET.name or not any(p.spec.node_name for p in workload.pods):
        return
    handle = handles.named(scheduler_of(workload))
    upcoming = next_pod(workload, handle.snapshot, handle.profile)
    if upcoming is None:
        return
    for counted in count_all(parsable_constraints(upcoming.pod, handle), upcoming.pod, handle):
        constraint = counted.constraint
        if constraint.hard or (soft and not constraint.default):
            yield _goal(workload, upcoming.pod, counted, handle, wanted=wanted)


def _goal(workload: OwnedPods, pod: Pod, counted: DomainCounts, handle: Handle, *, wanted: bool) -> Goal:
    domains = tuple(sorted(counted.match_num))
    places = {value: place for place, value in enumerate(domains)}
    values = handle.index.values(counted.constraint.topology_key)
    return Goal(
        workload=workload,
        pod=pod,
        constraint=counted.constraint,
        selector=counting_selector(counted.constraint, handle.profile),
        domains=domains,
        place={name: places[values.get(name, "")] for name in counted.counted_nodes},
        start=tuple(counted.match_num[value] for value in domains),
        wanted=wanted,
    )


def grouped(goals: Sequence[Goal], snapshot: Snapshot) -> list[list[Goal]]:
    """Return the goals, those together that count any Pods in common, however many others are between them."""
    groups = [[goal] for goal in goals]
    leader = list(range(len(goals)))
    first_with: dict[Hashable, int] = {}

    def found(at: int) -> int:
        while leader[at] != at:
            at = leader[at]
        return at

    for at, goal in enumerate(goals):
        namespace = goal.workload.namespace
        for labels, pods in snapshot.by_labels.get(namespace, {}).items():
            if goal.matches(pods[0]):
                one, other = sorted((found(at), found(first_with.setdefault((namespace, labels), at))))
                if one != other:
                    leader[other] = one
                    groups[one] += groups[other]
    return [group for at, group in enumerate(groups) if leader[at] == at]
