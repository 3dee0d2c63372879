"""What ``-o json`` adds to conclusions, the texts above all, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.fixes import FIX, SEARCHED, waits
from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.contract.rebalance import RebalanceItem
from kubectl_spread.controllers.rollout_plan import Rollout
from kubectl_spread.diagnosis.domains import Pin
from kubectl_spread.diagnosis.fixes.conclusion import Fix
from kubectl_spread.wording.check import assumption
from kubectl_spread.wording.reasons import reason_text


def assumed(rollout: Rollout) -> str:
    """The assumption, as a sentence."""
    return assumption(rollout.assumed)


def detail(pin: Pin) -> str:
    """The reason with its numbers or names."""
    return reason_text(pin.reason)


LEAVES: Mapping[type[msgspec.Struct], Leaf] = {
    CheckItem: SEARCHED,
    Fix: FIX,
    PendingItem: SEARCHED,
    RebalanceItem: Leaf(added=(waits,), left_out=frozenset({"waits"})),
    Pin: Leaf(added=(detail,), left_out=frozenset({"reason"})),
    Rollout: Leaf(added=(assumed,), left_out=frozenset({"assumed"})),
}
"""Type of conclusions → how its form differs."""
