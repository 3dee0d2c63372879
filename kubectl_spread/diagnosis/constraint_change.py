"""How the Pods that one constraint counts are spread before and after a step: facts of the JSON contract."""

from __future__ import annotations

import msgspec

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.statuses import SpreadStatus


class ChangedConstraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The constraint of an item."""

    index: int
    topology_key: str
    max_skew: int


class SimulatedItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the Pods that one constraint counts are spread before and after a step.

    Attributes:
        before: eligible domain → Pods before the step.
        after: the same after the step, in one outcome.
        ranges: domain → the fewest and the most Pods seen in any order: observed, not proved.
        skew_before: the skew before the step.
        skew_after: the least and the greatest skew seen after it.
        status_before: the status before the step.
        status_after: the status after it, in one outcome.
        status_range: the best and the worst status for the counts seen in any order.
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
        """Whether the step changes anything, in any order."""
        by_chance = any(low != high for low, high in set(self.ranges.values()))
        return by_chance or self.before != self.after or self.status_before is not self.status_after
