"""An autoscaler's decision about a Pod, with what it last said and what would change its mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_spread.autoscalers.decision import AutoscalerDecision
from kubectl_spread.diagnosis.fixes.conclusion import Fix

if TYPE_CHECKING:  # A report needs no rules of Karpenter.
    from kubectl_spread.diagnosis.fixes.node_pools import PoolChange


class AutoscalerEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The autoscaler's own last message about the Pod."""

    reason: str  # of the event, such as `FailedScheduling`
    message: str  # as in the event
    time: str = ""  # RFC 3339 text; empty if unknown


class AutoscalerAnswer(AutoscalerDecision, frozen=True, kw_only=True):
    """A decision with its surroundings."""

    event: AutoscalerEvent | None = None  # its own last message; None for none
    fixes: tuple[Fix, ...] = ()  # changes of the Pod after which a node may be added; they open no existing node
    changes: tuple[PoolChange, ...] = ()  # of one NodePool each, after which it may add a node
