"""What a plan of evictions comes to: each eviction, and each constraint with its outcome and why no more."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.diagnosis.constraint_state import ChangedConstraint, constraint_states, idle
from kubectl_spread.diagnosis.fixes.conclusion import NO_FIXES, Fix, FixSearch, Wait
from kubectl_spread.diagnosis.fixes.shell import eviction_line
from kubectl_spread.diagnosis.remaining_skew import (
    RebalanceVerdict,
    RemainingSkew,
    Unsure,
    remaining_skew,
    unsure_of,
    verdict_of,
)
from kubectl_spread.diagnosis.statuses import NoDomains, NoEffect
from kubectl_spread.rebalance.checkpoints import waves
from kubectl_spread.rebalance.plan import EvictionPlan, Outcome
from kubectl_spread.rebalance.search import Eviction
from kubectl_spread.scheduler.podtopologyspread import parsable_constraints
from kubectl_spread.snapshot import Snapshot


class SatisfiedSoon(msgspec.Struct, frozen=True):
    """The constraint is satisfied once every Pending Pod that finds a node now is on it."""


# Why some skew is left, or is not known, or there is nothing to plan.
ItemReason: TypeAlias = Unsure | RemainingSkew | NoEffect | NoDomains | SatisfiedSoon


class PlannedEviction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One eviction of a plan."""

    # its place in the plan, from 1: it starts once the Pod that replaces the previous one is Ready, or at once if both
    # are made together
    order: int
    # evictions of one wave wait only for the previous replacement. Before the next wave, all evicted Pods must also be
    # gone: a budget, a StatefulSet, room, affinity between Pods or a volume requires it
    wave: int
    # whether all evictions of the wave are made without waiting, because their replacements may only find a node then;
    # absent if not
    together: bool | UnsetType = UNSET
    namespace: str
    pod: str  # the evicted Pod
    uid: str = ""  # its UID; empty in files that hold none
    node: str  # its node
    workload: WorkloadRef  # its workload
    lands: tuple[str, ...]  # the Pod that replaces it goes to one of these nodes, by name
    loses_data: bool | UnsetType = UNSET  # whether it has emptyDir volumes; absent if not


class RebalanceItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the Pods that one constraint counts are spread before and after the plan."""

    namespace: str
    workload: WorkloadRef
    revision: str = ""  # of the Pods that have the constraint; empty if the workload has only one
    # Balanced if it is satisfied now or once the `schedulable` Pods are on their nodes, Planned if it is after the
    # plan, Partial if some skew is left, or --max allows no such plan, Impossible if no plan lowers the skew,
    # Incomplete if that is not known
    verdict: RebalanceVerdict
    reason: ItemReason | None = None  # why some skew is left, or the constraint has no effect; None if neither
    # what to fix first, for a plan to reach more: after each, a Pod evicted in the fullest domain goes to the emptiest.
    # If such a fix changes a Pod, it is one that is evicted then
    fixes: tuple[Fix, ...] = ()
    # what lets a plan reach more without any action, once it is over; absent if nothing is known to
    waits: tuple[Wait, ...] = ()
    constraint: ChangedConstraint
    before: dict[str, int]  # eligible domain → Pods
    after: dict[str, int]  # the same in the end, in the worst case, with the `schedulable` Pods
    skew_before: int  # the current skew (Pods)
    skew_after: int  # the largest skew in the end, whichever of equal nodes the scheduler takes (Pods)


def evictions(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[PlannedEviction]:
    """Yield the evictions of a plan, in order; ``snapshot`` is the cluster before."""
    for order, (wave, each) in enumerate(_in_waves(plan, snapshot), start=1):
        pod = each.movable.pod
        yield PlannedEviction(
            order=order,
            wave=wave,
            together=each.step > 0 or UNSET,
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            uid=pod.metadata.uid,
            node=pod.spec.node_name,
            workload=owner_of(pod, snapshot),
            lands=each.lands,
            loses_data=pod.has_empty_dir or UNSET,
        )


def _in_waves(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[tuple[int, Eviction]]:
    """Yield the evictions with their waves: those that are made together are one wave."""
    last = 0
    for step, group in groupby(plan.evictions, key=lambda each: each.step):
        made = list(group)
        parts = ((each.movable.pod, each.movable.again.pod, each.lands) for each in made)
        numbers = [1] * len(made) if step else [*waves(parts, snapshot)]
        yield from ((last + number, each) for number, each in zip(numbers, made, strict=True))
        last += numbers[-1]


def items(plan: EvictionPlan, openings_of: Callable[[Outcome], FixSearch]) -> Iterator[RebalanceItem]:
    """Yield the outcome of each constraint; ``openings_of`` returns what to do first if some is left."""
    for outcome in plan.outcomes:
        goal, constraint = outcome.goal, outcome.goal.constraint
        unsure, key, verdict = unsure_of(outcome), constraint.topology_key, verdict_of(outcome)
        remaining = None if unsure else remaining_skew(outcome)
        why: ItemReason | None = unsure or remaining
        if why is None and constraint.hard and not outcome.before.of(goal.pod).index.values(key):
            why, verdict = NoDomains(topology_key=key), RebalanceVerdict.IMPOSSIBLE
        elif why is None:
            why = _no_effect(outcome)
        if why is None and goal.waits:
            why = SatisfiedSoon()
        openings = openings_of(outcome) if remaining else NO_FIXES
        yield RebalanceItem(
            namespace=goal.workload.namespace,
            workload=goal.workload.ref,
            revision=goal.revision,
            verdict=RebalanceVerdict.INCOMPLETE if unsure else verdict,
            reason=why,
            fixes=openings.fixes,
            waits=openings.waits,
            constraint=ChangedConstraint.of(constraint),
            before=dict(zip(goal.domains, goal.now, strict=True)),
            after=dict(zip(goal.domains, outcome.after, strict=True)),
            skew_before=goal.skew(goal.now),
            skew_after=outcome.skew,
        )


def _no_effect(outcome: Outcome) -> NoEffect | None:
    """Return that the constraint of an outcome has no effect, as ``show`` does; None if it has one."""
    goal, handle = outcome.goal, outcome.before.of(outcome.goal.pod)
    constraints = parsable_constraints(goal.pod, handle)
    states = constraint_states(goal.workload.ref.kind, constraints, goal.pod, handle)
    state = next((each for each in states if each.constraint.index == goal.constraint.index), None)
    why = idle(state, handle.profile) if state else None
    return NoEffect(why=why, topology_key=goal.constraint.topology_key) if why else None


def eviction_command(eviction: PlannedEviction, connection_flags: Sequence[str] = ()) -> str:
    """Return the command that evicts the Pod, and no later Pod of its name, by the Eviction API, which checks budgets.

    Source: kubernetes.io/docs/concepts/scheduling-eviction/api-eviction.
    """
    return eviction_line(eviction.namespace, eviction.pod, eviction.uid, connection_flags)
