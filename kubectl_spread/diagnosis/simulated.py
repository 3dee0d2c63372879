"""What a simulation changed: how Pods lie before and after each step, which wait for a node, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import NextPod, next_pod
from kubectl_spread.controllers.workloads import OwnedPods, owner_of, workloads
from kubectl_spread.diagnosis.evaluation import evaluated, judge
from kubectl_spread.diagnosis.skew import skew_rows
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import WORKLOADS
from kubectl_spread.report import (
    BlockedPod,
    ChangedConstraint,
    EvictedPod,
    PendingPods,
    SimulatedItem,
    SimulatedStep,
    SpreadStatus,
    WorkloadRef,
)
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import constraints_of, count_all
from kubectl_spread.simulation.outcomes import After, Outcomes
from kubectl_spread.simulation.steps import Gone, Step
from kubectl_spread.simulation.world import World
from kubectl_spread.snapshot import Snapshot

Key: TypeAlias = tuple[str, WorkloadRef]
"""Namespace and workload."""


class Lying(msgspec.Struct, frozen=True):
    """How the Pods that one constraint counts lie.

    Attributes:
        index: the constraint's.
        topology_key: what it spreads over.
        max_skew: what it allows (Pods).
        counts: eligible domain → Pods.
        skew: the most of them minus the global minimum (Pods).
        selector: which Pods it counts.
    """

    index: int
    topology_key: str
    max_skew: int
    counts: Mapping[str, int]
    skew: int
    selector: Selector


class Seen(msgspec.Struct, frozen=True):
    """The cluster at one moment, as far as it is compared.

    Attributes:
        lying: workload → each of its constraints.
        upcoming: workload → the Pod it makes next.
        pending: workload → its Pods that wait for a node.
        preempted: the Pods that the scheduler has evicted by then.
        refused: what the API server would refuse to let come to be: namespace, kind and name of what makes it → why.
        snapshot: the cluster, in the first order.
        touched: the Pods that have come, changed or gone by then, in the first order.
    """

    lying: Mapping[Key, tuple[Lying, ...]]
    upcoming: Mapping[Key, NextPod]
    pending: Mapping[Key, tuple[Pod, ...]]
    preempted: tuple[Pod, ...]
    refused: Mapping[tuple[str, str, str], str]
    snapshot: Snapshot
    touched: tuple[Pod, ...]


class Looking:
    """Looks at a world, again and again.

    Args:
        start: the cluster as it was read, with what is applied to it.
        wanted: which workloads are asked about.
        defaults: whether the cluster's default constraints count too.
    """

    def __init__(self, start: Snapshot, wanted: Callable[[OwnedPods], bool], *, defaults: bool) -> None:
        self._keys = [(each.namespace, each.ref) for each in workloads(start) if wanted(each)]
        self._defaults = defaults
        self._first: list[Seen] = []

    def __call__(self, world: World, number: int) -> Seen:
        """Return how the wanted workloads stand after so many steps."""
        if number < len(self._first):
            return self._again(world, self._first[number])
        seen = self._look(world)
        self._first.append(seen)
        return seen

    def _again(self, world: World, first: Seen) -> Seen:
        """Return how they stand in another order; counted anew is only what one of the two orders has touched."""
        pods = _living(world)
        touched: dict[str, list[Pod]] = defaultdict(list)
        for pod in (*world.touched.values(), *first.touched):
            touched[pod.metadata.namespace].append(pod)
        lying = {
            key: tuple(_lying_of(first.upcoming[key].pod, world.handle)) if _concerns(were, touched[key[0]]) else were
            for key, were in first.lying.items()
        }
        pending = {key: waiting for key in self._keys if (waiting := _waiting(pods[key]))}
        return replace(first, lying=lying, pending=pending)

    def _look(self, world: World) -> Seen:
        """Return how they stand in the first order."""
        pods = _living(world)
        upcoming = {key: found for key in self._keys if (found := self._upcoming(key, pods[key], world))}
        return Seen(
            lying={key: tuple(_lying_of(found.pod, world.handle)) for key, found in upcoming.items()},
            upcoming=upcoming,
            pending={key: waiting for key in self._keys if (waiting := _waiting(pods[key]))},
            preempted=tuple(world.preempted),
            refused=dict(world.refused),
            snapshot=world.settled_snapshot(),
            touched=tuple(world.touched.values()),
        )

    def _upcoming(self, key: Key, pods: Sequence[Pod], world: World) -> NextPod | None:
        """Return the workload's next Pod, whose constraints count; None where it has none."""
        namespace, ref = key
        owner = world.snapshot.get(WORKLOADS[ref.kind], namespace, ref.name) if ref.kind in WORKLOADS else None
        living = tuple(sorted(pods, key=lambda pod: pod.metadata.name))
        handle = world.handle
        found = next_pod(OwnedPods(namespace, ref, owner, living), handle.snapshot, handle.profile)
        if found is None or not (found.pod.spec.topology_spread_constraints or self._defaults):
            return None
        return found


