"""The goals of a plan: each constraint of each workload, and how many moves its counts require."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import is_of_newest_revision, next_pod, older_revisions
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.workloads import OwnedPods, revision_of, scheduler_of
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.objects.workloads import ON_DELETE, Deployment, RollingUpdate, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.podtopologyspread import (
    Constraint,
    DomainCounts,
    count_all,
    counting_selector,
    parsable_constraints,
)
from kubectl_spread.snapshot import PodKey, Snapshot

DomainPods: TypeAlias = tuple[int, ...]  # Matching Pods (count) in each domain of a goal, in its order
UNREACHABLE = 10**9  # Moves (count) if no number of them is enough


def with_more(counts: DomainPods, place: int, by: int) -> DomainPods:
    """Return the counts with ``by`` more Pods in the domain at this place."""
    return (*counts[:place], counts[place] + by, *counts[place + 1 :])


class Reach(msgspec.Struct, frozen=True):
    """What no eviction can change about the counts of a goal."""

    shut: frozenset[int] = frozenset()  # the domains that no Pod can go to
    staying: DomainPods = ()  # the Pods of each domain that cannot leave it (count)
    bound: frozenset[PodKey] = frozenset()  # those of them that may be evicted, but whose volumes are in the domain
    highest: int = UNREACHABLE  # the highest global minimum that all Pods together allow (Pods)
    closed: bool = False  # whether no Pod can go to a node that is not counted, or is counted no longer


ANYWHERE = Reach()  # Every Pod may go to every domain


class Goal(msgspec.Struct, frozen=True, dict=True):
    """One constraint of one workload."""

    workload: OwnedPods
    revision: str  # of the Pods that have it; empty if the workload has only one
    pod: Pod  # the Pod that represents the workload's
    constraint: Constraint
    selector: Selector
    domains: tuple[str, ...]  # the eligible domains, by value
    place: Mapping[str, int]  # counted node's name → its domain's place among them
    now: DomainPods  # the current counts
    start: DomainPods  # the counts before anything is moved: with the Pending Pods that find a node now
    wanted: bool  # whether it must be satisfied, or only must not get worse

    @cached_property
    def _is_below_min_domains(self) -> bool:
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
        """Whether it is violated at the start."""
        return self.excess(self.start) > 0

    @property
    def waits(self) -> bool:
        """Whether it is violated only until the Pending Pods that find a node now are on theirs."""
        return not self.is_violated and self.excess(self.now) > 0

    def with_scheduled(self, nodes: Iterable[tuple[Pod, str]]) -> Goal:
        """Return the goal that starts once these Pods are on these nodes."""
        counts = self.start
        for place in (self.place.get(name) for pod, name in nodes if self.matches(pod)):
            counts = counts if place is None else with_more(counts, place, 1)
        return replace(self, start=counts)

    def matches(self, pod: Pod) -> bool:
        """Whether the constraint counts the Pod on a counted node."""
        return pod.metadata.namespace == self.workload.namespace and self.selector.matches(pod.metadata.labels)

    def counts_in(self, snapshot: Snapshot) -> DomainPods:
        """Return the counts in another state of the cluster."""
        pods = snapshot.matching_pods(self.workload.namespace, self.selector)
        found = Counter(self.place.get(pod.spec.node_name) for pod in pods if not pod.terminating)
        return tuple(found[place] for place in range(len(self.domains)))

    def domain_of(self, pod: Pod) -> str | None:
        """Return the eligible domain of the Pod; None if its node is in none."""
        at = self.place.get(pod.spec.node_name)
        return None if at is None else self.domains[at]

    def highest_minimum(self, staying: DomainPods, movable: int) -> int:
        """Return the highest global minimum that ``movable`` Pods (count) reach beside those that stay (Pods)."""
        pods = sum(staying) + movable
        levels = range(0 if self._is_below_min_domains else pods // max(1, len(staying)), 0, -1)
        fits = (level for level in levels if sum(max(level, each) for each in staying) <= pods)
        return next(fits, 0)

    def stuck(self, reach: Reach) -> Iterator[str]:
        """Yield the domains whose staying Pods alone violate the constraint, even if all domains were open."""
        for domain, pods in zip(self.domains, reach.staying, strict=False):
            if pods > reach.highest + self.constraint.max_skew:
                yield domain

    def overfills(self, reach: Reach) -> bool:
        """Whether more Pods are counted than the domains may have while some take none."""
        least = 0 if self._is_below_min_domains else min((self.start[each] for each in reach.shut), default=UNREACHABLE)
        most = least + self.constraint.max_skew
        room = (min(pods, most) if at in reach.shut else most for at, pods in enumerate(self.start))
        return reach.closed and sum(self.start) > sum(room)

    def levels(self, counts: DomainPods, coming: int, most: int, *, closed: bool) -> Iterable[int]:
        """Return the global minimums (Pods) with which so many more Pods (count) may leave a skew of at most ``most``.

        ``closed``: all of these are counted.
        """
        if self._is_below_min_domains or not counts:
            return (0,)
        least = (sum(counts) + coming * closed - most * (len(counts) - 1)) / len(counts)
        return range(max(0, ceil(least)), (sum(counts) + coming) // len(counts) + 1)

    def moves_needed(self, counts: DomainPods, most: int, reach: Reach = ANYWHERE, coming: int = 0) -> int:
        """Return the fewest Pods that must move until the skew is at most ``most``; so many (count) come besides."""
        if self.skew(counts) <= most:
            return 0
        below = self._is_below_min_domains
        highest = 0 if below else min(reach.highest, max(counts), *(counts[each] for each in reach.shut))
        lowest = max(self.least(counts), max(reach.staying, default=0) - most)
        numbers = Counter(counts)
        return min(
            (_moves(numbers, level, level + most, coming) for level in range(lowest, highest + 1)), default=UNREACHABLE
        )


def _moves(numbers: Mapping[int, int], least: int, most: int, coming: int) -> int:
    """Return the fewest moves until every domain holds from ``least`` to ``most`` Pods; a move takes one and adds one.

    ``numbers``: Pods → the number of domains with that count.
    """
    too_many = sum((pods - most) * domains for pods, domains in numbers.items() if pods > most)
    too_few = sum((least - pods) * domains for pods, domains in numbers.items() if pods < least)
    return max(too_many, too_few - coming)


def goals_of(workload: OwnedPods, handles: Handles, *, wanted: bool) -> Iterator[Goal]:
    """Yield the goals of each revision's constraints; none for daemon and static Pods, which stay on their nodes.

    ScheduleAnyway constraints of the cluster's defaults are no goals; for ``wanted`` see ``Goal``.
    """
    if workload.static or workload.ref.kind == DAEMON_SET.name or not workload.pods:
        return
    handle = handles.named(scheduler_of(workload))
    upcoming = next_pod(workload, handle.snapshot, handle.profile)
    if upcoming is None:
        return
    older = {name: model for name, (model, _) in older_revisions(workload, upcoming.pod, handle).items()}
    newest = revision_of(upcoming.pod) if older else ""
    kept = not older or not rolls(workload, handle)
    for revision, pod in {newest: upcoming.pod, **older}.items():
        for counted in count_all(parsable_constraints(pod, handle), pod, handle):
            constraint = counted.constraint
            if constraint.hard or not constraint.default:
                stays = wanted and (kept or revision == newest)
                yield _goal_of(workload, revision, pod, counted, handle, wanted=stays)


def rolls(workload: OwnedPods, handle: Handle) -> bool:
    """Whether a rollout is about to delete the Pods of older revisions, so that no eviction is worth it.

    It stops where no node takes the next Pod: the older Pods stay meanwhile.
    """
    match workload.owner:
        case Deployment(spec=spec):
            keeps = spec.paused
        case StatefulSet(spec=spec):
            rolling = spec.update_strategy.rolling_update or RollingUpdate()
            keeps = spec.update_strategy.type == ON_DELETE or bool(rolling.partition)
        case _:
            keeps = True
    of_each = {revision_of(pod): pod for pod in active(workload.pods)}.values()
    if keeps or not any(is_of_newest_revision(pod, handle.snapshot) is False for pod in of_each):
        return False
    upcoming = next_pod(workload, handle.snapshot, handle.profile)
    if upcoming is None:
        return False
    handle = upcoming.place(handle)
    evaluation = cycle.evaluate_briefly(upcoming.pod, handle)
    return not handle.decides(upcoming.pod) or bool(evaluation.feasible) or bool(evaluation.undecided)


def _goal_of(
    workload: OwnedPods, revision: str, pod: Pod, counted: DomainCounts, handle: Handle, *, wanted: bool
) -> Goal:
    domains = tuple(sorted(counted.match_num))
    places = {value: place for place, value in enumerate(domains)}
    values = handle.index.values(counted.constraint.topology_key)
    now = tuple(counted.match_num[value] for value in domains)
    return Goal(
        workload=workload,
        revision=revision,
        pod=pod,
        constraint=counted.constraint,
        selector=counting_selector(counted.constraint, handle.profile),
        domains=domains,
        place={name: places[values.get(name, "")] for name in counted.counted_nodes},
        now=now,
        start=now,
        wanted=wanted,
    )


def groups_of(goals: Sequence[Goal], snapshot: Snapshot) -> list[list[Goal]]:
    """Return the goals in groups: goals that count a Pod in common, directly or through others, are in one group."""
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
