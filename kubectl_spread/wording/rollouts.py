"""What is assumed about a rollout, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kubectl_spread.controllers.rollout_plan import (
    Assumption,
    FromHighestOrdinal,
    MadeElsewhere,
    RolloutAssumption,
    UnknownRules,
    WithinFenceposts,
)

ASSUMPTIONS: Mapping[Assumption, str] = MappingProxyType(
    {
        Assumption.SUSPENDED: "it is suspended, so no Pod comes before it is resumed",
        Assumption.PAUSED: (
            "it is paused, so nothing rolls out: the Pods that run stay, and missing ones come as these are"
        ),
        Assumption.PAUSED_BEFORE_FIRST: "it is paused, so no Pod comes before it is resumed",
        Assumption.SAME_TEMPLATE: (
            "nothing in the template changes that scheduling reads, so the Pods that run stay; if any other field"
            " changes, new ones replace them"
        ),
        Assumption.RUNNING_STAY: (
            "running Pods stay as they are, whatever changes in the template, and the missing ones come"
        ),
        Assumption.DELETED_FIRST: "most fields of a Pod cannot change, so the running one is deleted first",
        Assumption.ALL_GONE_FIRST: "all old Pods are gone before the first new one comes",
        Assumption.DELETED_BY_HAND: "running Pods stay until somebody deletes them, and the missing ones come",
        Assumption.DELETED_BY_HAND_ON_NODES: (
            "running Pods stay until somebody deletes them, and nodes without one get one"
        ),
        Assumption.SURGE_ON_NODES: (
            "on each node the new Pod comes beside the old one, which goes once the new one is available"
        ),
        Assumption.ONE_BY_ONE_ON_NODES: "on each node the old Pod is gone before the new one comes",
    }
)


def assumption(assumed: RolloutAssumption) -> str:
    """Return what is assumed about a rollout, as a sentence without its full stop."""
    match assumed:
        case Assumption():
            return ASSUMPTIONS[assumed]
        case MadeElsewhere(manager=manager):
            return f"{manager} makes its Pods"
        case UnknownRules(kind=kind):
            return f"how a {kind} replaces Pods is not known, so all that run stay while the new ones come"
        case WithinFenceposts(most=most, least=least):
            return (
                f"at most {most} and at least {least} Pods at any time; old Pods stay until a new one needs their"
                " place, and a new Pod is available as soon as it has a node"
            )
        case FromHighestOrdinal(first=first):
            return (
                f"missing ordinals come first, then each Pod from the highest ordinal down to {first} goes before"
                " its successor comes"
            )
