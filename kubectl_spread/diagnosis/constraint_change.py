"""How the Pods that one constraint counts are spread before and after a step: facts that the JSON contract shows."""

from __future__ import annotations

import msgspec

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.statuses import SpreadStatus


class ChangedConstraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which constraint is spoken of."""

    index: int
    topology_key: str
    max_skew: int


class SimulatedItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the Pods that one constraint counts lie before and after a step.

    Attributes:
        before: eligible domain → Pods before the step.
        after: the same after it, in one outcome.
        ranges: domain → the fewest and the most Pods that were seen in any order: observed, not proved.
        skew_before: the skew before the step.
        skew_after: the least and the greatest skew that were seen after it.
        status_before: how the workload stood to the constraint.
        status_after: how it stands to it after the step, in one outcome.
        status_range: the best and the worst that this may be, by the counts that were seen in any order.
    """

    namespace: str
    workload: WorkloadRef
    constraint: ChangedConstraint
    before: dict[str, int]
    after: dict[str, int]
    ranges: dict[str, tuple[int, int]]
    skew_before: int
    skew_after: tuple[int, int]
    status_before: SpreadStatus
    status_after: SpreadStatus
    status_range: tuple[SpreadStatus, SpreadStatus]

    @property
    def changed(self) -> bool:
        """Whether the step changes anything about it, in any order."""
        by_chance = any(low != high for low, high in set(self.ranges.values()))
        return by_chance or self.before != self.after or self.status_before is not self.status_after
