"""Why a Pod is not evicted."""

from collections.abc import Mapping
from typing import assert_never

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import KeptByController, KeptByMark
from kubectl_spread.rebalance import movable
from kubectl_spread.rebalance.movable import StayCause
from kubectl_spread.wording.incomplete import consequence

STAY_CAUSES: Mapping[StayCause, str] = {
    StayCause.NOT_ASKED_ABOUT: "it belongs to {}, which was not selected",
    StayCause.ROLLOUT: "a rollout of {} is not finished: finish it, roll it back or pause it first",
    StayCause.BEING_DELETED: "it is being deleted already",
    StayCause.OTHER_SCHEDULER: "{} decides where its replacement goes",
    StayCause.NO_CONTROLLER: "no controller recreates it",
    StayCause.CONTROLLER_DELETED: "no controller recreates it, because its {} is being deleted",
    StayCause.SURPLUS: "no controller recreates it, because its {} has more Pods than it wants",
    StayCause.NODE_SILENT: "no controller recreates it while {} does not answer",
    StayCause.UNREADY: "no controller recreates it before {} is ready",
    StayCause.VOLUME_THERE: "its claim is bound to a volume there",
    StayCause.REPLACEMENT_REFUSED: "the API server would refuse its replacement: {}",
    StayCause.REPLACEMENT_GATED: "its replacement would wait for the scheduling gate {}",
}

# Kind of a controller → why its Pods are left alone.
KEEPING_CONTROLLERS: Mapping[str, str] = {
    "Job": "its Job would count it as failed",
    "DaemonSet": "its DaemonSet would recreate it on the same node",
    "Node": "it is a static Pod, which the kubelet manages",
}


def stay_text(reason: movable.StayReason) -> str:
    """Return why a Pod is not evicted."""
    match reason:
        case movable.Stays(cause, name):
            return STAY_CAUSES[cause].format(name)
        case movable.VolumeShared(claim, pod):
            return f"{pod} also uses its volume, and claim {claim} works on only one node at a time"
        case EvictionRefused(message):
            return message
        case movable.Undecided(gap):
            return f"where its replacement can go is not known: {consequence(gap)}"
        case KeptByController(kind):
            return KEEPING_CONTROLLERS[kind]
        case KeptByMark(annotation, value):
            return f"it is marked {annotation}: {value}"
        case _:
            assert_never(reason)
