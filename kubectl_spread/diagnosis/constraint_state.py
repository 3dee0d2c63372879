"""How a workload stands to one of its constraints: in numbers, and in a status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, DomainCounts, parsable_constraints
from kubectl_spread.scheduler.profile import Behaviour, Profile

EACH_ALONE = "the affinity of each Pod counts its own node alone: skew is always 0"


class SpreadStatus(StrEnum):
    """How a workload stands to one of its constraints, worst first."""

    NO_DOMAINS = "NoDomains"
    BLOCKED = "Blocked"
    FAILED_CREATE = "FailedCreate"
    UNSCHEDULABLE = "Unschedulable"
    VIOLATED = "Violated"
    NO_EFFECT = "NoEffect"
    INCOMPLETE = "Incomplete"
    UNEVEN = "Uneven"
    OK = "OK"


class ConstraintState(msgspec.Struct, frozen=True):
    """The domains of one constraint in numbers, counted for one Pod of a workload.

    Attributes:
        counts: the domains.
        matching: value of each eligible domain → matching Pods (count).
        keyed: whether any node carries the topology key.
        each_alone: whether each Pod has one domain alone, which holds the minimum, as Pods of a DaemonSet may.
    """

    counts: DomainCounts
    matching: Mapping[str, int]
    keyed: bool
    each_alone: bool

    @property
    def constraint(self) -> Constraint:
        """The constraint."""
        return self.counts.constraint

    @property
    def self_match(self) -> bool:
        """Whether the Pod matches its own selector."""
        return bool(self.counts.self_match)

    @property
    def pods(self) -> int:
        """The Pods that are counted."""
        return sum(self.matching.values())

    @property
    def skew(self) -> int:
        """The largest count minus the global minimum (Pods)."""
        return 0 if self.each_alone or not self.matching else max(self.matching.values()) - self.counts.global_minimum

    @property
    def skew_text(self) -> str:
        """The skew beside what is allowed."""
        return f"skew {self.skew}, maxSkew {self.constraint.max_skew}"

    @property
    def uneven(self) -> bool:
        """Whether the skew is more than allowed, the next Pod not among what is counted."""
        return self.skew > self.constraint.max_skew

    @property
    def missing(self) -> str:
        """What to say where there are no domains at all; empty where there are."""
        return "" if self.keyed else f"no node carries {self.constraint.topology_key}"


def standings(workload: OwnedPods, pod: Pod, handle: Handle) -> Iterator[ConstraintState]:
    """Yield how the workload stands to each constraint of its Pod, in spec order."""
    for counts in podtopologyspread.count_all(parsable_constraints(pod, handle), pod, handle):
        yield standing_of(counts, workload, handle)


def standing_of(counts: DomainCounts, workload: OwnedPods, handle: Handle) -> ConstraintState:
    """Return how the workload stands to a constraint that has been counted for its Pod."""
    return ConstraintState(
        counts=counts,
        matching=_named(counts, handle),
        keyed=bool(handle.index.values(counts.constraint.topology_key)),
        each_alone=workload.ref.kind == DAEMON_SET.name and counts.constraint.honors_affinity,
    )


def own_pods(standing: ConstraintState, workload: OwnedPods, pod: Pod, handle: Handle) -> int:
    """Return how many of the Pods that are counted for the workload's Pod are its own (count)."""
    own, constraint = {other.key for other in workload.pods}, standing.constraint
    values = handle.index.values(constraint.topology_key)
    counted = (found for found in podtopologyspread.counted_pods(constraint, pod, handle) if found.key in own)
    nodes = (found.spec.node_name for found in counted)
    return sum(1 for name in nodes if name in standing.counts.counted_nodes and name in values)


def _named(counts: DomainCounts, handle: Handle) -> Mapping[str, int]:
    """Return the domains without the one of nodes that lack the key, which only built-in defaults know."""
    domains = handle.index.domains(counts.constraint.topology_key)
    if "" in domains or "" not in counts.match_num:
        return counts.match_num
    return {value: number for value, number in counts.match_num.items() if value in domains}


def without_effect(standing: ConstraintState, profile: Profile) -> str:
    """Return why the constraint balances nothing; empty where it does."""
    if not standing.matching:
        # Nodes that carry its key may lack that of another constraint, or not be what its policies count.
        return standing.missing or "no node counts, by its policies or for lack of another constraint's key"
    if standing.constraint.selector == NOTHING:
        return "no labelSelector: it counts no Pod"
    if standing.constraint.selector == EVERYTHING:
        counts = profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
        alone = "" if counts else "empty labelSelector: it counts no Pod in this release"
    else:
        alone = "" if standing.self_match else "its selector does not match its own Pods"
    return alone or (EACH_ALONE if standing.each_alone else "")
