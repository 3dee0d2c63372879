"""What a simulation changed: how Pods are spread before and after each step, which wait for a node, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers.workloads import WorkloadRef, revision_of
from kubectl_spread.diagnosis.constraint_change import ChangedConstraint, SimulatedItem
from kubectl_spread.diagnosis.constraint_state import ConstraintState
from kubectl_spread.diagnosis.evaluation import Decision, judge
from kubectl_spread.diagnosis.observer import Key, Observation
from kubectl_spread.diagnosis.skew import decided, status_names
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.outcomes import After, StepOutcomes
from kubectl_spread.simulation.steps import Blocked, Done, Step


class CreateRefused(msgspec.Struct, frozen=True):
    """The API server refuses the Pods of an object, in these words."""

    ref: WorkloadRef
    message: str


class BlockedByChance(msgspec.Struct, frozen=True):
    """In other orders these Pods do not go either: the first, and namespace and name of each."""

    first: Blocked
    pods: tuple[tuple[str, str], ...]


class Unsettled(msgspec.Struct, frozen=True):
    """Controllers and scheduler would go on for ever."""


OutcomeNote: TypeAlias = CreateRefused | BlockedByChance | Unsettled


class WaitingRevision(msgspec.Struct, frozen=True):
    """The Pods of one revision of a workload that wait for a node: the first, and how many there are."""

    pod: Pod
    decision: Decision
    number: int


class WaitingPods(msgspec.Struct, frozen=True):
    """The Pods of a workload that wait for a node.

    Attributes:
        counts: how many wait in each order.
        revisions: those of the first order.
    """

    key: Key
    counts: tuple[int, ...]
    revisions: tuple[WaitingRevision, ...]


class StepChange(msgspec.Struct, frozen=True, kw_only=True):
    """What one step changed.

    Attributes:
        done: what it did in the first order.
        preempted: the Pods that the scheduler evicted for others, in the first order.
        waiting: what waits for a node then; of workloads that are not asked about, where more wait than at the start.
        newly_pending: whether more Pods of some workload wait than before, for a scheduler whose rules are known,
            or are refused.
        untried: the Pods that wait and were not tried on any node, in the order with the most (count).
        constraints: each constraint, changed or not.
        orders: in how many orders chance was tried.
        notes: what else is to be known, besides the notes of the step itself.
    """

    step: Step
    done: Done
    preempted: tuple[Pod, ...]
    waiting: tuple[WaitingPods, ...]
    newly_pending: bool
    untried: int
    constraints: tuple[SimulatedItem, ...]
    orders: int
    notes: tuple[OutcomeNote, ...]


def step_changes(steps: Sequence[Step], outcomes: StepOutcomes[Observation], *, defaults: bool) -> Iterator[StepChange]:
    """Yield what each step changed; with ``defaults`` the cluster's default constraints count too."""
    before = outcomes.before
    were = _statuses(before, frozenset(), _Decided(), defaults=defaults)
    for number, step in enumerate(steps):
        after = outcomes.after(number)
        first = after[0]
        same = frozenset(_as_before(before, first.seen, were))
        kept = {key: status for key, status in were.items() if key[:2] in same}
        known = _Decided()
        then = {**kept, **_statuses(first.seen, same, known, defaults=defaults)}
        yield StepChange(
            step=step,
            done=first.done,
            preempted=first.seen.preempted[len(before.preempted) :],
            waiting=tuple(_waiting(outcomes.before, after, known)),
            newly_pending=_more_wait(before, after)
            or any(why and not before.refused.get(key) for each in after for key, why in each.seen.refused.items()),
            untried=max(each.done.untried for each in after),
            constraints=tuple(_constraints(before, after, were, then)),
            orders=len(after),
            notes=tuple(_notes(before, after)),
        )
        before, were = first.seen, then


class _Decided:
    """What is decided about Pods of one cluster that wait for a node, each decided once."""

    def __init__(self) -> None:
        self.decisions: dict[tuple[str, str], Decision] = {}

    def __call__(self, pod: Pod, handle: Handle) -> Decision:
        if pod.key not in self.decisions:
            self.decisions[pod.key] = decided(pod, handle)
        return self.decisions[pod.key]

    def in_full(self, pod: Pod, handle: Handle) -> Decision:
        """Return the same, where a node takes it with every other node."""
        known = self.decisions.get(pod.key)
        return known if known and known.blame else judge(cycle.evaluate(pod, handle), handle)


IN_TROUBLE = frozenset((SpreadStatus.BLOCKED, SpreadStatus.FAILED_CREATE, SpreadStatus.UNSCHEDULABLE))


def _notes(before: Observation, after: Sequence[After[Observation]]) -> Iterator[OutcomeNote]:
    first = after[0]
    for (_, kind, name), message in first.seen.refused.items():
        if message and before.refused.get((_, kind, name)) != message:
            yield CreateRefused(WorkloadRef(kind=kind, name=name), message)
    reported = {each.pod.key for each in first.done.blocked}
    others = {each.pod.key: each for order in after for each in order.done.blocked if each.pod.key not in reported}
    if others:
        yield BlockedByChance(others[min(others)], tuple(sorted(others)))
    if not all(each.done.settled for each in after):
        yield Unsettled()


