"""What ``-o json`` adds to conclusions, the texts above all, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from kubectl_spread.contract.check import CheckItem, CheckReport
from kubectl_spread.contract.fixes import FIX, SEARCHED, waits
from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.rebalance import RebalanceItem, RebalanceReport
from kubectl_spread.contract.simulate import PendingPods, SimulateReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.controllers.rollout_plan import Rollout
from kubectl_spread.diagnosis.domains import Pin
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.fixes.conclusion import Fix
from kubectl_spread.gaps import Gap
from kubectl_spread.wording.check import assumption
from kubectl_spread.wording.incomplete import Incomplete, entries
from kubectl_spread.wording.reasons import reason_text


class HasGaps(Protocol):
    """What has gaps."""

    @property
    def incomplete(self) -> tuple[Gap, ...]:
        """The gaps."""


def assumed(rollout: Rollout) -> str:
    """The assumption, as a sentence."""
    return assumption(rollout.assumed)


def detail(pin: Pin) -> str:
    """The reason with its numbers or names."""
    return reason_text(pin.reason)


def incomplete(report: HasGaps) -> tuple[Incomplete, ...]:
    """What was not read or is not modelled, and what is not known without it."""
    return entries(report.incomplete)


GAPS = Leaf(added=(incomplete,))


def verdict(item: CheckItem) -> Verdict:
    """Whether all replicas can be scheduled now; ``jam`` says which is the first that finds no node."""
    return Verdict.UNSCHEDULABLE if item.jam and item.verdict is Verdict.SCHEDULABLE else item.verdict


LEAVES: Mapping[type[msgspec.Struct], Leaf] = {
    CheckItem: SEARCHED | GAPS | Leaf(added=(verdict,)),
    CheckReport: GAPS,
    Fix: FIX,
    PendingItem: SEARCHED | GAPS,
    PendingPods: GAPS,
    PendingReport: GAPS,
    RebalanceItem: Leaf(added=(waits,)),
    Pin: Leaf(added=(detail,), left_out=frozenset({"reason"})),
    RebalanceReport: GAPS,
    SimulateReport: GAPS,
    SkewReport: GAPS,
    Rollout: Leaf(added=(assumed,)),
}
"""Type of conclusions → how its form differs."""
