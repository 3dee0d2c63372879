"""Why constraints do not hold after a plan, and why a Pod is not to be evicted, in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import assert_never

from kubectl_spread.controllers.do_not_evict import Kept, KeptByController, KeptByMark
from kubectl_spread.diagnosis.remaining_skew import (
    BreaksAnother,
    ByConstraint,
    ByFilter,
    DomainShut,
    NotBegun,
    PodsStay,
    RemainingCause,
    RemainingSkew,
    ScoredHigher,
    TooFewDomains,
    TooFewEvictions,
    UnknownScheduler,
    Unsure,
)
from kubectl_spread.rebalance.movable import (
    BeingDeleted,
    Loss,
    NotAskedAbout,
    NotMadeAgain,
    OtherScheduler,
    Refused,
    ReplacementGated,
    ReplacementRefused,
    StayReason,
)
from kubectl_spread.wording.incomplete import consequence
from kubectl_spread.wording.reasons import reason_text
from kubectl_spread.wording.words import enumerated

LOSSES: Mapping[Loss, str] = {
    Loss.NO_CONTROLLER: "",
    Loss.CONTROLLER_DELETED: ": its {} is being deleted",
    Loss.SURPLUS: ": its {} has more Pods than it wants",
    Loss.NODE_SILENT: " while {} does not answer",
    Loss.UNREADY: " before {} is ready",
}

KEEPING_CONTROLLERS: Mapping[str, str] = {
    "Job": "its Job would count it as failed",
    "DaemonSet": "its DaemonSet would make it again on the same node",
    "Node": "it is a static Pod, which the kubelet keeps",
}
"""Kind of a controller → why its Pods are left alone."""

_named = partial(enumerated, most=2)


def remaining_text(remaining: RemainingSkew) -> str:
    """Return why a constraint does not hold after the plan."""
    return f"{_cause(remaining.cause)}{'' if remaining.tried_all else '; not everything was tried'}"


def _cause(cause: RemainingCause) -> str:
    match cause:
        case TooFewEvictions():
            return "it would take more evictions than --max allows"
        case TooFewDomains(domains, min_domains):
            return f"there are {domains} of {min_domains} domains that minDomains asks for"
        case PodsStay():
            return _staying(cause)
        case DomainShut(domain, by):
            return f"{domain} takes no Pod: {' and '.join(map(_shut_by, by))}"
        case ScoredHigher(fullest, lands):
            return f"a Pod evicted in {_named(fullest)} goes to {_named(lands)}, which the scheduler scores higher"
        case BreaksAnother():
            return "what would help here breaks another constraint, or leaves a Pod without a node"
        case _:
            assert_never(cause)


def _staying(cause: PodsStay) -> str:
    """Return which Pod stays and why, and how many more."""
    first = f"{'/'.join(cause.pod)} in {cause.domain} stays: {stay_text(cause.reason).rstrip('.')}"
    if not cause.others:
        return first
    if cause.alike:
        return f"{first}; the same keeps {cause.others} more"
    return f"{first}; {cause.others} more stay, for other reasons too"


def _shut_by(by: ByConstraint | ByFilter) -> str:
    if isinstance(by, ByConstraint):
        return f"the constraint on {by.topology_key} allows none there"
    return reason_text(by.reason) or by.plugin


def unsure_text(unsure: Unsure) -> str:
    """Return what is not known of where a workload's Pods go."""
    match unsure:
        case UnknownScheduler(name):
            return f"{name} decides about these Pods, and its rules are not known"
        case NotBegun():
            return "it was not looked at, for the plan is long as it is: follow it, then ask again"
        case _:
            return consequence(unsure)


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
        case NotAskedAbout(workload):
            return f"it is of {workload}, which was not asked about"
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