Statuses: TypeAlias = Mapping[tuple[str, WorkloadRef, int], SpreadStatus]


def _as_before(before: Observation, now: Observation, were: Statuses) -> Iterator[Key]:
    """Yield the workloads that stand to their constraints as before: counted alike, and a node takes the next Pod."""
    in_trouble = {key[:2] for key, status in were.items() if status in IN_TROUBLE}
    for key, upcoming in now.upcoming.items():
        counted_alike = key not in in_trouble and before.states.get(key) == now.states[key]
        unchanged = counted_alike and not upcoming.refusals and upcoming.pod == before.upcoming[key].pod
        there = upcoming.place(now.handles.of(upcoming.pod)) if unchanged else None
        if there is not None and (not upcoming.comes or cycle.feasible_node(upcoming.pod, there)):
            yield key


def _statuses(seen: Observation, known: frozenset[Key], decide_on: _Decided, *, defaults: bool) -> Statuses:
    """Return how each workload, but for those that are known, stands to each of its constraints."""
    found: dict[tuple[str, WorkloadRef, int], SpreadStatus] = {}
    for key, states in seen.states.items():
        if states and key not in known:
            rows = status_names(
                seen.workload(key),
                seen.handles.of(seen.upcoming[key].pod),
                defaults=defaults,
                upcoming=seen.upcoming[key],
                states=states,
                decide_on=decide_on,
            )
            for index, status in rows:
                found.setdefault((*key, index), status)
    return found


def _waiting(start: Observation, after: Sequence[After[Observation]], known: _Decided) -> Iterator[WaitingPods]:
    """Yield what waits for a node then, in the first order and in how many of the others.

    A workload that is not asked about is reported where more of its Pods wait than at the start.
    """
    seen = after[0].seen
    for key in sorted({key for each in after for key in each.seen.pending}, key=lambda key: (key[0], str(key[1]))):
        counts = tuple(len(each.seen.pending.get(key, ())) for each in after)
        if key in start.asked or max(counts) > len(start.pending.get(key, ())):
            yield WaitingPods(key, counts, tuple(_revisions(seen.pending.get(key, ()), seen, known)))


def _revisions(waiting: Sequence[Pod], seen: Observation, known: _Decided) -> Iterator[WaitingRevision]:
    revisions: dict[str, list[Pod]] = {}
    for pod in waiting:
        revisions.setdefault(revision_of(pod), []).append(pod)
    for first, *others in revisions.values():
        yield WaitingRevision(first, known.in_full(first, seen.handles.of(first)), 1 + len(others))


def _more_wait(before: Observation, after: Sequence[After[Observation]]) -> bool:
    """Whether in any order more Pods of a workload wait than before, for a scheduler whose rules are known."""
    return any(
        len(pods) > len(before.pending.get(key, ())) and each.seen.handles.of(pods[0]).profile.serves(pods[0])
        for each in after
        for key, pods in each.seen.pending.items()
    )


def _constraints(
    before: Observation, after: Sequence[After[Observation]], were: Statuses, then: Statuses
) -> Iterator[SimulatedItem]:
    first = after[0].seen
    for key, constraints in sorted(first.states.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        earlier = {(each.constraint.index, each.constraint.topology_key): each for each in before.states.get(key, ())}
        for now in constraints:
            index, topology_key = now.constraint.index, now.constraint.topology_key
            was = earlier.get((index, topology_key))
            others = [
                each for seen in after for each in seen.seen.states.get(key, ()) if each.constraint.index == index
            ]
            yield SimulatedItem(
                namespace=key[0],
                workload=key[1],
                constraint=ChangedConstraint(index=index, topology_key=topology_key, max_skew=now.constraint.max_skew),
                before=dict(sorted(was.matching.items())) if was else {},
                after=dict(sorted(now.matching.items())),
                ranges=_ranges(others),
                skew_before=was.skew if was else 0,
                skew_after=(min(each.skew for each in others), max(each.skew for each in others)),
                status_before=were.get((*key, index), SpreadStatus.OK),
                status_after=then.get((*key, index), SpreadStatus.OK),
            )


def _ranges(seen: Sequence[ConstraintState]) -> dict[str, tuple[int, int]]:
    """Return domain → the fewest and the most Pods that were seen in it."""
    if len({id(each.matching) for each in seen}) == 1:  # as of most, and of all where nothing is left to chance
        same = {number: (number, number) for number in set(seen[0].matching.values())}
        return {domain: same[number] for domain, number in sorted(seen[0].matching.items())}
    domains = sorted({domain for each in seen for domain in each.matching})
    numbers = ([each.matching.get(domain, 0) for each in seen] for domain in domains)
    return {domain: (min(found), max(found)) for domain, found in zip(domains, numbers, strict=True)}
