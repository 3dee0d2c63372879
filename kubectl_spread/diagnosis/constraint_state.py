"""The state of a workload's constraints: how its Pods are spread over their domains, in numbers, and after a step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.statuses import Idle, SpreadStatus
from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, DomainCounts, parsable_constraints
from kubectl_spread.scheduler.profile import Behaviour, Profile


class ConstraintState(msgspec.Struct, frozen=True):
    """The domains of one constraint in numbers, counted for one Pod of a workload."""

    counts: DomainCounts
    matching: Mapping[str, int]  # value of each eligible domain → matching Pods (count)
    keyed: bool  # whether any node has the topology key
    # domain → the largest skew of one of its nodes, if each Pod of a DaemonSet counts only its own node
    alone: Mapping[str, int] | None

    @property
    def constraint(self) -> Constraint:
        """The constraint."""
        return self.counts.constraint

    @property
    def pods(self) -> int:
        """The counted Pods (count)."""
        return sum(self.matching.values())

    @property
    def skew(self) -> int:
        """The largest count minus the global minimum (Pods)."""
        if self.alone is not None:
            return max(self.alone.values(), default=0)
        return max(self.matching.values()) - self.counts.global_minimum if self.matching else 0

    @property
    def uneven(self) -> bool:
        """Whether the skew exceeds maxSkew, without the next Pod."""
        return self.skew > self.constraint.max_skew


def constraint_states(
    workload: str, constraints: Sequence[Constraint], pod: Pod, handle: Handle
) -> Iterator[ConstraintState]:
    """Yield the state of each constraint of a Pod of a workload of this kind, in spec order."""
    for counts in podtopologyspread.count_all(constraints, pod, handle):
        key, matching = counts.constraint.topology_key, counts.match_num
        domains = handle.index.domains(key)
        # Only built-in defaults count nodes without the key, as a domain that affects no score.
        if "" in matching and "" not in domains:
            matching = {value: number for value, number in matching.items() if value in domains}
        yield ConstraintState(
            counts=counts,
            matching=matching,
            keyed=bool(handle.index.values(key)),
            alone=_alone(counts, pod, handle) if workload == DAEMON_SET.name else None,
        )


def _alone(counts: DomainCounts, pod: Pod, handle: Handle) -> Mapping[str, int] | None:
    constraint, found = counts.constraint, dict[str, int]()
    if not constraint.honors_affinity:
        return None
    if constraint.min_domains > 1:
        pods = Counter(each.spec.node_name for each in podtopologyspread.counted_pods(constraint, pod, handle))
        for name in counts.counted_nodes & pods.keys():
            domain = handle.node_infos[name].labels.get(constraint.topology_key, "")
            found[domain] = max(found.get(domain, 0), pods[name])
    return found


def idle(state: ConstraintState, profile: Profile) -> Idle | None:
    """Return why the constraint has no effect; None if it has one."""
    selector = state.constraint.selector
    empty = not profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
    reasons = {
        Idle.NO_NODE_HAS_KEY: not state.matching and not state.keyed,
        # Nodes with its key may lack another constraint's key, or its policies may exclude them.
        Idle.NO_NODE_COUNTS: not state.matching,
        Idle.NO_SELECTOR: selector == NOTHING,
        Idle.EMPTY_SELECTOR: selector == EVERYTHING and empty,
        Idle.MATCHES_OTHERS: selector != EVERYTHING and not state.counts.self_match,
        # Each Pod has only its own node, which holds the minimum; minDomains makes the minimum 0.
        Idle.EACH_ALONE: state.alone is not None and state.constraint.min_domains <= 1,
        Idle.ONE_DOMAIN: len(state.matching) == 1 and state.constraint.min_domains <= 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def is_ghost(pod: Pod, constraint: Constraint) -> bool:
    """Whether the constraint selects Pods, but not its own.

    A ghost changes no count, so any number of ghosts fits in one domain, and the constraint never notices.
    """
    selector = constraint.selector
    return not selector.nothing and not selector.empty and not selector.matches(pod.metadata.labels)


def ghosts(pods: tuple[Pod, ...], index: int, handle: Handle) -> tuple[str, ...]:
    """Return the names of the Pods that their own constraint of this index does not match, sorted."""
    return tuple(
        sorted(
            pod.metadata.name
            for pod in pods
            for constraint in parsable_constraints(pod, handle)
            if constraint.index == index and is_ghost(pod, constraint)
        )
    )


class ChangedConstraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The constraint of an item."""

    index: int
    topology_key: str
    max_skew: int
    when_unsatisfiable: str

    @classmethod
    def of(cls, constraint: Constraint) -> ChangedConstraint:
        """Return the constraint as an item has it."""
        when = constraint.when_unsatisfiable.value
        return cls(
            index=constraint.index,
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            when_unsatisfiable=when,
        )


class SimulatedItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the Pods that one constraint counts are spread before and after a step."""

    namespace: str
    workload: WorkloadRef
    revision: str = ""  # of the Pods that have the constraint; empty if the workload has only one
    old: bool = False  # whether that is another revision than the newest
    constraint: ChangedConstraint
    before: dict[str, int]  # eligible domain → Pods before the step
    after: dict[str, int]  # the same after the step, in one outcome
    ranges: dict[str, tuple[int, int]]  # domain → the fewest and the most Pods seen in any order: observed, not proved
    skew_before: int  # the skew before the step
    skew_after: tuple[int, int]  # the least and the greatest skew seen after it
    status_before: SpreadStatus | None  # the status before the step; None if the workload had no constraint like it
    status_after: SpreadStatus  # the status after it, in one outcome
    status_range: tuple[SpreadStatus, SpreadStatus]  # the best and the worst status for the counts seen in any order

    @property
    def changed(self) -> bool:
        """Whether the step changes anything, in any order."""
        by_chance = any(low != high for low, high in set(self.ranges.values()))
        return by_chance or self.before != self.after or self.status_before is not self.status_after