def _living(world: World) -> Mapping[Key, Sequence[Pod]]:
    """Return workload → its Pods that have not ended."""
    pods: dict[Key, list[Pod]] = defaultdict(list)
    for pod in world.pods.values():
        if not pod.finished:
            pods[pod.metadata.namespace, owner_of(pod, world.snapshot)].append(pod)
    return pods


def _concerns(lying: Iterable[Lying], pods: Sequence[Pod]) -> bool:
    """Whether any of the constraints counts any of the Pods."""
    return any(each.selector.matches(pod.metadata.labels) for each in lying for pod in pods)


def _waiting(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return the Pods that wait for a node, by name."""
    waiting = (pod for pod in pods if not (pod.spec.node_name or pod.terminating))
    return tuple(sorted(waiting, key=lambda pod: pod.key))


def _lying_of(pod: Pod, handle: Handle) -> Iterator[Lying]:
    """Yield how each of the Pod's constraints counts."""
    for counts in count_all(constraints_of(pod, handle), pod, handle):
        most = max(counts.match_num.values(), default=counts.global_minimum)
        yield Lying(
            index=counts.constraint.index,
            topology_key=counts.constraint.topology_key,
            max_skew=counts.constraint.max_skew,
            counts=dict(sorted(counts.match_num.items())),
            skew=most - counts.global_minimum,
            selector=counts.constraint.selector,
        )


def reported(
    steps: Sequence[Step], outcomes: Outcomes[Seen], handle_of: Callable[[Snapshot], Handle], *, defaults: bool
) -> Iterator[SimulatedStep]:
    """Yield what each step changed.

    Args:
        steps: the steps.
        outcomes: what was seen.
        handle_of: the cluster of a snapshot as the scheduler sees it.
        defaults: whether the cluster's default constraints count too.
    """
    before = outcomes.before
    statuses = _statuses(before, handle_of(before.snapshot), frozenset(), defaults=defaults)
    for number, step in enumerate(steps):
        after = outcomes.after(number)
        first = after[0]
        handle = handle_of(first.seen.snapshot)
        same = frozenset(_as_before(before, first.seen, statuses, handle))
        kept = {key: status for key, status in statuses.items() if key[:2] in same}
        then = {**kept, **_statuses(first.seen, handle, same, defaults=defaults)}
        earlier = len(before.preempted)
        yield SimulatedStep(
            step=str(step),
            evicted=tuple(map(_evicted, first.done.evicted)),
            blocked=tuple(map(_blocked, first.done.blocked)),
            lost=tuple(map(_evicted, first.done.lost)),
            preempted=tuple(_evicted(Gone(pod)) for pod in first.seen.preempted[earlier:]),
            pending=tuple(_pending(after, handle)),
            newly_pending=_more_wait(before, after),
            items=tuple(_items(before, after, statuses, then)),
            orders=len(after),
            notes=tuple(_notes(before, after)),
        )
        before, statuses = first.seen, then


IN_TROUBLE = frozenset((SpreadStatus.BLOCKED, SpreadStatus.FAILED_CREATE, SpreadStatus.UNSCHEDULABLE))
UNSETTLED = "it does not come to rest: controllers and scheduler would go on like this"


def _notes(before: Seen, after: Sequence[After[Seen]]) -> Iterator[str]:
    """Yield what else is to be known of a step."""
    first = after[0]
    yield from first.done.notes
    for key, why in first.seen.refused.items():
        if why and before.refused.get(key) != why:
            yield f"the API server refuses Pods of {key[1].lower()}/{key[2]}: {why}"
    if not all(each.done.settled for each in after):
        yield UNSETTLED


Statuses: TypeAlias = Mapping[tuple[str, WorkloadRef, int], SpreadStatus]


def _as_before(before: Seen, now: Seen, statuses: Statuses, handle: Handle) -> Iterator[Key]:
    """Yield the workloads that stand to their constraints as before: counted alike, and a node takes the next Pod."""
    in_trouble = {key[:2] for key, status in statuses.items() if status in IN_TROUBLE}
    for key, upcoming in now.upcoming.items():
        counted_alike = key not in in_trouble and before.lying.get(key) == now.lying[key]
        unchanged = counted_alike and not upcoming.refusals and upcoming.pod == before.upcoming[key].pod
        if unchanged and (not upcoming.comes or cycle.feasible_node(upcoming.pod, upcoming.place(handle))):
            yield key


def _statuses(seen: Seen, handle: Handle, known: frozenset[Key], *, defaults: bool) -> Statuses:
    """Return how each workload, but for those that are known, stands to each of its constraints."""
    found: dict[tuple[str, WorkloadRef, int], SpreadStatus] = {}
    for workload in workloads(handle.snapshot):
        key = (workload.namespace, workload.ref)
        if seen.lying.get(key) and key not in known:
            for item in skew_rows(workload, handle, defaults=defaults):
                found.setdefault((item.namespace, item.workload, item.constraint.index), item.status)
    return found


def _evicted(gone: Gone) -> EvictedPod:
    """Return the Pod that went."""
    return EvictedPod(namespace=gone.pod.metadata.namespace, pod=gone.pod.metadata.name, node=gone.pod.spec.node_name)


def _blocked(gone: Gone) -> BlockedPod:
    """Return the Pod that could not go."""
    return BlockedPod(namespace=gone.pod.metadata.namespace, pod=gone.pod.metadata.name, why=gone.why)


def _pending(after: Sequence[After[Seen]], handle: Handle) -> Iterator[PendingPods]:
    """Yield what waits for a node then, in the first order and in how many of the others."""
    numbers: Mapping[Key, list[int]] = {
        key: [len(each.seen.pending.get(key, ())) for each in after]
        for key in sorted({key for each in after for key in each.seen.pending}, key=lambda key: (key[0], str(key[1])))
    }
    for (namespace, ref), counts in numbers.items():
        waiting = after[0].seen.pending.get((namespace, ref), ())
        said = evaluated(judge(cycle.evaluate(waiting[0], handle), handle)) if waiting else None
        yield PendingPods(
            namespace=namespace,
            workload=ref,
            count=counts[0],
            range=(min(counts), max(counts)),
            message=(said.message or "") if said else "",
            summary=said.summary if said else "",
            incomplete=said.incomplete if said else (),
        )


def _more_wait(before: Seen, after: Sequence[After[Seen]]) -> bool:
    """Whether in any order more Pods of a workload wait for a node than before."""
    return any(
        len(pods) > len(before.pending.get(key, ())) for each in after for key, pods in each.seen.pending.items()
    )


def _items(before: Seen, after: Sequence[After[Seen]], statuses: Statuses, then: Statuses) -> Iterator[SimulatedItem]:
    """Yield each constraint of each workload, before and after."""
    first = after[0].seen
    for key, constraints in sorted(first.lying.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        earlier = {(each.index, each.topology_key): each for each in before.lying.get(key, ())}
        for now in constraints:
            was = earlier.get((now.index, now.topology_key))
            others = [each for seen in after for each in seen.seen.lying.get(key, ()) if each.index == now.index]
            status = then.get((*key, now.index), SpreadStatus.OK)
            yield SimulatedItem(
                namespace=key[0],
                workload=key[1],
                constraint=ChangedConstraint(index=now.index, topology_key=now.topology_key, max_skew=now.max_skew),
                before=dict(was.counts) if was else {},
                after=dict(now.counts),
                ranges=_ranges(others),
                skew_before=was.skew if was else 0,
                skew_after=(min(each.skew for each in others), max(each.skew for each in others)),
                status_before=statuses.get((*key, now.index), SpreadStatus.OK),
                status_after=status,
            )


def _ranges(seen: Sequence[Lying]) -> dict[str, tuple[int, int]]:
    """Return domain → the fewest and the most Pods that were seen in it."""
    domains = sorted({domain for each in seen for domain in each.counts})
    numbers = ([each.counts.get(domain, 0) for each in seen] for domain in domains)
    return {domain: (min(found), max(found)) for domain, found in zip(domains, numbers, strict=True)}
