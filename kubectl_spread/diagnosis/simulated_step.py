"""What a simulation changed: how Pods lie before and after each step, which wait for a node, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.contract.evaluation import Explanation, explanation_of
from kubectl_spread.contract.simulate import (
    BlockedPod,
    ChangedConstraint,
    EvictedPod,
    PendingPods,
    SimulatedItem,
    SimulatedStep,
)
from kubectl_spread.controllers.workloads import WorkloadRef, revision_of
from kubectl_spread.diagnosis.constraint_state import ConstraintState
from kubectl_spread.diagnosis.evaluation import Decision, judge
from kubectl_spread.diagnosis.observer import Key, Observation
from kubectl_spread.diagnosis.skew import decided, statuses
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.schedulinggates import gates
from kubectl_spread.simulation.outcomes import After, StepOutcomes
from kubectl_spread.simulation.steps import Blocked, Step
from kubectl_spread.wording.simulate import blocked_text, note_text
from kubectl_spread.wording.words import held_by_gates, listed


def reported(steps: Sequence[Step], outcomes: StepOutcomes[Observation], *, defaults: bool) -> Iterator[SimulatedStep]:
    """Yield what each step changed.

    Args:
        steps: the steps.
        outcomes: what was seen.
        defaults: whether the cluster's default constraints count too.
    """
    before = outcomes.before
    were = _statuses(before, frozenset(), _Decided(), defaults=defaults)
    for number, step in enumerate(steps):
        after = outcomes.after(number)
        first = after[0]
        same = frozenset(_as_before(before, first.seen, were))
        kept = {key: status for key, status in were.items() if key[:2] in same}
        known = _Decided()
        then = {**kept, **_statuses(first.seen, same, known, defaults=defaults)}
        earlier = len(before.preempted)
        yield SimulatedStep(
            step=str(step),
            evicted=tuple(map(_evicted, first.done.evicted)),
            blocked=tuple(map(_blocked, first.done.blocked)),
            lost=tuple(map(_evicted, first.done.lost)),
            preempted=tuple(_evicted(pod) for pod in first.seen.preempted[earlier:]),
            pending=tuple(_pending(outcomes.before, after, known)),
            newly_pending=_more_wait(before, after) or _more_refused(before, after),
            untried=max(each.done.untried for each in after) or UNSET,
            items=tuple(_items(before, after, were, then)),
            orders=len(after),
            notes=tuple(_notes(before, after)),
        )
        before, were = first.seen, then


class _Decided:
    """What is decided about Pods of one cluster that wait for a node, each decided once.

    Attributes:
        decisions: Pod's namespace and name → that.
    """

    def __init__(self) -> None:
        self.decisions: dict[tuple[str, str], Decision] = {}

    def __call__(self, pod: Pod, handle: Handle) -> Decision:
        """Return what is decided about a Pod of the cluster."""
        if pod.key not in self.decisions:
            self.decisions[pod.key] = decided(pod, handle)
        return self.decisions[pod.key]

    def in_full(self, pod: Pod, handle: Handle) -> Decision:
        """Return the same, where a node takes it with every other node."""
        known = self.decisions.get(pod.key)
        return known if known and known.blame else judge(cycle.evaluate(pod, handle), handle)


IN_TROUBLE = frozenset((SpreadStatus.BLOCKED, SpreadStatus.FAILED_CREATE, SpreadStatus.UNSCHEDULABLE))
UNSETTLED = "it does not come to rest: controllers and scheduler would go on like this"


def _notes(before: Observation, after: Sequence[After[Observation]]) -> Iterator[str]:
    """Yield what else is to be known of a step."""
    first = after[0]
    yield from map(note_text, first.done.notes)
    for key, why in first.seen.refused.items():
        if why and before.refused.get(key) != why:
            yield f"the API server refuses Pods of {key[1].lower()}/{key[2]}: {why}"
    told = {each.pod.key for each in first.done.blocked}
    if held := {pod.pod.key: pod for each in after for pod in each.done.blocked if pod.pod.key not in told}:
        names = listed([f"{namespace}/{name}" for namespace, name in sorted(held)])
        why = blocked_text(held[min(held)])
        yield f"in other orders of chance {names} {'is' if len(held) == 1 else 'are'} held back: {why}"
    if not all(each.done.settled for each in after):
        yield UNSETTLED


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
            rows = statuses(
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


def _evicted(pod: Pod) -> EvictedPod:
    """Return the Pod that went."""
    return EvictedPod(namespace=pod.metadata.namespace, pod=pod.metadata.name, node=pod.spec.node_name)


def _blocked(blocked: Blocked) -> BlockedPod:
    """Return the Pod that could not go."""
    pod = blocked.pod
    return BlockedPod(namespace=pod.metadata.namespace, pod=pod.metadata.name, why=blocked_text(blocked))


def _pending(start: Observation, after: Sequence[After[Observation]], known: _Decided) -> Iterator[PendingPods]:
    """Yield what waits for a node then, in the first order and in how many of the others.

    Of a workload that is not asked about that is told where more of it wait than at the start.
    """
    numbers: Mapping[Key, list[int]] = {
        key: [len(each.seen.pending.get(key, ())) for each in after]
        for key in sorted({key for each in after for key in each.seen.pending}, key=lambda key: (key[0], str(key[1])))
    }
    for (namespace, ref), counts in numbers.items():
        if (namespace, ref) not in start.asked and max(counts) <= len(start.pending.get((namespace, ref), ())):
            continue
        said = _said(after[0].seen.pending.get((namespace, ref), ()), after[0].seen, known)
        yield PendingPods(
            namespace=namespace,
            workload=ref,
            count=counts[0],
            range=(min(counts), max(counts)),
            message=(said[0].message or "") if said else "",
            summary=" ".join(each.summary for each in said),
            incomplete=tuple({gap: None for each in said for gap in each.incomplete}),
        )


def _said(waiting: Sequence[Pod], seen: Observation, known: _Decided) -> list[Explanation]:
    """Return what is said of the first Pod that waits, and of the first of each other revision for which it is not so.

    Args:
        waiting: the Pods of a workload that wait.
        seen: the cluster with them.
        known: what was decided there already.
    """
    revisions: dict[str, list[Pod]] = {}
    for pod in waiting:
        revisions.setdefault(revision_of(pod), []).append(pod)
    found: list[Explanation] = []
    for pods in revisions.values():
        said = explanation_of(known.in_full(pods[0], seen.handles.of(pods[0])))
        summary = _held(pods[0]) or said.summary
        if not found:
            found.append(replace(said, summary=summary))
        elif summary != found[0].summary:
            found.append(replace(said, summary=f"{len(pods)} of them, of another revision: {summary}"))
    return found


def _held(pod: Pod) -> str:
    """Return what keeps the Pod from the scheduler; empty where nothing does."""
    held = gates(pod)
    return f"{pod.metadata.namespace}/{pod.metadata.name} is {held_by_gates(held)}." if held else ""


def _more_wait(before: Observation, after: Sequence[After[Observation]]) -> bool:
    """Whether in any order more Pods of a workload wait than before, for a scheduler whose rules are known."""
    return any(
        len(pods) > len(before.pending.get(key, ())) and each.seen.handles.of(pods[0]).profile.serves(pods[0])
        for each in after
        for key, pods in each.seen.pending.items()
    )


def _more_refused(before: Observation, after: Sequence[After[Observation]]) -> bool:
    """Whether in any order the API server refuses Pods that it did not refuse before."""
    return any(why and not before.refused.get(key) for each in after for key, why in each.seen.refused.items())


def _items(
    before: Observation, after: Sequence[After[Observation]], were: Statuses, then: Statuses
) -> Iterator[SimulatedItem]:
    """Yield each constraint of each workload, before and after."""
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
