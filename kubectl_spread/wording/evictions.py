"""Why a Pod is not to be evicted, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from kubectl_spread.controllers.do_not_evict import Kept, KeptByController, KeptByMark
from kubectl_spread.rebalance.movable import (
    BeingDeleted,
    Loss,
    NotMadeAgain,
    OtherScheduler,
    Refused,
    ReplacementGated,
    ReplacementRefused,
    StayReason,
)

KEEPING_CONTROLLERS: Mapping[str, str] = {
    "Job": "its Job would count it as failed",
    "DaemonSet": "its DaemonSet would make it again on the same node",
    "Node": "it is a static Pod, which the kubelet keeps",
}
"""Kind of a controller → why its Pods are left alone."""

LOSSES: Mapping[Loss, str] = {
    Loss.NO_CONTROLLER: "",
    Loss.CONTROLLER_DELETED: ": its {} is being deleted",
    Loss.SURPLUS: ": its {} has more Pods than it wants",
    Loss.NODE_SILENT: " while {} does not answer",
    Loss.UNREADY: " before {} is ready",
}


def kept_text(kept: Kept) -> str:
    """Return why nobody should delete the Pod."""
    match kept:
        case KeptByController(kind):
            return KEEPING_CONTROLLERS[kind]
        case KeptByMark(annotation, value):
            return f"it is marked {annotation}: {value}"
        case _:
            assert_never(kept)


def stay_text(reason: StayReason) -> str:
    """Return why a Pod is not evicted."""
    match reason:
        case BeingDeleted():
            return "it is being deleted already"
        case OtherScheduler(name):
            return f"{name} decides where the Pod in its place goes"
        case NotMadeAgain(loss, name):
            return f"nothing makes it again{LOSSES[loss].format(name)}"
        case Refused(message):
            return message
        case ReplacementRefused(message):
            return f"the API server would refuse the Pod in its place: {message}"
        case ReplacementGated(gate):
            return f"the Pod in its place would wait for its scheduling gate {gate}"
        case KeptByController() | KeptByMark():
            return kept_text(reason)
        case _:
            assert_never(reason)
